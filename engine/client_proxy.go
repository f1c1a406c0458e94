package engine

import (
	"errors"
	"net/netip"

	"github.com/corelane/corelane/codec/proxyproto"
	"github.com/corelane/corelane/engine/reactor"
)

// proxyRefusalPause is the least time between two events of one loop about
// refused PROXY headers: a flood of them is a number in the metrics, not a log.
const proxyRefusalPause = int64(1e9)

var (
	errProxyCut    = errors.New("the connection ended inside its PROXY header")
	errProxyLate   = errors.New("its PROXY header did not arrive in time")
	errProxyMemory = errors.New("there is no memory for its PROXY header")
)

// told is what a PROXY header told of the client: who it is and where it connected
// to, as far as that is known. Clients of other listeners have none.
type told struct {
	source, destination netip.AddrPort
	preface             []byte // a header that is not whole
	held                int    // bytes of it in the budget for buffers
}

// read takes bytes of the header, of which nothing is ever read as anything else,
// and counts those that are kept into the budget. It returns how many it took, all
// but those behind a header that is whole.
func (t *told) read(m *reactor.Memory, b []byte) (n int, whole bool, err error) {
	all, before := b, len(t.preface)
	if before > 0 {
		t.preface = append(t.preface, b[:min(len(b), proxyproto.Max-before)]...)
		all = t.preface
	}
	h, n, err := proxyproto.Parse(all)
	switch {
	case err != nil:
		return len(b), false, err
	case n == 0:
		if before == 0 {
			t.preface = append(t.preface, b...)
		}
		m.Add(int64(cap(t.preface) - t.held))
		t.held = cap(t.preface)
		if m.Over() {
			return len(b), false, errProxyMemory
		}
		return len(b), false, nil
	}
	if h.Source.IsValid() {
		t.source, t.destination = h.Source, h.Destination
	}
	t.release(m)
	return n - before, true, nil
}

// begun says that bytes of the header have come, but not all.
func (t *told) begun() bool { return len(t.preface) > 0 }

// release forgets what was kept of the header. t may be nil.
func (t *told) release(m *reactor.Memory) {
	if t != nil && t.held > 0 {
		m.Add(int64(-t.held))
		t.preface, t.held = nil, 0
	}
}

// peer is the client: as it was told, or who connected. t may be nil.
func (t *told) peer(c *reactor.Conn) netip.AddrPort {
	if t != nil && t.source.IsValid() {
		return t.source
	}
	return c.Remote()
}

// localEnd is where the client connected to: the balancer's address, where that
// tells it; invalid for a unix socket. t may be nil.
func (t *told) localEnd(c *reactor.Conn) netip.AddrPort {
	if t != nil && t.destination.IsValid() {
		return t.destination
	}
	return c.Local()
}

// refuseProxy counts and tells of a connection that is closed without a word:
// whoever it is does not speak the protocol that the listener was promised.
func (w *worker) refuseProxy(listener string, c *reactor.Conn, err error) {
	w.stats.ProxyRefused++
	if now := w.loop.Now(); w.proxyTold == 0 || now-w.proxyTold >= proxyRefusalPause {
		w.proxyTold = now
		w.server.events.push(Event{Kind: EventProxyRefused, Loop: w.id, Name: listener, Peer: c.Remote(), Value: err})
	}
}
