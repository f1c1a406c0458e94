package resp

import (
	"errors"
	"strings"
	"testing"

	"github.com/corelane/corelane/codec"
)

// post is the head of a request of HTTP.
func post(method, path string) *codec.Head {
	h := new(codec.Head)
	h.Reset()
	h.SetMethod([]byte(method))
	h.SetPath([]byte(path))
	return h
}

func TestCommandsFromHTTP(t *testing.T) {
	tests := []struct {
		method, path, body, want string
		err                      error
	}{
		{"POST", "/redis/GET", `["a"]`, "*2\r\n$3\r\nGET\r\n$1\r\na\r\n", nil},
		{"POST", "/ping", ``, "*1\r\n$4\r\nping\r\n", nil},
		{"POST", "/ping", `[]`, "*1\r\n$4\r\nping\r\n", nil},
		{"POST", "/set", `["ä", "\r\n*"]`, "*3\r\n$3\r\nset\r\n$2\r\nä\r\n$3\r\n\r\n*\r\n", nil},
		{"GET", "/ping", ``, "", errMethod},
		{"POST", "/", ``, "", errName},
		{"POST", "/a%20b", ``, "", errName},
		{"POST", "/" + strings.Repeat("a", 65), ``, "", errName},
		{"POST", "/get", `[1]`, "", errArguments},
		{"POST", "/get", `null`, "", errArguments},
		{"POST", "/get", `{"a": "b"}`, "", errArguments},
		{"POST", "/get", `["a"`, "", errArguments},
	}
	for _, tt := range tests {
		h := post(tt.method, tt.path)
		got, err := Protocol{}.Native(nil, codec.Requests, h, h, []byte(tt.body))
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s %s: %q %v", tt.path, tt.body, got, err)
		}
	}
}

func TestRepliesFromHTTP(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	tests := []struct {
		status     int
		body, want string
		err        error
	}{
		{200, ``, "+OK\r\n", nil},
		{200, ` "a\n" `, "$2\r\na\n\r\n", nil},
		{200, `null`, "$-1\r\n", nil},
		{200, `[1, -2, 1.5, 1e3, true, false, [], {"a": [1]}]`, "*8\r\n:1\r\n:-2\r\n$3\r\n1.5\r\n$3\r\n1e3\r\n:1\r\n:0\r\n*0\r\n$10\r\n{\"a\": [1]}\r\n", nil},
		{200, `99999999999999999999`, "$20\r\n99999999999999999999\r\n", nil},
		{200, `<html>`, "", errReply},
		{200, deep, "", errReply},
		{404, `{"error": "no\r\n+OK"}`, "-ERR no  +OK\r\n", nil},
		{500, `{"error": "ERR no"}`, "-ERR no\r\n", nil},
		{503, `<html>`, "-ERR 503 Service Unavailable\r\n", nil},
	}
	for _, tt := range tests {
		h := new(codec.Head)
		h.Reset()
		h.SetStatus(tt.status)
		got, err := Protocol{}.Native(nil, codec.Responses, h, h, []byte(tt.body))
		if !errors.Is(err, tt.err) || err == nil && string(got) != tt.want {
			t.Errorf("%s: %q %v", tt.body, got, err)
		}
	}
}

func TestNeutralMessages(t *testing.T) {
	tests := []struct {
		role       codec.Role
		body, want string
		status     int
		err        error
	}{
		{codec.Requests, get, `["a"]`, 0, nil},
		{codec.Requests, ping, `[]`, 0, nil},
		{codec.Requests, "*3\r\n$1\r\na\r\n$2\r\n\"\n\r\n$2\r\n\xc3\xa4\r\n", `["\"\n","ä"]`, 0, nil},
		{codec.Requests, "*2\r\n$1\r\na\r\n$1\r\n\xff\r\n", "", 0, errText},
		{codec.Responses, "+OK\r\n", `"OK"`, 200, nil},
		{codec.Responses, "-ERR no \"x\"\r\n", `{"error":"ERR no \"x\""}`, 500, nil},
		{codec.Responses, "-\xff\r\n", "", 500, errReplyText},
		{codec.Responses, ":-007\r\n", `-7`, 200, nil},
		{codec.Responses, ":99999999999999999999\r\n", "", 200, errReply},
		{codec.Responses, "$-1\r\n", `null`, 200, nil},
		{codec.Responses, "*4\r\n*-1\r\n*0\r\n*1\r\n+a\r\n$2\r\n\r\n\r\n", `[null,[],["a"],"\r\n"]`, 200, nil},
		{codec.Responses, "*1\r\n$1\r\n\xff\r\n", "", 200, errReplyText},
	}
	for _, tt := range tests {
		h := new(codec.Head)
		h.Reset()
		if tt.status > 0 {
			h.SetStatus(200)
		}
		got, err := Protocol{}.Neutral(nil, tt.role, h, []byte(tt.body))
		if !errors.Is(err, tt.err) || err == nil && string(got) != tt.want || h.Status() != tt.status {
			t.Errorf("%q: %q %v %d", tt.body, got, err, h.Status())
		}
		if string(h.Get(codec.ContentType)) != "application/json" {
			t.Errorf("%q: no content type", tt.body)
		}
	}
}
