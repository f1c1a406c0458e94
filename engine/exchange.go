package engine

import (
	"errors"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// state is where an exchange stands; setState is its only writer.
type state uint8

const (
	// stateFree: in the worker's free list.
	stateFree state = iota
	// stateFiltering: request filters run, or one of them waits.
	stateFiltering
	// stateHolding: the request body is received whole; no endpoint is chosen.
	stateHolding
	// stateConnecting: an endpoint is being chosen, queued for or connected to.
	stateConnecting
	// stateRequesting: the request is being sent; no response head yet.
	stateRequesting
	// stateAnswering: response filters run, or one of them waits.
	stateAnswering
	// stateResponding: the response head has gone to the client.
	stateResponding
	// stateTunnel: a 101 was relayed; bytes are opaque.
	stateTunnel
	// stateOver: finished; kept only until a pending Resume has arrived.
	stateOver
)

// Exchange is one request with its response: the state machine between a
// downstream stream and an upstream stream. It embeds the Context that filters
// see. Exchanges are recycled; everything is used on the worker's loop only.
type Exchange struct {
	filters.Context

	// Immutable.
	w *worker

	// The heads as received and changed on the way. They keep their buffers.
	req, resp             codec.Head
	reqTrailers, trailers codec.Head

	// lead is the try that body bytes go to and the answer comes from.
	lead *try
	// rival is the other try while two are under way. Nothing that either says
	// reaches the client before one of them has won.
	rival *try
	hedge *hedgeTry // borrowed by the first hedge, kept to the end

	// Owned by the loop; cleared by reset.
	exchangeState

	// Nodes that live in the exchange so that nothing is allocated for it.
	query    snapshot.Query
	first    try
	tried    pool.Tried
	held     heldBody
	buffer   buffer
	upClock  reactor.Timer // one of a filter's wait, hedge, upstream idle, tunnel idle
	gaveUp   [maxGivenUp]givenUp
	allClock reactor.Timer
	wake     reactor.Task
	prev     *Exchange
	next     *Exchange
}

// exchangeState is what one assignment clears.
type exchangeState struct {
	state state
	stage stage
	down  downstream
	snap  *snapshot.Snapshot
	lis   *snapshot.Listener
	route *snapshot.Route
	svc   *snapshot.Service
	proto codec.Protocol // that requests to svc are sent in; nil: HTTP/1.1

	peerText []byte // the peer's address without port
	maxBody  int64
	bytesIn  int64
	bytesOut int64
	bodyOut  int64 // request body bytes behind the filters
	status   int
	tries    int
	givenUps int      // entries of gaveUp
	key      pool.Key // what the request contributes to balancing

	// reached is the last filter of each stage that the request got to.
	reached [stages]int
	// bodyFrom is the last filter of each stage that has seen the head that is
	// sent, and so sees the body.
	bodyFrom [stages]int
	// waitAt is the filter that waits.
	waitAt int

	// call is the call that a filter waits for; calls and callNanos count those
	// so far and their time.
	call      *call
	calls     int
	callNanos int64

	requestDone  bool // the request's end has been received
	bodyOpen     bool // body bytes are wanted
	respOpen     bool // response body bytes are wanted
	noBody       bool // the response has none
	holdsBody    bool // the request body is received whole before it is sent
	local        bool // the answer is ours
	waiting      bool // a filter waits
	upgrade      bool // the client asked for another protocol
	interim      bool // the client has seen a 1xx of this try
	staleRetried bool // the free retry of a dead idle connection was used
	retrying     bool // counted in the retry budget
	hedgeCharged bool // by the hedge alone
	counted      bool // counted as live with its service
	clientEOF    bool // tunnel: the client sends no more
	upstreamEOF  bool // tunnel: the upstream sends no more
	internal     bool // a filter's call: no record, no route
	message      bool // the client speaks a message protocol
	oneWay       bool // no answer is wanted
}

// stage is whose filters run.
type stage uint8

const (
	stageListener stage = iota
	stageRoute
	stages
)

// Kinds of the timers of an exchange and its tries.
const (
	clockConnect uint8 = iota
	clockFirstByte
	clockHedge
	clockUpstreamIdle
	clockTunnelIdle
	clockFilter
	clockPerTry
	clockTotal
	clockSpill
	clockQueue
	clockCredit
)

// newExchange is called by the worker when its free list is empty.
func newExchange(w *worker) *Exchange {
	x := &Exchange{w: w}
	x.Context.Attach(x)
	x.Context.Loop = w.id
	x.lead = &x.first
	x.first.init(x, &x.resp)
	x.wake.Run = func(*reactor.Loop) { x.onWake() }
	x.upClock.Init(x, clockUpstreamIdle)
	x.allClock.Init(x, clockTotal)
	return x
}

// setState is the only writer of the state.
func (x *Exchange) setState(s state) { x.state = s }

// begin takes a request whose head stands in x.req. The stream may deliver the
// bytes of its body, if it has one, when bodyOpen says so.
func (x *Exchange) begin(down downstream, lis *snapshot.Listener, snap *snapshot.Snapshot, hasBody bool) {
	x.prepare(down, lis, snap)
	x.requestDone = !hasBody
	if f, ok := x.w.admit(); !ok {
		x.fail(f)
		return
	}
	if x.enter() {
		x.runRequestFilters(0)
	}
}

// refused answers a request whose head could not be read.
func (x *Exchange) refused(down downstream, lis *snapshot.Listener, snap *snapshot.Snapshot, f fault) {
	x.prepare(down, lis, snap)
	x.fail(f)
}

func (x *Exchange) prepare(down downstream, lis *snapshot.Listener, snap *snapshot.Snapshot) {
	x.down, x.lis, x.snap = down, lis, snap
	x.message = down.protocol() != nil
	x.Request = &x.req
	x.Client = x.Peer.Addr()
	x.AcceptedAt = x.now()
	x.reached = [stages]int{-1, -1}
	x.maxBody = lis.MaxBody
	x.query.Reset()
	x.setState(stateFiltering)
	x.w.enlist(x)
	x.w.stats.Requests++
	x.beginTrace()
}

// running says that the exchange has begun and not ended.
func (x *Exchange) running() bool { return x.state != stateFree && x.state != stateOver }

// chain returns the filters of the stage; nil if there are none.
func (x *Exchange) chain(s stage) *filters.Chain {
	if s == stageListener {
		return x.lis.Chain
	}
	if x.route == nil {
		return nil
	}
	return x.route.Chain
}

// runRequestFilters runs the stages in order, resolving the route between them.
func (x *Exchange) runRequestFilters(at int) {
	x.touch()
	for {
		chain := x.chain(x.stage)
		i, v := chain.Request(&x.Context, at)
		x.reached[x.stage] = min(i, chain.Len()-1)
		switch v {
		case filters.Respond:
			x.answer()
			return
		case filters.Wait:
			x.suspend(i)
			return
		}
		if x.stage == stageRoute {
			x.forward()
			return
		}
		if !x.resolve() {
			return
		}
		x.stage, at = stageRoute, 0
	}
}

// suspend leaves the exchange to the handle that the filter took.
func (x *Exchange) suspend(at int) { x.waiting, x.waitAt = true, at }

// Wake implements filters.Host; any goroutine.
func (x *Exchange) Wake() { x.w.loop.Post(&x.wake) }

// onWake goes on after a filter's Resume has been posted back.
func (x *Exchange) onWake() {
	if x.state == stateOver {
		x.Context.SettleWait()
		x.w.recycle(x)
		return
	}
	if !x.waiting {
		x.Context.SettleWait()
		return
	}
	x.w.loop.Disarm(&x.upClock)
	x.waiting = false
	x.touch()
	if x.state == stateHolding {
		x.resumeWhole()
		return
	}
	chain, at := x.chain(x.stage), x.waitAt
	v := chain.Resume(&x.Context, at)
	switch {
	case v == filters.Wait:
		x.suspend(at)
	case x.state == stateAnswering && v == filters.Respond:
		x.replaceResponse(at)
		x.runResponseFilters(at - 1)
	case x.state == stateAnswering:
		x.runResponseFilters(at - 1)
	case v == filters.Respond:
		x.answer()
	default:
		x.runRequestFilters(at + 1)
	}
}

// OnTimer implements reactor.Alarm.
func (x *Exchange) OnTimer(kind uint8, _ int64) {
	switch kind {
	case clockHedge:
		x.startHedge()
	case clockUpstreamIdle:
		x.lead.failed(faultUpstreamIdle)
	case clockTunnelIdle:
		x.onTunnelIdle()
	case clockTotal:
		x.fail(faultTotal)
	case clockSpill:
		x.onSpillFailed(errSpillLate)
	case clockFilter:
		// A wait that was called off leaves its clock behind; a Resume that won
		// the race is on its way and goes on by itself.
		if x.waiting && x.Context.ExpireWait() {
			x.waiting = false
			x.fail(faultFilterLate)
		}
	}
}

// onClientGone ends the exchange without an answer: the client's connection has
// failed or closed.
func (x *Exchange) onClientGone(err error) {
	x.dropTry(faultClientGone)
	switch {
	case errors.Is(err, reactor.ErrLoopStopped):
		x.Reason = codec.Draining
	case x.Reason == codec.ReasonNone:
		x.Reason = codec.ClientAborted
	}
	if x.status == 0 {
		x.status = codec.StatusClientAborted
	}
	x.finish()
}

// responded says that a response head has gone to the client.
func (x *Exchange) responded() bool {
	return x.state == stateResponding || x.state == stateTunnel
}

// fail ends the exchange with the fault: as an answer while none has begun,
// else by cutting the answer off.
func (x *Exchange) fail(f fault) {
	x.dropTry(f)
	if !x.running() {
		return
	}
	if x.responded() {
		x.Reason = f.reason
		x.down.cut()
		x.finish()
		return
	}
	x.Context.Fail(f.reason, f.message)
	x.answerInstead()
}

// finish books the exchange and gives it back. The stream is told last.
func (x *Exchange) finish() {
	// A Resume that has won its race still travels on the wake node: the
	// exchange is recycled when it arrives.
	wakeComes := !x.Context.ExpireWait()
	x.waiting = false
	x.dropTry(fault{})
	x.buffer.release(x.w.loop)
	x.disarm()
	now := x.now()
	x.touch()
	x.chain(stageRoute).Log(&x.Context, x.reached[stageRoute])
	x.chain(stageListener).Log(&x.Context, x.reached[stageListener])
	x.book(now)
	down := x.down
	x.setState(stateOver)
	if !wakeComes && !x.internal {
		x.w.recycle(x)
	}
	down.done()
}

// book writes the exchange into counters and log. A call is told of in the
// record of its parent.
func (x *Exchange) book(now int64) {
	if x.counted {
		x.w.leaveService(x.svc, x.retrying)
	}
	if x.internal {
		return
	}
	slot := snapshot.OtherSeries
	if x.route != nil {
		slot = x.route.Series.Slot(&x.w.server.series)
	}
	x.w.stats.count(slot, x.status, x.Reason, now-x.AcceptedAt)
	x.w.stats.BytesIn += uint64(x.bytesIn)
	x.w.stats.BytesOut += uint64(x.bytesOut)
	x.w.log(x, now)
}

func (x *Exchange) disarm() {
	x.w.loop.Disarm(&x.upClock)
	x.w.loop.Disarm(&x.allClock)
}

// reset makes the exchange ready for the next request.
func (x *Exchange) reset() {
	clear(x.gaveUp[:x.givenUps])
	x.exchangeState = exchangeState{}
	x.Context.Recycle()
	// Nothing of this client's may show in the answer to the next one, not even
	// to bytes that never become a head.
	x.req.Reset()
	shrink(&x.req)
	shrink(&x.resp)
	if x.reqTrailers.Len() > 0 {
		x.reqTrailers.Reset()
	}
	if x.trailers.Len() > 0 {
		x.trailers.Reset()
	}
	x.first.reset()
	if x.hedge != nil {
		x.w.giveHedge(x.hedge)
		x.hedge, x.lead = nil, &x.first
	}
	x.tried.Reset()
	x.held.release(x.w.loop)
}

// keptHead is the size above which the buffers of a head are not kept.
const keptHead = 8 << 10

func shrink(h *codec.Head) {
	if h.Size() > keptHead {
		*h = codec.Head{}
		h.Reset()
	}
}

func (x *Exchange) now() int64 { return x.w.loop.Now() }

// touch refreshes what filters read of the time.
func (x *Exchange) touch() {
	x.Context.Now = x.now()
	x.Context.Wall = x.w.loop.Wall()
}

func (x *Exchange) routeID() string {
	if x.route == nil {
		return ""
	}
	return x.route.Info.ID
}

func (x *Exchange) generation() uint64 {
	if x.snap == nil {
		return 0
	}
	return x.snap.Generation
}

// armUp starts one of the clocks of the upstream's side; 0 is off.
func (x *Exchange) armUp(kind uint8, after int64) {
	if after <= 0 {
		x.w.loop.Disarm(&x.upClock)
		return
	}
	x.upClock.SetKind(kind)
	x.w.loop.Arm(&x.upClock, x.now()+after)
}
