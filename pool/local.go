package pool

import (
	"math/rand/v2"

	"github.com/corelane/corelane/engine/reactor"
)

// Options are what a Local is made of.
type Options struct {
	// Loop is the loop that the Local belongs to; nil: it is used for Explain and nothing else, on any one goroutine.
	Loop *reactor.Loop
	// LoopID is its number, from 0 to Loops-1.
	LoopID int
	// Loops is the number of loops of the process, at least 1.
	Loops int
	// Seed starts the random numbers of the balancers; loops may share it.
	Seed uint64
	// Post makes another loop (or, with more than 64 loops, sometimes this one) call Local.Wake(e) soon, in a turn of its
	// own. It is called on the loop, possibly inside any method of Local.
	Post func(loop int, e *Endpoint)
	// Ejected makes every loop, this one too, call Local.CloseIdle(e) soon, in a turn of its own: passive ejection has put
	// e out. It is called on the loop; nil: nobody wants to know.
	Ejected func(e *Endpoint)
}

// timers is the part of a loop that a Local uses.
type timers interface {
	Arm(t *reactor.Timer, deadline int64)
}

// Local is one loop's part of the pool: connections, waiters, balancing state. All its methods are for the loop only.
type Local struct {
	// immutable
	id, loops int
	bit       uint64 // in the endpoints' wanted and spare words
	mine      uint64 // the same, or 0 where another loop shares the bit
	post      func(loop int, e *Endpoint)
	ejected   func(e *Endpoint)
	timers    timers

	// owned by the loop
	random    rand.PCG
	lanes     []*lane     // by endpoint slot
	rotations []*rotation // by service slot
	panics    []panicView // by service slot
	dice      uint64      // decides who in slow start takes part in the present choice; 0: not thrown yet
	spills    []spill     // by service slot
	holding   list[lane]  // lanes with idle connections
	queues    list[lane]  // lanes with waiters
	unsettled list[lane]  // lanes whose waiters may be served
	settling  bool        // waiters are being served further up the stack
	expired   list[Waiter]
	doomed    list[Node]
	timer     reactor.Timer
	nextIdle  int64 // no idle connection expires before; 0: none ever
	nextWait  int64 // no waiter's time runs out before; 0: none ever
	stats     Stats

	idle, busy, waiting int
}

// NewLocal makes the pool of one loop. It may be called on any goroutine before the loop runs.
func NewLocal(o Options) *Local {
	l := &Local{
		id: o.LoopID, loops: o.Loops, bit: 1 << (o.LoopID % maskBits), post: o.Post, ejected: o.Ejected,
	}
	if o.Loop != nil {
		l.timers = o.Loop
	}
	if o.Loops <= maskBits {
		l.mine = l.bit
	}
	l.random.Seed(o.Seed, uint64(o.LoopID))
	l.timer.Init((*sweeper)(l), 0)
	return l
}
