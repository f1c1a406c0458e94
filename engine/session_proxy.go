package engine

import (
	"errors"
	"net/netip"

	"github.com/corelane/corelane/codec/proxyproto"
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
// to, as far as that is known. Sessions of other listeners have none.
type told struct {
	source, destination netip.AddrPort
	preface             []byte // a header that is not whole
}

// expectProxy makes a fresh connection begin with a PROXY header, which must be
// whole before the head clock ends, and the first request's head after it.
func (s *Session) expectProxy() {
	if s.lis.ProxyProtocol {
		s.state, s.told = readingProxy, new(told)
	}
}

// readProxy takes the header. Nothing before it is ever read as HTTP.
func (s *Session) readProxy(b []byte) int {
	whole, before := b, len(s.told.preface)
	if before > 0 {
		s.told.preface = append(s.told.preface, b[:min(len(b), proxyproto.Max-before)]...)
		whole = s.told.preface
	}
	h, n, err := proxyproto.Parse(whole)
	switch {
	case err != nil:
		s.refuseProxy(err)
		return len(b)
	case n == 0:
		if before == 0 {
			s.told.preface = append(s.told.preface, b...)
		}
		s.holdPreface()
		return len(b)
	}
	if h.Source.IsValid() {
		s.told.source, s.told.destination = h.Source, h.Destination
		s.peerText = h.Source.Addr().AppendTo(nil)
	}
	s.told.preface = nil
	s.releaseHead()
	s.state = readingHead
	return n - before
}

// holdPreface counts the bytes of a header that is not whole into the budget for
// buffers, as holdHead does.
func (s *Session) holdPreface() {
	memory := s.w.loop.Memory()
	memory.Add(int64(cap(s.told.preface) - s.headHeld))
	s.headHeld = cap(s.told.preface)
	if memory.Over() {
		s.refuseProxy(errProxyMemory)
	}
}

// endPreface is for a connection that ends before its header: one that sent
// nothing at all was a check that the port is open.
func (s *Session) endPreface() {
	if len(s.told.preface) == 0 {
		s.close()
		return
	}
	s.refuseProxy(errProxyCut)
}

// refuseProxy closes without a word: whoever this is does not speak the
// protocol that the listener was promised.
func (s *Session) refuseProxy(err error) {
	w := s.w
	w.stats.ProxyRefused++
	if now := w.loop.Now(); w.proxyTold == 0 || now-w.proxyTold >= proxyRefusalPause {
		w.proxyTold = now
		w.server.events.push(Event{Kind: EventProxyRefused, Loop: w.id, Name: s.listener, Peer: s.conn.Remote(), Value: err})
	}
	s.told.preface = nil
	s.close()
}

// peer is the client: as it was told, or who connected.
func (s *Session) peer() netip.AddrPort {
	if s.told != nil && s.told.source.IsValid() {
		return s.told.source
	}
	return s.conn.Remote()
}

// localEnd implements downstream: the address is the balancer's, where that tells
// it, and invalid for a unix socket.
func (s *Session) localEnd() netip.AddrPort {
	if s.told != nil && s.told.destination.IsValid() {
		return s.told.destination
	}
	return s.conn.Local()
}
