package dubbo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

var translator = New().(codec.Translator)

// neutral is the JSON of a frame, with its head.
func neutral(tb testing.TB, frame []byte) (string, *codec.Head, error) {
	tb.Helper()
	m := decodeOne(tb, roleOf(frame), frame)
	out, err := translator.Neutral([]byte("<"), roleOf(frame), &m.head, m.data)
	require.Equal(tb, "<", string(out[:1]))
	if err == nil {
		require.Equal(tb, "application/json", string(m.head.Get(codec.ContentType)))
	}
	return string(out[1:]), &m.head, err
}

func TestRecordedFramesInJSON(t *testing.T) {
	for name, want := range map[string]string{
		"1.sayHello request":       `["world"]`,
		"1.sayHello response":      `200 "Hello, world"`,
		"1.add request":            `[40,2]`,
		"1.add response":           `200 42`,
		"1.join request":           `["a",1,2.5,true,null,[1,2]]`,
		"1.types request":          `[]`,
		"1.types response":         `200 {"s":"text 你好 😀","i":42,"neg":-7,"d":3.5,"t":true,"n":null,"list":[1,"two",3.25,false,null],"date":"1998-05-08T09:51:00.000Z","bytes":"AAEC/v8="}`,
		"1.user response":          `200 {"class":"com.corelane.peer.User","id":7,"name":"user-7","tags":["a","b"]}`,
		"1.fail response":          `500 {"error":"java.lang.Exception","message":"java.lang.IllegalStateException: boom"}`,
		"1.systemError response":   `500 {"error":"server_error","message":"bad day"}`,
		"1.a broken":               `200 null`,
		"4.sayHello response":      `200 "Hello, wörld 你好"`,
		"4.user request":           `[7]`,
		"4.user response":          `200 {"class":"com.corelane.peer.User","id":7,"name":"user-7","tags":["a","b"]}`,
		"4.echo request":           `[{"class":"com.corelane.peer.User","id":9,"name":"nine","tags":["t"]}]`,
		"4.nothing response":       `200 null`,
		"4.fail response":          `500 {"error":"java.lang.Throwable","message":"boom-4"}`,
		"4.noSuchMethod response":  `500 {"error":"java.lang.Throwable","message":"cannot find method [noSuchMethod] of service [com.corelane.peer.Greeter] in dubbo"}`,
		"1.noSuchMethod response":  `500 {"error":"server_error","message":"Can not find method: com.corelane.peer.Greeter:1.0.0#noSuchMethod()"}`,
		"4.attachments() response": "",
	} {
		t.Run(name, func(t *testing.T) {
			got, h, err := neutral(t, find(t, strings.Split(name, " ")...))
			require.NoError(t, err)
			if h.Status() > 0 {
				got = string(appendInt(nil, int64(h.Status()))) + " " + got
				require.Nil(t, h.GetName("remote-addr"), "where services are is for nobody outside")
				require.Nil(t, h.GetName("path"))
			}
			if want != "" {
				require.Equal(t, want, got)
			}
		})
	}
}

func TestEchoedAttachmentsStayInside(t *testing.T) {
	_, h, err := neutral(t, AppendResult(nil, 1, 1, Map{{"x-gray-tag", "v2"}, {"traceparent", "00"}, {"authorization", "secret"}, {"x-peer", "p"}}))
	require.NoError(t, err)
	require.Nil(t, h.Get(codec.XGrayTag))
	require.Nil(t, h.Get(codec.Traceparent))
	require.Nil(t, h.Get(codec.Authorization))
	require.Equal(t, "p", string(h.GetName("X-Peer")))
}

func TestAnswersInJSON(t *testing.T) {
	raw := func(body string) []byte { return append(appendHeader(nil, 0, statusOK, 1, len(body)), body...) }
	tests := []struct {
		name  string
		frame []byte
		want  string
	}{
		{"zero without its flag", raw("\x90"), "0"},
		{"zero without its flag, with a tail", raw("\x90N"), "0"},
		{"false without its flag", raw("F"), "false"},
		{"empty without its flag", raw("\x00"), `""`},
		{"nothing", raw(""), "null"},
		{"null", raw("\x92"), "null"},
		{"a tail", raw("\x91\x95N"), "5"},
		{"text thrown", raw("\x90\x04boom"), `{"error":"exception","message":"boom"}`},
		{"thrown without a message", raw("\x90C\x01E\x90\x60"), `{"error":"E","message":null}`},
		{"a map thrown", raw("\x90M\x03a.E\x07message\x02noZ"), `{"error":"a.E","message":"no"}`},
		{"thrown, its own cause", raw("\x90C\x01E\x92\x0ddetailMessage\x05cause\x60\x01m\x51\x90"), `{"error":"E","message":"m"}`},
		{"exception of the helpers", AppendException(nil, 1, Object{"E", []Entry{{"detailMessage", "m"}}}, Map{}), `{"error":"E","message":"m"}`},
		{"not a text", append(appendHeader(nil, 0, 77, 1, 1), 'Z'), `{"error":"status_77","message":""}`},
		{"cut off", raw("\x91\x05ab"), "a value of Hessian ends too early"},
		{"no value", raw("\x91"), "a value of Hessian ends too early"},
		{"more", raw("\x91\x91\x91"), "there is more behind the value"},
		{"no exception", raw("\x93"), "a value of Hessian ends too early"},
		{"no value of four", raw("\x94"), "a value of Hessian ends too early"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := neutral(t, tt.frame)
			if err != nil {
				require.Equal(t, codec.UpstreamBadResponse, err.(*codec.Error).Reason)
				got = err.(*codec.Error).Detail
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestGenericCallsInJSON(t *testing.T) {
	call := func(args any) []byte {
		return AppendRequest(nil, &Call{Interface: "A", Method: "$invoke", Types: invokeTypes, Args: []any{"m", Array{"[string", nil}, args}})
	}
	for want, args := range map[string]any{`[1,{"class":"U","a":"b"}]`: []any{1, Map{{"class", "U"}, {"a", "b"}}}, `[]`: nil} {
		got, h, err := neutral(t, call(args))
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, "/A/m", string(h.Path()))
	}
	_, _, err := neutral(t, call("x"))
	require.Equal(t, faultArguments.of(codec.Requests), err)

	frame := AppendRequest(nil, &Call{Interface: "A", Method: "m", Types: "I", Args: []any{Map{{"a", Map{}}}}})
	m := decodeOne(t, codec.Requests, frame)
	for n := range int(m.head.Note() >> noteAt) {
		_, err := translator.Neutral(nil, codec.Requests, &m.head, m.data[:n])
		require.Error(t, err)
	}
}

// post is the frame that a request of HTTP becomes.
func post(tb testing.TB, path, body string, fields ...string) ([]byte, error) {
	tb.Helper()
	var h codec.Head
	h.Reset()
	h.SetMethod([]byte("POST"))
	h.SetPath([]byte(path))
	for i := 0; i < len(fields); i += 2 {
		h.AddString(fields[i], fields[i+1])
	}
	out, err := translator.Native(nil, codec.Requests, &h, &h, []byte(body))
	if err != nil {
		return nil, err
	}
	p := codec.Piece{Role: codec.Requests, ID: 3, Head: &h, Body: out, Last: true, Timeout: 900}
	front, err := New().Encode(nil, &p)
	require.NoError(tb, err)
	return append(append(front, p.Body...), p.Tail...), nil
}

func TestHTTPBecomesAGenericCall(t *testing.T) {
	frame, err := post(t, "/com.x.Orders:1.2/find", `["a", 1]`, "X-Rpc-Group", "eu", "X-Corelane-Timeout-Ms", "1000", "traceparent", "00-1",
		"X-Forwarded-For", "10.0.0.1", "User-Agent", "curl", "Host", "h", "Content-Type", "application/json", "Generic", "nativejava", "X-Custom", "c")
	require.NoError(t, err)
	require.Equal(t, `{"path":"com.x.Orders","interface":"com.x.Orders","version":"1.2","group":"eu","generic":"true","timeout":"900","traceparent":"00-1","x-forwarded-for":"10.0.0.1","X-Custom":"c"}`, attachmentsOf(t, frame))
	m := decodeOne(t, codec.Requests, frame)
	require.Nil(t, m.refused)
	require.Equal(t, "/com.x.Orders/find", string(m.head.Path()))
	require.Equal(t, "1.2", string(m.head.Get(codec.XRPCVersion)))
	require.Equal(t, "eu", string(m.head.Get(codec.XRPCGroup)))
	require.Contains(t, string(m.data), "\x07$invoke\x30\x38"+invokeTypes+"\x04find\x72\x07[string\x10java.lang.String\x03int\x72\x07[object\x01a\x91H")

	frame, err = post(t, "/asia/com.x.Orders/find", "", "X-Rpc-Version", "3", "X-Corelane-Timeout-Ms", "soon")
	require.NoError(t, err)
	require.Equal(t, `{"path":"com.x.Orders","interface":"com.x.Orders","version":"3","group":"asia","generic":"true","timeout":"900"}`, attachmentsOf(t, frame))
}

func TestArguments(t *testing.T) {
	tests := []struct{ body, types, args string }{
		{`[]`, `[]`, `[]`},
		{``, `[]`, `[]`},
		{`{"types":[],"args":[]}`, `[]`, `[]`},
		{
			`["s", 1, 3000000000, 1.5, 1e2, true, null, [1, "x"], {"a": {"b": 2}}, {"class": "com.U", "n": 1}]`,
			`["java.lang.String","int","long","double","double","boolean","java.lang.Object","java.util.List","java.util.Map","com.U"]`,
			`["s",1,3000000000,1.5,100.0,true,null,[1,"x"],{"a":{"b":2}},{"class":"com.U","n":1}]`,
		},
		{
			`[{"type":"java.lang.Long","value":3}, {"value":"9007199254740993","type":"long"}, {"type":"byte[]","value":"AQI="}, {"type":"java.util.Date","value":"2020-01-02T03:04:05Z"}]`,
			`["java.lang.Long","long","byte[]","java.util.Date"]`,
			`[3,9007199254740993,"AQI=","2020-01-02T03:04:05.000Z"]`,
		},
		{`{"args":[2, "x", null, 4, true, "c"],"types":["double","java.lang.String","java.lang.Integer","short","boolean","char"]}`, `["double","java.lang.String","java.lang.Integer","short","boolean","char"]`, `[2.0,"x",null,4,true,"c"]`},
		{`[{"type":"com.U","value":{"a":1}}]`, `["com.U"]`, `[{"a":1}]`},
	}
	for _, tt := range tests {
		t.Run(tt.body, func(t *testing.T) {
			frame, err := post(t, "/A/m", tt.body)
			require.NoError(t, err)
			w := newJSONWriter(frame[headerSize:])
			s := &scanner{}
			var r request
			require.True(t, s.findRequest(w.b, &r))
			w.at = r.first
			w.out = append(w.out, '[')
			require.True(t, w.value(1))
			w.out = w.out[:0]
			require.True(t, w.value(1))
			require.Equal(t, tt.types, string(w.out))
			got, _, err := neutral(t, frame)
			require.NoError(t, err)
			require.Equal(t, tt.args, got)
		})
	}
}

func TestRequestsThatAreNoCalls(t *testing.T) {
	many := "[" + strings.Repeat("1,", maxArguments) + "1]"
	tests := []struct {
		path, body string
		want       *fault
	}{
		{"/", `[]`, faultPath},
		{"/A", `[]`, faultPath},
		{"/A/m/x/y", `[]`, faultPath},
		{"/A/../m", `[]`, faultPath},
		{"/A/m%20", `[]`, faultPath},
		{"/g%2f/A/m", `[]`, faultPath},
		{"/A:1:2/m", `[]`, faultPath},
		{"/A/m", `1`, faultArguments},
		{"/A/m", `{"a":1}`, faultArguments},
		{"/A/m", `{"types":["int"],"args":[]}`, faultArguments},
		{"/A/m", `{"types":[1],"args":[1]}`, faultArguments},
		{"/A/m", many, faultArguments},
		{"/A/m", `[`, faultJSON},
		{"/A/m", `[1`, faultJSON},
		{"/A/m", `[1] 2`, faultJSON},
		{"/A/m", `{"a"`, faultJSON},
		{"/A/m", `{"a":`, faultJSON},
		{"/A/m", `{"a":1`, faultJSON},
		{"/A/m", `{1:1}`, faultJSON},
		{"/A/m", strings.Repeat("[", maxDepth+1), faultDepth},
		{"/A/m", `[99999999999999999999]`, faultNumber},
		{"/A/m", `[{"a":[1e999]}]`, faultNumber},
		{"/A/m", `[{"type":"int","value":3000000000}]`, faultArgument},
		{"/A/m", `[{"type":"int","value":null}]`, faultArgument},
		{"/A/m", `[{"type":"byte","value":200}]`, faultArgument},
		{"/A/m", `[{"type":"long","value":1.5}]`, faultArgument},
		{"/A/m", `[{"type":"double","value":"x"}]`, faultArgument},
		{"/A/m", `[{"type":"boolean","value":1}]`, faultArgument},
		{"/A/m", `[{"type":"java.lang.String","value":1}]`, faultArgument},
		{"/A/m", `[{"type":"byte[]","value":"?"}]`, faultArgument},
		{"/A/m", `[{"type":"byte[]","value":[]}]`, faultArgument},
		{"/A/m", `[{"type":"java.util.Date","value":1}]`, faultArgument},
		{"/A/m", `{"types":["int"],"args":["x"]}`, faultArgument},
		{"/A/m", "[" + strings.Repeat("[],", maxValues) + "1]", faultTooMany},
	}
	for _, tt := range tests {
		_, err := post(t, tt.path, tt.body)
		require.Equal(t, tt.want.of(codec.Requests), err, "%s %.40s", tt.path, tt.body)
	}
}

// answer is the frame that a response of HTTP becomes.
func answer(tb testing.TB, status int, contentType, body string) ([]byte, error) {
	tb.Helper()
	var h, request codec.Head
	h.Reset()
	h.SetStatus(status)
	if contentType != "" {
		h.AddString("Content-Type", contentType)
	}
	out, err := translator.Native(nil, codec.Responses, &h, &request, []byte(body))
	if err != nil {
		return nil, err
	}
	p := codec.Piece{Role: codec.Responses, ID: 3, Head: &h, Body: out, Last: true}
	front, err := New().Encode(nil, &p)
	require.NoError(tb, err)
	return append(append(front, p.Body...), p.Tail...), nil
}

func TestAnswersOfHTTP(t *testing.T) {
	tests := []struct {
		status            int
		contentType, body string
		want              string // status byte and body
	}{
		{200, "application/json", `{"a":[1,2.5,null]}`, "\x14\x91H\x01a\x7b\x91\x5f\x00\x00\x09\xc4NZ"},
		{200, "", `3`, "\x14\x91\x93"},
		{200, "application/json; charset=utf-8", `null`, "\x14\x92"},
		{204, "", "", "\x14\x92"},
		{200, "application/vnd.x+JSON", `{"class":"com.U","id":7}`, "\x14\x91C\x05com.U\x91\x02id\x60\x97"},
		{200, "text/plain", `3`, "\x14\x91\x013"},
		{200, "application/octet-stream", "\xff\x00", "\x14\x91\x22\xff\x00"},
		{404, "application/json", `{"error":"route_not_found","message":"no"}`, "\x3c\x13route_not_found: no"},
		{500, "text/plain", `oops`, "\x46\x04oops"},
		{503, "", "", "\x64\x17503 Service Unavailable"},
		{502, "application/json", `{"error":1}`, "\x32\x0b{\"error\":1}"},
	}
	for _, tt := range tests {
		frame, err := answer(t, tt.status, tt.contentType, tt.body)
		require.NoError(t, err)
		require.Equal(t, len(frame)-headerSize, parseHeader(frame).length)
		require.Equal(t, tt.want, string(frame[3:4])+string(frame[headerSize:]), tt.body)
	}
	_, err := answer(t, 200, "application/json", `{`)
	require.Equal(t, faultJSON.of(codec.Responses), err)
	_, err = answer(t, 200, "application/json", `[99999999999999999999]`)
	require.Equal(t, faultNumber.of(codec.Responses), err)
	frame, err := answer(t, 500, "text/html", strings.Repeat("é", 5000))
	require.NoError(t, err)
	require.LessOrEqual(t, len(frame), maxErrorText+headerSize+3)
}

// What became JSON becomes the same values again.
func TestThereAndBack(t *testing.T) {
	value := Map{{"i", 7}, {"l", int64(1 << 40)}, {"d", 2.0}, {"s", "x😀"}, {"list", []any{true, nil}}, {"o", Object{"com.U", []Entry{{"a", 1}}}}}
	frame := AppendResult(nil, 3, value, nil)
	json, _, err := neutral(t, frame)
	require.NoError(t, err)
	back, err := answer(t, 200, "application/json", json)
	require.NoError(t, err)
	require.Equal(t, frame, back)
}
