package frame

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/codectest"
	"github.com/corelane/corelane/codec/http1"
)

// What was written by hand is what the encoder writes.
func TestEncodedByHand(t *testing.T) {
	for _, s := range []string{hexByPath, hexByKey} {
		b := unhex(t, s)
		require.Equal(t, b, []byte(requests.RoundTrip(t, b)))
	}
	b := unhex(t, hexByMethod)
	out := requests.RoundTrip(t, b)
	require.Len(t, out, len(b), "the pseudo names stand in another order")
	require.Equal(t, uint8(Zstd), out[atFlags+1])
	responses.RoundTrip(t, unhex(t, hexResponse))
}

// encode returns what is sent for a piece, as a list of frames.
func encode(tb testing.TB, p *codec.Piece) []string {
	tb.Helper()
	b, err := codectest.AppendPiece([]byte("before"), Protocol{}, p)
	require.NoError(tb, err)
	b = b[len("before"):]
	var frames []string
	for len(b) > 0 {
		h, err := ParseHeader(b)
		require.NoError(tb, err)
		frames = append(frames, string(b[:h.Size()]))
		b = b[h.Size():]
	}
	return frames
}

func decodeHTTP(tb testing.TB, lines ...string) *codec.Head {
	tb.Helper()
	h := new(codec.Head)
	_, done, err := new(http1.Decoder).Request(h, []byte(strings.Join(lines, "\r\n")+"\r\n\r\n"), nil)
	require.NoError(tb, err)
	require.True(tb, done)
	return h
}

func response(status int, fields ...string) *codec.Head {
	h := new(codec.Head)
	h.Reset()
	h.SetStatus(status)
	for i := 0; i < len(fields); i += 2 {
		h.AddString(fields[i], fields[i+1])
	}
	return h
}

// Of an HTTP request everything is sent that makes sense in a frame.
func TestRequestFromHTTP(t *testing.T) {
	h := decodeHTTP(
		t, "GET /a?b=c HTTP/1.1", "Host: a.example:80", "Connection: keep-alive, X-Hop", "X-Hop: 1", "TE: trailers", "Expect: 100-continue",
		"X-Rpc-Group: g", "X-Corelane-Timeout-Ms: 100", "Traceparent: 00-1", "X-A: 1", "X-B: 2", "Content-Length: 2",
	)
	h.DropHopByHop(false)
	h.Del("x-b")
	got := encode(t, &codec.Piece{ID: 1, Head: h, Body: []byte("ok"), Last: true})
	want := metadata(":path", "/a?b=c", ":verb", "GET", ":authority", "a.example:80", ":timeout", "100", "Traceparent", "00-1", "X-A", "1")
	require.Equal(t, []string{frame(Header{Kind: Request, ID: 1}, want, "ok")}, got)

	got = encode(t, &codec.Piece{ID: 1, Head: h, Last: true, Timeout: 7, OneWay: true})
	want = metadata(":path", "/a?b=c", ":verb", "GET", ":authority", "a.example:80", ":timeout", "7", "Traceparent", "00-1", "X-A", "1")
	require.Equal(t, []string{frame(Header{Kind: OneWay, ID: 1}, want, "")}, got)
}

func TestTimeouts(t *testing.T) {
	for field, want := range map[string]string{"": "", "x": "", "0": "", "-1": "", "100": "100", "9999999999": "2147483647", "99999999999": ""} {
		h := new(codec.Head)
		h.Reset()
		h.SetKeyCall([]byte("k"))
		h.AddKnown(codec.XTimeoutMs, []byte(field))
		md := metadata(":key", "k")
		if want != "" {
			md = append(md, metadata(":timeout", want)...)
		}
		require.Equal(t, []string{frame(Header{Kind: Request, ID: 1}, md, "")}, encode(t, &codec.Piece{ID: 1, Head: h, Last: true}), field)
	}
	h := decodeHTTP(t, "POST / HTTP/1.1", "Host: a")
	got := encode(t, &codec.Piece{ID: 1, Head: h, Last: true, Timeout: 1 << 40})
	require.Contains(t, got[0], ":timeout2147483647")
}

func TestZstd(t *testing.T) {
	tests := []struct {
		name, encoding, body string
		flag                 bool
	}{
		{"zstd", "zstd", "x", true},
		{"in capitals", "ZSTD", "x", true},
		{"without a body", "zstd", "", false},
		{"another coding", "gzip", "x", false},
		{"two codings", "gzip, zstd", "x", false},
		{"two fields", "zstd;gzip", "x", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			head := response(200)
			var md []byte
			for coding := range strings.SplitSeq(tt.encoding, ";") {
				head.AddString("Content-Encoding", coding)
				if !tt.flag {
					md = append(md, metadata("Content-Encoding", coding)...)
				}
			}
			h := Header{Kind: Response, Status: 200, ID: 1}
			if tt.flag {
				h.Flags = Zstd
			}
			got := encode(t, &codec.Piece{Role: codec.Responses, ID: 1, Head: head, Body: []byte(tt.body), Last: true})
			require.Equal(t, []string{frame(h, md, tt.body)}, got)
		})
	}
	got := encode(t, &codec.Piece{Role: codec.Responses, ID: 1, Head: response(200, "Content-Encoding", "zstd")})
	require.Equal(t, []string{frame(Header{Kind: Response, Flags: Zstd | More, Status: 200, ID: 1}, nil, "")}, got, "a body follows")
}

func TestPieces(t *testing.T) {
	trailers := response(200, "X-Sum", "1", "Content-Type", "text/plain")
	none := response(200, "Content-Type", "text/plain")
	sum := metadata("X-Sum", "1")
	big := strings.Repeat("x", MaxSentBody)
	tests := []struct {
		name  string
		piece codec.Piece
		want  []string
	}{
		{"head, more to come", codec.Piece{Head: response(200)}, []string{frame(Header{Kind: Response, Flags: More, Status: 200, ID: 5}, nil, "")}},
		{"head and a part", codec.Piece{Head: response(200), Body: []byte("a")}, []string{frame(Header{Kind: Response, Flags: More, Status: 200, ID: 5}, nil, "a")}},
		{"a part", codec.Piece{Body: []byte("a")}, []string{frame(Header{Kind: Response, Flags: Continues | More, ID: 5}, nil, "a")}},
		{"nothing", codec.Piece{}, nil},
		{"trailers too early", codec.Piece{Body: []byte("a"), Trailers: trailers}, []string{frame(Header{Kind: Response, Flags: Continues | More, ID: 5}, nil, "a")}},
		{"last part", codec.Piece{Body: []byte("a"), Last: true}, []string{frame(Header{Kind: Response, Flags: Continues, ID: 5}, nil, "a")}},
		{"end", codec.Piece{Last: true}, []string{frame(Header{Kind: Response, Flags: Continues, ID: 5}, nil, "")}},
		{"end with trailers", codec.Piece{Body: []byte("a"), Last: true, Trailers: trailers}, []string{frame(Header{Kind: Response, Flags: Continues, ID: 5}, sum, "a")}},
		{"all with trailers", codec.Piece{Head: response(200), Body: []byte("a"), Last: true, Trailers: trailers}, []string{
			frame(Header{Kind: Response, Flags: More, Status: 200, ID: 5}, nil, "a"),
			frame(Header{Kind: Response, Flags: Continues, ID: 5}, sum, ""),
		}},
		{"all with trailers that are none", codec.Piece{Head: response(200), Body: []byte("a"), Last: true, Trailers: none}, []string{frame(Header{Kind: Response, Status: 200, ID: 5}, nil, "a")}},
		{"a large body", codec.Piece{Head: response(200), Body: []byte(big + big + "y"), Last: true, Trailers: trailers}, []string{
			frame(Header{Kind: Response, Flags: More, Status: 200, ID: 5}, nil, big),
			frame(Header{Kind: Response, Flags: Continues | More, ID: 5}, nil, big),
			frame(Header{Kind: Response, Flags: Continues, ID: 5}, sum, "y"),
		}},
		{"a large part", codec.Piece{Body: []byte(big + "y")}, []string{
			frame(Header{Kind: Response, Flags: Continues | More, ID: 5}, nil, big),
			frame(Header{Kind: Response, Flags: Continues | More, ID: 5}, nil, "y"),
		}},
		{"204", codec.Piece{Head: response(204), Body: []byte("never"), Trailers: trailers}, []string{frame(Header{Kind: Response, Status: 204, ID: 5}, nil, "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.piece.Role, tt.piece.ID = codec.Responses, 5
			require.Equal(t, tt.want, encode(t, &tt.piece))
		})
	}
}

func TestWhatCannotBeSaid(t *testing.T) {
	key := new(codec.Head)
	key.Reset()
	key.SetKeyCall([]byte("a\nb"))
	request := func(fields ...string) *codec.Head {
		h := decodeHTTP(t, "GET /?q HTTP/1.1", "Host: a")
		for i := 0; i < len(fields); i += 2 {
			h.AddString(fields[i], fields[i+1])
		}
		return h
	}
	long := strings.Repeat("a", MaxValue+1)
	path, query := request(), request()
	path.SetPath([]byte(long))
	query.SetQuery([]byte(long[:MaxValue]))
	var much []string
	for range 17 {
		much = append(much, "a", long[:MaxValue])
	}
	const tooMuch = "the fields do not fit into the metadata of a frame"
	tests := []struct {
		name  string
		piece codec.Piece
		err   string
	}{
		{"key", codec.Piece{Head: key}, "bad_request: the key has bytes that cannot stand in metadata"},
		{"interim response", codec.Piece{Role: codec.Responses, Head: response(100)}, "upstream_bad_response: the status is not one that a frame can carry"},
		{"status 600", codec.Piece{Role: codec.Responses, Head: response(600)}, "upstream_bad_response: the status is not one that a frame can carry"},
		{"long name", codec.Piece{Head: request(long[:MaxName+1], "")}, "headers_too_large: " + tooMuch},
		{"long value", codec.Piece{Role: codec.Responses, Head: response(200, "a", long)}, "upstream_bad_response: " + tooMuch},
		{"long path", codec.Piece{Head: path}, "headers_too_large: " + tooMuch},
		{"long query", codec.Piece{Head: query}, "headers_too_large: " + tooMuch},
		{"much metadata", codec.Piece{Head: request(much...)}, "headers_too_large: " + tooMuch},
		{"trailers", codec.Piece{Head: request(), Last: true, Trailers: request("b", long)}, "headers_too_large: " + tooMuch},
		{"late trailers", codec.Piece{Last: true, Trailers: request("b", long)}, "headers_too_large: " + tooMuch},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.piece.ID = 1
			dst, err := Protocol{}.Encode([]byte("before"), &tt.piece)
			require.EqualError(t, err, tt.err)
			require.Equal(t, "before", string(dst))
			require.Empty(t, tt.piece.Tail)
		})
	}
}

func TestFailures(t *testing.T) {
	get, head := decodeHTTP(t, "GET / HTTP/1.1", "Host: a"), decodeHTTP(t, "HEAD / HTTP/1.1", "Host: a")
	body := "{\"error\":\"route_not_found\",\"message\":\"a \\\"b\\\" \\\\ \\u000a\\u007f ä \uFFFD\",\"trace_id\":\"77\"}\n"
	tests := []struct {
		name    string
		failure codec.Failure
		want    string
	}{
		{"route", codec.Failure{Status: 404, Reason: codec.RouteNotFound, Message: []byte("a \"b\" \\ \n\x7f ä \xff"), TraceID: []byte("77"), Request: get}, frame(Header{Kind: Response, Status: 404, ID: 3}, metadata(ReasonField, "route_not_found", "content-type", "application/json"), body)},
		{"HEAD", codec.Failure{Status: 503, Reason: codec.Overloaded, Request: head}, frame(Header{Kind: Response, Status: 503, ID: 3}, metadata(ReasonField, "overloaded"), "")},
		{"strange status", codec.Failure{Status: 99, Request: &codec.Head{}}, frame(Header{Kind: Response, Status: 500, ID: 3}, metadata("content-type", "application/json"), "{\"error\":\"\",\"message\":\"\",\"trace_id\":\"\"}\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.failure.ID = 3
			got := Protocol{}.AppendFailure([]byte("before"), &tt.failure)
			require.Equal(t, "before"+tt.want, string(got))
			require.Nil(t, responses.Decode(t, got[len("before"):]).Err)
		})
	}
	long := Protocol{}.AppendFailure(nil, &codec.Failure{ID: 1, Status: 500, Message: bytes.Repeat([]byte("m"), 5000)})
	require.Less(t, len(long), 1500)
}

func TestControls(t *testing.T) {
	tests := []struct {
		name    string
		control codec.Control
		want    string
	}{
		{"heartbeat", codec.Control{Kind: codec.Heartbeat, ID: 4}, frame(Header{Kind: Heartbeat, ID: 4}, nil, "")},
		{"reply", codec.Control{Kind: codec.HeartbeatReply, ID: 4}, frame(Header{Kind: Heartbeat, Flags: Reply, ID: 4}, nil, "")},
		{"go-away", codec.Control{Kind: codec.GoAway, ID: 4}, frame(Header{Kind: GoAway, ID: 4}, nil, "")},
		{"go-away of a fault", codec.Control{Kind: codec.GoAway, ID: LastIDUnknown, Reason: codec.BadRequest, Detail: "no"}, frame(Header{Kind: GoAway, Status: 400, ID: LastIDUnknown}, metadata(ReasonField, "bad_request"), "no")},
		{"cancel", codec.Control{Kind: codec.Cancel, ID: 4, Reason: codec.TotalTimeout}, frame(Header{Kind: Cancel, Status: 504, ID: 4}, metadata(ReasonField, "total_timeout"), "")},
		{"cancel by a client", codec.Control{Kind: codec.Cancel, ID: 4, Reason: codec.ClientAborted}, frame(Header{Kind: Cancel, Status: 499, ID: 4}, metadata(ReasonField, "client_aborted"), "")},
		{"credit", codec.Control{Kind: codec.Credit, ID: 4, Amount: 1 << 40}, frame(Header{Kind: Credit, ID: 4}, nil, "\x7f\xff\xff\xff")},
		{"no credit", codec.Control{Kind: codec.Credit, ID: 4}, ""},
		{"unknown", codec.Control{Kind: 99, ID: 4}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Protocol{}.AppendControl(nil, &tt.control)
			require.Equal(t, tt.want, string(got))
			require.Nil(t, requests.Splits(t, got).Err)
		})
	}
}

func TestRegistered(t *testing.T) {
	p, ok := codec.Registered("frame")
	require.True(t, ok)
	assert.Equal(t, "frame", p.Name())
	assert.Equal(t, codec.Traits{IDBits: 64, Splits: true, Window: 262144, Heartbeats: true}, p.Traits())
}
