package reactor

import (
	"fmt"
	"time"
)

// Event is a set of readiness bits.
type Event uint8

// Readiness bits. HangUp alone is a half-close: the peer sends no more but may still read.
const (
	Readable Event = 1 << iota
	Writable
	HangUp // the peer closed its sending side, or everything
	Failed // the socket has a pending error
	Gone   // both directions are down; comes with HangUp
)

// Poller tells a loop about its descriptors. Both implementations deliver edges: an event says that
// something changed, never that it still is so.
type Poller interface {
	// Add registers fd once, for everything. There is no change and no removal: close(2) ends it.
	Add(fd int, token uint64) error
	// Run calls onEvent for each event and onTurn after each batch, until Stop. The wait that onTurn
	// returns bounds the next pause: negative means until an event, 0 means to poll again at once.
	// Both are called on the goroutine of Run.
	Run(onEvent func(token uint64, ev Event), onTurn func() (wait time.Duration)) error
	// Wake makes Run call onTurn soon. Any goroutine.
	Wake()
	// Stop makes Run return after the turn. Any goroutine.
	Stop()
	// Close releases the poller after Run has returned.
	Close() error
}

// Names of the pollers, as in Options.Poller.
const (
	PollerEpoll = "epoll" // Linux
	PollerGnet  = "gnet"  // Linux, macOS, BSD
)

// wakeCount is what is written to wake a poller: any number but 0, in either byte order.
var wakeCount = []byte{1, 0, 0, 0, 0, 0, 0, 0}

// tokenWake is the token of a poller's own wake descriptor.
const tokenWake = ^uint64(0)

func openPoller(name string, busy time.Duration) (Poller, error) {
	switch name {
	case "", PollerEpoll:
		return openEpoll(busy)
	case PollerGnet:
		return openGnet()
	}
	return nil, fmt.Errorf("poller %q is unknown: want %s or %s", name, PollerEpoll, PollerGnet)
}
