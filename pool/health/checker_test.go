package health

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/corelane/corelane/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ward is a checker in a world whose time and endpoints belong to the test.
type ward struct {
	t        *testing.T
	checker  *Checker
	registry *pool.Registry

	mu      sync.Mutex
	sick    map[*pool.Endpoint]outcome // how probes end that do not succeed
	hang    map[*pool.Endpoint]bool    // until their timeout
	probes  map[*pool.Endpoint][]time.Time
	running int
	most    int
	changes []string
}

// inWard runs a script in a bubble where time passes only when everybody waits.
func inWard(t *testing.T, script func(w *ward)) {
	synctest.Test(t, func(t *testing.T) {
		w := &ward{
			t: t, registry: pool.NewRegistry(), sick: map[*pool.Endpoint]outcome{}, hang: map[*pool.Endpoint]bool{},
			probes: map[*pool.Endpoint][]time.Time{},
		}
		w.checker = New(Options{OnChange: func(c Change) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changes = append(w.changes, fmt.Sprintf("%s → %s: %s", c.From, c.To, c.Reason))
		}})
		start := time.Now()
		w.checker.now = func() int64 { return int64(time.Since(start)) + 1 }
		w.checker.newAttempt = w.attempt
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.checker.Run(ctx)
		}()
		script(w)
		cancel()
		<-done
	})
}

func (w *ward) attempt(t Target) func(context.Context) outcome {
	e := t.Endpoint
	return func(ctx context.Context) outcome {
		w.mu.Lock()
		w.probes[e] = append(w.probes[e], time.Now())
		w.running++
		w.most = max(w.most, w.running)
		hang := w.hang[e]
		w.mu.Unlock()
		if hang {
			<-ctx.Done()
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running--
		if hang {
			return outcome{TimedOut, "hangs"}
		}
		return w.sick[e]
	}
}

// falls makes the endpoint's probes end in a result.
func (w *ward) falls(e *pool.Endpoint, o outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sick[e] = o
}

func (w *ward) endpoint(n int) *pool.Endpoint {
	e, err := w.registry.Endpoint("s", netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 80).String(), "")
	require.NoError(w.t, err)
	return e
}

// pass lets time pass until everybody waits again.
func (w *ward) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (w *ward) count(e *pool.Endpoint) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.probes[e])
}

// once lets time pass until one more probe of e has ended.
func (w *ward) once(e *pool.Endpoint) {
	for n := w.count(e); w.count(e) == n; {
		w.pass(100 * time.Millisecond)
	}
}

// told returns the changes since the last call.
func (w *ward) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.changes = nil }()
	return w.changes
}

func check() *pool.Check {
	return &pool.Check{Path: "/", Interval: 10 * time.Second, Timeout: time.Second, Rise: 2, Fall: 3}
}

var refused = outcome{ConnectFailed, "connection refused"}

// round is longer than any interval and shorter than two.
const round = 11 * time.Second

func TestTheFirstProbeDecides(t *testing.T) {
	inWard(t, func(w *ward) {
		good, bad := w.endpoint(1), w.endpoint(2)
		w.falls(bad, refused)
		w.checker.Update([]Target{{Endpoint: good, Check: check()}, {Endpoint: bad, Check: check()}})
		assert.Equal(w.t, pool.Unknown, good.Health())
		w.pass(maxSpread)
		assert.Equal(w.t, pool.Healthy, good.Health())
		assert.Equal(w.t, pool.Unhealthy, bad.Health())
		assert.ElementsMatch(w.t, []string{"unknown → healthy: ", "unknown → unhealthy: connection refused"}, w.told())
	})
}

func TestRiseAndFall(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		w.pass(maxSpread)
		// A letter a probe: what it finds, and in upper case if the endpoint is unhealthy then.
		got := ""
		for _, found := range "ffoffoofffffOoffFooFfofoFoo" {
			if found|0x20 == 'o' {
				w.falls(e, outcome{})
			} else {
				w.falls(e, refused)
			}
			w.once(e)
			found |= 0x20
			if e.Health() == pool.Unhealthy {
				found -= 0x20
			}
			got += string(found)
		}
		assert.Equal(w.t, "ffoffooffFFFOoffFOoffofofoo", got)
	})
}

func TestFlappingChangesNothing(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		w.pass(maxSpread)
		w.told()
		for i := range 50 {
			w.falls(e, []outcome{{}, refused}[i%2])
			w.once(e)
		}
		assert.Empty(w.t, w.told())
		assert.Equal(w.t, pool.Healthy, e.Health())
	})
}

func TestThisMachinesFaultsDoNotCount(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		w.falls(e, outcome{NotTried, "too many open files"})
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		w.pass(5 * round)
		assert.Equal(w.t, pool.Unknown, e.Health())
		assert.Equal(w.t, NotTried, w.checker.Report(e).Last.Result)
		w.falls(e, refused)
		w.pass(round)
		assert.Equal(w.t, pool.Unhealthy, e.Health(), "this is the first that counts")
	})
}

func TestIntervalsAreJitteredAndSpread(t *testing.T) {
	inWard(t, func(w *ward) {
		const n = 200
		var targets []Target
		for i := range n {
			targets = append(targets, Target{Endpoint: w.endpoint(i), Check: check()})
		}
		start := time.Now()
		w.checker.Update(targets)
		w.pass(10 * round)
		var firsts, gaps []time.Duration
		for _, times := range w.probes {
			firsts = append(firsts, times[0].Sub(start))
			for i := range times[1:] {
				gaps = append(gaps, times[i+1].Sub(times[i]))
			}
		}
		require.Len(w.t, firsts, n)
		assert.LessOrEqual(w.t, slices.Max(firsts), maxSpread)
		assert.Less(w.t, slices.Min(firsts), maxSpread/10)
		assert.Greater(w.t, slices.Max(firsts), maxSpread*9/10)
		assert.GreaterOrEqual(w.t, slices.Min(gaps), 9*time.Second)
		assert.LessOrEqual(w.t, slices.Max(gaps), 11*time.Second)
		assert.Greater(w.t, slices.Max(gaps)-slices.Min(gaps), 1500*time.Millisecond)
	})
}

// Endpoints that hang hold back neither the others nor more than the bounded number of goroutines.
func TestHangingEndpoints(t *testing.T) {
	inWard(t, func(w *ward) {
		var targets []Target
		for i := range 300 {
			e := w.endpoint(i)
			w.hang[e] = i >= 100
			targets = append(targets, Target{Endpoint: e, Check: check()})
		}
		w.checker.Update(targets)
		w.pass(5 * round)
		assert.Equal(w.t, MaxParallel, w.most)
		for i, target := range targets {
			want := pool.Healthy
			if i >= 100 {
				want = pool.Unhealthy
			}
			assert.Equal(w.t, want, target.Endpoint.Health(), i)
			assert.GreaterOrEqual(w.t, w.count(target.Endpoint), 3, i)
		}
	})
}

func TestOneProbeAtATime(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		w.hang[e] = true
		slow := check()
		slow.Interval, slow.Timeout = time.Second, 30*time.Second
		w.checker.Update([]Target{{Endpoint: e, Check: slow}})
		w.pass(100 * time.Second)
		assert.Equal(w.t, 1, w.most)
		assert.Equal(w.t, 4, w.count(e))
	})
}

func TestUpdateKeepsWhatIsUnchanged(t *testing.T) {
	inWard(t, func(w *ward) {
		kept, changed, gone := w.endpoint(1), w.endpoint(2), w.endpoint(3)
		w.checker.Update([]Target{{Endpoint: kept, Check: check()}, {Endpoint: changed, Check: check()}, {Endpoint: gone, Check: check()}})
		w.pass(maxSpread)
		for _, e := range []*pool.Endpoint{kept, changed} {
			w.falls(e, refused)
		}
		w.pass(round)
		require.Equal(w.t, 1, w.checker.Report(kept).Fails)

		other := check()
		other.Path = "/other"
		w.checker.Update([]Target{{Endpoint: kept, Check: check()}, {Endpoint: changed, Check: other}})
		assert.Equal(w.t, 1, w.checker.Report(kept).Fails, "it goes on counting")
		assert.Equal(w.t, pool.Healthy, changed.Health(), "until something is known of the new check")
		n := w.count(kept)
		w.pass(maxSpread)
		assert.Equal(w.t, pool.Unhealthy, changed.Health(), "the first probe of a new check decides")
		assert.LessOrEqual(w.t, w.count(kept)-n, 1)

		n = w.count(gone)
		w.pass(5 * round)
		assert.Equal(w.t, n, w.count(gone), "nobody asks who is gone")
		assert.Empty(w.t, w.checker.Report(gone))

		w.falls(gone, outcome{})
		gone.SetHealth(pool.Unhealthy, 1)
		w.checker.Update([]Target{{Endpoint: gone}, {Endpoint: kept, Source: netip.MustParseAddr("127.0.0.1"), Check: check()}})
		assert.Equal(w.t, pool.Unknown, gone.Health(), "it begins anew when it comes back")
		assert.False(w.t, w.checker.Report(gone).Checked)
		assert.Zero(w.t, w.checker.Report(kept).Fails, "another source is another check")
	})
}

func TestWithoutAChecksEndpointsAreUnknown(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		w.falls(e, refused)
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		w.pass(maxSpread)
		require.Equal(w.t, pool.Unhealthy, e.Health())
		w.checker.Update([]Target{{Endpoint: e}})
		assert.Equal(w.t, pool.Unknown, e.Health())
		history := w.checker.Report(e).History
		assert.Equal(w.t, "not checked any more", history[len(history)-1].Reason)
	})
}

// The result of a probe that runs while its endpoint goes must change nothing.
func TestAProbeThatOutlivesItsTarget(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		w.hang[e] = true
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		for w.count(e) == 0 {
			w.pass(10 * time.Millisecond)
		}
		at := time.Now()
		w.checker.Update(nil)
		synctest.Wait()
		assert.Zero(w.t, w.running, "it is cancelled")
		assert.Equal(w.t, at, time.Now())
		assert.Equal(w.t, pool.Unknown, e.Health())
		w.pass(5 * round)
		assert.Equal(w.t, 1, w.count(e))
		assert.Empty(w.t, w.told())
	})
}

func TestTheEndMakesNobodyUnhealthy(t *testing.T) {
	var e *pool.Endpoint
	inWard(t, func(w *ward) {
		e = w.endpoint(1)
		w.hang[e] = true
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		for w.count(e) == 0 {
			w.pass(10 * time.Millisecond)
		}
	})
	assert.Equal(t, pool.Unknown, e.Health())
}

func TestRecoveryBeginsTheSlowStartAnew(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		s, err := pool.NewService(pool.ServiceConfig{
			Name: "s", State: w.registry.Service("s"), Members: []pool.Member{{Endpoint: e, Weight: 1}}, SlowStart: time.Hour,
		})
		require.NoError(w.t, err)
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		w.pass(maxSpread)
		share, _ := s.Share(e, w.checker.now())
		assert.InDelta(w.t, 1, share, 1e-9)
		w.falls(e, refused)
		w.pass(4 * round)
		w.falls(e, outcome{})
		w.pass(3 * round)
		require.Equal(w.t, pool.Healthy, e.Health())
		share, _ = s.Share(e, w.checker.now())
		assert.InDelta(w.t, 0.1, share, 0.02)
	})
}

func TestReportsAndCounts(t *testing.T) {
	inWard(t, func(w *ward) {
		e := w.endpoint(1)
		w.checker.Note(e, "draining", "nobody knows it")
		w.checker.Update([]Target{{Endpoint: e, Check: check()}})
		assert.Equal(w.t, Report{Checked: true}, w.checker.Report(e))
		w.pass(maxSpread)
		r := w.checker.Report(e)
		assert.Equal(w.t, 1, r.Passes)
		assert.Equal(w.t, Success, r.Last.Result)
		assert.EqualValues(w.t, 1, w.checker.Count(Success))
		require.Len(w.t, r.History, 1)
		assert.Equal(w.t, "healthy", r.History[0].State)
		for i := range 30 {
			w.checker.Note(e, "ejected", strconv.Itoa(i))
		}
		r = w.checker.Report(e)
		require.Len(w.t, r.History, MaxHistory)
		assert.Equal(w.t, "10", r.History[0].Reason)
		assert.Equal(w.t, "29", r.History[MaxHistory-1].Reason)
	})
}

func TestResultNames(t *testing.T) {
	assert.Equal(t, "success", Success.String())
	assert.Equal(t, "not_tried", NotTried.String())
	assert.Equal(t, "unknown", Result(99).String())
	assert.Equal(t, outcome{}.result, Success)
}
