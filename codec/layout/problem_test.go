package layout

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProblems(t *testing.T) {
	value := func(v uint64) *uint64 { return &v }
	tests := []struct {
		name   string
		change func(l *Layout)
		want   []string
	}{
		{"fine", func(*Layout) {}, nil},
		{"no header", func(l *Layout) { l.Length.Header = 0 }, []string{"length.header: a header has 1 to 1024 bytes"}},
		{"a huge header", func(l *Layout) { l.Length.Header = 1025 }, []string{"length.header: a header has 1 to 1024 bytes"}},
		{"no width", func(l *Layout) { l.Length.Width = 0 }, []string{"length.width: a width of 1 to 8 bytes is needed"}},
		{"length beyond the header", func(l *Layout) { l.Length.At = 13 }, []string{"length.at: bytes 13 to 16: beyond the header of 16 bytes"}},
		{"negative place", func(l *Layout) { l.Length.At = -1 }, []string{"length.at: bytes -1 to 2: beyond the header of 16 bytes"}},
		{"unknown base", func(l *Layout) { l.Length.Counts = 9 }, []string{"length.counts: unknown"}},
		{"a length that cannot say the header", func(l *Layout) {
			l.Length = Length{Integer: Integer{At: 12, Width: 1}, Counts: CountsFrame, Header: 300, Max: 400}
		}, []string{"length.width: a length of 1 byte cannot say that a frame has a header of 300 bytes"}},
		{"a frame less than its header", func(l *Layout) { l.Length.Max = 15 }, []string{"length.max: a frame has at least the 16 bytes of its header and at most 1GiB"}},
		{"a frame of more than 1GiB", func(l *Layout) { l.Length.Max = MaxFrame + 1 }, []string{"length.max: a frame has at least the 16 bytes of its header and at most 1GiB"}},
		{"magic over the length", func(l *Layout) { l.Length.At = 1 }, []string{"magic: overlaps the length, which takes bytes 1 to 4", "kind: overlaps the length, which takes bytes 1 to 4", "id: overlaps the length, which takes bytes 1 to 4", "constants[0]: overlaps the length, which takes bytes 1 to 4", "error.fields[0]: overlaps the length, which takes bytes 1 to 4"}},
		{"magic beyond the header", func(l *Layout) { l.Magic = make([]byte, 17) }, []string{"magic: beyond the header of 16 bytes"}},
		{"id over magic", func(l *Layout) { l.ID.At = 1; l.ID.Width = 1 }, []string{"id: overlaps the magic, which takes bytes 0 to 1"}},
		{"id beyond the header", func(l *Layout) { l.ID.At = 14; l.ID.Width = 4 }, []string{"id.at: bytes 14 to 17: beyond the header of 16 bytes"}},
		{"a wide id", func(l *Layout) { l.ID.Width = 9 }, []string{"id.width: a width of 1 to 8 bytes is needed"}},
		{"kind beyond the header", func(l *Layout) { l.Kind.At = 16 }, []string{"kind.at: byte 16: beyond the header of 16 bytes"}},
		{"a wide mask", func(l *Layout) { l.Kind.Mask = 0x100 }, []string{"kind.mask: wider than the field of 1 byte"}},
		{"a kind of no width", func(l *Layout) { l.Kind.Width = -1 }, []string{"kind.width: a width of 1 to 8 bytes is needed"}},
		{"no request", func(l *Layout) { l.Kind.Request = nil }, []string{"kind.request: a value is needed"}},
		{"a value outside the mask", func(l *Layout) { l.Kind.Request[0] = 0xc2 }, []string{"kind.request[0]: 0xc2 has bits outside the mask 0xe1"}},
		{"a wide value", func(l *Layout) { l.Kind.Response[0] = 0x100 }, []string{"kind.response[0]: 0x100 does not fit into 1 byte"}},
		{"a value twice", func(l *Layout) { l.Kind.OneWay[0] = 0xc0 }, []string{"kind.one_way[0]: 0xc0 has another meaning already"}},
		{"a heartbeat like a response", func(l *Layout) { l.Kind.Heartbeat[0] = 0 }, []string{"kind.heartbeat[0]: 0x0 has another meaning already"}},
		{"a reply like a request", func(l *Layout) { l.Kind.HeartbeatReply = value(0xc0) }, []string{"kind.heartbeat_reply: 0xc0 has another meaning already"}},
		{"a reply without heartbeat", func(l *Layout) { l.Kind.Heartbeat = nil }, []string{"kind.heartbeat_reply: there is no heartbeat that it would answer"}},
		{"too many values", func(l *Layout) { l.Kind.Response = make([]uint64, 65) }, []string{"kind: more than 64 values"}},
		{"an unknown key", func(l *Layout) { l.Key.Kind = 99 }, []string{"key.kind: unknown"}},
		{"a string in the header", func(l *Layout) { l.Key.At = 3 }, []string{"key.at: a string with a length has no place in a header of fixed size: it begins at 16 or behind"}},
		{"a string with a width", func(l *Layout) { l.Key.Width = 3 }, []string{"key.width: the width of a string stands before it: leave this out"}},
		{"a far key", func(l *Layout) { l.Key.At = MaxKeyAt + 1 }, []string{"key.at: a key begins within the first 65536 bytes"}},
		{"a constant without text", func(l *Layout) { l.Key = &Key{Kind: KeyConstant} }, []string{"key.constant: a constant key needs its text"}},
		{"a long constant", func(l *Layout) { l.Key = &Key{Kind: KeyConstant, Constant: strings.Repeat("x", 4097)} }, []string{"key.constant: longer than 4096 bytes"}},
		{"a constant with a place", func(l *Layout) { l.Key.Kind = KeyConstant; l.Key.Constant = "x" }, []string{"key.kind: a constant key stands in no frame: at and width mean nothing"}},
		{"text without constant", func(l *Layout) { l.Key.Constant = "x" }, []string{"key.constant: only a key of the kind constant has a text"}},
		{"key in the length", func(l *Layout) { l.Key = &Key{Kind: KeyBytes, Integer: Integer{At: 13, Width: 1}} }, []string{"key: overlaps the length, which takes bytes 12 to 15"}},
		{"key over a masked kind", func(l *Layout) { l.Key = &Key{Kind: KeyBytes, Integer: Integer{At: 2, Width: 1}} }, []string{"key: overlaps the kind, which takes byte 2", "constants[0]: overlaps the route key, which takes byte 2"}},
		{"key half in the header", func(l *Layout) { l.Key = &Key{Kind: KeyBytes, Integer: Integer{At: 15, Width: 4}} }, []string{"key.at: bytes 15 to 18: partly in the header of 16 bytes and partly behind it"}},
		{"a wide integer key", func(l *Layout) { l.Key = &Key{Kind: KeyInteger, Integer: Integer{At: 16, Width: 9}} }, []string{"key.width: a width of 1 to 8 bytes is needed"}},
		{"a constant beyond the header", func(l *Layout) { l.Constants[0].At = 16 }, []string{"constants[0].at: byte 16: beyond the header of 16 bytes"}},
		{"an empty constant", func(l *Layout) { l.Constants[0].Bytes = nil }, []string{"constants[0].bytes: bytes are needed"}},
		{"a constant over the kind", func(l *Layout) { l.Kind.Mask = 0 }, []string{"constants[0]: overlaps the kind, which takes byte 2"}},
		{"error kind without kind", func(l *Layout) { l.Kind = nil }, []string{"error.kind: the layout has no kind"}},
		{"error kind outside the mask", func(l *Layout) { l.Failure.Kind = value(2) }, []string{"error.kind: 0x2 has bits outside the mask 0xe1"}},
		{"error kind of heartbeats", func(l *Layout) { l.Failure.Kind = value(0x20) }, []string{"error.kind: 0x20 has another meaning already"}},
		{"error field over the id", func(l *Layout) { l.Failure.Fields[0].At = 4 }, []string{"error.fields[0]: overlaps the id, which takes bytes 4 to 11"}},
		{"error field of nothing", func(l *Layout) { l.Failure.Fields[0].Bytes = nil }, []string{"error.fields[0]: bytes, or a width for the status, is needed"}},
		{"error field of both", func(l *Layout) { l.Failure.Fields[0].Width = 2 }, []string{"error.fields[0]: bytes or a status with a width: one of them"}},
		{"a narrow status", func(l *Layout) { l.Failure.Fields[0] = Field{Integer: Integer{At: 3, Width: 1}} }, []string{"error.fields[0].width: a status up to 599 needs 2 bytes"}},
		{"an unknown value", func(l *Layout) { l.Failure.Body = "{code}" }, []string{"error.body: unknown value {code}: there are {status}, {reason}, {message} and {trace_id}"}},
		{"a long body", func(l *Layout) { l.Failure.Body = strings.Repeat("x", 4097) }, []string{"error.body: longer than 4096 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := withIDs()
			tt.change(&l)
			var got []string
			for _, p := range l.Problems() {
				got = append(got, p.Error())
			}
			require.ElementsMatch(t, tt.want, got)
			_, err := New("x", l)
			require.Equal(t, len(tt.want) == 0, err == nil)
			if err != nil {
				require.Equal(t, len(tt.want), strings.Count(err.Error(), "\n")+1, "the error tells all")
			}
		})
	}
}
