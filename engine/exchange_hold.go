package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// This file is an exchange whose request body is received whole before an
// endpoint is chosen, and then sent from its holder, once for each try.

// holds says whether the body is received whole: the route or a filter wants it.
// A filter that reads it is told of the lack of one too.
func (x *Exchange) holds() bool {
	asked, reads := x.Context.Holds()
	return reads || !x.requestDone && (asked || x.route.Buffer)
}

// readsWhole says whether a filter will read the body, which must stay in memory
// for that.
func (x *Exchange) readsWhole() bool {
	_, reads := x.Context.Holds()
	return reads
}

// hold begins to receive the body. Nothing of the request has left the gateway,
// so that it is the gateway that says 100 (RFC 9110 §10.1.1).
func (x *Exchange) hold() {
	x.holdsBody = true
	x.setState(stateHolding)
	if x.requestDone {
		x.endHold()
		return
	}
	if limit := x.route.BodyMemory; x.readsWhole() && limit > 0 && x.req.ContentLength() > limit {
		x.fail(faultBodyTooLarge)
		return
	}
	x.bodyOpen = true
	if x.req.Expect100() {
		x.down.sendInterim(&x.w.goOn)
		x.req.DelKnown(codec.Expect)
	}
	x.down.resume()
}

// newGoOn makes the head that says 100.
func newGoOn() (h codec.Head) {
	h.Reset()
	h.SetStatus(100)
	return h
}

// store keeps a piece: in memory up to the route's limit and while there is some
// for the process, then in a file.
func (x *Exchange) store(b []byte) {
	buf := &x.buffer
	buf.add(x.w.loop, b)
	if buf.spill == nil {
		limit := x.route.BodyMemory
		over := limit > 0 && buf.total > limit
		scarce := len(buf.blocks) > 1 && x.w.loop.Memory().Over()
		switch {
		case !over && !scarce:
			return
		case x.readsWhole() && over:
			x.fail(faultBodyTooLarge)
			return
		case x.readsWhole():
			x.fail(faultOverloaded)
			return
		}
		buf.spill = newSpill(x.w.server.files, x)
	}
	x.writeSpill()
}

// writeSpill hands on what can be written. The client is slowed down to the pace
// of the disk.
func (x *Exchange) writeSpill() {
	buf := &x.buffer
	written := buf.write(x.requestDone)
	switch {
	case x.requestDone && written:
		x.w.loop.Disarm(&x.upClock)
		x.wholeBody()
	case buf.spill.busy && !x.upClock.Armed():
		x.armUp(clockSpill, x.w.server.spillTime)
	}
	if x.bodyOpen && buf.waiting() > spillWindow {
		x.down.pause()
	}
}

// endHold goes on when the body is whole.
func (x *Exchange) endHold() {
	if x.buffer.spill != nil {
		x.writeSpill()
		return
	}
	x.wholeBody()
}

// onSpillDone takes a job's result.
func (x *Exchange) onSpillDone() {
	s := x.buffer.spill
	switch {
	case s.err != nil:
		x.onSpillFailed(s.err)
	case s.job == spillWrite && x.state == stateHolding:
		x.w.loop.Disarm(&x.upClock)
		x.writeSpill()
		if x.bodyOpen && x.buffer.waiting() <= spillWindow {
			x.down.resume()
		}
	case s.job == spillRead:
		x.onSpillRead(s)
	}
}

// onSpillFailed ends an exchange that cannot be held: the disk is full, or broken.
// Between a failure and its answer it does nothing.
func (x *Exchange) onSpillFailed(err error) {
	if x.state != stateHolding && !x.feeds() {
		return
	}
	x.w.server.events.push(Event{
		Kind: EventSpillFailed, Loop: x.w.id, Name: x.w.server.files.folder, Route: x.routeID(), Value: err,
	})
	x.fail(faultSpill)
}

// wholeBody lets the filters read the body that asked for it, and begins the
// first try. A body whose end was not known has a length now; one with trailers
// needs its chunks.
func (x *Exchange) wholeBody() {
	if x.bodyOut > 0 || x.req.Framing() != codec.FramingNone {
		if x.reqTrailers.Len() == 0 {
			x.req.SetFraming(codec.FramingLength, x.bodyOut)
		}
	}
	x.readWhole(0)
}

func (x *Exchange) readWhole(from int) {
	x.touch()
	at, v := x.Context.WholeRequest(&x.buffer, from)
	x.actOnWhole(at, v)
}

// resumeWhole goes on after the filter that waits in readWhole.
func (x *Exchange) resumeWhole() {
	at := x.waitAt
	v := x.Context.ResumeWhole(at)
	if v == filters.Continue {
		x.readWhole(at + 1)
		return
	}
	x.actOnWhole(at, v)
}

func (x *Exchange) actOnWhole(at int, v filters.Verdict) {
	switch v {
	case filters.Respond:
		x.answer()
	case filters.Wait:
		x.suspend(at)
	default:
		x.beginTry()
	}
}

// letGo gives up the held body once it can be of no more use: a response has come,
// so that there is no other try, and this one has all of it.
func (x *Exchange) letGo() {
	if x.Response != nil && !x.lead.feeds {
		x.buffer.release(x.w.loop)
	}
}
