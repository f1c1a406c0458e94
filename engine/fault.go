package engine

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
)

// source says on whose side an exchange failed.
type source uint8

const (
	fromDownstream source = iota
	fromUpstream
	fromInside
)

// faultKind is what the retry rules distinguish.
type faultKind uint8

const (
	// faultFinal is never repeated.
	faultFinal faultKind = iota
	// faultConnect: no connection came about.
	faultConnect
	// faultReset: the connection died before the response head.
	faultReset
	// faultTimeout: the response head did not come in time.
	faultTimeout
	// faultTry: this try exceeded its own limit.
	faultTry
)

// fault is the one error of an exchange: status, log line, ejection and retry
// all read the same fields. It is passed by value and allocates nothing.
type fault struct {
	reason  codec.Reason
	source  source
	kind    faultKind
	message string
}

// The faults that carry no detail of their own.
var (
	faultClientGone     = fault{codec.ClientAborted, fromDownstream, faultFinal, "the client left"}
	faultRefused        = fault{codec.UpstreamRefused, fromUpstream, faultConnect, "the upstream could not be reached"}
	faultConnectTimeout = fault{codec.ConnectTimeout, fromUpstream, faultConnect, "the upstream did not accept a connection in time"}
	faultUpstreamReset  = fault{codec.UpstreamReset, fromUpstream, faultReset, "the upstream closed the connection"}
	faultBadResponse    = fault{codec.UpstreamBadResponse, fromUpstream, faultFinal, "the upstream's response is malformed"}
	faultFirstByte      = fault{codec.UpstreamTimeout, fromUpstream, faultTimeout, "the upstream did not answer in time"}
	faultPerTry         = fault{codec.UpstreamTimeout, fromUpstream, faultTry, "the upstream did not answer in time"}
	faultUpstreamIdle   = fault{codec.UpstreamTimeout, fromUpstream, faultFinal, "the upstream stopped sending"}
	faultTotal          = fault{codec.TotalTimeout, fromInside, faultFinal, "the request took too long"}
	faultNoEndpoint     = fault{codec.NoEndpoint, fromInside, faultFinal, "no endpoint is available"}
	faultPoolExhausted  = fault{codec.PoolExhausted, fromInside, faultFinal, "every connection to the upstream is busy"}
	faultFilterBroke    = fault{codec.InternalError, fromInside, faultFinal, "a filter failed"}
	faultFilterLate     = fault{codec.FilterUnavailable, fromInside, faultFinal, "a filter did not decide in time"}
	faultStopping       = fault{codec.Draining, fromInside, faultFinal, "the gateway ends"}
	faultOverloaded     = fault{codec.Overloaded, fromInside, faultFinal, "the gateway is out of buffers"}
	faultNoSocket       = fault{codec.Overloaded, fromInside, faultFinal, "the gateway has no socket to reach the upstream with"}
	faultBodyTooLarge   = fault{codec.BodyTooLarge, fromDownstream, faultFinal, "the request body is too large"}
	faultSpill          = fault{codec.Overloaded, fromInside, faultFinal, "the gateway has no room for the request body"}
	faultSlowBody       = fault{codec.RequestTimeout, fromDownstream, faultFinal, "the request body arrives too slowly"}
	faultReadIdle       = fault{codec.RequestTimeout, fromDownstream, faultFinal, "the request body stopped arriving"}
	faultNoHeartbeat    = fault{codec.UpstreamTimeout, fromUpstream, faultReset, "the upstream did not answer heartbeats"}
	faultGoingAway      = fault{codec.UpstreamReset, fromInside, faultConnect, "the upstream goes away"}
	faultHeadLate       = fault{codec.RequestTimeout, fromDownstream, faultFinal, "the request head did not arrive in time"}
	faultOverWindow     = fault{codec.BadFraming, fromDownstream, faultFinal, "the request body is more than there was credit for"}
	faultCutRequest     = fault{codec.BadFraming, fromDownstream, faultFinal, "the request body ended early"}
)

// The faults of requests that go nowhere: at the door, and as the resolver says.
var (
	faultExpectation      = fault{codec.ExpectationFailed, fromDownstream, faultFinal, "only 100-continue can be expected"}
	faultMaxForwards      = fault{codec.BadRequest, fromDownstream, faultFinal, "Max-Forwards is not a number"}
	faultAmbiguousPath    = fault{codec.AmbiguousPath, fromDownstream, faultFinal, "the path has more than one reading"}
	faultRouteNotFound    = fault{codec.RouteNotFound, fromDownstream, faultFinal, "no route is registered for this path"}
	faultCallNotFound     = fault{codec.RouteNotFound, fromDownstream, faultFinal, "no route is registered for this call"}
	faultMethodNotAllowed = fault{codec.MethodNotAllowed, fromDownstream, faultFinal, "the route does not take this method"}
)

// notFound is for a request that no route takes.
func notFound(h *codec.Head) fault {
	if h.Call() != codec.ByPath {
		return faultCallNotFound
	}
	return faultRouteNotFound
}

// dialFault tells a refusal of the endpoint's from what this machine lacks, which
// must not be held against the endpoint.
func dialFault(err error) fault {
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Net == "unix" && errors.Is(err, unix.EAGAIN) {
		return faultRefused // of a unix socket it says that its server's backlog is full
	}
	for _, lacking := range []error{
		unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL, unix.EAGAIN,
	} {
		if errors.Is(err, lacking) {
			return faultNoSocket
		}
	}
	return faultRefused
}

// outcome is what the pool's gates learn from a failed try.
func (f fault) outcome() pool.Outcome {
	if f.source != fromUpstream {
		return pool.Aborted
	}
	switch f.kind {
	case faultConnect:
		return pool.ConnectFailed
	case faultTimeout, faultTry:
		return pool.TimedOut
	}
	return pool.Reset
}

// faultOf turns a decoder's error about a client's message into a fault.
func faultOf(err error) fault {
	var e *codec.Error
	if errors.As(err, &e) {
		return fault{e.Reason, fromDownstream, faultFinal, e.Detail}
	}
	return fault{codec.BadRequest, fromDownstream, faultFinal, "the request is malformed"}
}

// What the engine itself finds wrong with messages.
var (
	errDuplicateID     = &codec.Error{Reason: codec.BadRequest, Detail: "a request has the id of one that is under way"}
	errMessageTooLarge = &codec.Error{Reason: codec.BodyTooLarge, Detail: "the message is too large for the protocol"}
	errKeyPath         = &codec.Error{Reason: codec.AmbiguousPath, Detail: "the key means something else as a path"}
	errGathered        = &codec.Error{Reason: codec.Overloaded, Detail: "it has sent parts of messages beyond the budget for buffers"}
	errNoMemory        = &codec.Error{Reason: codec.Overloaded, Detail: "the gateway is out of buffers"}
)
