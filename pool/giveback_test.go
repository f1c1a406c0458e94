package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemoveReleasesOnce(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 3})
	lent, idle := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
	w.put(idle)
	for range 3 {
		w.locals[0].Remove(idle.conn) // the peer closed it
		w.locals[0].Remove(lent.conn)
	}
	assert.Zero(t, e.Conns())
	st := w.locals[0].Stats()
	assert.EqualValues(t, 2, st.Closed[ReasonRemoved])
	assert.Zero(t, st.Idle+st.Busy)
	assert.Empty(t, w.locals[0].Snapshot(nil))

	w.put(lent) // a late one changes nothing
	w.must(Dial, 0, s, e)
	w.locals[0].Remove(&fakeConn{}) // one that was never attached neither
	assert.EqualValues(t, 1, e.Conns())
}

func TestPutTwiceIsOnce(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{})
	a := w.must(Dial, 0, s, e)
	w.put(a)
	w.put(a)
	assert.Equal(t, 1, w.locals[0].Stats().Idle)
	w.must(Idle, 0, s, e)
	w.must(Dial, 0, s, e)
}

func TestIdleConnectionsExpire(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{Idle: 60 * time.Second})
	a, b, c := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
	w.put(a)
	w.pass(20 * time.Second)
	w.put(b)
	w.put(c)
	w.pass(40*time.Second - 1)
	assert.False(t, a.conn.closed)
	w.pass(1)
	assert.True(t, a.conn.closed)
	assert.False(t, b.conn.closed)
	again := w.must(Idle, 0, s, e)
	assert.Same(t, c.conn, again.conn)
	w.put(again)
	w.pass(20 * time.Second)
	assert.True(t, b.conn.closed)
	assert.False(t, c.conn.closed, "it was used meanwhile")
	w.pass(time.Minute)
	assert.True(t, c.conn.closed)
	assert.Zero(t, e.Conns())
	assert.EqualValues(t, 3, w.locals[0].Stats().Closed[ReasonIdle])
}

func TestExpiredConnectionIsNotLentBeforeTheSweep(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{Idle: time.Second})
	a := w.must(Dial, 0, s, e)
	w.put(a)
	w.now += second // the timer is late
	w.must(Dial, 0, s, e)
	assert.Equal(t, []CloseReason{ReasonIdle}, a.conn.reasons)
	assert.EqualValues(t, 1, e.Conns())
}

func TestSweepsKeepADistance(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{Idle: time.Minute})
	var all []*client
	for range 100 {
		all = append(all, w.must(Dial, 0, s, e))
	}
	for _, c := range all {
		w.put(c)
		w.now += int64(time.Millisecond)
	}
	sweeps := 0
	for w.locals[0].Stats().Idle > 0 {
		w.pass(time.Duration(w.timers[0].deadline - w.now))
		sweeps++
	}
	assert.LessOrEqual(t, sweeps, 3)
}

func TestMaxAge(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{Idle: time.Minute, MaxAge: 10 * time.Second})
	used, unused, overdue := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
	w.put(unused)
	w.put(overdue)
	w.locals[0].Get(s, e, &overdue.waiter, w.now)
	w.pass(10*time.Second - 1)
	assert.False(t, unused.conn.closed)
	w.pass(1)
	assert.Equal(t, []CloseReason{ReasonAge}, unused.conn.reasons)
	assert.False(t, used.conn.closed, "age never interrupts an exchange")
	w.put(used)
	assert.Equal(t, []CloseReason{ReasonAge}, used.conn.reasons)
	assert.EqualValues(t, 1, e.Conns())
}

func TestAgedConnectionMakesRoomForAWaiter(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1, MaxAge: time.Second})
	a := w.must(Dial, 0, s, e)
	waiting := w.must(Queued, 0, s, e)
	w.pass(time.Second)
	w.put(a)
	require.Equal(t, 1, waiting.granted)
	assert.NotSame(t, a.conn, waiting.conn)
	assert.EqualValues(t, 1, e.Conns())
}

func TestRetiredEndpoint(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 2})
	lent, idle := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
	w.put(idle)
	w.registry.Publish(nil)
	assert.False(t, idle.conn.closed)
	w.locals[0].CloseRetired(w.now)
	assert.Equal(t, []CloseReason{ReasonRetired}, idle.conn.reasons)

	pinned := w.must(Dial, 0, s, e) // an exchange of the old generation still may
	w.put(lent)
	assert.Equal(t, []CloseReason{ReasonRetired}, lent.conn.reasons)
	assert.EqualValues(t, 1, e.Conns())

	w.registry.Publish([]*Endpoint{e})
	w.put(pinned)
	assert.False(t, pinned.conn.closed, "revived")
	assert.Same(t, pinned.conn, w.must(Idle, 0, s, e).conn)
}

func TestReusedSlotMeetsNoStaleData(t *testing.T) {
	w := newWorld(t, 1)
	old, gone := w.limited(Limits{MaxConnections: 1})
	a := w.must(Dial, 0, old, gone)
	w.put(a)
	w.registry.Publish(nil)
	w.locals[0].CloseRetired(w.now)
	w.registry.Reclaim()

	fresh, err := w.registry.Endpoint("s", "127.0.0.1:9", "")
	require.NoError(t, err)
	require.Equal(t, gone.Slot(), fresh.Slot())
	s, err := NewService(ServiceConfig{Name: "s", State: w.registry.Service("s"), Members: []Member{{Endpoint: fresh, Weight: 1}}})
	require.NoError(t, err)

	// A pinned exchange of the old generation and one of the new meet in the slot.
	pinned, b := w.must(Dial, 0, old, gone), w.must(Dial, 0, s, fresh)
	late := w.must(Queued, 0, old, gone)
	w.put(b)
	assert.Same(t, b.conn, w.must(Idle, 0, s, fresh).conn)
	assert.Zero(t, late.granted)
	assert.Len(t, w.locals[0].Snapshot(nil), 2)
	w.put(pinned)
	require.Equal(t, 1, late.granted)
	assert.Same(t, gone, late.conn.Endpoint())
	w.put(late)
	assert.Zero(t, gone.Conns())

	w.locals[0].CloseRetired(w.now)
	assert.Nil(t, w.locals[0].lanes[fresh.Slot()].next, "the old lane is forgotten")
	assert.Same(t, fresh, w.locals[0].lanes[fresh.Slot()].endpoint)
}

func TestCloseIdleOfAnUnhealthyEndpoint(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{}, 1, 1)
	sick, well := s.Members[0].Endpoint, s.Members[1].Endpoint
	w.locals[0].CloseIdle(sick) // nothing known of it yet
	lent, a, b, c := w.must(Dial, 0, s, sick), w.must(Dial, 0, s, sick), w.must(Dial, 0, s, sick), w.must(Dial, 0, s, well)
	w.put(a)
	w.put(b)
	w.put(c)
	a.conn.onClose = func() { w.locals[0].Remove(a.conn) } // allowed, not needed
	w.locals[0].CloseIdle(sick)
	assert.True(t, a.conn.closed && b.conn.closed)
	assert.False(t, lent.conn.closed || c.conn.closed)
	assert.EqualValues(t, 1, sick.Conns())
	assert.EqualValues(t, 2, w.locals[0].Stats().Closed[ReasonUnhealthy])
	assert.Equal(t, []LaneStats{{Endpoint: sick, Busy: 1}, {Endpoint: well, Idle: 1}}, w.locals[0].Snapshot(nil))
}

func TestLoweredLimit(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 4})
	var all []*client
	for range 4 {
		all = append(all, w.must(Dial, 0, s, e))
	}
	w.put(all[0])
	w.put(all[1])
	s, _ = w.limited(Limits{MaxConnections: 1})
	w.locals[0].CloseRetired(w.now)
	assert.True(t, all[0].conn.closed && all[1].conn.closed)
	w.put(all[2])
	assert.Equal(t, []CloseReason{ReasonLimit}, all[2].conn.reasons)
	w.put(all[3])
	assert.False(t, all[3].conn.closed)
	assert.Same(t, all[3].conn, w.must(Idle, 0, s, e).conn)
	w.must(Queued, 0, s, e)
}

func TestRaisedLimitHelpsThoseWhoWait(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1})
	w.must(Dial, 0, s, e)
	a, b := w.must(Queued, 0, s, e), w.must(Queued, 0, s, e)
	w.limited(Limits{MaxConnections: 2})
	w.locals[0].CloseRetired(w.now)
	assert.Equal(t, 1, a.granted)
	assert.Zero(t, b.granted)
	w.limited(Limits{})
	w.locals[0].CloseRetired(w.now)
	assert.Equal(t, 1, b.granted)
	assert.EqualValues(t, 3, e.Conns())
}

func TestDoomedConnectionClosedByItsOwnerFirst(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{Idle: time.Second})
	a, b := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
	w.put(a)
	w.put(b)
	closed := 0
	for _, c := range []*client{a, b} {
		c.conn.onClose = func() {
			closed++
			w.locals[0].Remove(a.conn)
			w.locals[0].Remove(b.conn)
		}
	}
	w.pass(time.Second)
	assert.Equal(t, 1, closed, "the other one went with it")
	assert.Zero(t, e.Conns())
	assert.Zero(t, w.locals[0].Stats().Busy+w.locals[0].Stats().Idle)
}
