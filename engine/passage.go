package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// This file is what an exchange does for a connection that is passed through: it
// has no request, and is a tunnel as soon as the endpoint's connection is open.

// statusPassed stands in the log for a connection that was passed through. It is
// never sent; what nginx writes of its streams.
const statusPassed = 200

var (
	faultNoName    = fault{codec.RouteNotFound, fromDownstream, faultFinal, "no service takes this server name"}
	faultLateHello = fault{
		codec.RequestTimeout, fromDownstream, faultFinal, "the first message of TLS did not arrive in time",
	}
	faultCutHello = fault{codec.BadRequest, fromDownstream, faultFinal, "the connection ended inside the first message of TLS"}
	// faultPassedReset is not held against the endpoint: resets are how some
	// protocols end.
	faultPassedReset = fault{codec.UpstreamReset, fromInside, faultFinal, "the upstream reset the connection"}
	faultTunnelStuck = fault{codec.UpstreamTimeout, fromInside, faultFinal, "the upstream took nothing any more"}
)

// pass takes a connection to where it goes; nil: nowhere. What there is to know of
// it stands in x.req.
func (x *Exchange) pass(down downstream, lis *snapshot.Listener, snap *snapshot.Snapshot, to *snapshot.Route) {
	x.prepare(down, lis, snap)
	x.requestDone = true
	if f, ok := x.w.admit(); !ok {
		x.fail(f)
		return
	}
	x.touch()
	at, v := lis.Chain.Connection(&x.Context)
	x.reached[stageListener] = min(at, lis.Chain.Len()-1)
	switch {
	case v != filters.Continue:
		x.answer()
	case to == nil:
		x.fail(faultNoName)
	default:
		x.route, x.Route = to, &to.Info
		x.svc, x.Service = to.Service, to.Service.Name
		x.w.enterService(x.svc)
		x.counted = true
		x.key = x.svc.Key(&x.req, x.Client)
		x.beginTry()
	}
}

// openPassage begins to relay: the endpoint's connection is open. For the pool the
// try has succeeded, in the time that it took to connect, and yet counts as under
// way until the connection ends, so that who has fewer gets the next.
func (x *Exchange) openPassage(t *try) {
	w := x.w
	w.loop.Disarm(&t.clock)
	w.loop.Disarm(&t.limit)
	t.settle(pool.Success)
	w.local.Start(x.svc.Pool, t.endpoint)
	t.started, t.headAt = true, t.begunAt
	x.status = statusPassed
	x.setState(stateTunnel)
	x.armTunnel()
	t.up.startTunnel()
	x.down.startTunnel()
}
