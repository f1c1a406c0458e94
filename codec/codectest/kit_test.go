package codectest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/codectest"
)

// word is a protocol of one-byte lengths: a request is an id, a length and a key,
// id 0 a heartbeat, length 255 an error.
type word struct {
	// faults of its decoder
	keeps, loses, repeats, grows, sticks bool
}

func (word) Name() string         { return "word" }
func (word) Traits() codec.Traits { return codec.Traits{IDBits: 8} }

func (w word) NewDecoder(_ codec.Role, _ codec.MessageLimits) codec.Decoder {
	return &wordDecoder{word: w}
}

func (w word) Encode(dst []byte, p *codec.Piece) ([]byte, error) {
	if w.loses {
		p.Body = nil
	}
	return append(dst, byte(p.ID), byte(len(p.Body))), nil
}
func (word) AppendFailure(dst []byte, _ *codec.Failure) []byte { return dst }
func (word) AppendControl(dst []byte, _ *codec.Control) []byte { return dst }

type wordDecoder struct {
	word
	held   []byte
	stage  int
	failed error
}

func (d *wordDecoder) Next(b []byte, e *codec.Event) (int, error) {
	if d.failed != nil {
		return 0, d.failed
	}
	if d.sticks {
		e.Kind = codec.HeartbeatEvent
		return 0, nil
	}
	e.ID = 7
	switch d.stage {
	case 1:
		d.stage++
		e.Kind = codec.MessageHead
		if e.Head == nil {
			return d.Next(b, e)
		}
		e.Head.SetKeyCall(d.held[2:])
		e.Head.SetReceived(codec.FramingLength, int64(len(d.held)-2), false, true, false, codec.Span{})
		return 0, nil
	case 2:
		d.stage = 4
		if d.repeats {
			d.stage = 3
		}
		e.Kind, e.Data = codec.MessageData, d.held[2:]
		return 0, nil
	case 3:
		d.stage++
		e.Kind, e.Data = codec.MessageData, d.held[2:]
		return 0, nil
	case 4:
		d.stage, d.held, e.Kind = 0, d.held[:0], codec.MessageEnd
		return 0, nil
	}
	return d.gather(b, e)
}

func (d *wordDecoder) gather(b []byte, e *codec.Event) (int, error) {
	for n, c := range b {
		if d.held = append(d.held, c); len(d.held) < 2 {
			continue
		}
		if d.grows {
			d.held = append(make([]byte, 0, 1<<20), d.held...)
		}
		switch size := int(d.held[1]); {
		case size == 255:
			d.failed = &codec.Error{Reason: codec.BadRequest, Detail: "too long"}
			return 0, d.failed
		case d.held[0] == 0:
			d.held, e.Kind, e.ID = d.held[:0], codec.HeartbeatEvent, 0
			return n + 1, nil
		case len(d.held) == 2+size:
			d.stage, e.Kind = 1, codec.MessageBegin
			return n + 1, nil
		}
	}
	if e.Kind = codec.NeedMore; d.keeps && len(d.held) == len(b) {
		d.held = b
	}
	return len(b), nil
}

// fake catches failures of the kit.
type fake struct {
	testing.TB
	failed bool
}

func (f *fake) Helper()               {}
func (f *fake) Fatal(...any)          { f.failed = true; panic(f) }
func (f *fake) Fatalf(string, ...any) { f.Fatal() }

// fails says whether the check fails its test.
func fails(tb testing.TB, check func(testing.TB)) bool {
	f := &fake{TB: tb}
	func() {
		defer func() { _ = recover() }()
		check(f)
	}()
	return f.failed
}

var hello = []byte("\x07\x05hello\x00\x00\x07\x01!")

func TestTranscript(t *testing.T) {
	kit := codectest.Kit{Protocol: word{}}
	got := kit.Splits(t, hello)
	require.Equal(t, []string{
		"begin 7", "head 7\ncall 2: POST 3 \"hello\" \"/hello\" \"\" false \"\"\nframing 1 length 5\n",
		`body of 7 up to here: "hello"`, "end 7", "heartbeat 0",
		"begin 7", "head 7\ncall 2: POST 3 \"!\" \"/!\" \"\" false \"\"\nframing 1 length 1\n",
		`body of 7 up to here: "!"`, "end 7",
	}, got.Events)
	kit.Truncated(t, hello)
	kit.Pieces(t, hello, 3, 500)
	kit.Refuses(t, []byte("\x07\xff"), "bad_request: too long")
	kit.Cheap(t, []byte("\x07\xfe"), 64<<10)
	assert.Zero(t, kit.Allocations(t, hello[:7]))
	kit.Skips = true
	require.Equal(t, []string{"begin 7", `body of 7 up to here: "hello"`, "end 7"}, kit.Splits(t, hello[:7]).Events)
}

func TestFaultsAreFound(t *testing.T) {
	check := func(w word, f func(codectest.Kit, testing.TB)) bool {
		return fails(t, func(tb testing.TB) { f(codectest.Kit{Protocol: w}, tb) })
	}
	assert.True(t, check(word{keeps: true}, func(k codectest.Kit, tb testing.TB) { k.Splits(tb, hello[:7]) }))
	assert.True(t, check(word{sticks: true}, func(k codectest.Kit, tb testing.TB) { k.Decode(tb, hello) }))
	assert.True(t, check(word{repeats: true}, func(k codectest.Kit, tb testing.TB) { k.Decode(tb, hello) }))
	assert.True(t, check(word{loses: true}, func(k codectest.Kit, tb testing.TB) { k.RoundTrip(tb, hello) }))
	assert.True(t, check(word{grows: true}, func(k codectest.Kit, tb testing.TB) { k.Cheap(tb, []byte("\x07\xfe"), 64<<10) }))
	assert.True(t, check(word{}, func(k codectest.Kit, tb testing.TB) { k.Truncated(tb, []byte("\x07\xff")) }))
	assert.True(t, check(word{}, func(k codectest.Kit, tb testing.TB) { k.Refuses(tb, hello, "bad_request: x") }))
	assert.True(t, check(word{}, func(k codectest.Kit, tb testing.TB) { k.Allocations(tb, []byte("\x07\xff")) }))
}
