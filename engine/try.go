package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
)

// try is one attempt of an exchange at one endpoint, and all that must be let go
// of when it ends. Its upstream stream talks to it and never to the exchange, so
// that nobody has to guess which try a head, a failure or a timer belongs to. It
// is used again by the exchange's next try.
type try struct {
	// Immutable.
	x    *Exchange   // of a hedge: the one that has borrowed it
	head *codec.Head // where the response head is received

	// Owned by the loop; tryState is cleared by reset.
	tryState
	waiter  pool.Waiter
	clock   reactor.Timer // connect, then the disk, then first byte
	limit   reactor.Timer // per try
	feeding reactor.Task  // goes on with the held body
}

// tryState is what one assignment clears.
type tryState struct {
	up       upstream
	endpoint *pool.Endpoint
	started  bool  // the pool was told of the try
	fresh    bool  // the try must not take an idle connection
	hedging  bool  // the try is a hedge
	feeds    bool  // the held body is being sent
	fed      int64 // bytes of it that were
	begunAt  int64 // or when the request was whole
	headAt   int64 // of the response head; 0: none yet
}

var _ pool.WaiterOwner = (*try)(nil)

func (t *try) init(x *Exchange, head *codec.Head) {
	t.x, t.head = x, head
	t.waiter.Init(t)
	t.clock.Init(t, clockConnect)
	t.limit.Init(t, clockPerTry)
	t.feeding.Run = func(*reactor.Loop) { t.feed() }
}

// begin starts the try at an endpoint: connection, then request.
func (t *try) begin(ep *pool.Endpoint, now int64) {
	x := t.x
	x.tried.Add(ep)
	t.endpoint, t.begunAt, t.headAt = ep, now, 0
	if t == x.lead {
		x.Endpoint = ep.Address()
	}
	x.w.local.Start(x.svc.Pool, ep)
	t.started = true
	if per := x.route.Retries.PerTry.Nanoseconds(); per > 0 {
		x.w.loop.Arm(&t.limit, now+per)
	}
	switch {
	case x.proto != nil && x.proto.Traits().IDBits > 0:
		t.join()
	case t.fresh && t.reserve():
		t.dial()
	default:
		t.borrow(now)
	}
}

// reserve takes a place for a new connection, at the price of the idle ones,
// which are as suspect as the one that just broke.
func (t *try) reserve() bool {
	local := t.x.w.local
	if local.Reserve(t.endpoint) {
		return true
	}
	local.CloseIdle(t.endpoint)
	return local.Reserve(t.endpoint)
}

// borrow asks the pool for a connection.
func (t *try) borrow(now int64) {
	conn, grant := t.x.w.local.Get(t.x.svc.Pool, t.endpoint, &t.waiter, now)
	switch grant {
	case pool.Idle:
		t.lend(conn.(connection), now)
	case pool.Dial:
		t.dial()
	case pool.Exhausted:
		t.failed(faultPoolExhausted)
	case pool.Queued:
		// OnGrant follows.
	}
}

// OnGrant implements pool.WaiterOwner: a queued try gets its connection.
func (t *try) OnGrant(_ *pool.Waiter, c pool.Conn, err error) {
	switch {
	case err != nil:
		t.failed(faultPoolExhausted)
	case c != nil:
		t.lend(c.(connection), t.x.now())
	default:
		t.dial()
	}
}

// lend takes an idle connection, unless it was opened for another configuration.
func (t *try) lend(c connection, now int64) {
	if !c.fits(t) {
		c.drop()
		t.borrow(now)
		return
	}
	t.use(c.begin(t))
}

// dial opens a connection for this try; the pool has reserved its place.
func (t *try) dial() {
	x := t.x
	up, err := newConnection(x, t.endpoint).dial(t)
	if err != nil {
		x.w.local.DialFailed(t.endpoint)
		t.failed(dialFault(err))
		return
	}
	t.up = up
	t.arm(clockConnect, x.svc.ConnectTimeout.Nanoseconds())
}

// use sends the request on an open stream, which has been told of the try.
func (t *try) use(up upstream) {
	x := t.x
	t.up = up
	x.w.loop.Disarm(&t.clock)
	x.setState(stateRequesting)
	up.sendHead(&x.req)
	if x.holdsBody {
		t.beginFeed()
		return
	}
	x.held.replay(up)
	if x.requestDone {
		t.endRequest()
		return
	}
	x.bodyOpen = true
	if x.req.Expect100() && x.bytesIn == 0 {
		// The client waits for the upstream, not the other way round.
		t.awaitHead()
	}
	x.down.resume()
}

// endRequest tells the upstream that the request is whole and starts the wait
// for its answer.
func (t *try) endRequest() {
	x := t.x
	x.reqTrailers.DropNamedBy(&x.req)
	t.up.sendEnd(&x.reqTrailers)
	if x.state == stateRequesting && !t.up.tellSent() {
		t.awaitHead()
	}
}

// onSent starts the wait for an answer to a request that took its time to be
// written.
func (t *try) onSent() {
	if t.x.state == stateRequesting && t.x.requestDone {
		t.awaitHead()
	}
}

func (t *try) awaitHead() { t.arm(clockFirstByte, t.x.route.Timeouts.FirstByte.Nanoseconds()) }

// arm starts the try's clock; 0 is off.
func (t *try) arm(kind uint8, after int64) {
	l := t.x.w.loop
	if after <= 0 {
		l.Disarm(&t.clock)
		return
	}
	t.clock.SetKind(kind)
	l.Arm(&t.clock, l.Now()+after)
}

// OnTimer implements reactor.Alarm.
func (t *try) OnTimer(kind uint8, _ int64) {
	switch kind {
	case clockConnect:
		t.failed(faultConnectTimeout)
	case clockFirstByte:
		t.failed(faultFirstByte)
	case clockPerTry:
		t.failed(faultPerTry)
	case clockQueue:
		t.failed(faultPoolExhausted)
	case clockSpill:
		t.x.onSpillFailed(errSpillLate)
	}
}

// settle tells the pool how the try ended, once, and how long it took to the
// response head, or to its failure, since its begin or, if the client took longer to
// send it, the end of the request. A try that ended before that tells of no time.
func (t *try) settle(o pool.Outcome) {
	if !t.started {
		return
	}
	t.started = false
	now := t.x.now()
	end := t.headAt
	if end == 0 {
		end = now
	}
	if !t.x.requestDone {
		end = t.begunAt
	}
	t.x.w.local.DoneAfter(t.x.svc.Pool, t.endpoint, o, max(end-t.begunAt, 0), now)
}

// drop lets go of whatever the try holds. The upstream is heard of no more.
func (t *try) drop(f fault) {
	w := t.x.w
	w.local.Cancel(&t.waiter)
	if up := t.up; up != nil {
		t.up = nil
		up.cancel()
	}
	t.feeds = false
	t.settle(f.outcome())
	w.loop.Disarm(&t.clock)
	w.loop.Disarm(&t.limit)
}

// failed leaves the exchange to its other try if there is one; else it repeats
// the try if that is safe and allowed, or ends the exchange.
func (t *try) failed(f fault) {
	x := t.x
	if x.responded() {
		x.fail(f)
		return
	}
	if x.rival != nil {
		x.goOnWithout(t, causeOf(f), f)
		return
	}
	untouched, reused := true, false
	if t.up != nil {
		untouched, reused = t.up.untouched(), t.up.reused()
	}
	answering := x.state == stateAnswering
	x.dropTry(f)
	if answering || !x.mayRepeat(f, untouched, reused) {
		x.fail(f)
		return
	}
	x.again()
}

// reset makes the try ready for the next exchange. It must hold nothing.
func (t *try) reset() { t.tryState = tryState{} }

// forget takes a try that is given up out of the timer wheel.
func (t *try) forget() {
	t.x.w.loop.Forget(&t.clock)
	t.x.w.loop.Forget(&t.limit)
}
