package resp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/corelane/corelane/codec"
)

// What cannot be translated.
var (
	errMethod    = &codec.Error{Reason: codec.MethodNotAllowed, Detail: "a command is sent by POST"}
	errName      = &codec.Error{Reason: codec.BadRequest, Detail: "the last segment of the path is not the name of a command"}
	errArguments = &codec.Error{Reason: codec.BadRequest, Detail: "the body is not a JSON array of strings"}
	errText      = &codec.Error{Reason: codec.BadRequest, Detail: "an argument is not UTF-8"}
	errReply     = &codec.Error{Reason: codec.UpstreamBadResponse, Detail: "the reply is not JSON"}
	errReplyText = &codec.Error{Reason: codec.UpstreamBadResponse, Detail: "the reply is not UTF-8"}
)

// Native implements codec.Translator. A request is a JSON array of strings, the
// arguments of the command that the last segment of the path names: routes decide
// which commands pass, whatever a client speaks. A response becomes a reply.
func (Protocol) Native(dst []byte, r codec.Role, h, _ *codec.Head, body []byte) ([]byte, error) {
	if r == codec.Responses {
		return appendReply(dst, h.Status(), body)
	}
	if h.MethodID() != codec.POST {
		return dst, errMethod
	}
	path := h.Path()
	name := path[bytes.LastIndexByte(path, '/')+1:]
	if !isCommand(name) {
		return dst, errName
	}
	var arguments []string
	if len(body) > 0 {
		if err := json.Unmarshal(body, &arguments); err != nil || arguments == nil {
			return dst, errArguments
		}
	}
	dst = appendCount(dst, '*', 1+len(arguments))
	dst = appendBulk(dst, string(name))
	for _, a := range arguments {
		dst = appendBulk(dst, a)
	}
	return dst, nil
}

// isCommand: letters, digits, - and _.
func isCommand(name []byte) bool {
	for _, c := range name {
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(name) > 0 && len(name) <= maxCommand
}

func appendCount(dst []byte, kind byte, n int) []byte {
	dst = strconv.AppendInt(append(dst, kind), int64(n), 10)
	return append(dst, "\r\n"...)
}

func appendBulk[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(appendCount(dst, '$', len(s)), s...)
	return append(dst, "\r\n"...)
}

// appendReply turns the response of a service into a reply. What failed there is
// an error reply.
func appendReply(dst []byte, status int, body []byte) ([]byte, error) {
	if status >= 400 {
		var told struct{ Error string }
		if json.Unmarshal(body, &told) != nil || told.Error == "" {
			told.Error = strconv.Itoa(status) + " " + codec.StatusText(status)
		}
		dst = appendLine(append(dst, "-ERR "...), strings.TrimPrefix(told.Error, "ERR "))
		return append(dst, "\r\n"...), nil
	}
	if len(body) == 0 {
		return append(dst, "+OK\r\n"...), nil
	}
	if !json.Valid(body) {
		return dst, errReply
	}
	return appendValue(dst, body, 0)
}

// appendValue turns valid JSON into a value: strings and other numbers than
// integers into bulk strings, objects into the text they are.
func appendValue(dst []byte, text json.RawMessage, depth int) ([]byte, error) {
	text = bytes.TrimSpace(text)
	switch text[0] {
	case '"':
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return dst, errReply
		}
		return appendBulk(dst, s), nil
	case 'n':
		return append(dst, "$-1\r\n"...), nil
	case 't':
		return append(dst, ":1\r\n"...), nil
	case 'f':
		return append(dst, ":0\r\n"...), nil
	case '[':
		var items []json.RawMessage
		if depth == maxDepth || json.Unmarshal(text, &items) != nil {
			return dst, errReply
		}
		dst = appendCount(dst, '*', len(items))
		for _, item := range items {
			var err error
			if dst, err = appendValue(dst, item, depth+1); err != nil {
				return dst, err
			}
		}
		return dst, nil
	case '{':
		return appendBulk(dst, text), nil
	}
	if _, err := strconv.ParseInt(string(text), 10, 64); err != nil {
		return appendBulk(dst, text), nil
	}
	return append(append(append(dst, ':'), text...), "\r\n"...), nil
}

// Neutral implements codec.Translator: the way back. The path of a request is that
// of its route key; an error reply is 500.
func (Protocol) Neutral(dst []byte, r codec.Role, h *codec.Head, body []byte) ([]byte, error) {
	h.SetString("Content-Type", "application/json")
	if r == codec.Requests {
		return appendArguments(dst, body)
	}
	if body[0] == '-' {
		h.SetStatus(500)
		line, _, _ := bytes.Cut(body[1:], []byte("\r\n"))
		if !utf8.Valid(line) {
			return dst, errReplyText
		}
		return append(appendString(append(dst, `{"error":`...), line), '}'), nil
	}
	dst, _, err := appendJSON(dst, body)
	return dst, err
}

// appendArguments appends what stands behind the command as a JSON array.
func appendArguments(dst, message []byte) ([]byte, error) {
	head, rest, _ := bytes.Cut(message, []byte("\r\n"))
	dst = append(dst, '[')
	for i := range number(head[1:]) {
		length, value, _ := bytes.Cut(rest, []byte("\r\n"))
		n := number(length[1:])
		if rest = value[n+len("\r\n"):]; i == 0 {
			continue
		}
		if !utf8.Valid(value[:n]) {
			return dst, errText
		}
		if i > 1 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, value[:n])
	}
	return append(dst, ']'), nil
}

// appendJSON appends a value that was scanned as JSON and returns what follows it.
// Nesting is bounded by the scanner.
func appendJSON(dst, value []byte) (out, rest []byte, err error) {
	line, rest, _ := bytes.Cut(value[1:], []byte("\r\n"))
	null := len(line) > 0 && line[0] == '-' && (value[0] == '$' || value[0] == '*')
	switch {
	case null:
		return append(dst, "null"...), rest, nil
	case value[0] == ':':
		n, err := strconv.ParseInt(string(line), 10, 64)
		if err != nil {
			return dst, rest, errReply
		}
		return strconv.AppendInt(dst, n, 10), rest, nil
	case value[0] == '*':
		dst = append(dst, '[')
		for i := range number(line) {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, rest, err = appendJSON(dst, rest); err != nil {
				return dst, rest, err
			}
		}
		return append(dst, ']'), rest, nil
	case value[0] == '$':
		n := number(line)
		line, rest = rest[:n], rest[n+len("\r\n"):]
	}
	if !utf8.Valid(line) {
		return dst, rest, errReplyText
	}
	return appendString(dst, line), rest, nil
}

// appendString appends a JSON string.
func appendString(dst, s []byte) []byte {
	text, _ := json.Marshal(string(s)) // a string always can be
	return append(dst, text...)
}
