package engine

import (
	"net/netip"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
)

// downstream is the client's side of one exchange. The exchange calls it; it
// calls the exchange's on… methods. Slices given to it are copied or sent
// before the callback returns.
type downstream interface {
	// done says that the exchange is over and will not be heard of again.
	done()
	// sendInterim sends a 1xx head that is not the answer.
	sendInterim(h *codec.Head)
	// sendHead sends the head of the answer; its framing tells how the body
	// will be delimited.
	sendHead(h *codec.Head)
	sendData(b []byte)
	// sendEnd ends the answer; the exchange is over for the stream.
	sendEnd(trailers *codec.Head)
	// cut ends the stream so that the client sees an incomplete answer.
	cut()
	// startTunnel follows sendHead of a 101: from here on bytes are opaque.
	startTunnel()
	// closeWrite and closeTunnel end a tunnel's direction, or the tunnel.
	closeWrite()
	closeTunnel()
	// pause and resume stop and continue the delivery of the request body.
	pause()
	resume()
	// hold stops the client's clock while the gateway does not want the body.
	hold()
	// overHigh says that more is queued than the high mark.
	overHigh() bool
	// localEnd is the address that the client connected to; invalid: none, or not
	// known.
	localEnd() netip.AddrPort
	// protocol is the message protocol that the client speaks; nil: HTTP/1.1.
	protocol() codec.Protocol
	// neutral says that the request goes to a service with another protocol. It
	// turns the body, which then must not have been delivered yet, into one that
	// every protocol can carry, and the head with it.
	neutral() error
}

// upstream is the endpoint's side of one try. What it has to tell goes to its
// try.
type upstream interface {
	sendHead(h *codec.Head)
	sendData(b []byte)
	sendEnd(trailers *codec.Head)
	// tellSent asks for the try's onSent when everything has been written; false
	// if nothing is holding it up.
	tellSent() bool
	// cancel gives the request up; the try hears nothing more of it.
	cancel()
	startTunnel()
	closeWrite()
	closeTunnel()
	pause()
	resume()
	overHigh() bool
	// reused says that the stream's connection has carried an exchange before.
	reused() bool
	// untouched says that no byte of this try has reached the socket.
	untouched() bool
	// mayLose says that what is sent now may get lost with a connection that has
	// died and nobody knows of it.
	mayLose() bool
}

// connection is an upstream connection that the pool lends to one try at a time.
type connection interface {
	pool.Conn
	// dial opens it for the try, which is told by use or failed.
	dial(t *try) (upstream, error)
	// begin takes the request of a try.
	begin(t *try) upstream
	// fits says whether a pooled connection, perhaps opened under an earlier
	// configuration, is as the try's service wants it.
	fits(t *try) bool
	// drop closes it while it is idle.
	drop()
}

// newConnection makes a connection, not open yet, for an exchange at an endpoint.
func newConnection(x *Exchange, ep *pool.Endpoint) connection {
	switch {
	case x.proto != nil:
		return (*soloLink)(newLink(x.w, x.svc, x.proto, ep))
	case x.svc.Opaque:
		return newTCPUpstream(x.w, ep)
	}
	return newUpstreamConn(x.w, x.svc, ep)
}
