package control

import (
	"net/http"

	"github.com/corelane/corelane/engine"
)

// loopsAnswer is all loops. Skew is how far the busiest is above the mean; 1 is
// even. Alarm says that this has been too far for long.
type loopsAnswer struct {
	Skew  float64      `json:"skew"`
	Alarm bool         `json:"skew_alarm"`
	Loops []loopAnswer `json:"loops"`
}

// loopAnswer is one loop. Counters are since the start and stay as they were
// while a loop does not answer.
type loopAnswer struct {
	ID int `json:"id"`
	// CPU is the one the loop is pinned to, -1 for none.
	CPU         int     `json:"cpu"`
	Answered    bool    `json:"answered"`
	Stalled     bool    `json:"stalled"`
	Waiting     bool    `json:"waiting"`
	SinceTurn   float64 `json:"since_turn_ms"`
	Busy        float64 `json:"busy"`
	Generation  uint64  `json:"generation"`
	Connections int64   `json:"connections"`
	Exchanges   int     `json:"exchanges"`
	Oldest      float64 `json:"oldest_exchange_ms"`
	Requests    uint64  `json:"requests"`
	Turns       uint64  `json:"turns"`
	LongestTurn float64 `json:"longest_turn_ms"`
	Accepts     uint64  `json:"accepts"`
	HandoffsIn  uint64  `json:"handoffs_in"`
	HandoffsOut uint64  `json:"handoffs_out"`
	Blocks      int64   `json:"blocks"`
	Idle        int     `json:"upstream_idle"`
	InUse       int     `json:"upstream_busy"`
	Queued      int     `json:"upstream_waiting"`
}

func (n *Node) getLoops(w http.ResponseWriter, _ *http.Request) {
	shares, skew := n.counters.shares()
	answer := loopsAnswer{Skew: skew, Alarm: n.counters.alarm.raised()}
	n.counters.look(func(totals []*engine.Stats, missing []int) {
		absent := loopSet(missing)
		for i, info := range n.server.Loops() {
			one := newLoopAnswer(&info, totals[i])
			one.Answered, one.Stalled, one.Busy = !absent[i], n.watchdog.isStalled(i), shares[i]
			answer.Loops = append(answer.Loops, one)
		}
	})
	writeJSON(w, http.StatusOK, answer)
}

func newLoopAnswer(info *engine.LoopInfo, s *engine.Stats) loopAnswer {
	return loopAnswer{
		ID: info.ID, CPU: info.CPU, Waiting: info.Waiting, SinceTurn: milliseconds(info.SinceTurn),
		Generation: info.Generation, Connections: info.Connections,
		Exchanges: s.LiveExchanges, Oldest: milliseconds(s.OldestExchange), Requests: s.Requests,
		Turns: s.Reactor.Turns, LongestTurn: milliseconds(s.Reactor.LongestTurn), Accepts: s.Reactor.Accepts,
		HandoffsIn: s.Reactor.HandoffsIn, HandoffsOut: s.Reactor.HandoffsOut, Blocks: s.Reactor.BlocksHeld,
		Idle: s.Pool.Idle, InUse: s.Pool.Busy, Queued: s.Pool.Waiting,
	}
}
