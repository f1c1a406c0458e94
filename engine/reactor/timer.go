package reactor

import "math/bits"

// Alarm is told when one of its timers is due. It runs on the loop and may arm any timer again.
type Alarm interface {
	OnTimer(kind uint8, now int64)
}

// Timer is a deadline in the wheel of a loop. It is embedded in what it times, initialised once with
// Init and used on one loop only. It must not be copied.
type Timer struct {
	owner    Alarm
	deadline int64 // monotonic ns; 0: disarmed
	tick     int64 // tick of the slot it stands in
	prev     *Timer
	next     *Timer
	slot     int32 // slot number + 1; 0: in no slot
	kind     uint8
}

// Init sets whom the timer calls and with which kind. The timer must not stand in a wheel.
func (t *Timer) Init(owner Alarm, kind uint8) {
	*t = Timer{owner: owner, kind: kind}
}

// SetKind changes what OnTimer is called with, for an owner whose phases share one timer. On the loop.
func (t *Timer) SetKind(kind uint8) { t.kind = kind }

// Kind is what OnTimer is called with. On the loop.
func (t *Timer) Kind() uint8 { return t.kind }

// Armed reports whether the timer is going to fire. On the loop.
func (t *Timer) Armed() bool { return t.deadline != 0 }

// Deadline is when it fires, in monotonic nanoseconds, 0 if it is not armed. On the loop.
func (t *Timer) Deadline() int64 { return t.deadline }

// Arm makes t fire at the first turn at or after deadline, in monotonic nanoseconds: never early, and
// late by one tick of 8 ms and the length of a turn. Moving a deadline later, which is what every
// byte of traffic does to an idle timeout, is only a store. On the loop.
func (l *Loop) Arm(t *Timer, deadline int64) {
	l.assertLoop()
	l.wheel.arm(t, deadline)
}

// Disarm makes sure that t does not fire; it is only a store. The wheel keeps pointing to t, for 34
// seconds at most; see Forget. On the loop.
func (l *Loop) Disarm(t *Timer) {
	l.assertLoop()
	t.deadline = 0
}

// Forget disarms t and takes it out of the wheel, for an owner that is given up. On the loop.
func (l *Loop) Forget(t *Timer) {
	l.assertLoop()
	t.deadline = 0
	l.wheel.unlink(t)
}

const (
	tickShift  = 23 // a tick is 2^23 ns, 8.4 ms
	wheelSlots = 4096
	dueSlot    = wheelSlots // holds the timers that a turn is working off
)

// wheel hashes timers by tick into slots. A timer stands in the slot of its deadline, or of an earlier
// tick if its deadline was moved or lies beyond the wheel's 34 s; when that slot comes up it is put
// where it belongs. The bitmap of slots in use makes finding the next one a matter of a few words.
type wheel struct {
	slots    [wheelSlots + 1]*Timer
	occupied [wheelSlots / 64]uint64
	current  int64 // last tick worked off
}

// arm sets a deadline. Deadlines in the past fire with the next tick.
func (w *wheel) arm(t *Timer, deadline int64) {
	t.deadline = max(deadline, 1)
	tick := (t.deadline + 1<<tickShift - 1) >> tickShift
	if t.slot != 0 {
		if t.tick <= tick {
			return
		}
		w.unlink(t)
	}
	tick = min(max(tick, w.current+1), w.current+wheelSlots-1)
	t.tick = tick
	slot := int(tick % wheelSlots)
	w.link(t, slot)
	w.occupied[slot/64] |= 1 << (slot % 64)
}

func (w *wheel) link(t *Timer, slot int) {
	t.slot = int32(slot + 1)
	t.prev = nil
	t.next = w.slots[slot]
	if t.next != nil {
		t.next.prev = t
	}
	w.slots[slot] = t
}

func (w *wheel) unlink(t *Timer) {
	if t.slot == 0 {
		return
	}
	slot := int(t.slot - 1)
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		w.slots[slot] = t.next
		if t.next == nil && slot != dueSlot {
			w.occupied[slot/64] &^= 1 << (slot % 64)
		}
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next, t.slot = nil, nil, 0
}

// advance moves everything that stands in a slot up to now's tick to the due slot.
func (w *wheel) advance(now int64) {
	target := now >> tickShift
	if target <= w.current {
		return
	}
	from := max(w.current+1, target-wheelSlots+1)
	w.current = target
	for tick := from; tick <= target; {
		slot := int(tick % wheelSlots)
		word := w.occupied[slot/64] >> (slot % 64)
		if word == 0 {
			tick += int64(64 - slot%64)
			continue
		}
		tick += int64(bits.TrailingZeros64(word))
		if tick > target {
			return
		}
		w.collect(int(tick % wheelSlots))
		tick++
	}
}

func (w *wheel) collect(slot int) {
	for t := w.slots[slot]; t != nil; t = w.slots[slot] {
		w.unlink(t)
		w.link(t, dueSlot)
	}
}

// due takes the next timer to fire off the due slot and disarms it; nil when there is none. Those that
// were disarmed are dropped and those that were moved later are put back on the way.
func (w *wheel) due(now int64) *Timer {
	for t := w.slots[dueSlot]; t != nil; t = w.slots[dueSlot] {
		w.unlink(t)
		switch {
		case t.deadline == 0:
		case t.deadline > now:
			w.arm(t, t.deadline)
		default:
			t.deadline = 0
			return t
		}
	}
	return nil
}

// wait is how long, from now, until the next slot in use comes up: -1 if none is.
func (w *wheel) wait(now int64) int64 {
	if w.slots[dueSlot] != nil {
		return 0
	}
	first := int((w.current + 1) % wheelSlots)
	word := w.occupied[first/64] >> (first % 64)
	if word != 0 {
		return w.until(w.current+1+int64(bits.TrailingZeros64(word)), now)
	}
	ahead := int64(64 - first%64)
	for i := 1; i <= len(w.occupied); i++ {
		word := w.occupied[(first/64+i)%len(w.occupied)]
		if word != 0 {
			return w.until(w.current+1+ahead+int64(bits.TrailingZeros64(word)), now)
		}
		ahead += 64
	}
	return -1
}

func (w *wheel) until(tick, now int64) int64 {
	return max(tick<<tickShift-now, 0)
}
