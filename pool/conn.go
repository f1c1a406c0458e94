package pool

import "time"

// CloseReason says why a connection left the pool.
type CloseReason uint8

const (
	// ReasonRemoved: its owner closed it: the peer did, an error, or a framing that did not end cleanly.
	ReasonRemoved CloseReason = iota
	// ReasonIdle: unused for longer than Limits.Idle.
	ReasonIdle
	// ReasonAge: older than Limits.MaxAge.
	ReasonAge
	// ReasonRetired: the published generation does not contain its endpoint.
	ReasonRetired
	// ReasonYield: given up for a loop that waits.
	ReasonYield
	// ReasonLimit: the limit was lowered under the number of connections.
	ReasonLimit
	// ReasonUnhealthy: its endpoint is unhealthy, ejected or draining.
	ReasonUnhealthy

	// Reasons is the number of reasons.
	Reasons = int(ReasonUnhealthy) + 1
)

var reasonNames = [Reasons]string{"removed", "idle", "age", "retired", "yield", "limit", "unhealthy"}

// String is the name used in metrics.
func (r CloseReason) String() string {
	if int(r) < Reasons {
		return reasonNames[r]
	}
	return "unknown"
}

// Conn is an upstream connection of the engine. It embeds a Node and is used on its loop only.
type Conn interface {
	// Pooled returns the embedded node, always the same.
	Pooled() *Node
	// CloseIdle closes the connection because the pool wants it so. No exchange is on it; Put may call it for the
	// connection just given back. The pool has forgotten it already, so that Local.Remove is not needed and does nothing.
	CloseIdle(reason CloseReason)
}

// Node is the pool's part of a connection, embedded in it. The zero value is a connection that the pool does not know.
// It must not be copied once attached, and is used on its loop only.
type Node struct {
	link    link[Node] // in the lane's idle list, or in the list of those about to be closed
	conn    Conn
	lane    *lane
	state   nodeState
	born    int64
	expires int64       // when it must be closed if it is still idle; 0: never
	because CloseReason // why, then
	uses    int
}

// nodeState is where a connection stands with the pool.
type nodeState uint8

const (
	unattached nodeState = iota // unknown to the pool; holds no slot
	busy                        // lent to an exchange
	idle                        // in the idle list
	closing                     // its time is up and the pool is about to close it
)

// Endpoint is where the connection leads; nil before the first Attach. It stays readable after Remove.
func (n *Node) Endpoint() *Endpoint {
	if n.lane == nil {
		return nil
	}
	return n.lane.endpoint
}

// Born is when the connection was attached, in monotonic nanoseconds.
func (n *Node) Born() int64 { return n.born }

// Reused says that the connection lay idle before it was lent for the present exchange, so that the peer may have
// closed it meanwhile.
func (n *Node) Reused() bool { return n.uses > 1 }

// Uses is the number of times that the connection was lent, the present one included.
func (n *Node) Uses() int { return n.uses }

// expire notes when and why the connection, which becomes idle now, must be closed.
func (n *Node) expire(limits Limits, now int64) {
	n.expires, n.because = after(now, limits.Idle), ReasonIdle
	if aged := after(n.born, limits.MaxAge); earlier(aged, n.expires) != n.expires {
		n.expires, n.because = aged, ReasonAge
	}
}

// after is the moment d after t; 0, never, if d is 0.
func after(t int64, d time.Duration) int64 {
	if d == 0 {
		return 0
	}
	return t + int64(d)
}

// earlier is the earlier of two moments, of which 0 means never.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
