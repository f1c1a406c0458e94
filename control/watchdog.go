package control

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/engine"
)

// watchdog looks from outside whether the loops still turn. A loop that waits
// for events is well; one that has had work for a second without a new turn is
// stuck in a callback, most likely a filter that blocks.
type watchdog struct {
	// Immutable.
	look func() []engine.LoopInfo
	log  *slog.Logger
	dump func() []byte

	// Owned by the goroutine of run.
	stalled []bool

	// Atomic.
	now    atomic.Uint64 // a bit for each loop that is stalled
	stalls atomic.Uint64
}

func newWatchdog(look func() []engine.LoopInfo, log *slog.Logger) *watchdog {
	return &watchdog{look: look, log: log, dump: dumpStacks, stalled: make([]bool, len(look()))}
}

// run looks until ctx ends.
func (w *watchdog) run(ctx context.Context) {
	every(ctx, watchdogPoll, func(time.Time) { w.check() })
}

// check compares the loops with what was seen last.
func (w *watchdog) check() {
	var bits uint64
	for i, l := range w.look() {
		stalled := !l.Waiting && l.SinceTurn > stallAfter.Nanoseconds()
		if stalled {
			bits |= 1 << l.ID
		}
		if stalled != w.stalled[i] {
			w.stalled[i] = stalled
			w.report(&l, stalled)
		}
	}
	w.now.Store(bits)
}

// report logs the begin of a stall with all stacks, and its end.
func (w *watchdog) report(l *engine.LoopInfo, stalled bool) {
	if !stalled {
		w.log.Warn("the loop turns again", "loop", l.ID)
		return
	}
	w.stalls.Add(1)
	w.now.Or(1 << l.ID) // before the dump, which stops the world
	w.log.Error("a loop has had no turn", "loop", l.ID, "since_ms", milliseconds(l.SinceTurn), "goroutines", string(w.dump()))
}

// isStalled tells whether a loop was stalled at the last look. Any goroutine
// may call it, as the two below.
func (w *watchdog) isStalled(loop int) bool { return w.now.Load()>>loop&1 == 1 }

func (w *watchdog) anyStalled() bool { return w.now.Load() != 0 }

func (w *watchdog) count() uint64 { return w.stalls.Load() }

// dumpStacks returns the stacks of all goroutines, cut to maxStack.
func dumpStacks() []byte {
	b := make([]byte, maxStack)
	return b[:runtime.Stack(b, true)]
}
