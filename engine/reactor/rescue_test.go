package reactor

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// panics collects what OnPanic was told.
func panics(o Options) (Options, chan any) {
	told := make(chan any, 16)
	o.OnPanic = func(_ int, v any, stack []byte) {
		if len(stack) > 0 {
			told <- v
		}
	}
	return o, told
}

// A panic in a callback of a connection resets it, tells its handler, and nobody else notices.
func TestPanicOfConnCallbacks(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		for name, arrange := range map[string]func(s *script, c *Conn, peer *client){
			"OnData": func(s *script, _ *Conn, peer *client) {
				s.data = func(*Conn, []byte) int { panic("OnData") }
				peer.send("x")
			},
			"OnEOF": func(s *script, _ *Conn, peer *client) {
				s.eof = func(*Conn) { panic("OnEOF") }
				_ = peer.CloseWrite()
			},
			"OnDrain": func(s *script, c *Conn, _ *client) {
				s.drain = func(*Conn) { panic("OnDrain") }
				c.NotifyEmpty()
			},
		} {
			t.Run(name, func(t *testing.T) {
				o, told := panics(o)
				l, s, bystander := start(t, o), newScript(), newScript()
				_, other := pair(t, l, bystander, nil)
				c, peer := pair(t, l, s, nil)
				do(t, l, func() { arrange(s, c, peer) })
				require.Equal(t, name, await(t, told, "OnPanic"))
				for s.next(t) != "close "+ErrPanic.Error() {
				}
				other.send("alive")
				require.Equal(t, "data alive", bystander.next(t))
				do(t, l, func() { require.Equal(t, uint64(1), l.Stats().Panics) })
				require.Equal(t, int64(1), l.Live())
			})
		}
	})
}

func TestPanicOfOnCloseAndOnConnect(t *testing.T) {
	o, told := panics(Options{CPU: -1})
	l, s := start(t, o), newScript()
	s.connect = func(*Conn) { panic("OnConnect") }
	s.closed = func(*Conn, error) { panic("OnClose") }
	ln := listen(t)
	dialing(t, l, s, ln.Addr().String(), netip.Addr{}, nil)
	require.Equal(t, "OnConnect", await(t, told, "OnPanic"))
	require.Equal(t, "OnClose", await(t, told, "OnPanic"))
	quiet(t, l)

	_, peer := pair(t, l, s, (*Conn).Pause)
	peer.reset()
	require.Equal(t, "OnClose", await(t, told, "OnPanic"))
	for l.Live() > 0 {
		quiet(t, l)
	}
}

func TestPanicOfOnAccept(t *testing.T) {
	o, told := panics(Options{CPU: -1})
	l := start(t, o)
	first := true
	_, address := serve(t, func(*Conn) Handler {
		if first {
			first = false
			panic("accept")
		}
		return echo{}
	}, l)
	if c, err := net.Dial("tcp", address); err == nil { // the reset may overtake its return
		_ = c.Close()
	}
	require.Equal(t, "accept", await(t, told, "OnPanic"))
	c := dial(t, address)
	c.send("next")
	c.expect("next")
	require.Equal(t, int64(1), l.Live())
}

func TestPanicAfterCloseIsSilent(t *testing.T) {
	o, told := panics(Options{CPU: -1})
	l, s := start(t, o), newScript()
	s.data = func(c *Conn, _ []byte) int { c.Close(); panic("late") }
	_, peer := pair(t, l, s, nil)
	peer.send("x")
	require.Equal(t, "late", await(t, told, "OnPanic"))
	quiet(t, l)
	s.silent(t)
}

func TestPanicOfLoopWork(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		o, told := panics(o)
		turns, ticks := 0, 0
		o.OnTurn = func(*Loop, int64) {
			if turns++; turns == 3 {
				panic("turn")
			}
		}
		o.OnTick = func(*Loop, int64) {
			if ticks++; ticks == 1 {
				panic("tick")
			}
		}
		l := start(t, o)
		expect := func(want string) {
			t.Helper()
			for await(t, told, want) != want {
			}
		}
		a := newAlarm()
		a.then = func(int64) { panic("timer") }
		l.Post(&Task{Run: func(*Loop) { panic("task") }})
		expect("task")
		do(t, l, func() { l.Defer(&Deferred{Run: func(int64) { panic("deferred") }}) })
		expect("deferred")
		do(t, l, func() { l.Arm(&a.timer, 1) })
		expect("timer")
		do(t, l, func() { l.tickAt = 0 })
		quiet(t, l)
		do(t, l, func() { require.Equal(t, uint64(5), l.Stats().Panics) })
	})
}
