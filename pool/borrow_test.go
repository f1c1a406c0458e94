package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGetDialsAndReusesTheNewest(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{})
	a, b := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
	assert.EqualValues(t, 2, e.Conns())
	assert.False(t, a.conn.Reused())
	assert.Equal(t, 1, a.conn.Uses())
	assert.Equal(t, w.now, a.conn.Born())
	assert.Same(t, e, a.conn.Endpoint())

	w.put(a)
	w.put(b)
	c := w.must(Idle, 0, s, e)
	assert.Same(t, b.conn, c.conn, "newest first")
	assert.True(t, c.conn.Reused())
	assert.Equal(t, 2, c.conn.Uses())
	assert.Same(t, a.conn, w.must(Idle, 0, s, e).conn)
	w.must(Dial, 0, s, e)

	st := w.locals[0].Stats()
	assert.EqualValues(t, 3, st.Dialed)
	assert.EqualValues(t, 2, st.Reused)
	assert.Equal(t, 3, st.Busy)
	assert.Zero(t, st.Idle)
	assert.Zero(t, (&Node{}).Uses())
	assert.Nil(t, (&Node{}).Endpoint())
}

func TestWaitersAreServedInOrder(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 2, Wait: time.Second})
	a, b := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
	first, second, third := w.must(Queued, 0, s, e), w.must(Queued, 0, s, e), w.must(Queued, 0, s, e)
	assert.True(t, first.waiter.Queued())
	assert.Same(t, e, first.waiter.Endpoint())
	assert.Same(t, s, first.waiter.Service())
	assert.True(t, e.Waiting())
	assert.EqualValues(t, 3, s.State.Waiting())
	assert.Equal(t, 3, w.locals[0].Stats().Waiting)

	w.put(a)
	require.Equal(t, 1, first.granted)
	assert.Same(t, a.conn, first.conn, "the connection itself")
	assert.Zero(t, second.granted)

	w.locals[0].Remove(b.conn)
	require.Equal(t, 1, second.granted)
	assert.NotSame(t, b.conn, second.conn, "a new one in its place")
	assert.EqualValues(t, 2, e.Conns())
	assert.Zero(t, third.granted)

	w.put(second)
	assert.Equal(t, 1, third.granted)
	assert.False(t, e.Waiting())
	assert.Zero(t, s.State.Waiting())
	assert.EqualValues(t, 3, w.locals[0].Stats().Granted)
	assert.Nil(t, (&Waiter{}).Endpoint())
	assert.Nil(t, (&Waiter{}).Service())
}

func TestNobodyOvertakesAWaiter(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1})
	a := w.must(Dial, 0, s, e)
	first := w.must(Queued, 0, s, e)
	var late *client
	first.then = func(*client) {
		late = w.must(Queued, 0, s, e) // asked while the connection is being handed over
	}
	w.put(a)
	require.Equal(t, 1, first.granted)
	assert.Zero(t, late.granted)
	w.put(first)
	assert.Equal(t, 1, late.granted)
}

func TestMaxWaitingIsExactForTheProcess(t *testing.T) {
	w := newWorld(t, 3)
	s, e := w.limited(Limits{MaxConnections: 1, MaxWaiting: 4})
	w.must(Dial, 0, s, e)
	var queued []*client
	for i := range 4 {
		queued = append(queued, w.must(Queued, i%3, s, e))
	}
	for loop := range 3 {
		w.must(Exhausted, loop, s, e)
	}
	w.locals[0].Cancel(&queued[0].waiter)
	w.locals[0].Cancel(&queued[0].waiter) // once more does nothing
	assert.EqualValues(t, 3, s.State.Waiting())
	w.must(Queued, 2, s, e)
	w.must(Exhausted, 2, s, e)
	assert.EqualValues(t, 2, w.locals[2].Stats().Exhausted)
	assert.EqualValues(t, 1, w.locals[0].Stats().Cancelled)
	assert.Zero(t, queued[0].granted)
}

func TestWaitingEndsAtItsDeadline(t *testing.T) {
	w := newWorld(t, 1)
	long := w.service(ServiceConfig{Limits: Limits{MaxConnections: 1, Wait: 3 * time.Second}}, 1)
	short := w.service(ServiceConfig{Limits: Limits{MaxConnections: 1, Wait: time.Second}}, 1)
	forever := w.service(ServiceConfig{Limits: Limits{MaxConnections: 1}}, 1)
	e := short.Members[0].Endpoint
	w.must(Dial, 0, long, e)
	a, b, c := w.must(Queued, 0, long, e), w.must(Queued, 0, short, e), w.must(Queued, 0, forever, e)

	w.pass(time.Second - 1)
	assert.Zero(t, a.granted+b.granted+c.granted)
	w.pass(1)
	assert.ErrorIs(t, b.err, ErrPoolExhausted)
	assert.False(t, b.waiter.Queued())
	assert.Zero(t, a.granted+c.granted)
	w.pass(2 * time.Second)
	assert.ErrorIs(t, a.err, ErrPoolExhausted)
	w.pass(time.Hour)
	assert.Zero(t, c.granted)
	assert.EqualValues(t, 2, w.locals[0].Stats().Expired)
	assert.EqualValues(t, 1, short.State.Waiting())
	assert.True(t, e.Waiting())
	w.locals[0].Cancel(&c.waiter)
	assert.False(t, e.Waiting())
}

func TestExpiredWaiterMayAskAgainOrTakeAnotherAlong(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1, Wait: time.Second})
	w.must(Dial, 0, s, e)
	a, b := w.must(Queued, 0, s, e), w.must(Queued, 0, s, e)
	var again *client
	a.then = func(*client) {
		w.locals[0].Cancel(&b.waiter) // due in the same sweep, but not told yet
		again = w.must(Queued, 0, s, e)
	}
	w.pass(time.Second)
	assert.Equal(t, 1, a.granted)
	assert.Zero(t, b.granted)
	assert.True(t, e.Waiting())
	assert.EqualValues(t, 1, s.State.Waiting())
	w.pass(time.Second)
	assert.ErrorIs(t, again.err, ErrPoolExhausted)
	assert.False(t, e.Waiting())
}

func TestDialFailedGivesTheReservationToTheNext(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1})
	c := w.client(0, s)
	_, grant := w.locals[0].Get(s, e, &c.waiter, w.now)
	require.Equal(t, Dial, grant)
	var order []int
	for i := range 500 {
		next := w.must(Queued, 0, s, e)
		next.then = func(c *client) {
			order = append(order, i)
			w.locals[0].Remove(c.conn) // its dial fails at once: the stack must not grow with the queue
		}
	}
	w.locals[0].DialFailed(e)
	require.Len(t, order, 500)
	assert.IsIncreasing(t, order)
	assert.Zero(t, e.Conns())
	assert.Zero(t, s.State.Waiting())
	assert.EqualValues(t, 1, w.locals[0].Stats().DialFailed)
}

func TestReserveOpensAhead(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1})
	require.True(t, w.locals[0].Reserve(e))
	require.False(t, w.locals[0].Reserve(e))
	c := w.client(0, s)
	c.dial(e, w.now)
	w.put(c)
	assert.Same(t, c.conn, w.must(Idle, 0, s, e).conn)
}

func TestAPanickingOwnerDoesNotSilenceThePool(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1, Wait: time.Second})
	a := w.must(Dial, 0, s, e)
	broken, next := w.must(Queued, 0, s, e), w.must(Queued, 0, s, e)
	broken.then = func(c *client) {
		w.locals[0].Remove(c.conn)
		panic("owner")
	}
	assert.Panics(t, func() { w.put(a) })
	assert.Zero(t, next.granted)
	w.pass(0) // the loop's next turn
	assert.Equal(t, 1, next.granted)
	assert.NoError(t, next.err)
}

func TestAPanicWhileWaitingEndsIsMadeGood(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1, Wait: time.Second})
	w.must(Dial, 0, s, e)
	broken, next := w.must(Queued, 0, s, e), w.must(Queued, 0, s, e)
	broken.then = func(*client) { panic("owner") }
	assert.Panics(t, func() { w.pass(time.Second) })
	assert.Zero(t, next.granted)
	w.pass(0)
	assert.ErrorIs(t, next.err, ErrPoolExhausted)
	assert.Zero(t, s.State.Waiting())
}
