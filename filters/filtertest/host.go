package filtertest

import (
	"sync/atomic"
	"testing"

	"github.com/corelane/corelane/filters"
)

var _ filters.Host = (*host)(nil)

// host records. All but wakes and ignored belong to the test's goroutine.
type host struct {
	clock    int64
	deadline int64
	calls    []string
	panics   []any
	lengths  []string
	wakes    chan struct{}
	ignored  atomic.Int64
	t        testing.TB
	services map[string]func(*Called) Answer
	call     *pending
	dropped  int
}

// Clock moves by a nanosecond a call, so that tests do not depend on time.
func (h *host) Clock() int64 {
	h.clock++
	return h.clock
}

// Wake never blocks: an exchange has one open wait at most.
func (h *host) Wake() { h.wakes <- struct{}{} }

func (h *host) SetWaitDeadline(after int64) { h.deadline = after }

func (h *host) FilterTime(e *filters.Entry, nanos int64) {
	if nanos <= 0 {
		panic("filtertest: a call took no time")
	}
	h.calls = append(h.calls, e.Name())
}

func (h *host) FilterPanicked(_ *filters.Entry, value any, stack []byte) {
	if len(stack) == 0 {
		panic("filtertest: a panic without its stack")
	}
	h.panics = append(h.panics, value)
}

func (h *host) FilterLength(e *filters.Entry) { h.lengths = append(h.lengths, e.Name()) }

func (h *host) ResumedTwice() { h.ignored.Add(1) }
