package engine

import "net/netip"

// expectProxy makes a fresh connection begin with a PROXY header, which must be
// whole before the head clock ends, and the first request's head after it.
func (s *Session) expectProxy() {
	if s.lis.ProxyProtocol {
		s.state, s.told = readingProxy, new(told)
	}
}

// readProxy takes the header. Nothing before it is ever read as HTTP.
func (s *Session) readProxy(b []byte) int {
	n, whole, err := s.told.read(s.w.loop.Memory(), b)
	switch {
	case err != nil:
		s.refuseProxy(err)
	case whole:
		s.peerText = s.peer().Addr().AppendTo(nil)
		s.state = readingHead
	}
	return n
}

// endPreface is for a connection that ends before its header: one that sent
// nothing at all was a check that the port is open.
func (s *Session) endPreface() {
	if !s.told.begun() {
		s.close()
		return
	}
	s.refuseProxy(errProxyCut)
}

// refuseProxy closes without a word.
func (s *Session) refuseProxy(err error) {
	s.w.refuseProxy(s.listener, s.conn, err)
	s.close()
}

func (s *Session) peer() netip.AddrPort { return s.told.peer(s.conn) }

// localEnd implements downstream.
func (s *Session) localEnd() netip.AddrPort { return s.told.localEnd(s.conn) }
