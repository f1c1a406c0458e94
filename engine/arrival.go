package engine

import (
	"math/rand/v2"
	"net/netip"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
)

// Arrival is what becomes of a request at the door, before any filter.
type Arrival struct {
	// Client is the client's address: the peer's, or what a trusted proxy said.
	Client netip.Addr
	// Status other than 0 is the answer to a request that is not looked up; then
	// Reason and Message tell why, if it is an error.
	Status  int
	Reason  codec.Reason
	Message string
}

// Arrive does to a decoded head what a loop does to it at the door, for
// explanations: what is not meant for the upstream and what the peer must not
// claim is dropped, and the gateway's fields are added. It allocates; any
// goroutine may call it.
func Arrive(h *codec.Head, lis *snapshot.Listener, peer netip.Addr, scheme string) Arrival {
	if !expectable(h) {
		return refusal(faultExpectation)
	}
	x := &Exchange{w: &worker{random: rand.NewChaCha8([32]byte{})}, req: *h}
	x.lis, x.Scheme, x.message = lis, scheme, lis.Protocol != nil
	x.Peer, x.peerText = netip.AddrPortFrom(peer, 0), peer.AppendTo(nil)
	x.clean()
	*h = x.req
	switch status := nextHop(h); status {
	case 0:
		return Arrival{Client: x.Client}
	case 400:
		return refusal(faultMaxForwards)
	default:
		return Arrival{Status: status}
	}
}

// Refusal returns the answer to a message that a decoder refused with err.
func Refusal(err error) Arrival { return refusal(faultOf(err)) }

// RefusalOf returns the answer to the request with that head where the resolver
// says why it has no route, or none of its endpoints can be used.
func RefusalOf(r codec.Reason, h *codec.Head) Arrival {
	if r == codec.RouteNotFound {
		return refusal(notFound(h))
	}
	for _, f := range []fault{faultAmbiguousPath, faultMethodNotAllowed, faultNoEndpoint, faultBodyTooLarge} {
		if f.reason == r {
			return refusal(f)
		}
	}
	return Arrival{Status: r.Status(), Reason: r}
}

func refusal(f fault) Arrival {
	return Arrival{Status: f.reason.Status(), Reason: f.reason, Message: f.message}
}
