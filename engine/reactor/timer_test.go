package reactor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// alarm records when it fired.
type alarm struct {
	timer Timer
	fired []int64
	kinds []uint8
	then  func(now int64)
}

func (a *alarm) OnTimer(kind uint8, now int64) {
	a.fired = append(a.fired, now)
	a.kinds = append(a.kinds, kind)
	if a.then != nil {
		a.then(now)
	}
}

func newAlarm() *alarm {
	a := &alarm{}
	a.timer.Init(a, 3)
	return a
}

// turnWheel does what a loop does at now.
func turnWheel(w *wheel, now int64) {
	w.advance(now)
	for t := w.due(now); t != nil; t = w.due(now) {
		t.owner.OnTimer(t.kind, now)
	}
}

const tick = int64(1) << tickShift

func TestTimerFiresOnceNeverEarly(t *testing.T) {
	w, a := &wheel{}, newAlarm()
	require.False(t, a.timer.Armed())
	w.arm(&a.timer, 5*tick+1)
	require.True(t, a.timer.Armed())
	require.Equal(t, 5*tick+1, a.timer.Deadline())
	require.Equal(t, 6*tick, w.wait(0))
	for now := int64(0); now <= 5*tick; now += tick / 2 {
		turnWheel(w, now)
	}
	require.Empty(t, a.fired)
	turnWheel(w, 6*tick)
	require.Equal(t, []int64{6 * tick}, a.fired)
	require.Equal(t, []uint8{3}, a.kinds)
	require.False(t, a.timer.Armed())
	a.timer.SetKind(4)
	require.Equal(t, uint8(4), a.timer.Kind())
	turnWheel(w, 10_000*tick)
	require.Len(t, a.fired, 1)
	require.Equal(t, int64(-1), w.wait(10_000*tick))
}

func TestTimerMoves(t *testing.T) {
	w, a := &wheel{}, newAlarm()
	w.arm(&a.timer, 10*tick)
	slot := a.timer.slot
	w.arm(&a.timer, 20*tick)
	require.Equal(t, slot, a.timer.slot, "later is only a store")
	turnWheel(w, 10*tick)
	require.Empty(t, a.fired)
	w.arm(&a.timer, 12*tick)
	require.NotEqual(t, slot, a.timer.slot, "earlier is moved")
	turnWheel(w, 12*tick)
	require.Equal(t, []int64{12 * tick}, a.fired)
	w.arm(&a.timer, tick) // past
	turnWheel(w, 13*tick)
	require.Len(t, a.fired, 2)
}

func TestTimerDisarmed(t *testing.T) {
	w, a := &wheel{}, newAlarm()
	w.arm(&a.timer, 2*tick)
	a.timer.deadline = 0
	turnWheel(w, 3*tick)
	require.Empty(t, a.fired)
	require.Zero(t, a.timer.slot)
	w.unlink(&a.timer) // of a timer in no slot: nothing
}

func TestTimerBeyondTheWheel(t *testing.T) {
	w, a := &wheel{}, newAlarm()
	deadline := 3*wheelSlots*tick + 7*tick
	w.arm(&a.timer, deadline)
	now := int64(0)
	for range 10 {
		wait := w.wait(now)
		if wait < 0 {
			break
		}
		now += wait
		turnWheel(w, now)
	}
	require.Equal(t, []int64{deadline}, a.fired)
}

func TestTimerCallbacksChangeOthers(t *testing.T) {
	w := &wheel{}
	first, second, third := newAlarm(), newAlarm(), newAlarm()
	for _, a := range []*alarm{third, second, first} { // the last one linked comes up first
		w.arm(&a.timer, 2*tick)
	}
	all := []*alarm{first, second, third}
	for _, a := range all {
		a.then = func(now int64) {
			for _, b := range all {
				b.then = nil
				if b == a {
					w.arm(&b.timer, now) // again, in the past: with the next tick
				} else {
					w.unlink(&b.timer)
					b.timer.deadline = 0
				}
			}
		}
	}
	turnWheel(w, 2*tick)
	require.Equal(t, 1, len(first.fired)+len(second.fired)+len(third.fired))
	turnWheel(w, 3*tick)
	require.Equal(t, 2, len(first.fired)+len(second.fired)+len(third.fired))
}

// Thousands of timers and a model that only keeps deadlines: each fires exactly when the first turn at
// or after its deadline's tick comes, whatever was done to it before.
func TestTimersAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	w := &wheel{}
	alarms := make([]*alarm, 2000)
	deadlines := make([]int64, len(alarms))
	for i := range alarms {
		alarms[i] = newAlarm()
		alarms[i].then = func(now int64) {
			if now < deadlines[i] || deadlines[i] == 0 {
				t.Errorf("timer %d with deadline %d fired at %d", i, deadlines[i], now)
			}
			deadlines[i] = 0
		}
	}
	now := int64(0)
	for range 3000 {
		for range 50 {
			i := rnd.IntN(len(alarms))
			switch rnd.IntN(5) {
			case 0:
				alarms[i].timer.deadline, deadlines[i] = 0, 0
			case 1:
				w.unlink(&alarms[i].timer)
				alarms[i].timer.deadline, deadlines[i] = 0, 0
			default:
				deadlines[i] = max(now+rnd.Int64N(1<<rnd.IntN(37))-tick, 1)
				w.arm(&alarms[i].timer, deadlines[i])
			}
		}
		wait := w.wait(now)
		now += 1 + rnd.Int64N(1<<rnd.IntN(36))
		for i, d := range deadlines {
			if d != 0 && now-d > 2*tick && wait > now {
				t.Fatalf("timer %d would be slept through", i)
			}
		}
		turnWheel(w, now)
		for i, d := range deadlines {
			require.False(t, d != 0 && d < now-2*tick, "timer %d is late", i)
		}
	}
}

func TestWaitFindsTheNextSlot(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		w := &wheel{current: rnd.Int64N(1 << 20)}
		now := w.current * tick
		soonest := int64(1 << 62)
		for range 1 + rnd.IntN(3) {
			a := newAlarm()
			ahead := 1 + rnd.Int64N(wheelSlots-1)
			w.arm(&a.timer, now+ahead*tick)
			soonest = min(soonest, ahead*tick)
		}
		require.Equal(t, soonest, w.wait(now))
	}
}

func TestLoopTimers(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l := start(t, o)
		fired := make(chan int64, 1)
		a := newAlarm()
		var deadline int64
		a.then = func(now int64) { fired <- now - deadline }
		gone := newAlarm()
		do(t, l, func() {
			deadline = l.Now() + 30e6
			l.Arm(&a.timer, deadline)
			l.Arm(&gone.timer, l.Now())
			l.Forget(&gone.timer)
			require.Zero(t, gone.timer.slot)
		})
		require.GreaterOrEqual(t, await(t, fired, "the timer"), int64(0), "never early")
		do(t, l, func() {
			l.Arm(&a.timer, l.Now())
			l.Disarm(&a.timer)
			require.Empty(t, gone.fired)
		})
	})
}

func TestArmAllocatesNothing(t *testing.T) {
	w, a := &wheel{}, newAlarm()
	a.fired, a.kinds = make([]int64, 0, 1<<16), make([]uint8, 0, 1<<16)
	now := int64(0)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		now += 3 * tick
		w.arm(&a.timer, now+tick)
		w.arm(&a.timer, now+5*tick)
		turnWheel(w, now)
	}))
}

func BenchmarkTimerFeed(b *testing.B) {
	w, a := &wheel{}, newAlarm()
	w.arm(&a.timer, tick)
	for i := range b.N {
		w.arm(&a.timer, tick+int64(i))
	}
}

func BenchmarkTimerArmAndFire(b *testing.B) {
	w := &wheel{}
	alarms := make([]*alarm, 1024)
	for i := range alarms {
		alarms[i] = newAlarm()
	}
	fired := 0
	now := int64(0)
	for i := range b.N {
		a := alarms[i%len(alarms)]
		w.arm(&a.timer, now+int64(i%100+1)*tick)
		if i%64 == 0 {
			now += tick
			w.advance(now)
			for t := w.due(now); t != nil; t = w.due(now) {
				fired++
			}
		}
	}
}

func BenchmarkTimerWaitOnEmptyWheel(b *testing.B) {
	w := &wheel{}
	for range b.N {
		w.wait(0)
	}
}
