package explain

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// Explain says what would become of a request in a generation, with endpoints as
// they are now, in monotonic nanoseconds. An error is about the question: the
// listener, the client or the URL cannot be understood. Any goroutine but a
// loop's may call it.
func Explain(s *snapshot.Snapshot, r Request, now int64) (*Explanation, error) {
	p, err := r.parse(s)
	if err != nil {
		return nil, err
	}
	b := &builder{
		snap: s, listener: p.listener, now: now, resolver: snapshot.NewResolver(),
		out: &Explanation{
			Generation: s.Generation, Listener: p.listener.Name, Protocol: p.listener.Speaks(),
			Method: p.method, RPC: p.call, Client: clientText(p.peer),
			Candidates: []Candidate{}, Filters: []Filter{}, Notes: []string{},
		},
	}
	b.run(p)
	return b.out, nil
}

// builder makes one explanation.
type builder struct {
	snap     *snapshot.Snapshot
	listener *snapshot.Listener
	now      int64
	resolver *snapshot.Resolver
	head     *codec.Head
	client   netip.Addr
	query    snapshot.Query
	record   snapshot.Record
	out      *Explanation
}

// run follows the request as far as it comes.
func (b *builder) run(p *parsed) {
	var at engine.Arrival
	b.head, at = p.arrive()
	b.out.Host.Received, b.out.Path.Received = p.shownHost(), p.path()
	if at.Status != 0 {
		b.answer(at)
		return
	}
	b.client = at.Client
	b.out.Client = clientText(at.Client)
	if b.head.Call() == codec.ByPath && !b.resolver.Normalize(b.head, b.listener, &b.record) {
		b.answer(engine.RefusalOf(codec.AmbiguousPath, b.head))
		return
	}
	if b.passes(b.listener.Chain, func(int) string { return "listener " + b.listener.Name }) {
		b.resolve()
	}
}

// answer ends the explanation with an answer of the gateway's own.
func (b *builder) answer(a engine.Arrival) {
	b.out.Outcome = Outcome{Kind: Answered, Status: a.Status, Reason: a.Reason.String(), Message: a.Message}
	if a.Reason != codec.ReasonNone {
		b.out.Outcome.Kind = Refused
	}
}

// passes lists filters up to one that answers. False: there is one.
func (b *builder) passes(c *filters.Chain, from func(i int) string) bool {
	for i, e := range c.Entries() {
		f := Filter{Name: e.Name(), From: from(i), Answers: e.Answers()}
		b.out.Filters = append(b.out.Filters, f)
		if f.Answers {
			b.out.Outcome = Outcome{Kind: Answered, By: f.Name + " of " + f.From}
			return false
		}
	}
	return true
}

// resolve finds the route and what stands behind it.
func (b *builder) resolve() {
	reason := b.resolver.Resolve(&b.query, b.snap, b.head, &b.record)
	b.out.Path.Matched = b.record.Matched
	b.out.Host.Matched, b.out.Host.Known, b.out.Host.Pattern = b.record.Host, b.record.HostKnown, b.record.HostPattern
	b.out.Pattern = b.record.Pattern
	for i := range b.record.Candidates {
		b.out.Candidates = append(b.out.Candidates, b.candidate(&b.record.Candidates[i]))
	}
	b.note()
	if reason != codec.ReasonNone {
		b.answer(engine.RefusalOf(reason, b.head))
		b.out.Outcome.Allow = string(b.query.Allow(nil))
		return
	}
	r := b.query.Route()
	b.out.Route = r.Info.ID
	if limit := r.BodyLimit(b.listener); limit > 0 && b.head.ContentLength() > limit {
		b.answer(engine.RefusalOf(codec.BodyTooLarge, b.head))
		return
	}
	if b.passes(r.Chain, func(i int) string { return place(r, i) }) {
		b.forward(r)
	}
}

// place is where filter i of a route's chain is used.
func place(r *snapshot.Route, i int) string {
	for _, set := range r.Sets {
		if i < set.Filters {
			return "set " + set.Name
		}
		i -= set.Filters
	}
	return "route " + r.Info.ID
}

// note tells that listener filters may change what predicates look at.
func (b *builder) note() {
	if len(b.out.Filters) == 0 {
		return
	}
	for _, c := range b.record.Candidates {
		if len(c.Spec.Headers)+len(c.Spec.Cookies)+len(c.Spec.Query) > 0 {
			b.out.Notes = append(b.out.Notes, "filters of the listener run before the route is chosen; what they change is not seen here")
			return
		}
	}
}

// forward explains service and endpoint.
func (b *builder) forward(r *snapshot.Route) {
	svc := r.Service
	if svc == nil {
		b.answer(engine.RefusalOf(codec.NoEndpoint, b.head))
		return
	}
	b.resolver.Forward(&b.query, b.head, &b.record)
	b.out.Path.Forwarded, b.out.Host.Forwarded = b.record.Forwarded, b.record.ForwardedHost
	s := &Service{
		Name: svc.Name, Protocol: svc.Speaks(), Balance: svc.Pool.Balance.String(), Endpoints: []Endpoint{},
		Timeouts: b.timeouts(r, svc), Retries: retriesOf(&r.Retries),
	}
	b.out.Service = s
	// A loop without history, and so without a place in a round of its own.
	verdicts, choice := pool.NewLocal(pool.Options{Loops: 1}).Explain(svc.Pool, svc.Key(b.head, b.client), b.now)
	for _, v := range verdicts {
		s.Endpoints = append(s.Endpoints, endpointOf(v))
	}
	if choice == nil {
		b.answer(engine.RefusalOf(codec.NoEndpoint, b.head))
		return
	}
	s.Chosen = choice.Address()
	b.out.Outcome = Outcome{Kind: Forwarded}
}

func endpointOf(v pool.Verdict) Endpoint {
	return Endpoint{
		Address: v.Endpoint.Address(), Usable: v.Usable, Why: v.Why, Tier: v.Tier, Weight: v.Weight, Score: v.Score,
	}
}

func (b *builder) timeouts(r *snapshot.Route, svc *snapshot.Service) Timeouts {
	tunnel := r.Timeouts.TunnelIdle
	if tunnel == snapshot.Inherit {
		tunnel = b.listener.TunnelIdle
	}
	return Timeouts{
		Connect: milliseconds(svc.ConnectTimeout), PoolWait: milliseconds(svc.Pool.Limits.Wait),
		FirstByte: milliseconds(r.Timeouts.FirstByte), Idle: milliseconds(r.Timeouts.Idle),
		PerTry: milliseconds(r.Retries.PerTry), Total: milliseconds(r.Timeouts.Total), TunnelIdle: milliseconds(tunnel),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func retriesOf(r *snapshot.Retries) Retries {
	out := Retries{Attempts: r.Attempts, On: []string{}, Budget: r.Budget, Hedge: milliseconds(r.Hedge)}
	if r.Connect {
		out.On = append(out.On, "connect")
	}
	if r.Reset {
		out.On = append(out.On, "reset")
	}
	for status := 500; status < 600; status++ {
		if r.Statuses.Has(status) {
			out.On = append(out.On, strconv.Itoa(status))
		}
	}
	return out
}
