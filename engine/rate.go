package engine

import "github.com/corelane/corelane/engine/reactor"

// rateWindow is the time of reading over which the rate of a body is judged.
const rateWindow = int64(5e9)

// bodyRate says whether a request body arrives fast enough: in each window of
// reading, the first one included, the average must reach the least rate. Time
// in which the gateway did not read does not count. All times are monotonic
// nanoseconds.
type bodyRate struct {
	window int64
	least  int64 // bytes per second; 0: off
	since  int64 // when reading went on; meaningful while runs
	spent  int64 // of the window, before that
	bytes  int64 // in the window
	runs   bool
}

// begin watches a new body.
func (r *bodyRate) begin(window, least int64) { *r = bodyRate{window: window, least: least} }

// run says that the body is being read, and returns when the window ends.
func (r *bodyRate) run(now int64) (deadline int64) {
	if !r.runs {
		r.runs, r.since = true, now
	}
	return r.since + r.window - r.spent
}

// stop says that the gateway does not read.
func (r *bodyRate) stop(now int64) {
	if r.runs {
		r.runs = false
		r.spent += now - r.since
	}
}

// add counts what has arrived.
func (r *bodyRate) add(n int) { r.bytes += int64(n) }

// judge ends the window at its deadline, or later, and begins the next. False
// means that the body was too slow.
func (r *bodyRate) judge(now int64) bool {
	took := r.spent + now - r.since
	enough := float64(r.bytes)*1e9 >= float64(r.least)*float64(took)
	r.since, r.spent, r.bytes = now, 0, 0
	return enough
}

// rateWatch is what a session needs of it, once a body must keep a rate.
type rateWatch struct {
	bodyRate
	clock reactor.Timer
}

// watchRate begins with a new body. The watch is made with the connection's first.
func (s *Session) watchRate() {
	if s.rate == nil {
		s.rate = new(rateWatch)
		s.rate.clock.Init(s, clockBodyRate)
	}
	s.rate.begin(s.w.server.rateWindow, s.lis.MinBodyRate)
}
