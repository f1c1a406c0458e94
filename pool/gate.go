package pool

// Outcome is the end of one try, as gates see it.
type Outcome uint8

const (
	// Success: a response head arrived and its status is not one that blames the endpoint.
	Success Outcome = iota
	// Failed5xx: the endpoint answered 502, 503 or 504.
	Failed5xx
	// ConnectFailed: no connection could be opened.
	ConnectFailed
	// Reset: the connection broke, or what came was no response.
	Reset
	// TimedOut: no response in time.
	TimedOut
	// Aborted: given up for a reason that does not concern the endpoint, such as a client that left.
	Aborted

	outcomes = int(Aborted) + 1
)

var outcomeNames = [outcomes]string{"success", "failed_5xx", "connect_failed", "reset", "timed_out", "aborted"}

// String is the name used in metrics and logs.
func (o Outcome) String() string {
	if int(o) < outcomes {
		return outcomeNames[o]
	}
	return "unknown"
}

// Failed says whether the outcome blames the endpoint.
func (o Outcome) Failed() bool { return o != Success && o != Aborted }

// Named is a Gate with a name for explanations: what is said of an endpoint that it keeps out, in one word.
type Named interface {
	Gate
	// Name is always the same.
	Name() string
}

// gateName is the name of a gate, "gate" if it has none.
func gateName(g Gate) string {
	if n, ok := g.(Named); ok {
		return n.Name()
	}
	return "gate"
}

// Gate keeps endpoints out of the choice and learns from the end of each try. One gate serves all loops at once, so its
// methods may only use atomics and must neither block nor allocate.
type Gate interface {
	// Allow says whether e may be chosen at now (monotonic nanoseconds). It must change nothing: one choice may ask
	// several times, and the answer yes does not mean that e is chosen.
	Allow(e *Endpoint, now int64) bool
	// Report tells how a try on e ended. elapsed is the time from its start in nanoseconds; 0: not measured.
	Report(e *Endpoint, o Outcome, elapsed, now int64)
}
