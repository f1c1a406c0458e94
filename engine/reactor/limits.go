package reactor

import "time"

// Sizes in bytes.
const (
	// BlockSize is the size of one off-heap block.
	BlockSize = 16 << 10
	// ReadBuffer is the most that one delivery to a Handler can hold.
	ReadBuffer = 64 << 10

	regionBlocks    = 64                       // blocks of one mapping
	regionSize      = regionBlocks * BlockSize // 1 MiB
	readHeadroom    = 8 << 10                  // room for a head in front of a body in the read buffer
	scratchSize     = 32 << 10                 // staged bytes of one gather list
	scratchMin      = 8 << 10                  // Stage offers at least this much
	parkLimit       = 2 << 10                  // the largest write that is parked, see park.go
	bayLimit        = 16 << 10                 // what is parked at most for a connection that gathers
	smallWrite      = 512                      // below this, joining the scratch is cheaper than a vector entry
	defaultReadSize = 16 << 10
	defaultHigh     = 256 << 10
	defaultLow      = 64 << 10
)

// Budgets of one turn. Without them a single fast peer, a flood of connections or a producer on
// another goroutine could keep the loop from everybody else.
const (
	bytesPerTurn    = 256 << 10 // read by one connection
	acceptsPerTurn  = 64        // taken by one listener
	tasksPerTurn    = 1024
	deferredPerTurn = 4096
)

const (
	maxPieces = 64  // entries of one writev
	maxParked = 32  // connections whose writes wait for the end of the batch: about 0.2 ms of work
	maxEvents = 512 // events of one epoll_wait

	decayTicks = 10 // ticks of disuse until free memory is given back
)

// rawWait is the longest wait that keeps the processor, see epollPoller. It is longer than the kernel's
// tick on purpose: a shorter one is the next thing due on its CPU, so each wait would program the timer
// hardware and take that back, which measured an eighth of the processor time of a proxy with 4
// connections on a virtual machine (1 ms against 10 ms; 40 ms is no better).
const rawWait = 10 * time.Millisecond

const (
	tickEvery     = int64(time.Second)
	backoffFirst  = int64(10 * time.Millisecond)
	backoffLimit  = int64(time.Second)
	closeTimeout  = int64(30 * time.Second) // for Close with queued bytes on a Conn without a write timeout
	defaultListen = 4096                    // backlog; the kernel caps it at net.core.somaxconn
)
