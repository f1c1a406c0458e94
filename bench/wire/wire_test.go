package wire

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	require.NoError(t, err)
	return b
}

var protocols = []Protocol{Frame{}, Dubbo{}}

func TestNamed(t *testing.T) {
	for _, p := range protocols {
		got, err := Named(p.Name())
		require.NoError(t, err)
		assert.Equal(t, p, got)
	}
	_, err := Named("http")
	require.ErrorContains(t, err, `"http" is neither`)
}

func TestRequestsAreRead(t *testing.T) {
	for _, p := range protocols {
		for _, size := range []int{16, 31, 32, 128, 1023, 1024, MaxBody} {
			request, err := p.Request(Call{Interface: "com.example.Echo", Method: "echo"}, size)
			require.NoError(t, err)
			nonce := Nonce(7)
			b := request.Append([]byte("before"), 1<<63+5, &nonce)[len("before"):]
			want := string(nonce[:]) + strings.Repeat("x", size-NonceLength)
			var m Message
			for cut := range b {
				n, err := p.Next(b[:cut], &m)
				require.NoError(t, err)
				require.Zero(t, n)
				require.Equal(t, NeedMore, m.Kind)
			}
			n, err := p.Next(append(b, "behind"...), &m)
			require.NoError(t, err)
			assert.Equal(t, len(b), n)
			assert.Equal(t, Message{Kind: Request, ID: 1<<63 + 5, First: true, Last: true, Body: []byte(want), Answer: -1}, m)
		}
		for _, size := range []int{NonceLength - 1, MaxBody + 1} {
			_, err := p.Request(Call{Interface: "a", Method: "b"}, size)
			require.Error(t, err)
		}
	}
	_, err := Dubbo{}.Request(Call{Path: "/"}, 16)
	require.Error(t, err)
}

func TestResponsesAreRead(t *testing.T) {
	for _, p := range protocols {
		for _, length := range []int{0, 3, 5, 40, 2000} {
			b := p.AppendResponse([]byte("before"), 9, []byte("abcd"), length)[len("before"):]
			var m Message
			n, err := p.Next(b, &m)
			require.NoError(t, err)
			assert.Equal(t, len(b), n)
			want := ("abcd" + strings.Repeat("x", 2000))[:length]
			assert.Equal(t, want, string(m.Body))
			assert.Equal(t, Response, m.Kind)
			assert.Equal(t, 200, m.Status)
			assert.EqualValues(t, 9, m.ID)
		}
	}
}

// TestBytes holds against frames written by hand and recorded from others.
func TestBytes(t *testing.T) {
	zero := [NonceLength]byte([]byte("0123456789abcdef"))
	request, err := Frame{}.Request(Call{Path: "/3"}, 16)
	require.NoError(t, err)
	assert.Equal(t, unhex(t, `434c 01 01 0000 0000 0000000000000102 0000000b 00000010
		0005 0002 3a70617468 2f33 30313233343536373839616263646566`), request.Append(nil, 0x102, &zero))
	assert.Equal(t, unhex(t, `434c 01 02 0000 00c8 0000000000000009 00000000 00000002 6162`), Frame{}.AppendResponse(nil, 9, []byte("ab"), 2))
	assert.Equal(t, unhex(t, `434c 01 04 0008 0000 0000000000000009 00000000 00000000`), Frame{}.AppendHeartbeatReply(nil, 9))
	assert.Equal(t, unhex(t, `dabb 02 14 0000000000000001 0000000e 91 0c48656c6c6f2c20776f726c64`), Dubbo{}.AppendResponse(nil, 1, []byte("Hello, world"), 12))
	assert.Equal(t, unhex(t, `dabb 22 14 0000000000000009 00000001 4e`), Dubbo{}.AppendHeartbeatReply(nil, 9))
}

func TestMessages(t *testing.T) {
	tests := []struct {
		name     string
		protocol Protocol
		bytes    string
		want     Message
	}{
		{"request by path", Frame{}, "434c0101 0000 0000 0000000000000001 0000000d 00000000 0005 0004 3a70617468 2f313238", Message{Kind: Request, ID: 1, First: true, Last: true, Answer: 128}},
		{"path of no size", Frame{}, "434c0101 0000 0000 0000000000000001 0000000a 00000000 0005 0001 3a70617468 2f", Message{Kind: Request, ID: 1, First: true, Last: true, Answer: -1}},
		{"empty path", Frame{}, "434c0101 0000 0000 0000000000000001 00000009 00000000 0005 0000 3a70617468", Message{Kind: Request, ID: 1, First: true, Last: true, Answer: -1}},
		{"path behind another pair", Frame{}, "434c0103 0001 0000 0000000000000001 00000011 00000001 0001 0001 61 62 0005 0002 3a70617468 2f39 7a", Message{Kind: Request, ID: 1, First: true, OneWay: true, Body: []byte("z"), Answer: 9}},
		{"last piece of a response", Frame{}, "434c0102 0002 0000 0000000000000001 00000000 00000001 61", Message{Kind: Response, ID: 1, Last: true, Body: []byte("a"), Answer: -1}},
		{"middle piece of a response", Frame{}, "434c0102 0003 0000 0000000000000001 00000000 00000001 61", Message{Kind: Response, ID: 1, Body: []byte("a"), Answer: -1}},
		{"refused", Frame{}, "434c0102 0000 01f7 0000000000000001 00000000 00000000", Message{Kind: Response, ID: 1, First: true, Last: true, Status: 503, Answer: -1}},
		{"heartbeat", Frame{}, "434c0104 0000 0000 0000000000000007 00000000 00000000", Message{Kind: Heartbeat, ID: 7, First: true, Last: true, Answer: -1}},
		{"answered heartbeat", Frame{}, "434c0104 0008 0000 0000000000000007 00000000 00000000", Message{Kind: Other, ID: 7, First: true, Last: true, Answer: -1}},
		{"go-away", Frame{}, "434c0105 0000 0190 0000000000000007 00000000 00000000", Message{Kind: GoAway, ID: 7, First: true, Last: true, Status: 400, Answer: -1}},
		{"cancel", Frame{}, "434c0106 0000 01f6 0000000000000007 00000000 00000000", Message{Kind: Cancel, ID: 7, First: true, Last: true, Status: 502, Answer: -1}},
		{"credit", Frame{}, "434c0107 0000 0000 0000000000000007 00000000 00000004 00000001", Message{Kind: Other, ID: 7, First: true, Last: true, Body: []byte{0, 0, 0, 1}, Answer: -1}},
		{"kind of later", Frame{}, "434c0108 0000 0000 0000000000000007 00000001 00000000 00", Message{Kind: Other, ID: 7, First: true, Last: true, Answer: -1}},
		// sayHello("world") of dubbo-remoting 2.1.4.
		{"dubbo request", Dubbo{}, `dabbc2000000000000000001000000bb05352e332e3019636f6d2e636f72656c616e652e706565722e4772656574657205312e302e300873617948656c6c6f12
			4c6a6176612f6c616e672f537472696e673b05776f726c644805647562626f05352e332e300567726f75700009696e7465726661636519636f6d2e636f72656c
			616e652e706565722e47726565746572047061746819636f6d2e636f72656c616e652e706565722e477265657465720774696d656f7574043135303007766572
			73696f6e05312e302e305a`, Message{Kind: Request, ID: 1, First: true, Last: true, Body: []byte("world"), Answer: -1}},
		{"dubbo value with attachments", Dubbo{}, "dabb0214 0000000000000001 00000006 94 026869 48 5a", Message{Kind: Response, ID: 1, First: true, Last: true, OneWay: true, Status: 200, Body: []byte("hi"), Answer: -1}},
		{"dubbo null", Dubbo{}, "dabb0214 0000000000000001 00000001 92", Message{Kind: Response, ID: 1, First: true, Last: true, OneWay: true, Status: 200, Answer: -1}},
		{"dubbo exception", Dubbo{}, "dabb0214 0000000000000001 00000002 90 00", Message{Kind: Response, ID: 1, First: true, Last: true, OneWay: true, Status: 500, Answer: -1}},
		{"dubbo failure", Dubbo{}, "dabb0250 0000000000000001 00000008 0762616420646179", Message{Kind: Response, ID: 1, First: true, Last: true, OneWay: true, Status: 80, Answer: -1}},
		{"dubbo heartbeat", Dubbo{}, "dabbe200 0000000000000000 00000001 4e", Message{Kind: Heartbeat, First: true, Last: true, Answer: -1}},
		{"dubbo answered heartbeat", Dubbo{}, "dabb2214 0000000000000003 00000002 4e 4e", Message{Kind: Other, ID: 3, First: true, Last: true, OneWay: true, Answer: -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.bytes)
			var m Message
			n, err := tt.protocol.Next(b, &m)
			require.NoError(t, err)
			assert.Equal(t, len(b), n)
			if len(m.Body) == 0 {
				m.Body = nil
			}
			assert.Equal(t, tt.want, m)
		})
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	tests := []struct {
		name     string
		protocol Protocol
		bytes    string
		want     string
	}{
		{"magic", Frame{}, strings.Repeat("00", 24), "not the begin"},
		{"version", Frame{}, "434c0201" + strings.Repeat("00", 20), "not the begin"},
		{"kind", Frame{}, "434c0180" + strings.Repeat("00", 20), "kind 128"},
		{"flags", Frame{}, "434c0101 0010" + strings.Repeat("00", 18), "flags 0x10"},
		{"length", Frame{}, "434c0101 0000 0000 0000000000000001 ffffffff ffffffff", "a frame of 8589934614 bytes"},
		{"half a pair", Frame{}, "434c0101 0000 0000 0000000000000001 00000002 00000000 0000", "pairs"},
		{"pair too long", Frame{}, "434c0101 0000 0000 0000000000000001 00000004 00000000 00000001", "pairs"},
		{"dubbo magic", Dubbo{}, strings.Repeat("00", 16), "not the begin"},
		{"dubbo length", Dubbo{}, "dabb0214 0000000000000001 7fffffff", "2147483647"},
		{"dubbo without a flag", Dubbo{}, "dabb0214 0000000000000001 00000000", "without its flag"},
		{"dubbo value that is no string", Dubbo{}, "dabb0214 0000000000000001 00000002 91 54", "string"},
		{"dubbo value that is cut", Dubbo{}, "dabb0214 0000000000000001 00000003 91 05 61", "string"},
		{"dubbo request without strings", Dubbo{}, "dabbc200 0000000000000001 00000001 4e", "string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.protocol.Next(unhex(t, tt.bytes), new(Message))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestNoncesDiffer(t *testing.T) {
	seen := map[[NonceLength]byte]bool{}
	for i := range uint64(10_000) {
		seen[Nonce(i)] = true
	}
	assert.Len(t, seen, 10_000)
}

func TestNothingIsAllocated(t *testing.T) {
	for _, p := range protocols {
		request, err := p.Request(Call{Interface: "a", Method: "b"}, 128)
		require.NoError(t, err)
		out := make([]byte, 0, 4096)
		var m Message
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			nonce := Nonce(1)
			out = request.Append(out[:0], 1, &nonce)
			if _, err := p.Next(out, &m); err != nil {
				t.Error(err)
			}
			out = p.AppendResponse(out, m.ID, m.Body, 128)
		}))
	}
}

func FuzzNext(f *testing.F) {
	for _, p := range protocols {
		request, err := p.Request(Call{Interface: "a", Method: "b"}, 16)
		require.NoError(f, err)
		nonce := Nonce(1)
		f.Add(request.Append(nil, 1, &nonce))
		f.Add(p.AppendResponse(nil, 1, []byte("a"), 3))
		f.Add(p.AppendHeartbeatReply(nil, 1))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range protocols {
			var m Message
			n, err := p.Next(b, &m)
			if n < 0 || n > len(b) {
				t.Fatalf("%s took %d of %d bytes", p.Name(), n, len(b))
			}
			if err == nil && (n == 0) != (m.Kind == NeedMore) {
				t.Fatalf("%s: %d bytes and kind %d", p.Name(), n, m.Kind)
			}
		}
	})
}
