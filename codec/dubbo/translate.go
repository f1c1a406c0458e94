package dubbo

import (
	"strings"
	"unicode/utf8"

	"github.com/corelane/corelane/codec"
)

// Neutral implements codec.Translator. The body of a request becomes the array of
// its arguments, that of a response its value, or an object that tells of an
// error.
func (protocol) Neutral(dst []byte, r codec.Role, h *codec.Head, body []byte) ([]byte, error) {
	w := newJSONWriter(body)
	var f *fault
	if r == codec.Requests {
		f = w.arguments()
	} else {
		f = w.result(h, body)
		for _, k := range echoed {
			h.DelKnown(k)
		}
		h.Del("local-addr")
		h.Del("remote-addr")
	}
	if f != nil {
		return dst, f.of(r)
	}
	h.SetKnown(codec.ContentType, jsonType)
	return append(dst, w.out...), nil
}

var jsonType = []byte("application/json")

// echoed are fields of requests. Some services answer with the attachments that
// they were sent, which are for nobody outside.
var echoed = []codec.Known{
	codec.XForwardedFor, codec.XRealIP, codec.Forwarded, codec.XGrayTag, codec.Authorization, codec.Cookie,
	codec.Traceparent, codec.Tracestate, codec.XRequestID,
}

// arguments writes those of a request.
func (w *jsonWriter) arguments() *fault {
	var r request
	s := &scanner{}
	if !s.findRequest(w.b, &r) {
		return s.fault
	}
	w.at, w.wide = r.first, s.wide
	if r.generic() {
		return w.invoked()
	}
	w.out = append(w.out, '[')
	for i := range r.arguments {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if !w.value(2) {
			return w.fault
		}
	}
	w.out = append(w.out, ']')
	return nil
}

// invoked writes the arguments that a generic call carries in its third one.
func (w *jsonWriter) invoked() *fault {
	for range 2 { // the method and the types
		if !w.value(2) {
			return w.fault
		}
	}
	w.out = w.out[:0]
	for i := range w.made {
		w.made[i].to = 0 // it is not in out any more: null for who refers to it
	}
	if !w.value(1) {
		return w.fault
	}
	switch {
	case string(w.out) == "null":
		w.out = append(w.out[:0], "[]"...)
	case w.out[0] != '[':
		return faultArguments
	}
	return nil
}

// result writes what a response says.
func (w *jsonWriter) result(h *codec.Head, body []byte) *fault {
	status := byte(h.Note() >> noteStatus)
	if h.Note() == 0 {
		status = statusByte(h.Status(), false)
	}
	h.SetStatus(httpStatus(status, body))
	if status != statusOK {
		return w.failure(status)
	}
	flag := resultFlag(body)
	if flag < 0 { // a falsy value without its flag, or nothing
		if len(body) == 0 {
			w.out = append(w.out, "null"...)
			return nil
		}
		return w.only()
	}
	w.at = 1
	switch flag {
	case flagNull, flagNull + withAttachments:
		w.out = append(w.out, "null"...)
	case flagValue:
		return w.only()
	case flagValue + withAttachments:
		if !w.value(1) {
			return w.fault
		}
	default:
		return w.exception()
	}
	return nil
}

// only writes a value behind which there is nothing.
func (w *jsonWriter) only() *fault {
	if !w.value(1) {
		return w.fault
	}
	if !isRest(w.b[w.at:]) {
		return faultTrailing
	}
	return nil
}

// exception writes an exception: its class and its message.
func (w *jsonWriter) exception() *fault {
	if !w.value(1) {
		return w.fault
	}
	class, message := w.thrown.class, string(w.thrown.message.In(w.out))
	if class == "" {
		class, message = "exception", string(w.out)
	}
	if message == "" {
		message = "null"
	}
	w.out = appendQuoted(append(w.out[:0], `{"error":`...), class)
	w.out = append(append(append(w.out, `,"message":`...), message...), '}')
	return nil
}

// failure writes an error of the service's side, whose body is a text. One whose
// body is not still is that error.
func (w *jsonWriter) failure(status byte) *fault {
	name := outcomes[status].name
	if name == "" {
		name = "status_" + string(appendInt(nil, int64(status)))
	}
	message, ok := w.name()
	if !ok {
		message = ""
	}
	w.out = appendQuoted(append(w.out[:0], `{"error":`...), name)
	w.out = appendQuoted(append(w.out, `,"message":`...), message)
	w.out = append(w.out, '}')
	return nil
}

// Native implements codec.Translator. A request becomes a generic call with the
// arguments in the body, a response the result that its body is.
func (protocol) Native(dst []byte, r codec.Role, h, _ *codec.Head, body []byte) ([]byte, error) {
	var f *fault
	if r == codec.Requests {
		dst, f = appendInvocation(dst, h, body)
	} else {
		dst, f = appendAnswer(dst, h, body)
	}
	if f != nil {
		return dst, f.of(r)
	}
	return dst, nil
}

// target is what a path names in the notation of Dubbo.
type target struct{ group, iface, version, method string }

// parsePath reads [/group]/interface[:version]/method.
func parsePath(path string) (t target, ok bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(parts) == 3 {
		t.group, parts = parts[0], parts[1:]
		ok = isName(t.group)
	} else {
		ok = len(parts) == 2
	}
	if !ok {
		return t, false
	}
	t.iface, t.version, _ = strings.Cut(parts[0], ":")
	t.method = parts[1]
	return t, isName(t.iface) && isName(t.method) && (t.version == "" || isName(t.version))
}

// isName says whether s can be the name of something in Dubbo.
func isName(s string) bool {
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("._$-", rune(c)) {
			return false
		}
	}
	return s != "" && s != "." && s != ".."
}

// invokeTypes is the descriptor of $invoke(String, String[], Object[]).
const invokeTypes = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"

// appendInvocation appends a generic call. Encode adds the fields of the head.
func appendInvocation(dst []byte, h *codec.Head, body []byte) ([]byte, *fault) {
	t, ok := parsePath(string(h.Path()))
	if !ok {
		return dst, faultPath
	}
	if group := h.Get(codec.XRPCGroup); t.group == "" {
		t.group = string(group)
	}
	if version := h.Get(codec.XRPCVersion); t.version == "" {
		t.version = string(version)
	}
	types, args, f := readArguments(body)
	if f != nil {
		return dst, f
	}
	c := Call{Interface: t.iface, Version: t.version, Group: t.group, Method: string(invokeMethod), Types: invokeTypes}
	c.Args = []any{t.method, Array{"[string", types}, Array{"[object", args}}
	c.Attachments = []Entry{{keyGeneric, "true"}}
	if ms := digits(h.Get(codec.XTimeoutMs)); ms > 0 {
		c.Attachments = append(c.Attachments, Entry{keyTimeout, string(appendInt(nil, ms))})
	}
	return appendCall(dst, &c), nil
}

// readArguments reads the body of a request: an array of arguments, plain or as
// {"type", "value"}, or {"types": [], "args": []}.
func readArguments(body []byte) (types, args []any, f *fault) {
	if len(body) == 0 {
		return nil, nil, nil
	}
	v, f := parseJSON(body)
	if f != nil {
		return nil, nil, f
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			typ, value := typedPair(item)
			if typ != "" {
				value, f = typedValue(typ, value)
			} else {
				value, f = plainValue(value)
				typ = typeOf(value)
			}
			if f != nil {
				return nil, nil, f
			}
			types, args = append(types, typ), append(args, value)
		}
		return types, args, checkCount(args)
	case Map:
		return listedArguments(v)
	}
	return nil, nil, faultArguments
}

func checkCount(args []any) *fault {
	if len(args) > maxArguments {
		return faultArguments
	}
	return nil
}

// typedPair takes {"type": "…", "value": …} apart; other values have no type.
func typedPair(v any) (typ string, value any) {
	if m, ok := v.(Map); ok && len(m) == 2 {
		for i := range m {
			name, isText := m[i].Value.(string)
			if m[i].Key == "type" && m[1-i].Key == "value" && isText {
				return name, m[1-i].Value
			}
		}
	}
	return "", v
}

func listedArguments(m Map) (types, args []any, f *fault) {
	for _, e := range m {
		list, ok := e.Value.([]any)
		switch {
		case ok && e.Key == "types":
			types = list
		case ok && e.Key == "args":
			args = list
		default:
			return nil, nil, faultArguments
		}
	}
	if len(types) != len(args) {
		return nil, nil, faultArguments
	}
	for i := range args {
		typ, ok := types[i].(string)
		if !ok {
			return nil, nil, faultArguments
		}
		if args[i], f = typedValue(typ, args[i]); f != nil {
			return nil, nil, f
		}
	}
	return types, args, checkCount(args)
}

// appendAnswer appends the result that an answer is: what JSON says, the text of
// anything else, or an error.
func appendAnswer(dst []byte, h *codec.Head, body []byte) ([]byte, *fault) {
	if statusByte(h.Status(), false) != statusOK {
		return appendText(dst, errorText(h, body)), nil
	}
	var v any
	switch {
	case len(body) == 0:
	case isJSON(h):
		parsed, f := parseJSON(body)
		if f == nil {
			v, f = plainValue(parsed)
		}
		if f != nil {
			return dst, f
		}
	case utf8.Valid(body):
		v = string(body)
	default:
		v = body
	}
	if v == nil {
		return append(dst, flagZero+flagNull), nil
	}
	w := writer{out: append(dst, flagZero+flagValue), objects: true}
	w.value(v)
	return w.out, nil
}

// isJSON says whether an answer is JSON, which it is if it does not say
// otherwise.
func isJSON(h *codec.Head) bool {
	t := h.Get(codec.ContentType)
	return t == nil || strings.Contains(strings.ToLower(string(t)), "json")
}

// errorText is what an answer says of the error that it is.
func errorText(h *codec.Head, body []byte) string {
	if v, f := parseJSON(body[:min(len(body), maxErrorText)]); f == nil {
		if m, ok := v.(Map); ok {
			name, message := "", ""
			for _, e := range m {
				text, _ := e.Value.(string)
				switch e.Key {
				case "error":
					name = text
				case "message":
					message = text
				}
			}
			if name != "" && message != "" {
				return name + ": " + message
			}
		}
	}
	if len(body) == 0 || !utf8.Valid(body) {
		return string(appendInt(nil, int64(h.Status()))) + " " + string(h.ReasonPhrase())
	}
	return strings.ToValidUTF8(string(body[:min(len(body), maxErrorText)]), "")
}
