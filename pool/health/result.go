package health

// Result is how a probe ended.
type Result uint8

const (
	// Success: as expected.
	Success Result = iota
	// WrongStatus: an answer with a status that is not expected.
	WrongStatus
	// WrongBody: an answer without the text that is expected.
	WrongBody
	// TimedOut: no whole answer in time.
	TimedOut
	// ConnectFailed: no connection came about.
	ConnectFailed
	// Broken: the connection broke, or what came was no answer.
	Broken
	// NotTried: this machine lacked a descriptor, a port or memory, which says nothing about the endpoint and is not counted
	// against it.
	NotTried

	// Results is the number of results.
	Results = int(NotTried) + 1
)

var resultNames = [Results]string{"success", "status", "body", "timeout", "connect", "broken", "not_tried"}

// String is the name used in the API and in metrics.
func (r Result) String() string {
	if int(r) < Results {
		return resultNames[r]
	}
	return "unknown"
}

// outcome is a result with what a person wants to know about it.
type outcome struct {
	result Result
	reason string
}
