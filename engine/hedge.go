package engine

import "github.com/corelane/corelane/codec"

// maxFreeHedges bounds the second tries that one loop keeps for reuse.
const maxFreeHedges = 256

// hedgeTry is the second try of an exchange whose first has not answered in
// time. It runs beside the first, at another endpoint, and the first response
// head that is not thrown away wins; see "The Tail at Scale" (Dean and Barroso,
// CACM 2013). Its response head is received apart, so that what comes from one
// endpoint can never be completed by what comes from another.
//
// An exchange borrows at most one from its worker, and so has at most one hedge.
type hedgeTry struct {
	try
	next *hedgeTry
}

// armHedge starts the wait for the first try's response head after which a hedge
// begins. It runs from the start of the try, or from the end of a request that is
// still being received then, or sent from its holder: a slow client is not a slow
// endpoint, and a long body not a late answer.
func (x *Exchange) armHedge() {
	if after := x.route.Retries.Hedge; after > 0 && x.mayHedge() {
		x.armUp(clockHedge, after.Nanoseconds())
	}
}

// mayHedge says whether the request may be under way twice: it can be repeated
// as a whole, and nothing that a try has said has reached the client.
func (x *Exchange) mayHedge() bool {
	return (x.state == stateConnecting || x.state == stateRequesting) &&
		x.hedge == nil && !x.interim && !x.upgrade && x.requestDone &&
		x.req.MethodID().Idempotent() &&
		x.keepsBody() && !x.lead.feeds &&
		x.extraTries() < x.route.Retries.Attempts
}

// startHedge begins the second try if another endpoint is left for it and the
// budget allows one more retry in flight; else the first goes on alone.
func (x *Exchange) startHedge() {
	if !x.mayHedge() {
		return
	}
	now := x.now()
	ep, err := x.w.local.Pick(x.svc.Pool, x.key, &x.tried, now)
	if err != nil || x.tried.Has(ep) || !x.welcomes(ep) {
		return
	}
	if !x.retrying {
		if !x.w.takeRetry(x.svc, x.route.Retries.Budget) {
			x.w.stats.RetriesDenied++
			return
		}
		x.retrying, x.hedgeCharged = true, true
	}
	x.hedge = x.w.takeHedge(x)
	x.rival = &x.hedge.try
	x.rival.hedging = true
	x.tries++
	x.w.stats.Hedges++
	x.rival.begin(ep, now)
}

// goOnWithout ends one of the two tries; the other goes on as if it had been
// alone.
func (x *Exchange) goOnWithout(t *try, why cause, f fault) {
	x.giveUp(t, why)
	if t == x.lead {
		x.lead = x.rival
		x.Endpoint = x.lead.endpoint.Address()
	}
	x.rival = nil
	t.drop(f)
	if t.hedging && x.hedgeCharged {
		// What goes on is the first try, not a retry.
		x.hedgeCharged, x.retrying = false, false
		x.w.endRetry(x.svc)
	}
}

// answeredBy gives up the try that has not answered, if there are two, and makes
// the head that t has received the exchange's.
func (x *Exchange) answeredBy(t *try) {
	x.w.loop.Disarm(&x.upClock)
	switch {
	case x.rival == nil:
	case t.hedging:
		x.goOnWithout(x.lead, causeHedgeWon, fault{})
	default:
		x.goOnWithout(x.rival, causeHedgeLost, fault{})
	}
	if t.hedging {
		x.w.stats.HedgesWon++
	}
	if t.head != &x.resp {
		x.resp, *t.head = *t.head, x.resp
	}
	x.Response = &x.resp
}

// takeHedge lends a second try to an exchange.
func (w *worker) takeHedge(x *Exchange) *hedgeTry {
	h := w.hedges
	if h == nil {
		h = newHedgeTry()
	} else {
		w.hedges, h.next = h.next, nil
		w.hedgeCount--
	}
	h.x = x
	return h
}

// giveHedge takes a second try back. It must hold nothing.
func (w *worker) giveHedge(h *hedgeTry) {
	h.head.Reset()
	shrink(h.head)
	h.reset()
	if w.hedgeCount >= maxFreeHedges {
		h.forget()
		return
	}
	h.x = nil
	h.next, w.hedges = w.hedges, h
	w.hedgeCount++
}

func newHedgeTry() *hedgeTry {
	h := new(hedgeTry)
	h.init(nil, new(codec.Head))
	return h
}
