package engine

import (
	"github.com/corelane/corelane/pool"
)

// minRetries is the number of retries in flight that the process always
// allows, whatever the budget says, so that a quiet service can be retried.
const minRetries = 3

// beginTry begins one attempt: endpoint, connection, request.
func (x *Exchange) beginTry() {
	now := x.now()
	x.tries++
	x.setState(stateConnecting)
	ep, err := x.w.local.Pick(x.svc.Pool, x.key, &x.tried, now)
	if err != nil {
		x.fail(faultNoEndpoint)
		return
	}
	x.lead.hedging = false
	x.armHedge()
	x.lead.begin(ep, now)
}

// dropTry lets go of whatever is under way upstream.
func (x *Exchange) dropTry(f fault) {
	if x.rival != nil {
		x.goOnWithout(x.rival, causeHedgeLost, fault{})
	}
	x.lead.drop(f)
	if x.bodyOpen {
		x.down.hold()
	}
	x.bodyOpen, x.respOpen = false, false
	x.w.loop.Disarm(&x.upClock)
}

// again begins the next try.
func (x *Exchange) again() {
	x.Response = nil
	x.beginTry()
}

// mayRepeat applies the rules of docs/architecture.md: nothing of a response has reached the
// client, the method is idempotent or no byte reached the socket, and the body
// is still held whole. It books the retry that it allows.
func (x *Exchange) mayRepeat(f fault, untouched, reused bool) bool {
	if x.interim || !untouched && !x.req.MethodID().Idempotent() {
		return false
	}
	if !x.keepsBody() {
		return false
	}
	if f.kind == faultReset && reused && !x.staleRetried {
		// The peer closed an idle connection as it was taken: not the
		// endpoint's fault and not counted, but the next one must be new.
		x.staleRetried, x.lead.fresh = true, true
		x.tried.Reset()
		x.giveUp(x.lead, causeStale)
		x.w.stats.StaleRetries++
		return true
	}
	return x.repeats(f.kind) && x.takeRetry(f.kind, causeOf(f))
}

// repeats says whether the route repeats this kind of failure.
func (x *Exchange) repeats(kind faultKind) bool {
	r := &x.route.Retries
	switch kind {
	case faultConnect:
		return r.Connect
	case faultReset, faultTry:
		return r.Reset
	}
	return false
}

// retryStatus says whether a response with the status is thrown away and the
// request repeated. It books the retry that it allows.
func (x *Exchange) retryStatus(status int) bool {
	return x.route.Retries.Statuses.Has(status) && !x.interim &&
		x.req.MethodID().Idempotent() &&
		x.requestDone &&
		x.keepsBody() &&
		x.takeRetry(faultFinal, cause(status))
}

// failsOver says whether a retry leaves an endpoint that is not there any more
// for one that was not tried. When an endpoint dies, a large share of all
// exchanges do so at one moment, and none of them is more work for the service.
func (x *Exchange) failsOver(kind faultKind) bool {
	switch kind {
	case faultConnect:
		return true
	case faultReset:
		return x.anyUntried()
	}
	return false
}

// anyUntried says whether an endpoint is left that was not tried and may be. One
// that warms up may, if nobody else is left.
func (x *Exchange) anyUntried() bool {
	for i := range x.svc.Pool.Members {
		m := &x.svc.Pool.Members[i]
		if m.Weight == 0 || x.tried.Has(m.Endpoint) {
			continue
		}
		switch x.svc.Pool.Refusal(m.Endpoint, x.now()) {
		case "", pool.WhySlowStart, pool.WhyWarmingUp:
			return true
		}
	}
	return false
}

// welcomes says whether an endpoint may be asked for more than the exchange
// cannot do without: not in a panic, nor before it is warm.
func (x *Exchange) welcomes(e *pool.Endpoint) bool {
	why := x.svc.Pool.Refusal(e, x.now())
	return why == "" || why == pool.WhySlowStart
}

// extraTries counts the tries behind the first, without the one that replaced a
// dead idle connection.
func (x *Exchange) extraTries() int {
	extra := x.tries - 1
	if x.staleRetried {
		extra--
	}
	return extra
}

// takeRetry counts an extra try against the route's attempts and, unless it fails
// over, against the budget.
func (x *Exchange) takeRetry(kind faultKind, why cause) bool {
	if x.extraTries() >= x.route.Retries.Attempts {
		return false
	}
	if !x.retrying && !x.failsOver(kind) {
		if !x.w.takeRetry(x.svc, x.route.Retries.Budget) {
			x.w.stats.RetriesDenied++
			return false
		}
		x.retrying = true
	}
	x.lead.fresh = false
	x.giveUp(x.lead, why)
	x.w.stats.countRetry(why)
	return true
}

// mayHold says whether a body is worth keeping for another try. That of an
// unsafe request is while nothing was sent: its connection may turn out to have
// died in the pool.
func (x *Exchange) mayHold() bool {
	up := x.lead.up
	if x.req.MethodID().Idempotent() {
		return x.route.Retries.Attempts > 0 || up.reused()
	}
	return up.mayLose()
}

// outcomeOf is what the pool's gates learn from a response.
func outcomeOf(status int) pool.Outcome {
	switch status {
	case 502, 503, 504:
		return pool.Failed5xx
	}
	return pool.Success
}
