package dubbo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// encode sends a decoded message on, with an id of the gateway's.
func encode(tb testing.TB, r codec.Role, m *message, change ...func(p *codec.Piece)) []byte {
	tb.Helper()
	p := codec.Piece{Role: r, ID: 77, Head: &m.head, Body: m.data, Last: true, Native: true, OneWay: m.oneWay}
	for _, f := range change {
		f(&p)
	}
	out, err := New().Encode([]byte("before"), &p)
	require.NoError(tb, err)
	require.Equal(tb, "before", string(out[:6]))
	return append(append(out[6:], p.Body...), p.Tail...)
}

// withID is the frame with another id.
func withID(frame []byte, id byte) []byte {
	out := append([]byte(nil), frame...)
	copy(out[4:12], []byte{0, 0, 0, 0, 0, 0, 0, id})
	return out
}

func TestRecordedFramesPassUnharmed(t *testing.T) {
	frames, _ := readVectors(t)
	for _, v := range frames {
		if v.frame[2]&flagEvent != 0 {
			continue
		}
		r := roleOf(v.frame)
		require.Equal(t, withID(v.frame, 77), encode(t, r, decodeOne(t, r, v.frame)), v.name)
	}
}

func TestOneWayStaysOneWay(t *testing.T) {
	frame := AppendRequest(nil, &Call{Interface: "A", Method: "m", OneWay: true})
	m := decodeOne(t, codec.Requests, frame)
	require.Equal(t, byte(flagRequest|hessian2), encode(t, codec.Requests, m)[2])
}

// attachmentsOf reads the attachments of a request back, as JSON of a map.
func attachmentsOf(tb testing.TB, frame []byte) string {
	tb.Helper()
	require.Equal(tb, len(frame)-headerSize, parseHeader(frame).length)
	s := &scanner{}
	var r request
	require.True(tb, s.findRequest(frame[headerSize:], &r), "%v", s.fault)
	w := newJSONWriter(frame[headerSize:])
	w.at, w.refs, w.types = s.at, s.refs, s.types
	require.True(tb, w.value(1))
	return string(w.out)
}

func TestAttachmentsFollowTheHead(t *testing.T) {
	call := func(list ...Entry) *Call {
		return &Call{Interface: "A", Method: "m", Attachments: list}
	}
	const first = `{"path":"A","interface":"A"`
	tests := []struct {
		name   string
		call   *Call
		change func(p *codec.Piece)
		want   string
	}{
		{"nothing", call(Entry{"x", "1"}), func(*codec.Piece) {}, first + `,"x":"1"}`},
		{"added", call(Entry{"x", "1"}), func(p *codec.Piece) { p.Head.AddString("Traceparent", "00-1") }, first + `,"x":"1","traceparent":"00-1"}`},
		{"added by a name of its own", call(), func(p *codec.Piece) { p.Head.AddString("traceId", "é😀\xff") }, first + `,"traceId":"é😀�"}`},
		{"changed", call(Entry{"x", "1"}, Entry{"Y", "2"}, Entry{"z", 3}), func(p *codec.Piece) { p.Head.SetString("y", "long enough") }, first + `,"x":"1","Y":"long enough","z":3}`},
		{"removed", call(Entry{"x", "1"}, Entry{"y", "2"}, Entry{"z", "3"}), func(p *codec.Piece) { p.Head.Del("y") }, first + `,"x":"1","z":"3"}`},
		{"set anew", call(Entry{"x-gray-tag", "evil"}, Entry{"z", "3"}), func(p *codec.Piece) { p.Head.SetKnown(codec.XGrayTag, []byte("v2")) }, first + `,"z":"3","x-gray-tag":"v2"}`},
		{"twice", call(Entry{"a", "1"}), func(p *codec.Piece) { p.Head.AddString("b", "1"); p.Head.AddString("B", "2") }, first + `,"a":"1","b":"1, 2"}`},
		{"two cases of one name", call(Entry{"Tag", "a"}, Entry{"tag", "b"}), func(*codec.Piece) {}, first + `,"Tag":"a","tag":"b"}`},
		{"what no field can say", call(Entry{"x", "a\nb\x7f"}), func(p *codec.Piece) { p.Head.Del("other") }, first + `,"x":"a\nb` + "\x7f" + `"}`},
		{"one of those removed", call(Entry{"x", "a\nb"}, Entry{"y", "1"}), func(p *codec.Piece) { p.Head.Del("x") }, first + `,"y":"1"}`},
		{"no strings", call(Entry{"l", []any{1, "a"}}, Entry{"o", Object{"C", []Entry{{"f", 1}}}}), func(p *codec.Piece) { p.Head.AddString("x", "1") }, first + `,"l":[1,"a"],"o":{"class":"C","f":1},"x":"1"}`},
		{"of HTTP alone", call(), func(p *codec.Piece) {
			for _, name := range []string{"Host", "Accept", "Content-Type", "Cookie", "X-Forwarded-Proto", "User-Agent", "Connection", "X-Rpc-Group"} {
				p.Head.AddString(name, "x")
			}
		}, first + `}`},
		{"with a meaning", call(), func(p *codec.Piece) {
			for _, name := range []string{"Generic", "path", "Interface", "group", "VERSION", "timeout", "token"} {
				p.Head.AddString(name, "nativejava")
			}
		}, first + `}`},
		{"timeout", call(Entry{"x", "1"}), func(p *codec.Piece) { p.Timeout = 40 }, first + `,"x":"1","timeout":"40"}`},
		{"lower timeout", call(Entry{"timeout", "1500"}, Entry{"x", "1"}), func(p *codec.Piece) { p.Timeout = 1400 }, first + `,"timeout":"1400","x":"1"}`},
		{"shorter already", call(Entry{"timeout", 30}), func(p *codec.Piece) { p.Timeout = 40 }, first + `,"timeout":30}`},
		{"int", call(Entry{"timeout", 3000}), func(p *codec.Piece) { p.Timeout = 70 }, first + `,"timeout":70}`},
		{"long", call(Entry{"timeout", int64(300_000)}), func(p *codec.Piece) { p.Timeout = 100_000 }, first + `,"timeout":100000}`},
		{"none said", call(Entry{"timeout", "0"}), func(p *codec.Piece) { p.Timeout = 1 }, first + `,"timeout":"1"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := decodeOne(t, codec.Requests, AppendRequest(nil, tt.call))
			require.Equal(t, tt.want, attachmentsOf(t, encode(t, codec.Requests, m, tt.change)))

			m = decodeOne(t, codec.Requests, AppendRequest(nil, tt.call))
			m.head.SetNote(0)
			require.Equal(t, tt.want, attachmentsOf(t, encode(t, codec.Requests, m, tt.change)), "without a note")
		})
	}
}

// Null stands for attachments; what peers append behind a message stays.
func TestAttachmentsWhereNoneWere(t *testing.T) {
	w := writer{}
	for _, s := range []string{"2.0.2", "A", "0.0.0", "m", "I"} {
		w.value(s)
	}
	w.value(1)
	body := append(w.out, tagNull, tagNull)
	frame := append(appendHeader(nil, flagRequest|flagTwoWay, 0, 1, len(body)), body...)
	m := decodeOne(t, codec.Requests, frame)
	require.Equal(t, withID(frame, 77), encode(t, codec.Requests, m))
	m.head.AddString("x", "1")
	out := encode(t, codec.Requests, m)
	require.Equal(t, "H\x01x\x011ZN", string(out[len(out)-7:]))
	require.Equal(t, `{"x":"1"}`, attachmentsOf(t, out))

	echo := find(t, "4.sayHello", "response")
	m = decodeOne(t, codec.Responses, echo)
	m.head.Del("x-peer")
	out = encode(t, codec.Responses, m)
	require.Len(t, out, len(echo)-len("\x06x-peer\x08dubbo-go"))
	require.Equal(t, "ZN", string(out[len(out)-2:]))
	require.NotContains(t, string(out), "x-peer")
}

// What stands in front of the first edit is not copied.
func TestArgumentsAreNotCopied(t *testing.T) {
	m := decodeOne(t, codec.Requests, AppendRequest(nil, &Call{
		Interface: "A", Method: "m", Types: "Ljava/lang/String;", Args: []any{strings.Repeat("x", 10_000)},
	}))
	m.head.AddString("traceparent", "00-1")
	p := codec.Piece{Head: &m.head, Body: m.data, Native: true}
	_, err := New().Encode(nil, &p)
	require.NoError(t, err)
	require.Same(t, &m.data[0], &p.Body[0])
	require.Equal(t, "\x0btraceparent\x0400-1Z", string(p.Tail))
}

// A request that cannot be read is not sent, whatever its head says.
func TestBrokenRequestsAreNotSent(t *testing.T) {
	frame := find(t, "1.add", "request")
	m := decodeOne(t, codec.Requests, frame)
	m.head.SetNote(0)
	for n := range m.data {
		_, err := New().Encode(nil, &codec.Piece{Head: &m.head, Body: m.data[:n], Native: true})
		require.Error(t, err)
		_, err = New().Encode(nil, &codec.Piece{Head: &m.head, Body: m.data[:n]})
		require.Error(t, err)
	}
}

// Attachments that refer to what stands before them are read with it.
func TestAttachmentsThatReferToArguments(t *testing.T) {
	c := Call{Interface: "A", Method: "m", Types: "Ljava/lang/Object;", Args: []any{Object{"C", []Entry{{"f", 1}}}}}
	frame := AppendRequest(nil, &c)
	body := append(frame[headerSize:len(frame)-1:len(frame)-1], "\x01o\x60\x92\x01r\x51\x90Z"...)
	m := decodeOne(t, codec.Requests, append(header16(frame, len(body)), body...))
	require.Nil(t, m.refused)
	require.Zero(t, m.head.Note())
	m.head.AddString("x", "1")
	out := encode(t, codec.Requests, m)
	require.Equal(t, string(body[:len(body)-1])+"\x01x\x011Z", string(out[headerSize:]))
}

// A sequence of four bytes counts for one unit or two, in both places.
func TestWideCharacters(t *testing.T) {
	for _, wide := range []struct{ argument, value string }{{"\x01😀", "\x02😀!"}, {"\x02😀", "\x03😀!"}} {
		w := writer{}
		for _, s := range []string{"2.0.2", "A", "0.0.0", "m", "Ljava/lang/String;"} {
			w.value(s)
		}
		w.out = append(w.out, wide.argument+"H\x01k"+wide.value+"\x01z\x010Z"...)
		m := decodeOne(t, codec.Requests, append(appendHeader(nil, flagRequest|flagTwoWay, 0, 1, len(w.out)), w.out...))
		require.Nil(t, m.refused)
		require.Equal(t, "😀!", string(m.head.GetName("k")))
		require.Equal(t, "0", string(m.head.GetName("z")))
		m.head.Del("z")
		out := encode(t, codec.Requests, m)
		require.Equal(t, string(w.out[:len(w.out)-5])+"Z", string(out[headerSize:]))
	}
}

func TestResponses(t *testing.T) {
	ok := find(t, "1.sayHello", "response")
	m := decodeOne(t, codec.Responses, ok)
	m.head.AddString("x-new", "1")
	require.Equal(t, withID(ok, 77), encode(t, codec.Responses, m), "this client knows no attachments of responses")

	m = decodeOne(t, codec.Responses, find(t, "4.nothing()", "response"))
	m.head.AddString("x-new", "1")
	out := encode(t, codec.Responses, m)
	require.Equal(t, "\x05x-new\x011ZN", string(out[len(out)-10:]))
	require.Equal(t, len(out)-headerSize, parseHeader(out).length)

	m = decodeOne(t, codec.Responses, ok)
	m.head.SetStatus(503)
	require.Equal(t, "\x13Service Unavailable", string(encode(t, codec.Responses, m)[headerSize:]))
	require.Equal(t, byte(statusExhausted), encode(t, codec.Responses, m)[3])

	m = decodeOne(t, codec.Responses, AppendError(nil, 1, statusServiceNotFound, "no"))
	require.Equal(t, 404, m.head.Status())
	require.Equal(t, AppendError(nil, 77, statusServiceNotFound, "no"), encode(t, codec.Responses, m))
}

// An answer cut off anywhere passes as it is.
func TestBrokenAnswersPass(t *testing.T) {
	for _, name := range []string{"4.user(7)", "4.fail", "4.nothing()", "1.user(7)"} {
		frame := find(t, name, "response")
		for n := 1; n < len(frame)-headerSize; n++ {
			cut := append(header16(frame, n), frame[headerSize:headerSize+n]...)
			m := decodeOne(t, codec.Responses, cut)
			require.Nil(t, m.refused)
			require.Equal(t, withID(cut, 77), encode(t, codec.Responses, m))
		}
	}
}

func TestStatuses(t *testing.T) {
	for status, want := range map[byte]int{
		20: 200, 25: 500, 30: 504, 31: 504, 35: 502, 40: 400, 50: 502, 60: 404, 70: 500, 80: 500, 90: 400, 100: 503, 7: 500,
	} {
		m := decodeOne(t, codec.Responses, AppendError(nil, 1, status, "why"))
		require.Equal(t, want, m.head.Status(), status)
		require.Equal(t, status, encode(t, codec.Responses, m)[3])
	}
	for status, want := range map[int][2]byte{
		200: {20, 20}, 204: {20, 20}, 302: {70, 80}, 400: {40, 40}, 403: {40, 40}, 404: {60, 60}, 405: {60, 60}, 429: {100, 100},
		500: {70, 80}, 501: {70, 80}, 502: {50, 50}, 503: {100, 100}, 504: {31, 31},
	} {
		require.Equal(t, want, [2]byte{statusByte(status, false), statusByte(status, true)}, status)
	}
}

func TestFailures(t *testing.T) {
	f := &codec.Failure{ID: 5, Status: 503, Reason: codec.NoEndpoint, Message: []byte("nobody is there"), TraceID: []byte("abc")}
	m := decodeOne(t, codec.Responses, New().AppendFailure(nil, f))
	require.Equal(t, uint64(5), m.id)
	require.Equal(t, 503, m.head.Status())
	require.Equal(t, "no_endpoint: nobody is there (trace abc)", string(m.data[2:]))

	f = &codec.Failure{Status: 404, Message: []byte(strings.Repeat("x", 100_000))}
	require.Equal(t, byte(statusServiceNotFound), New().AppendFailure(nil, f)[3])
	require.Less(t, len(New().AppendFailure(nil, f)), maxErrorText)
}
