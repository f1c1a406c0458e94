package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// join makes the try a stream of a link to its endpoint: the one with the fewest,
// or a new one.
func (t *try) join() {
	x := t.x
	l := x.w.linkTo(t)
	if l == nil {
		l = newLink(x.w, x.svc, x.proto, t.endpoint)
		if f, ok := l.find(); !ok {
			t.failed(f)
			return
		}
	}
	waits := l.state == linkQueued && l.first != nil // the link's own waiter stands for the first
	if waits && !x.w.local.Wait(x.svc.Pool) {
		t.failed(faultPoolExhausted)
		return
	}
	s := x.w.takeLinkStream(l, t)
	s.counted = waits
	t.up = s
	if l.state == linkOpen && l.first == nil && !l.conn.OverHigh() {
		s.start()
		return
	}
	l.queue(s)
	if l.state == linkOpen { // else the link's own clock bounds the wait
		t.arm(clockQueue, x.svc.Pool.Limits.Wait.Nanoseconds())
	}
}

// linkTo is the link that a try should use; nil: a new one is needed. One that is
// open goes before those that may become so.
func (w *worker) linkTo(t *try) *link {
	var best *link
	now := w.loop.Now()
	for l := w.linksAt(t.endpoint); l != nil; {
		next := l.next
		if l.serves(t, now) && (best == nil || l.state > best.state || l.state == best.state && l.load() < best.load()) {
			best = l
		}
		l = next
	}
	return best
}

// load is the number of streams on the link and in front of it.
func (l *link) load() int { return l.table.live + l.queued }

// serves says whether the link takes a try.
func (l *link) serves(t *try, now int64) bool {
	svc := t.x.svc
	if l.ep != t.endpoint || l.protocol != t.x.proto || l.source != svc.Source ||
		l.state > linkOpen || l.load() >= l.table.most() {
		return false
	}
	if age := svc.Pool.Limits.MaxAge.Nanoseconds(); age > 0 && l.state == linkOpen && now-l.node.Born() >= age {
		l.leave()
		return false
	}
	return true
}

// linksAt are the links in the place of an endpoint, which may be those of another
// that had its slot.
func (w *worker) linksAt(e *pool.Endpoint) *link {
	if slot := e.Slot(); slot < len(w.links) {
		return w.links[slot]
	}
	return nil
}

// find gives the link a place among the endpoint's connections, or has it wait for
// one.
func (l *link) find() (fault, bool) {
	w, now := l.w, l.w.loop.Now()
	for {
		c, grant := w.local.Get(l.svc.Pool, l.ep, &l.waiter, now)
		switch grant {
		case pool.Idle:
			c.(connection).drop() // of an earlier configuration, with another protocol
			continue
		case pool.Exhausted:
			return faultPoolExhausted, false
		case pool.Dial:
			if err := l.dial(); err != nil {
				w.local.DialFailed(l.ep)
				l.state = linkDead
				return dialFault(err), false
			}
			l.armOpening()
		case pool.Queued:
			l.state = linkQueued
		}
		w.keepLink(l)
		return fault{}, true
	}
}

// keepLink puts a link where tries look for it.
func (w *worker) keepLink(l *link) {
	slot := l.ep.Slot()
	for slot >= len(w.links) {
		w.links = append(w.links, nil)
	}
	l.next, w.links[slot] = w.links[slot], l
}

// dropLink takes it away, if it is there.
func (w *worker) dropLink(l *link) {
	slot := l.ep.Slot()
	if slot >= len(w.links) {
		return
	}
	for at := &w.links[slot]; *at != nil; at = &(*at).next {
		if *at == l {
			*at = l.next
			return
		}
	}
}

// retireLinks lets the links to an endpoint take no new streams: it is not to be
// used for now, or it has gone.
func (w *worker) retireLinks(e *pool.Endpoint) {
	for l := w.linksAt(e); l != nil; {
		next := l.next
		if l.ep == e {
			l.leave()
		}
		l = next
	}
}

// retireAll does that for every endpoint that has gone, and for links that are not
// as their service wants them any more.
func (w *worker) retireAll() {
	services := w.server.current.Load().Services
	for _, l := range w.links {
		for l != nil {
			next := l.next
			if l.ep.Retired() || !l.wanted(services[l.svc.Name]) {
				l.leave()
			}
			l = next
		}
	}
}

// wanted says whether tries of the service, as it is now, may use the link.
func (l *link) wanted(svc *snapshot.Service) bool {
	return svc != nil && (svc.Protocol == l.protocol || svc.Follows) && svc.Source == l.source
}

// queue makes a stream wait until the link is open and takes bytes.
func (l *link) queue(s *linkStream) {
	l.queued++
	s.prev, s.next = l.last, nil
	if l.last != nil {
		l.last.next = s
	} else {
		l.first = s
	}
	l.last = s
}

// unqueue takes a stream out of the queue.
func (l *link) unqueue(s *linkStream) {
	l.queued--
	if s.counted {
		s.counted = false
		l.w.local.EndWait(s.t.x.svc.Pool)
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		l.last = s.prev
	}
	s.prev, s.next = nil, nil
}

// admit starts those that wait, while the link takes them. One that leaves takes
// those that came before.
func (l *link) admit() {
	for l.first != nil && (l.state == linkOpen || l.state == linkLeaving) && !l.conn.OverHigh() && l.table.room() {
		s := l.first
		l.unqueue(s)
		s.start()
	}
}

// makeRoom gives the link up if another loop waits for a place: the streams that
// are on it end, and tries that come now wait their turn. A loop that begins to
// wait later asks for it.
func (l *link) makeRoom() {
	if l.state == linkOpen && l.w.local.Share(l.ep) {
		l.leave()
	}
}

// makeRoom does that for all links to an endpoint: another loop asks for one.
func (w *worker) makeRoom(e *pool.Endpoint) {
	for l := w.linksAt(e); l != nil; {
		next := l.next
		if l.ep == e {
			l.makeRoom()
		}
		l = next
	}
}

// relieve takes a stream over that waits for a link without a place: this one has
// got an id to spare.
func (l *link) relieve() {
	if l.conn.OverHigh() {
		return
	}
	for other := l.w.linksAt(l.ep); other != nil; other = other.next {
		if other.state != linkQueued || other.first == nil || other.ep != l.ep ||
			other.protocol != l.protocol || other.source != l.source {
			continue
		}
		s := other.first
		other.unqueue(s)
		s.l = l
		l.queue(s)
		other.rest()
		l.admit()
		return
	}
}

// soloLink is a link without message ids: the pool lends it to one try at a time.
type soloLink link

var _ connection = (*soloLink)(nil)

// Pooled implements pool.Conn.
func (o *soloLink) Pooled() *pool.Node { return &o.node }

// CloseIdle implements pool.Conn.
func (o *soloLink) CloseIdle(r pool.CloseReason) { (*link)(o).CloseIdle(r) }

// dial implements connection.
func (o *soloLink) dial(t *try) (upstream, error) {
	l := (*link)(o)
	conn, err := l.w.loop.Dial(l.ep.Addr(), l.source, l)
	if err != nil {
		return nil, err
	}
	l.dialled(conn, o)
	s := l.w.takeLinkStream(l, t)
	l.queue(s)
	return s, nil
}

// begin implements connection. Sending the request is up to the try.
func (o *soloLink) begin(t *try) upstream {
	l := (*link)(o)
	s := l.w.takeLinkStream(l, t)
	s.prepare()
	return s
}

// fits implements connection.
func (o *soloLink) fits(t *try) bool {
	svc := t.x.svc
	return o.protocol == t.x.proto && o.source == svc.Source && o.proxy == svc.ProxyProtocol
}

// drop implements connection.
func (o *soloLink) drop() { (*link)(o).close() }

// giveBack returns a link without streams and without ids to the pool, if nothing
// is left on it that could be misread.
func (l *link) giveBack() {
	c := l.conn
	if l.dirty || l.proxy != snapshot.ProxyNone || l.state != linkOpen || c.EOF() || c.Queued() > 0 {
		l.close()
		return
	}
	l.w.local.Put((*soloLink)(l), l.svc.Pool, l.w.loop.Now())
}

// dialled notes that the handshake has begun; c is what the pool knows the link as.
func (l *link) dialled(conn *reactor.Conn, c pool.Conn) {
	l.conn, l.state = conn, linkDialling
	conn.SetReadSize(bodyReadSize)
	conn.SetGathers()
	l.w.local.Attach(c, l.svc.Pool, l.ep, l.w.loop.Now())
}

// openAhead begins a link that no try waits for; its place is reserved.
func openAhead(k *kept) error {
	w := k.keeper.w
	l := newLink(w, k.svc, k.svc.Protocol, k.ep)
	conn, err := w.loop.Dial(k.ep.Addr(), l.source, l)
	if err != nil {
		return err
	}
	l.opened = k
	if l.shares() {
		l.dialled(conn, l)
		w.keepLink(l)
	} else {
		l.dialled(conn, (*soloLink)(l))
	}
	if l.armOpening(); k.svc.ConnectTimeout <= 0 {
		w.loop.Arm(&l.clock, w.loop.Now()+openTimeout.Nanoseconds())
	}
	return nil
}

// protocolFor is what a request from the listener is sent in; nil: HTTP/1.1.
func protocolFor(svc *snapshot.Service, lis *snapshot.Listener) codec.Protocol {
	if svc.Follows && lis.Layout {
		return lis.Protocol
	}
	return svc.Protocol
}
