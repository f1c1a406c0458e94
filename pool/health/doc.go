// Package health checks endpoints from the outside: it asks each of them now and then how it is, and writes the answer
// into the endpoint, where the loops' choices see it.
//
// A Checker belongs to the control side and runs on goroutines of its own; no loop waits for it. There is one probe for
// each endpoint of the process, whatever the number of generations and loops, and never two of one endpoint at a time.
// A bounded number run at once, each on one goroutine that its timeout ends, so that endpoints that hang cost little.
// Nothing is resolved: addresses are IP addresses or unix sockets.
package health

import "time"

// Limits of the package.
const (
	// MaxParallel is the number of probes that run at one time. The others wait for their turn, those due first before
	// those due later.
	MaxParallel = 64
	// MaxHistory is the number of transitions that are remembered of an endpoint.
	MaxHistory = 20
	// maxBody and maxHead bound what is read of an answer, in bytes.
	maxBody = 64 << 10
	maxHead = 16 << 10
	// maxReason bounds what is kept of an error's text, in bytes.
	maxReason = 200
	// maxSpread is the longest time over which first probes are spread: soon enough to find what is dead, not all at once.
	maxSpread = time.Second
	// jitter is how far an interval may be off, as a part of it, so that gateways and endpoints do not fall into step.
	jitter = 0.1
	// noneDue is how long a checker without probes waits.
	noneDue = time.Hour
)
