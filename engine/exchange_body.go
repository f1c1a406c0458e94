package engine

import (
	"unsafe"

	"github.com/corelane/corelane/codec"
)

// This file is the way of body pieces behind the filters.

// moved says whether a filter has put another piece in the place of b. It lies
// where the filter likes, which may be where it puts the next one.
func moved(out, b []byte) bool { return unsafe.SliceData(out) != unsafe.SliceData(b) }

// passRequest sends a piece on, or keeps it where the body is received whole
// first. A piece of a filter's own is not referenced when it returns.
func (x *Exchange) passRequest(b []byte, own bool) {
	if len(b) == 0 {
		return
	}
	x.bodyOut += int64(len(b))
	if x.state == stateHolding {
		x.store(b)
		return
	}
	if x.mayHold() {
		x.held.add(x.w.loop, b, x.bodyOut, int64(x.w.server.options.High))
	} else {
		x.held.release(x.w.loop)
	}
	x.lead.up.sendData(b)
	if own {
		x.w.loop.Flush()
	}
	if x.lead.up.overHigh() {
		x.down.pause()
	}
}

// keepsBody says that what was received of the body is there for another try.
func (x *Exchange) keepsBody() bool {
	return x.bytesIn == 0 || x.holdsBody || x.held.whole(x.bodyOut)
}

// passResponse sends a piece to the client.
func (x *Exchange) passResponse(b []byte, own bool) {
	if len(b) == 0 {
		return
	}
	x.bytesOut += int64(len(b))
	x.down.sendData(b)
	if own {
		x.w.loop.Flush()
	}
}

// frameResponse decides whether a body follows, and takes a promised length back
// that a filter is going to change.
func (x *Exchange) frameResponse(h *codec.Head) {
	status := h.Status()
	x.noBody = x.req.MethodID() == codec.HEAD || status == 204 || status == 304
	switch {
	case !x.Context.ResponseChanges():
	case x.noBody:
		h.SetFraming(codec.FramingNone, -1)
	default:
		h.SetFraming(codec.FramingChunked, -1)
	}
}

// narrow keeps filters that have seen a head away from the body of the answer
// that took its place: those from number at of the stage inward.
func (x *Exchange) narrow(at int) {
	x.bodyFrom[x.stage] = at - 1
	if x.stage == stageListener {
		x.bodyFrom[stageRoute] = -1
	}
	x.Context.ForgetResponse()
}
