package snapshot

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/route"
)

// Record is what a Resolver tells of one decision. It allocates and is for
// explanations; one goroutine at a time may use it. Its zero value is ready.
type Record struct {
	// Received is the path as it came, Matched as it was looked up, Forwarded as
	// the service gets it; empty where the decision did not come so far.
	Received, Matched, Forwarded string
	// Ambiguous tells that the path has more than one reading.
	Ambiguous bool
	// Authority is host and port as received, Host what was looked up.
	Authority, Host string
	// HostKnown tells that routes are registered for the host, by HostPattern,
	// which is empty for those of any host.
	HostKnown   bool
	HostPattern string
	// Pattern is that of the candidates; empty if no pattern covers the path.
	Pattern string
	// Candidates are the routes of the pattern in order of rank.
	Candidates []Candidate
	// ForwardedHost is the field Host that the service gets.
	ForwardedHost string
}

// Candidate is one route that was looked at.
type Candidate struct {
	// Spec belongs to the table and must not be changed.
	Spec *route.Spec
	// Why is what became of it, and Condition the name of the header, query
	// parameter or cookie that failed, or the expression.
	Why       route.Verdict
	Condition string
}

var _ route.Recorder = (*Record)(nil)

// Candidate implements route.Recorder.
func (r *Record) Candidate(spec *route.Spec, why route.Verdict, condition string) {
	r.Candidates = append(r.Candidates, Candidate{Spec: spec, Why: why, Condition: condition})
}

func (r *Record) normalized(received []byte, ambiguous bool) {
	r.Received, r.Ambiguous = string(received), ambiguous
}

func (r *Record) resolved(q *Query) {
	r.Host, r.Matched = string(q.request.Host), string(q.request.Path)
	r.HostPattern, r.HostKnown = q.match.Host()
	r.Pattern = q.match.Pattern()
}

func (r *Record) forwarded(h *codec.Head) {
	r.Forwarded, r.ForwardedHost = string(h.Path()), string(h.Authority())
}
