package engine

import (
	"net/netip"

	"github.com/corelane/corelane/codec/proxyproto"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
)

// sendProxy tells the endpoint on a fresh connection whose request follows. Such
// a connection carries one exchange only: the header holds for all that is sent
// after it, and the next request may be another client's.
func (u *upstreamConn) sendProxy(x *Exchange) { x.tellEnds(u.conn, u.proxy) }

// tellEnds writes the header of a version, if one is wanted.
func (x *Exchange) tellEnds(c *reactor.Conn, v snapshot.ProxyVersion) {
	if v == snapshot.ProxyNone {
		return
	}
	source, destination := x.ends()
	if v == snapshot.ProxyV1 {
		c.Commit(proxyproto.AppendV1(c.Stage(), source, destination))
		return
	}
	c.Commit(proxyproto.AppendV2(c.Stage(), source, destination))
}

// ends are the client, with its port if it is the one who connected, and the
// address that it connected to. They are invalid as far as they are not known.
func (x *Exchange) ends() (client, destination netip.AddrPort) {
	destination = x.down.localEnd()
	if x.Client == x.Peer.Addr() {
		return x.Peer, destination
	}
	return netip.AddrPortFrom(x.Client, 0), destination
}

// fits says whether a pooled connection, perhaps opened under an earlier
// configuration, is as the try's service wants it.
func (u *upstreamConn) fits(t *try) bool {
	svc := t.x.svc
	return t.x.proto == nil && !svc.Opaque && u.source == svc.Source && u.proxy == svc.ProxyProtocol
}
