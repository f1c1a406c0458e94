package filtertest

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/filters"
)

// Exchange is one exchange and the engine around it. The test's goroutine is its
// loop. Make one with New.
type Exchange struct {
	// Context is what filters see. The client is 192.0.2.1 and the scheme http.
	filters.Context
	host host
	tb   testing.TB
	// bodies of Run, in pieces
	sends, serves []string
}

// New returns an exchange whose request head has these lines, such as
// "GET /a HTTP/1.1", "Host: a.example". It fails the test if a gateway would
// refuse the head.
func New(tb testing.TB, lines ...string) *Exchange {
	tb.Helper()
	x := &Exchange{tb: tb, host: host{t: tb, wakes: make(chan struct{}, 1)}}
	x.Attach(&x.host)
	x.NewRequest(lines...)
	return x
}

// NewRequest recycles the context and begins the next exchange with it.
func (x *Exchange) NewRequest(lines ...string) {
	x.tb.Helper()
	x.Recycle()
	x.sends, x.serves = nil, nil
	x.Client = netip.MustParseAddr("192.0.2.1")
	x.Peer = netip.AddrPortFrom(x.Client, 50000)
	x.Scheme = "http"
	x.Request = new(codec.Head)
	_, done, err := new(http1.Decoder).Request(x.Request, head(lines), nil)
	if err != nil || !done {
		x.tb.Fatalf("the request head is refused: %v", err)
	}
}

// NewResponse sets the head of the response, such as "HTTP/1.1 200 OK",
// "Content-Length: 0".
func (x *Exchange) NewResponse(lines ...string) {
	x.tb.Helper()
	x.Response = new(codec.Head)
	_, done, err := new(http1.Decoder).Response(x.Response, head(lines), nil, x.Request.MethodID())
	if err != nil || !done {
		x.tb.Fatalf("the response head is refused: %v", err)
	}
}

func head(lines []string) []byte {
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

// AwaitWake blocks until the exchange's Wait was resumed.
func (x *Exchange) AwaitWake() { <-x.host.wakes }

// Deadline returns what the last Wait asked for; 0 if there was none.
func (x *Exchange) Deadline() time.Duration { return time.Duration(x.host.deadline) }

// Panics returns what filters have panicked with, in order.
func (x *Exchange) Panics() []any { return x.host.panics }

// Calls returns the names of the filters whose calls have ended, in order.
func (x *Exchange) Calls() []string { return x.host.calls }

// Ignored returns how many resumes came second or late.
func (x *Exchange) Ignored() int64 { return x.host.ignored.Load() }

// Fields lists the fields of a head as "Name: value", removed ones left out.
func Fields(h *codec.Head) []string {
	lines := []string{}
	for i := range h.Len() {
		if !h.Removed(i) {
			lines = append(lines, string(h.Name(i))+": "+string(h.Value(i)))
		}
	}
	return lines
}
