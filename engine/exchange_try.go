package engine

import (
	"github.com/corelane/corelane/pool"
)

// minRetries is the number of retries in flight that the process always
// allows, whatever the budget says, so that a quiet service can be retried.
const minRetries = 3

// try begins one attempt: endpoint, connection, request.
func (x *Exchange) try() {
	now := x.now()
	x.tries++
	x.setState(stateConnecting)
	ep, err := x.w.local.Pick(x.svc.Pool, &x.tried, now)
	if err != nil {
		x.fail(faultNoEndpoint)
		return
	}
	x.tried.Add(ep)
	x.endpoint, x.Endpoint = ep, ep.Address()
	x.w.local.Start(x.svc.Pool, ep)
	x.started = true
	if per := x.route.Retries.PerTry.Nanoseconds(); per > 0 {
		x.w.loop.Arm(&x.tryClock, now+per)
	}
	if x.fresh && x.reserve(ep) {
		x.dial()
		return
	}
	x.borrow(now)
}

// reserve takes a place for a new connection, at the price of the idle ones,
// which are as suspect as the one that just broke.
func (x *Exchange) reserve(ep *pool.Endpoint) bool {
	local := x.w.local
	if local.Reserve(ep) {
		return true
	}
	local.CloseIdle(ep)
	return local.Reserve(ep)
}

// borrow asks the pool for a connection.
func (x *Exchange) borrow(now int64) {
	conn, grant := x.w.local.Get(x.svc.Pool, x.endpoint, &x.waiter, now)
	switch grant {
	case pool.Idle:
		u := conn.(*upstreamConn)
		if u.source != x.svc.Source {
			u.drop() // opened under an earlier configuration
			x.borrow(now)
			return
		}
		x.use(u)
	case pool.Dial:
		x.dial()
	case pool.Exhausted:
		x.onUpstreamFailed(faultPoolExhausted)
	case pool.Queued:
		// OnGrant follows.
	}
}

// OnGrant implements pool.WaiterOwner: a queued try gets its connection.
func (x *Exchange) OnGrant(_ *pool.Waiter, c pool.Conn, err error) {
	switch {
	case err != nil:
		x.onUpstreamFailed(faultPoolExhausted)
	case c != nil:
		x.use(c.(*upstreamConn))
	default:
		x.dial()
	}
}

// dial opens a connection for this try; the pool has reserved its place.
func (x *Exchange) dial() {
	u := newUpstreamConn(x.w, x.svc, x.endpoint)
	if err := u.dial(x); err != nil {
		x.w.local.DialFailed(x.endpoint)
		x.onUpstreamFailed(dialFault(err))
		return
	}
	x.up = u
	x.armUp(clockConnect, x.svc.ConnectTimeout.Nanoseconds())
}

// use sends the request on an open connection.
func (x *Exchange) use(u *upstreamConn) {
	u.begin(x)
	x.up = u
	x.w.loop.Disarm(&x.upClock)
	x.setState(stateRequesting)
	u.sendHead(&x.req)
	x.held.replay(u)
	if x.requestDone {
		x.endRequest()
		return
	}
	x.bodyOpen = true
	if x.req.Expect100() && x.bytesIn == 0 {
		// The client waits for the upstream, not the other way round.
		x.armUp(clockFirstByte, x.route.Timeouts.FirstByte.Nanoseconds())
	}
	x.down.resume()
}

// settleTry tells the pool how the try ended, once.
func (x *Exchange) settleTry(o pool.Outcome) {
	if x.started {
		x.started = false
		x.w.local.Done(x.svc.Pool, x.endpoint, o, x.now())
	}
}

// dropTry lets go of whatever the try holds.
func (x *Exchange) dropTry(f fault) {
	if x.svc != nil {
		x.w.local.Cancel(&x.waiter)
	}
	if up := x.up; up != nil {
		x.up = nil
		up.cancel()
	}
	x.settleTry(f.outcome())
	if x.bodyOpen {
		x.down.hold()
	}
	x.bodyOpen, x.respOpen = false, false
	x.w.loop.Disarm(&x.upClock)
	x.w.loop.Disarm(&x.tryClock)
}

// onUpstreamFailed repeats the try if that is safe and allowed, else ends the
// exchange.
func (x *Exchange) onUpstreamFailed(f fault) {
	if x.responded() {
		x.fail(f)
		return
	}
	untouched, reused := true, false
	if x.up != nil {
		untouched, reused = x.up.untouched(), x.up.reused()
	}
	answering := x.state == stateAnswering
	x.dropTry(f)
	if answering || !x.mayRepeat(f, untouched, reused) {
		x.fail(f)
		return
	}
	x.again()
}

// again begins the next try.
func (x *Exchange) again() {
	x.Response = nil
	x.try()
}

// mayRepeat applies the rules of docs/architecture.md: nothing of a response has reached the
// client, the method is idempotent or no byte reached the socket, and the body
// is still held whole. It books the retry that it allows.
func (x *Exchange) mayRepeat(f fault, untouched, reused bool) bool {
	if x.interim || !untouched && !x.req.MethodID().Idempotent() {
		return false
	}
	if x.bytesIn > 0 && !x.held.whole(x.bytesIn) {
		return false
	}
	if f.kind == faultReset && reused && !x.staleRetried {
		// The peer closed an idle connection as it was taken: not the
		// endpoint's fault and not counted, but the next one must be new.
		x.staleRetried, x.fresh = true, true
		x.tried.Reset()
		x.w.stats.StaleRetries++
		return true
	}
	return x.repeats(f.kind) && x.takeRetry(f.kind)
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
		(x.bytesIn == 0 || x.held.whole(x.bytesIn)) &&
		x.takeRetry(faultFinal)
}

// failsOver says whether a retry leaves an endpoint that is not there any more
// for one that was not tried. When an endpoint dies, a large share of all
// exchanges do so at one moment, and none of them is more work for the service.
func (x *Exchange) failsOver(kind faultKind) bool {
	switch kind {
	case faultConnect:
		return true
	case faultReset:
		return x.tried.Len() < len(x.svc.Pool.Members)
	}
	return false
}

// takeRetry counts an extra try against the route's attempts and, unless it fails
// over, against the budget.
func (x *Exchange) takeRetry(kind faultKind) bool {
	extra := x.tries - 1
	if x.staleRetried {
		extra--
	}
	if extra >= x.route.Retries.Attempts {
		return false
	}
	if !x.retrying && !x.failsOver(kind) {
		if !x.w.takeRetry(x.svc, x.route.Retries.Budget) {
			x.w.stats.RetriesDenied++
			return false
		}
		x.retrying = true
	}
	x.fresh = false
	x.w.stats.Retries++
	return true
}

// mayHold says whether a body is worth keeping for another try.
func (x *Exchange) mayHold() bool {
	return x.req.MethodID().Idempotent() &&
		(x.route.Retries.Attempts > 0 || x.up.reused())
}

// outcomeOf is what the pool's gates learn from a response.
func outcomeOf(status int) pool.Outcome {
	switch status {
	case 502, 503, 504:
		return pool.Failed5xx
	}
	return pool.Success
}
