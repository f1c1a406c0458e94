package reactor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// sightings is what a poller told.
type sightings struct {
	events chan Event
	turns  chan struct{}
	wait   time.Duration
	onTurn func()
}

func watch(t *testing.T, p Poller) *sightings {
	s := &sightings{events: make(chan Event, 64), turns: make(chan struct{}, 1024), wait: -1}
	done := make(chan error, 1)
	go func() {
		done <- p.Run(func(token uint64, ev Event) {
			if token == 7<<32|9 {
				s.events <- ev
			}
		}, func() time.Duration {
			if s.onTurn != nil {
				s.onTurn()
			}
			select {
			case s.turns <- struct{}{}:
			default:
			}
			return s.wait
		})
	}()
	t.Cleanup(func() {
		p.Stop()
		require.NoError(t, await(t, done, "Run to return"))
		require.NoError(t, p.Close())
	})
	return s
}

func socketpair(t *testing.T) (a, b int) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		require.NoError(t, unix.SetNonblock(fd, true))
	}
	t.Cleanup(func() { _ = unix.Close(fds[0]) })
	return fds[0], fds[1]
}

func openBoth(t *testing.T, test func(t *testing.T, p Poller)) {
	forPollers(t, func(t *testing.T, o Options) {
		p, err := openPoller(o.Poller, 0)
		require.NoError(t, err)
		test(t, p)
	})
}

func TestPollerEdges(t *testing.T) {
	openBoth(t, func(t *testing.T, p Poller) {
		a, b := socketpair(t)
		require.NoError(t, p.Add(a, 7<<32|9))
		s := watch(t, p)
		require.Equal(t, Writable, await(t, s.events, "the first edge"))
		_, err := unix.Write(b, []byte("x"))
		require.NoError(t, err)
		require.Equal(t, Readable|Writable, await(t, s.events, "data"))
		require.NoError(t, unix.Shutdown(b, unix.SHUT_WR))
		require.Equal(t, Readable|Writable|HangUp, await(t, s.events, "half-close"))
		require.NoError(t, unix.Close(b))
		require.NotZero(t, await(t, s.events, "close")&Gone)
	})
}

func TestPollerWake(t *testing.T) {
	openBoth(t, func(t *testing.T, p Poller) {
		s := watch(t, p)
		for range 100 {
			for len(s.turns) > 0 {
				<-s.turns
			}
			p.Wake()
			await(t, s.turns, "a turn")
		}
	})
}

func TestPollerWaits(t *testing.T) {
	for name, wait := range map[string]time.Duration{"again": 0, "short": time.Microsecond, "longer": 3 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			openBoth(t, func(t *testing.T, p Poller) {
				turns := 0
				enough := make(chan struct{})
				done := make(chan error, 1)
				go func() {
					done <- p.Run(func(uint64, Event) {}, func() time.Duration {
						if turns++; turns == 20 {
							close(enough)
							p.Stop()
						}
						return wait
					})
				}()
				await(t, enough, "turns without events")
				require.NoError(t, await(t, done, "Run to return"))
				require.NoError(t, p.Close())
			})
		})
	}
}

// A loop that always has work must still see its sockets.
func TestPollerPollsBetweenTurns(t *testing.T) {
	openBoth(t, func(t *testing.T, p Poller) {
		a, b := socketpair(t)
		defer unix.Close(b)
		require.NoError(t, p.Add(a, 7<<32|9))
		seen := make(chan Event, 64)
		done := make(chan error, 1)
		go func() {
			done <- p.Run(func(_ uint64, ev Event) {
				select {
				case seen <- ev:
				default:
				}
			}, func() time.Duration { return 0 })
		}()
		await(t, seen, "the first edge")
		_, err := unix.Write(b, []byte("x"))
		require.NoError(t, err)
		for await(t, seen, "data")&Readable == 0 {
		}
		p.Stop()
		require.NoError(t, await(t, done, "Run to return"))
		require.NoError(t, p.Close())
	})
}

func TestUnknownPoller(t *testing.T) {
	_, err := NewLoop(Options{Poller: "select"})
	require.ErrorContains(t, err, `poller "select" is unknown`)
}

func TestPollerStopsBeforeRun(t *testing.T) {
	openBoth(t, func(t *testing.T, p Poller) {
		p.Stop()
		require.NoError(t, p.Run(func(uint64, Event) {}, func() time.Duration { return -1 }))
		require.NoError(t, p.Close())
	})
}
