package filters_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// suspended is an exchange whose filter b waits in the request phase.
func suspended(t testing.TB) (x *filtertest.Exchange, chain *filters.Chain, b *scripted, h filters.Handle) {
	t.Helper()
	chain, _, b, _ = abc(new(diary))
	b.request = func(ctx *filters.Context) filters.Verdict {
		h = ctx.Wait(0)
		return filters.Wait
	}
	x = get(t)
	at, v := chain.Request(&x.Context, 0)
	require.Equal(t, filters.Wait, v)
	require.Equal(t, 1, at)
	require.True(t, x.Suspended())
	return x, chain, b, h
}

func TestResumeFromAGoroutine(t *testing.T) {
	x, chain, b, h := suspended(t)
	assert.Equal(t, filters.DefaultWait, x.Deadline())
	var all sync.WaitGroup
	all.Go(func() { assert.True(t, h.Resume("value")) })
	x.AwaitWake()
	assert.Equal(t, filters.Continue, chain.Resume(&x.Context, 1))
	assert.Equal(t, []any{"value"}, b.values)
	assert.False(t, x.Suspended())
	at, v := chain.Request(&x.Context, 2)
	assert.Equal(t, 3, at)
	assert.Equal(t, filters.Continue, v)
	assert.Equal(t, []string{"request a", "request b", "resume b", "request c"}, b.diary.take())
	all.Wait()
	assert.Zero(t, x.Ignored())
}

func TestDeadlineOfAWait(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{
		0: filters.DefaultWait, -1: filters.DefaultWait, time.Second: time.Second,
	} {
		x := get(t)
		x.Wait(asked)
		assert.Equal(t, want, x.Deadline())
	}
}

func TestResumeBeforeTheVerdict(t *testing.T) {
	chain, a, _, _ := abc(new(diary))
	a.request = func(ctx *filters.Context) filters.Verdict {
		assert.True(t, ctx.Wait(0).Resume(7))
		return filters.Wait
	}
	x := get(t)
	_, v := chain.Request(&x.Context, 0)
	require.Equal(t, filters.Wait, v)
	x.AwaitWake()
	assert.Equal(t, filters.Continue, chain.Resume(&x.Context, 0))
	assert.Equal(t, []any{7}, a.values)
}

func TestVerdictsOfResume(t *testing.T) {
	x, chain, b, first := suspended(t)
	var second filters.Handle
	b.resume = func(ctx *filters.Context) filters.Verdict {
		second = ctx.Wait(0)
		return filters.Wait
	}
	require.True(t, first.Resume(1))
	x.AwaitWake()
	require.Equal(t, filters.Wait, chain.Resume(&x.Context, 1), "it may wait again")
	assert.False(t, first.Resume(2), "the handle of the first wait is spent")

	b.resume = answer
	require.True(t, second.Resume(3))
	x.AwaitWake()
	assert.Equal(t, filters.Respond, chain.Resume(&x.Context, 1))
	assert.Equal(t, []any{1, 3}, b.values)
}

// waiter waits and does not care for the value.
type waiter struct{ handle filters.Handle }

func (w *waiter) OnResponse(ctx *filters.Context) filters.Verdict {
	w.handle = ctx.Wait(0)
	return filters.Wait
}

func TestWaitWithoutResumer(t *testing.T) {
	var w waiter
	chain := chainOf(&w)
	x := get(t)
	at, v := chain.Response(&x.Context, 0)
	require.Equal(t, filters.Wait, v, "response heads may wait too")
	require.True(t, w.handle.Resume(nil))
	x.AwaitWake()
	assert.Equal(t, filters.Continue, chain.Resume(&x.Context, at))
}

func TestSecondResumeIsIgnored(t *testing.T) {
	x, chain, b, h := suspended(t)
	const callers = 16
	var won atomic.Int64
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			if h.Resume(i) {
				won.Add(1)
			}
		})
	}
	x.AwaitWake()
	chain.Resume(&x.Context, 1)
	all.Wait()
	assert.EqualValues(t, 1, won.Load())
	assert.EqualValues(t, callers-1, x.Ignored())
	assert.Len(t, b.values, 1)
}

func TestLateResumeIsIgnored(t *testing.T) {
	x, _, _, h := suspended(t)
	require.True(t, x.ExpireWait())
	assert.True(t, x.ExpireWait(), "a second time changes nothing")
	assert.False(t, h.Resume("late"))
	assert.EqualValues(t, 1, x.Ignored())
	x.Recycle()
	assert.False(t, h.Resume("later"), "the exchange has gone")
	assert.EqualValues(t, 2, x.Ignored())
}

func TestHandleOfARecycledContext(t *testing.T) {
	x, _, _, old := suspended(t)
	require.True(t, x.ExpireWait())
	x.NewRequest("GET /next HTTP/1.1", "Host: a.example")

	next := x.Wait(0)
	assert.False(t, old.Resume("foreign"), "it must not resume another exchange")
	assert.True(t, x.Suspended())
	assert.True(t, next.Resume("own"))
	x.AwaitWake()
	assert.EqualValues(t, 1, x.Ignored())
}

func TestZeroHandle(t *testing.T) {
	assert.False(t, filters.Handle{}.Resume(1))
}

func TestWaitThatIsNotReturned(t *testing.T) {
	for _, v := range []filters.Verdict{filters.Continue, filters.Respond} {
		chain, _, b, c := abc(new(diary))
		var h filters.Handle
		b.request = func(ctx *filters.Context) filters.Verdict {
			h = ctx.Wait(0)
			if v == filters.Respond {
				return answer(ctx)
			}
			return v
		}
		c.request = wait
		x := get(t)
		_, got := chain.Request(&x.Context, 0)
		assert.False(t, h.Resume(1), "it was called off")
		if v == filters.Respond {
			assert.Equal(t, filters.Respond, got)
			assert.True(t, x.ExpireWait(), "nothing is on its way")
		} else {
			assert.Equal(t, filters.Wait, got, "the next filter may wait")
			assert.True(t, x.Suspended())
		}
	}
}

func TestPanicAfterWait(t *testing.T) {
	chain, a, _, _ := abc(new(diary))
	var h filters.Handle
	a.request = func(ctx *filters.Context) filters.Verdict {
		h = ctx.Wait(0)
		panic("kettle")
	}
	x := get(t)
	_, v := chain.Request(&x.Context, 0)
	assert.Equal(t, filters.Respond, v)
	assert.False(t, x.Suspended())
	assert.False(t, h.Resume(1))
}

// TestResumeOfADroppedWait: the filter went on although a Resume had won. Its
// Wake is still to come, so no filter may wait before it has.
func TestResumeOfADroppedWait(t *testing.T) {
	chain, a, b, _ := abc(new(diary))
	a.request = func(ctx *filters.Context) filters.Verdict {
		require.True(t, ctx.Wait(0).Resume("nobody's"))
		return filters.Continue
	}
	var h filters.Handle
	b.request = func(ctx *filters.Context) filters.Verdict {
		h = ctx.Wait(0)
		return filters.Wait
	}
	x := get(t)
	at, v := chain.Request(&x.Context, 0)
	assert.Equal(t, 1, at)
	assert.Equal(t, filters.Respond, v, "b is refused its wait and gets no value of another's")
	reply, _ := x.Reply()
	assert.Equal(t, codec.InternalError, reply.Reason)
	assert.Equal(t, filters.Handle{}, h)
	assert.False(t, x.ExpireWait(), "the exchange must not be recycled yet")

	x.AwaitWake()
	x.SettleWait()
	assert.True(t, x.ExpireWait())
	h = x.Wait(0)
	assert.True(t, x.Suspended(), "from here on waits are granted again")
	assert.True(t, h.Resume(nil))
	x.AwaitWake()
}

func TestSecondWaitReplacesTheFirst(t *testing.T) {
	x := get(t)
	first, second := x.Wait(0), x.Wait(time.Second)
	assert.False(t, first.Resume(1))
	assert.True(t, second.Resume(2))
	x.AwaitWake()
	assert.Equal(t, time.Second, x.Deadline())
}

// TestExpireAgainstResume lets a deadline and a resume race in each of many
// exchanges of one context, while a third party keeps trying old handles.
func TestExpireAgainstResume(t *testing.T) {
	const rounds = 2000
	f := &scripted{name: "f", diary: new(diary)}
	chain := chainOf(f)
	var h filters.Handle
	f.request = func(ctx *filters.Context) filters.Verdict {
		h = ctx.Wait(0)
		return filters.Wait
	}
	x := get(t)
	var stale sync.WaitGroup
	expired, resumed, value := 0, 0, new(int)
	for range rounds {
		chain.Request(&x.Context, 0)
		mine := h
		won := make(chan bool, 1)
		go func() { won <- mine.Resume(value) }()
		if x.ExpireWait() {
			expired++
			require.False(t, <-won)
		} else {
			resumed++
			x.AwaitWake()
			require.Equal(t, filters.Continue, chain.Resume(&x.Context, 0))
			require.True(t, <-won)
		}
		stale.Go(func() { assert.False(t, mine.Resume("stale")) })
		x.Recycle()
	}
	stale.Wait()
	assert.Equal(t, rounds, expired+resumed)
	assert.Len(t, f.values, resumed)
	for _, v := range f.values {
		assert.Same(t, value, v)
	}
	assert.EqualValues(t, rounds+expired, x.Ignored())
}

func TestWaitAllocatesNothing(t *testing.T) {
	var ctx filters.Context
	ctx.Attach(silent{})
	value := new(int)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		ctx.Wait(0).Resume(value)
		ctx.SettleWait()
		ctx.Recycle()
	}))
}

// The exchange ends otherwise while a Resume is on its way: what it brings is not
// for a filter that wants to wait afterwards.
func TestNobodyWaitsForTheValueOfAnother(t *testing.T) {
	x, _, _, h := suspended(t)
	require.True(t, h.Resume("of b"))
	x.AwaitWake()
	require.False(t, x.ExpireWait())
	var w waiter
	_, v := chainOf(&w).Response(&x.Context, 0)
	assert.Equal(t, filters.Respond, v, "it cannot be granted")
	assert.False(t, w.handle.Resume(nil))
	x.SettleWait()
	x.Wait(0)
	assert.True(t, x.Suspended())
}
