package engine

import (
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// openTunnel relays a 101 and lets both sides speak as they like (RFC 9110
// §7.8). The total clock does not apply any more.
func (x *Exchange) openTunnel() {
	x.disarm()
	x.down.sendHead(&x.resp)
	x.setState(stateTunnel)
	x.lead.settle(pool.Success)
	x.w.stats.Upgrades++
	x.armTunnel()
	x.down.startTunnel()
	x.lead.up.startTunnel()
}

func (x *Exchange) armTunnel() {
	idle := x.route.Timeouts.TunnelIdle
	if idle == snapshot.Inherit {
		idle = x.lis.TunnelIdle
	}
	x.armUp(clockTunnelIdle, idle.Nanoseconds())
}

// onTunnelUp carries bytes from the client.
func (x *Exchange) onTunnelUp(b []byte) {
	x.bytesIn += int64(len(b))
	x.armTunnel()
	x.lead.up.sendData(b)
	if x.lead.up.overHigh() {
		x.down.pause()
	}
}

// onTunnelDown carries bytes from the upstream.
func (x *Exchange) onTunnelDown(b []byte) {
	x.bytesOut += int64(len(b))
	x.armTunnel()
	x.down.sendData(b)
	if x.down.overHigh() {
		x.lead.up.pause()
	}
}

// onTunnelClientEOF passes a half-close on; the other direction stays open.
func (x *Exchange) onTunnelClientEOF() {
	x.clientEOF = true
	if x.upstreamEOF {
		x.endTunnel()
		return
	}
	x.lead.up.closeWrite()
}

// onTunnelUpstreamEOF is its mirror.
func (x *Exchange) onTunnelUpstreamEOF() {
	x.upstreamEOF = true
	if x.clientEOF {
		x.endTunnel()
		return
	}
	x.down.closeWrite()
}

// onTunnelIdle ends a tunnel that nothing came through. If one side is stuck the
// stream is cut, for its peer must not take what it has got for all.
func (x *Exchange) onTunnelIdle() {
	switch {
	case x.down.overHigh():
		x.fail(faultClientGone)
	case x.lead.up.overHigh():
		x.fail(faultTunnelStuck)
	default:
		x.endTunnel()
	}
}

// endTunnel closes both sides once what is queued has been sent.
func (x *Exchange) endTunnel() {
	up := x.lead.up
	x.lead.up = nil
	up.closeTunnel()
	x.down.closeTunnel()
	x.finish()
}
