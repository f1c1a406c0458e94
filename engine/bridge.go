package engine

import (
	"bytes"
	"strconv"

	"github.com/corelane/corelane/codec"
)

// This file is what an exchange does where its two sides speak different
// protocols, and what deadlines are carried across.

// bridge makes the request one that the service's protocol can carry.
func (x *Exchange) bridge() error {
	if x.proto != nil && x.req.Expect100() && !x.requestDone && !x.message {
		// Nobody behind the gateway is going to say 100 (RFC 9110 §10.1.1).
		x.down.sendInterim(&x.w.goOn)
		x.req.DelKnown(codec.Expect)
	}
	if x.proto == nil {
		if x.req.Call() == codec.ByKey && !x.plainKey() {
			return errKeyPath
		}
		x.tellDeadline()
		if x.message && len(x.req.Authority()) == 0 {
			x.req.SetAuthority([]byte(x.svc.Name)) // HTTP wants a host (RFC 9112 §3.2)
		}
	}
	if x.message && x.down.protocol() != x.proto {
		return x.down.neutral()
	}
	return nil
}

// plainKey says that a call by key, which is routed by the key as it is, is the
// same as a path: "orders/../admin" would lead elsewhere.
func (x *Exchange) plainKey() bool {
	path := x.req.Path()
	return x.w.resolver.Normalize(&x.req, x.lis, nil) && bytes.Equal(path, x.req.Path())
}

// maxTimeoutMs is the longest deadline that a client can set: what a client says
// beyond it is not a deadline.
const maxTimeoutMs = 1<<31 - 1

// clientTimeout is the time, in nanoseconds, that the client says it waits; 0: it
// says nothing, or nothing sensible.
func (x *Exchange) clientTimeout() int64 {
	b := x.req.Get(codec.XTimeoutMs)
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0
		}
		if n = n*10 + int64(c-'0'); n > maxTimeoutMs {
			return 0
		}
	}
	return n * 1e6
}

// totalTime is the time that the exchange may take, in nanoseconds: the route's,
// or the client's if that is shorter. 0: no limit.
func (x *Exchange) totalTime() int64 {
	total := x.route.Timeouts.Total.Nanoseconds()
	if client := x.clientTimeout(); client > 0 && (total == 0 || client < total) {
		return client
	}
	return total
}

// timeLeft is what is left of it, in milliseconds, at least 1; 0: no limit.
func (x *Exchange) timeLeft() int64 {
	if !x.allClock.Armed() {
		return 0
	}
	return max((x.allClock.Deadline()-x.now())/1e6, 1)
}

// tellDeadline tells a service that speaks HTTP how long the client waits, if the
// client has said so.
func (x *Exchange) tellDeadline() {
	if x.req.First(codec.XTimeoutMs) < 0 {
		return
	}
	if left := x.timeLeft(); left > 0 {
		var digits [20]byte
		x.req.SetKnown(codec.XTimeoutMs, strconv.AppendInt(digits[:0], left, 10))
		return
	}
	x.req.DelKnown(codec.XTimeoutMs)
}
