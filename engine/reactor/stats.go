package reactor

// Stats are the plain counters of one loop. Only code on the loop may read or change them.
type Stats struct {
	Turns        uint64 // rounds of the loop
	Events       uint64 // events of connections and listeners
	StaleEvents  uint64 // events for a slot that was given to another since
	Reads        uint64 // read calls
	Writes       uint64 // write and writev calls
	BytesIn      uint64
	BytesOut     uint64
	Relayed      uint64 // of them, what the kernel passed on by itself
	Accepts      uint64 // connections accepted by this loop, handed off or not
	AcceptErrors uint64 // accept failed, usually for want of descriptors
	Refused      uint64 // closed at once because the process-wide limit was reached
	HandoffsOut  uint64 // fresh connections given to another loop
	HandoffsIn   uint64 // and taken from one
	Dials        uint64
	Panics       uint64 // callbacks that panicked
	Timers       uint64 // timers that fired
	Tasks        uint64 // tasks that ran
	LongestTurn  int64  // nanoseconds
	BlocksHeld   int64  // blocks in use now
}
