package reactor

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func openBusy(t *testing.T, busy time.Duration) *epollPoller {
	t.Helper()
	p, err := openEpoll(busy)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	inner := p.(*epollPoller)
	n, err := inner.poll(0)
	require.NoError(t, err)
	require.Equal(t, 1, n, "the eventfd can be written")
	return inner
}

// A poller that polls busily uses its CPU while nothing happens, and sees what does.
func TestBusyPollKeepsTheCPU(t *testing.T) {
	p := openBusy(t, time.Hour)
	a, b := socketpair(t)
	defer unix.Close(b)
	thread, events := make(chan int, 1), make(chan int, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		n, _ := p.wait(-1)
		events <- n
	}()
	id := await(t, thread, "the thread")
	require.Eventually(t, func() bool { return cpuTime(t, id) > 50*time.Millisecond }, patience, time.Millisecond,
		"it sleeps")
	require.NoError(t, p.Add(a, 7)) // writable at once
	require.Equal(t, 1, await(t, events, "an event"))
}

// cpuTime is what a thread has used.
func cpuTime(t *testing.T, thread int) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/schedstat")
	require.NoError(t, err)
	nanos, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	require.NoError(t, err)
	return time.Duration(nanos)
}

// What was spun away is no longer to be waited for: a timer would be late by it.
func TestBusyPollIsPartOfTheWait(t *testing.T) {
	const busy = time.Millisecond
	tests := []struct {
		name      string
		busy      time.Duration
		wait      time.Duration
		most      time.Duration
		unchanged bool
	}{
		{"off", 0, time.Hour, 0, true},
		{"off, without end", 0, -1, 0, true},
		{"without end", busy, -1, 0, true},
		{"shorter than the wait", busy, time.Hour, time.Hour - busy, false},
		{"as long", busy, busy, 0, false},
		{"longer", time.Hour, busy, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := openBusy(t, tt.busy)
			n, left, err := p.spin(tt.wait)
			require.NoError(t, err)
			require.Zero(t, n)
			if tt.unchanged {
				require.Equal(t, tt.wait, left)
				return
			}
			require.LessOrEqual(t, left, tt.most)
			require.GreaterOrEqual(t, left, time.Duration(0))
		})
	}
}

// Timers, tasks and sockets work as ever on a loop that polls busily.
func TestBusyPollingLoop(t *testing.T) {
	for _, busy := range []time.Duration{50 * time.Microsecond, time.Second} {
		t.Run(busy.String(), func(t *testing.T) {
			l := start(t, Options{CPU: -1, BusyPoll: busy})
			_, address := serve(t, func(*Conn) Handler { return echo{} }, l)
			fired := make(chan struct{})
			timer := new(Timer)
			do(t, l, func() {
				timer.Init(alarmFunc(func() { close(fired) }), 0)
				l.Arm(timer, l.Now()+int64(5*time.Millisecond))
			})
			await(t, fired, "the timer")
			c := dial(t, address)
			for range 3 {
				c.send("x")
				c.expect("x")
			}
			quiet(t, l)
		})
	}
}

// alarmFunc makes an Alarm of a function.
type alarmFunc func()

// OnTimer implements Alarm.
func (f alarmFunc) OnTimer(uint8, int64) { f() }
