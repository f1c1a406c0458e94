package route

// Verdict says what became of one candidate.
type Verdict uint8

const (
	// Matched: every predicate holds; this is the route.
	Matched Verdict = iota
	// Disabled: the route is switched off.
	Disabled
	// Method: the route does not take the method.
	Method
	// Header: a header condition failed.
	Header
	// Query: a query condition failed.
	Query
	// Cookie: a cookie condition failed.
	Cookie
	// Regex: the expression does not occur in the path.
	Regex
	// Outranked: a candidate before it matched, so it was not tried.
	Outranked
)

var verdictNames = [...]string{
	"matched", "disabled", "method", "header", "query", "cookie", "regex", "outranked",
}

// String returns the verdict in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown"
}

// Recorder is told how a lookup decided, by the code that decided. Its calls
// come on the caller's goroutine, in order of rank.
type Recorder interface {
	// Candidate reports one route of the resolved place and the first
	// predicate that failed. The condition is the name of the header, query
	// parameter or cookie, or the expression; it is empty for other verdicts.
	// The spec belongs to the table and must not be changed.
	Candidate(spec *Spec, why Verdict, condition string)
}
