package dubbo

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/codectest"
)

var limits = codec.MessageLimits{Body: 8 << 20}

// message is all that a decoder has said of one frame.
type message struct {
	kinds   []codec.EventKind
	id      uint64
	oneWay  bool
	head    codec.Head
	data    []byte
	refused *codec.Error
}

// decode feeds the pieces to a decoder as the engine does: what was not taken
// comes again with what follows, and nothing is asked for while nothing is left.
func decode(role codec.Role, l codec.MessageLimits, pieces ...[]byte) (messages []*message, err error) {
	d := New().NewDecoder(role, l)
	var e codec.Event
	var m *message
	var rest []byte
	for _, piece := range pieces {
		rest = append(rest, piece...)
		for len(rest) > 0 {
			n, err := d.Next(rest, &e)
			if err != nil {
				return messages, err
			}
			if e.Kind == codec.NeedMore {
				if n != len(rest) {
					panic("NeedMore leaves bytes")
				}
				rest = nil
				break
			}
			if m == nil {
				m = &message{id: e.ID, oneWay: e.OneWay}
			}
			m.kinds = append(m.kinds, e.Kind)
			switch e.Kind {
			case codec.MessageBegin:
				m.head.Reset()
				e.Head = &m.head
			case codec.MessageHead:
				m.refused = e.Refused
			case codec.MessageData:
				m.data = append(m.data, e.Data...)
			}
			if e.Kind == codec.MessageEnd || e.Kind >= codec.HeartbeatEvent {
				messages, m = append(messages, m), nil
			}
			rest = rest[n:]
		}
	}
	return messages, nil
}

// decodeOne decodes one whole frame.
func decodeOne(tb testing.TB, role codec.Role, frame []byte) *message {
	tb.Helper()
	messages, err := decode(role, limits, frame)
	require.NoError(tb, err)
	require.Len(tb, messages, 1)
	return messages[0]
}

func roleOf(frame []byte) codec.Role {
	if frame[2]&flagRequest != 0 {
		return codec.Requests
	}
	return codec.Responses
}

var wholeMessage = []codec.EventKind{codec.MessageBegin, codec.MessageHead, codec.MessageData, codec.MessageEnd}

func TestRecordedFrames(t *testing.T) {
	frames, _ := readVectors(t)
	for _, v := range frames {
		t.Run(v.name, func(t *testing.T) {
			m := decodeOne(t, roleOf(v.frame), v.frame)
			require.Equal(t, binary.BigEndian.Uint64(v.frame[4:]), m.id)
			if v.frame[2]&flagEvent != 0 {
				want := codec.HeartbeatReplyEvent
				if roleOf(v.frame) == codec.Requests {
					want = codec.HeartbeatEvent
				}
				require.Equal(t, []codec.EventKind{want}, m.kinds)
				return
			}
			require.Equal(t, wholeMessage, m.kinds)
			require.Nil(t, m.refused)
			require.Equal(t, v.frame[headerSize:], m.data)
			require.Equal(t, int64(len(m.data)), m.head.ContentLength())
			if roleOf(v.frame) == codec.Requests {
				checkRequest(t, &v, &m.head)
			}
			checkFields(t, &v, &m.head)
		})
	}
}

func checkRequest(t *testing.T, v *vector, h *codec.Head) {
	path, _ := v.meaning("path")
	method, _ := v.meaning("method")
	version, _ := v.meaning("service version")
	require.Equal(t, codec.ByMethod, h.Call())
	require.Equal(t, path, string(h.Interface()))
	require.Equal(t, method, string(h.ProcedureName()))
	require.Equal(t, version, string(h.Get(codec.XRPCVersion)))
	require.Nil(t, h.Get(codec.XRPCGroup), "an empty group is none")
	keys, values := v.attachments()
	for i, key := range keys {
		if key == keyTimeout && values[i] != "0" {
			require.Equal(t, values[i], string(h.Get(codec.XTimeoutMs)))
		}
	}
}

// checkFields wants the attachments that are fields, in their order.
func checkFields(t *testing.T, v *vector, h *codec.Head) {
	keys, values := v.attachments()
	require.Len(t, values, len(keys))
	n := 0
	for i, key := range keys {
		if isMeant([]byte(key)) {
			continue
		}
		require.Equal(t, key, string(h.Name(n)))
		require.Equal(t, values[i], string(h.Value(n)))
		n++
	}
}

func TestStatusOfRecordedResponses(t *testing.T) {
	for name, status := range map[string]int{
		"1.sayHello": 200, "an exception value (status 20, flag 0)": 500, "status 80": 500, "a broken answer": 200, "4.sayHello": 200,
		"4.nothing()": 200, "4.fail": 500, "4.noSuchMethod": 500,
	} {
		require.Equal(t, status, decodeOneOf(t, name, "response").head.Status(), name)
	}
}

func decodeOneOf(tb testing.TB, words ...string) *message {
	frame := find(tb, words...)
	return decodeOne(tb, roleOf(frame), frame)
}

// same fails unless two readings of the same bytes are the same.
func same(tb testing.TB, want, got []*message) {
	tb.Helper()
	require.Len(tb, got, len(want))
	for i, m := range want {
		require.Equal(tb, m.kinds, got[i].kinds)
		require.Equal(tb, m.id, got[i].id)
		require.Equal(tb, m.data, got[i].data)
		require.Equal(tb, string(m.head.Path()), string(got[i].head.Path()))
		require.Equal(tb, m.head.Len(), got[i].head.Len())
		require.Equal(tb, m.refused, got[i].refused)
	}
}

func TestAnySplit(t *testing.T) {
	frames, _ := readVectors(t)
	for _, role := range []codec.Role{codec.Requests, codec.Responses} {
		var wire []byte
		for _, v := range frames {
			if roleOf(v.frame) == role {
				wire = append(wire, v.frame...)
			}
		}
		want, err := decode(role, limits, wire)
		require.NoError(t, err)
		for _, size := range []int{1, 2, 3, 7, 15, 16, 17, 64, 1000} {
			var pieces [][]byte
			for rest := wire; len(rest) > 0; {
				k := min(size, len(rest))
				pieces, rest = append(pieces, rest[:k]), rest[k:]
			}
			got, err := decode(role, limits, pieces...)
			require.NoError(t, err)
			same(t, want, got)
		}
	}
	frame := find(t, "4.echo(User)", "request")
	want, err := decode(codec.Requests, limits, frame)
	require.NoError(t, err)
	for at := range frame {
		got, err := decode(codec.Requests, limits, frame[:at], frame[at:])
		require.NoError(t, err)
		same(t, want, got)
	}
}

// A body that ends at every one of its bytes is refused, and the frame behind it
// is read.
func TestBodiesThatEndTooEarly(t *testing.T) {
	frame := find(t, "1.join", "request")
	body := frame[headerSize:]
	for n := range body {
		cut := append(header16(frame, n), body[:n]...)
		messages, err := decode(codec.Requests, limits, cut, frame)
		require.NoError(t, err)
		require.Len(t, messages, 2)
		require.Equal(t, "join", string(messages[1].head.ProcedureName()))
		require.Nil(t, messages[1].refused)
		require.NotNil(t, messages[0].refused, "%d bytes", n)
		require.Equal(t, codec.BadRequest, messages[0].refused.Reason)
		require.Equal(t, codec.ByKey, messages[0].head.Call())
		require.Empty(t, messages[0].head.Key())
	}
}

// header16 is the header of a frame with another length.
func header16(frame []byte, length int) []byte {
	h := append([]byte(nil), frame[:headerSize]...)
	setLength(h, 0, length)
	return h
}

func TestFramesThatCannotBeUnderstood(t *testing.T) {
	request := find(t, "1.add", "request")
	with := func(at int, b ...byte) []byte {
		frame := append([]byte(nil), request...)
		copy(frame[at:], b)
		return frame
	}
	tests := []struct {
		name   string
		role   codec.Role
		wire   []byte
		reason codec.Reason
		detail string
	}{
		{"another protocol", codec.Requests, []byte("G"), codec.BadRequest, "it is no frame of Dubbo"},
		{"half a magic", codec.Responses, []byte{0xda, 0xbc}, codec.UpstreamBadResponse, "it is no frame of Dubbo"},
		{"negative length", codec.Requests, with(12, 0xff, 0xff, 0xff, 0xff), codec.BadRequest, "the length of a frame is negative"},
		{"huge length", codec.Requests, with(12, 0x7f, 0xff, 0xff, 0xff), codec.BodyTooLarge, "a frame is longer than the limit of bodies"},
		{"huge answer", codec.Responses, with(12, 0, 0x80, 0, 1), codec.UpstreamBadResponse, "a frame is longer than the limit of bodies"},
		{"a response of a client", codec.Requests, with(2, hessian2), codec.BadRequest, "a client sent a response"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, len(tt.wire)} {
				var pieces [][]byte
				for rest := tt.wire; len(rest) > 0; rest = rest[size:] {
					pieces = append(pieces, rest[:size])
				}
				_, err := decode(tt.role, limits, pieces...)
				require.Equal(t, &codec.Error{Reason: tt.reason, Detail: tt.detail}, err)
			}
		})
	}
}

func TestOtherSerializationsAreRefusedByName(t *testing.T) {
	frame := find(t, "1.add", "request")
	frame[2] = flagRequest | flagTwoWay | 6
	m := decodeOne(t, codec.Requests, frame)
	require.Equal(t, "bad_request: serialization 6 is not Hessian 2, which has id 2", m.refused.Error())
	require.Equal(t, codec.ByKey, m.head.Call())

	frame = find(t, "1.add", "response")
	frame[2] = 21
	m = decodeOne(t, codec.Responses, frame)
	require.Equal(t, codec.UpstreamBadResponse, m.refused.Reason)
	require.Equal(t, 502, m.head.Status())
}

func TestEvents(t *testing.T) {
	p := New()
	tests := []struct {
		name  string
		role  codec.Role
		frame []byte
		want  []codec.EventKind
		id    uint64
	}{
		{"heartbeat", codec.Requests, p.AppendControl(nil, &codec.Control{Kind: codec.Heartbeat, ID: 9}), []codec.EventKind{codec.HeartbeatEvent}, 9},
		{"of a service", codec.Responses, p.AppendControl(nil, &codec.Control{Kind: codec.Heartbeat, ID: 9}), []codec.EventKind{codec.HeartbeatEvent}, 9},
		{"answer", codec.Responses, p.AppendControl(nil, &codec.Control{Kind: codec.HeartbeatReply, ID: 9}), []codec.EventKind{codec.HeartbeatReplyEvent}, 9},
		{"answer of a client", codec.Requests, p.AppendControl(nil, &codec.Control{Kind: codec.HeartbeatReply, ID: 9}), []codec.EventKind{codec.HeartbeatReplyEvent}, 9},
		{"readonly", codec.Responses, p.AppendControl(nil, &codec.Control{Kind: codec.GoAway}), []codec.EventKind{codec.GoAwayEvent}, math.MaxUint64},
		{"without a body", codec.Requests, appendHeader(nil, flagRequest|flagTwoWay|flagEvent, 0, 3, 0), []codec.EventKind{codec.HeartbeatEvent}, 3},
		{"that nobody knows", codec.Requests, append(appendHeader(nil, flagRequest|flagEvent, 0, 3, 2), 1, 'W'), nil, 0},
		{"a call back", codec.Responses, AppendRequest(nil, &Call{Interface: "a", Method: "b"}), nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			messages, err := decode(tt.role, limits, tt.frame)
			require.NoError(t, err)
			if tt.want == nil {
				require.Empty(t, messages)
				return
			}
			require.Equal(t, tt.want, messages[0].kinds)
			require.Equal(t, tt.id, messages[0].id)
		})
	}
	for _, kind := range []codec.ControlKind{codec.Cancel, codec.Credit} {
		require.Empty(t, p.AppendControl(nil, &codec.Control{Kind: kind}))
	}
	require.Empty(t, p.AppendControl(nil, &codec.Control{Kind: codec.GoAway, Role: codec.Responses}))
	require.Equal(t, find(t, "2.dubbo2.js"), p.AppendControl(nil, &codec.Control{Kind: codec.Heartbeat}))
	require.Equal(t, find(t, "2.dubbo-remoting: the provider's answer"), p.AppendControl(nil, &codec.Control{Kind: codec.HeartbeatReply, ID: 900}))
}

func TestCalls(t *testing.T) {
	tests := []struct {
		name            string
		call            Call
		want            string // interface/method, or the reason
		group, version  string
		timeout, header string
	}{
		{"plain", Call{Interface: "com.x.A", Method: "find"}, "com.x.A/find", "", "", "", ""},
		{"group and version", Call{Interface: "A", Version: "2.1", Group: "eu", Method: "m"}, "A/m", "eu", "2.1", "", ""},
		{"text timeout", Call{Interface: "A", Method: "m", Attachments: []Entry{{"timeout", "250"}}}, "A/m", "", "", "250", ""},
		{"int timeout", Call{Interface: "A", Method: "m", Attachments: []Entry{{"timeout", 3000}}}, "A/m", "", "", "3000", ""},
		{"long timeout", Call{Interface: "A", Method: "m", Attachments: []Entry{{"timeout", int64(5)}}}, "A/m", "", "", "5", ""},
		{"no timeout", Call{Interface: "A", Method: "m", Attachments: []Entry{{"timeout", "0"}, {"x", 1}}}, "A/m", "", "", "", ""},
		{"strange timeouts", Call{Interface: "A", Method: "m", Attachments: []Entry{{"timeout", "12s"}, {"timeout", 1.5}, {"timeout", "99999999999"}}}, "A/m", "", "", "", ""},
		{"another case", Call{Interface: "A", Method: "m", Attachments: []Entry{{"X-Trace", "7"}}}, "A/m", "", "", "", "7"},
		{"not for clients", Call{Interface: "A", Method: "m", Attachments: []Entry{{"x-rpc-group", "eu"}, {"host", "h"}, {"connection", "x"}}}, "A/m", "", "", "", ""},
		{"generic", generic("$invoke", "find(java.lang.String)"), "com.x.A/find", "", "", "", ""},
		{"generic later", generic("$invokeAsync", "find"), "com.x.A/find", "", "", "", ""},
		{"a name of a method", Call{Interface: "A", Method: "$echo"}, "A/$echo", "", "", "", ""},
		{"no name", Call{Interface: "A b", Method: "m"}, "interface or method is no name", "", "", "", ""},
		{"no method", Call{Interface: "A"}, "interface or method is no name", "", "", "", ""},
		{"types", Call{Interface: "A", Method: "m", Types: "Q"}, "the parameter types are malformed", "", "", "", ""},
		{"half a type", Call{Interface: "A", Method: "m", Types: "Ljava/lang/String"}, "the parameter types are malformed", "", "", "", ""},
		{"array of nothing", Call{Interface: "A", Method: "m", Types: "[["}, "the parameter types are malformed", "", "", "", ""},
		{"more arguments", Call{Interface: "A", Method: "m", Args: []any{1}}, "the attachments are no map", "", "", "", ""},
		{"fewer arguments", Call{Interface: "A", Method: "m", Types: "II", Args: []any{1}}, "a value of Hessian ends too early", "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := decodeOne(t, codec.Requests, AppendRequest(nil, &tt.call))
			if m.refused != nil {
				require.Equal(t, tt.want, m.refused.Detail)
				return
			}
			h := &m.head
			require.Equal(t, tt.want, string(h.Interface())+"/"+string(h.ProcedureName()))
			require.Equal(t, tt.group, string(h.Get(codec.XRPCGroup)))
			require.Equal(t, tt.version, string(h.Get(codec.XRPCVersion)))
			require.Equal(t, tt.timeout, string(h.Get(codec.XTimeoutMs)))
			require.Equal(t, tt.header, string(h.GetName("x-trace")))
			require.Empty(t, h.Authority())
		})
	}
}

// generic is a generic call.
func generic(method, real string) Call {
	return Call{
		Interface: "com.x.A", Method: method, Types: invokeTypes,
		Args:        []any{real, Array{"[string", []any{"int"}}, Array{"[object", []any{1}}},
		Attachments: []Entry{{"generic", "true"}},
	}
}

// A path that is no interface is one of a service with a path of its own.
func TestTheInterfaceStandsInForAPath(t *testing.T) {
	w := writer{}
	for _, s := range []string{"2.0.2", "ctx/com.x.A", "0.0.0", "m", ""} {
		w.value(s)
	}
	w.value(Map{{"interface", "com.x.A"}})
	frame := append(appendHeader(nil, flagRequest, 0, 1, len(w.out)), w.out...)
	m := decodeOne(t, codec.Requests, frame)
	require.Nil(t, m.refused)
	require.True(t, m.oneWay)
	require.Equal(t, "/com.x.A/m", string(m.head.Path()))
}

func TestTooManyAttachments(t *testing.T) {
	c := Call{Interface: "A", Method: "m"}
	for range maxAttachments {
		c.Attachments = append(c.Attachments, Entry{"k", "v"})
	}
	require.Equal(t, codec.HeadersTooLarge, decodeOne(t, codec.Requests, AppendRequest(nil, &c)).refused.Reason)

	c.Attachments = c.Attachments[:10]
	for _, l := range []codec.MessageLimits{{Body: 1 << 20, HeadFields: 11}, {Body: 1 << 20, Head: 50}} {
		messages, err := decode(codec.Requests, l, AppendRequest(nil, &c))
		require.NoError(t, err)
		require.Equal(t, codec.HeadersTooLarge, messages[0].refused.Reason)
	}
	messages, err := decode(codec.Responses, codec.MessageLimits{Body: 1 << 20, HeadFields: 5}, AppendResult(nil, 1, 1, Map(c.Attachments)))
	require.NoError(t, err)
	require.Equal(t, codec.UpstreamBadResponse, messages[0].refused.Reason)
}

// A message that nobody wants the head of still goes by.
func TestWithoutAHead(t *testing.T) {
	d := New().NewDecoder(codec.Responses, limits)
	frame := find(t, "1.add", "response")
	var kinds []codec.EventKind
	var e codec.Event
	for rest := frame; len(rest) > 0; {
		n, err := d.Next(rest, &e)
		require.NoError(t, err)
		kinds, rest = append(kinds, e.Kind), rest[n:]
	}
	require.Equal(t, []codec.EventKind{codec.MessageBegin, codec.MessageData, codec.MessageEnd}, kinds)
}

// A length that announces much costs nothing before it comes.
func TestMemoryGrowsWithWhatArrives(t *testing.T) {
	d := New().NewDecoder(codec.Requests, limits).(*decoder)
	var e codec.Event
	n, err := d.Next(append(appendHeader(nil, flagRequest|flagTwoWay, 0, 1, 8<<20), 1, 2, 3), &e)
	require.NoError(t, err)
	require.Equal(t, headerSize+3, n)
	require.Less(t, cap(d.gathered), 256)
}

func TestABigFrameDoesNotKeepItsMemory(t *testing.T) {
	c := Call{Interface: "A", Method: "m", Types: "Ljava/lang/String;", Args: []any{string(make([]byte, 100_000))}}
	frame := AppendRequest(nil, &c)
	d := New().NewDecoder(codec.Requests, limits).(*decoder)
	var e codec.Event
	for i, piece := range [][]byte{frame[:1000], frame[1000:]} {
		for len(piece) > 0 {
			n, err := d.Next(piece, &e)
			require.NoError(t, err)
			piece = piece[n:]
			require.Falsef(t, i == 0 && e.Kind != codec.NeedMore, "%d", e.Kind)
		}
	}
	require.Equal(t, codec.MessageEnd, e.Kind)
	require.Nil(t, d.gathered)
}

func TestTheContractOfDecoders(t *testing.T) {
	frames, _ := readVectors(t)
	for _, v := range frames {
		kit := codectest.Kit{Protocol: New(), Role: roleOf(v.frame), Limits: limits}
		kit.Splits(t, v.frame)
		kit.Truncated(t, v.frame)
		kit.RoundTrip(t, v.frame)
		kit.Skips = true
		kit.Splits(t, v.frame)
	}
	kit := codectest.Kit{Protocol: New(), Limits: limits}
	kit.Cheap(t, append(appendHeader(nil, flagRequest|flagTwoWay, 0, 1, 8<<20), 1, 2, 3), 16<<10)
	kit.Refuses(t, []byte("\xda\xbb\xc2\x00........\x80\x00\x00\x00"), "bad_request: the length of a frame is negative")
}
