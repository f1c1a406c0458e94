// Package pool knows the endpoints of every service, chooses one for a try and lends a connection to it.
//
// An Endpoint is process-wide and outlives configuration generations; what loops must agree on is kept in its
// atomic words. A Service is one generation's immutable view of some endpoints: weights, balancer, limits, gates.
// A Local belongs to one loop. It holds that loop's idle connections, newest first, its waiters, first come first
// served, and its balancing state, all intrusive, so that Pick, Get and Put neither lock nor allocate.
//
// The connection limit of an endpoint is one counter: raised by compare-and-swap before a dial, lowered when the
// connection is closed. Connections never change loops. A loop that finds the counter full queues its waiter, raises
// its bit in the endpoint's wanted word and looks once more; a loop that gives a connection up looks at that word
// afterwards. Whichever comes second sees the other, so no wake-up is lost. A second word, spare, says which loops
// may hold idle connections, so that a waiting loop can ask one of them to close one.
//
// The package knows no protocol and opens no socket: the engine dials, and tells the pool how each try ended.
package pool

import "time"

// Limits of the package.
const (
	// MaxTried is the number of endpoints that a Tried set remembers.
	MaxTried = 8
	// maxMembers is the largest number of members of one service.
	maxMembers = 1 << 16
	// maxWeight is the largest weight of a member; the sum over maxMembers fits 63 bits with room to multiply by a load.
	maxWeight = 1 << 20
	// maxPriority is the largest number of a tier.
	maxPriority = 127
	// subsetSize is the number of members of one tier that a node uses where it need not know them all.
	subsetSize = 50
	// hashProbes is the number of table entries that one choice looks at.
	hashProbes = 64
	// maskBits is the width of the wanted and spare words. Loops whose ids are equal modulo maskBits share a bit.
	maskBits = 64
	// othersTurn is the share of releases that go to waiting loops while the releasing loop has waiters itself: one in othersTurn.
	othersTurn = 4
	// redraws is the number of random draws before a weighted choice counts the usable members instead.
	redraws = 4
	// maxRotations is the number of round-robin positions that a loop keeps for the services that share one State.
	maxRotations = 16
	// maxOffsetWork bounds the steps × members that a loop spends to move a new weighted rotation to its own offset.
	maxOffsetWork = 4096
	// sweepGap is the shortest time between two searches for expired idle connections, in nanoseconds.
	sweepGap = int64(100 * time.Millisecond)
	// overdue is a deadline that lies in the past of every loop, in monotonic nanoseconds.
	overdue = 1
)
