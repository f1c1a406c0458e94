package reactor

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// patience bounds every wait of the tests; a test that reaches it has failed.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(childMode) != "" {
		runChild()
		return
	}
	// A loop's short waits keep a processor, so there must be more of them than loops.
	runtime.GOMAXPROCS(max(16, runtime.NumCPU()))
	goleak.VerifyTestMain(m)
}

// forPollers runs a test with each poller.
func forPollers(t *testing.T, test func(t *testing.T, o Options)) {
	for _, name := range []string{PollerEpoll, PollerGnet} {
		t.Run(name, func(t *testing.T) { test(t, Options{CPU: -1, Poller: name}) })
	}
}

// start runs a loop until the test ends.
func start(t testing.TB, o Options) *Loop {
	l, err := NewLoop(o)
	require.NoError(t, err)
	run(t, l)
	return l
}

func run(t testing.TB, l *Loop) {
	done := make(chan error, 1)
	go func() { done <- l.Run() }()
	t.Cleanup(func() {
		l.Stop()
		require.NoError(t, await(t, done, "the loop to end"))
	})
}

// await receives from ch.
func await[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "waited in vain for "+what)
		panic("unreachable")
	}
}

// do runs fn on the loop and waits for it. A task can share its turn with the callback that the test
// has just seen, so what a turn does at its end is certain only after quiet.
func do(t testing.TB, l *Loop, fn func()) {
	t.Helper()
	done := make(chan struct{})
	require.True(t, l.Post(&Task{Run: func(*Loop) { defer close(done); fn() }}))
	await(t, done, "a task")
}

// hold keeps the loop inside a task until release is called, so that what happens meanwhile reaches it
// in one batch.
func hold(t testing.TB, l *Loop) (release func()) {
	t.Helper()
	entered, leave := make(chan struct{}), make(chan struct{})
	require.True(t, l.Post(&Task{Run: func(*Loop) { close(entered); <-leave }}))
	await(t, entered, "the loop to be held")
	return func() { close(leave) }
}

// quiet waits until the loop has worked off what it knew of.
func quiet(t testing.TB, l *Loop) {
	t.Helper()
	for range 3 {
		do(t, l, func() {})
	}
}

// script is a Handler whose reactions are functions; what is not set is only recorded.
type script struct {
	data    func(c *Conn, b []byte) int
	eof     func(c *Conn)
	drain   func(c *Conn)
	closed  func(c *Conn, err error)
	connect func(c *Conn)
	log     chan string
}

func newScript() *script { return &script{log: make(chan string, 1<<12)} }

func (s *script) OnData(c *Conn, b []byte) int {
	if s.data != nil {
		return s.data(c, b)
	}
	s.log <- "data " + string(b)
	return len(b)
}

func (s *script) OnEOF(c *Conn) {
	s.log <- "eof"
	if s.eof != nil {
		s.eof(c)
	}
}

func (s *script) OnDrain(c *Conn) {
	s.log <- "drain"
	if s.drain != nil {
		s.drain(c)
	}
}

func (s *script) OnClose(c *Conn, err error) {
	s.log <- "close " + cause(err)
	if s.closed != nil {
		s.closed(c, err)
	}
}

func (s *script) OnConnect(c *Conn) {
	s.log <- "connect"
	if s.connect != nil {
		s.connect(c)
	}
}

// next is the next recorded callback.
func (s *script) next(t testing.TB) string {
	t.Helper()
	return await(t, s.log, "a callback")
}

// silent fails if something was recorded.
func (s *script) silent(t testing.TB) {
	t.Helper()
	select {
	case e := <-s.log:
		require.FailNow(t, "unexpected callback: "+e)
	default:
	}
}

func cause(err error) string {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// serve makes loops accept on a loopback address and gives each connection to what accept returns.
func serve(t testing.TB, accept func(c *Conn) Handler, loops ...*Loop) (*Listener, string) {
	ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: len(loops)})
	require.NoError(t, err)
	ln.Serve(loops, nil, accept)
	return ln, ln.Address()
}

// client is the peer, on Go's own sockets.
type client struct {
	*net.TCPConn
	t testing.TB
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	d := net.Dialer{Timeout: patience, Control: func(_, _ string, raw syscall.RawConn) error {
		// A small buffer of a fixed size, so that the other side's queue builds up soon.
		return raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 64<<10) })
	}}
	c, err := d.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = c.Close() })
	return &client{c.(*net.TCPConn), t}
}

func (c *client) send(s string) {
	c.t.Helper()
	_, err := c.Write([]byte(s))
	require.NoError(c.t, err)
}

func (c *client) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	_, err := io.ReadFull(c, got)
	require.NoError(c.t, err)
	require.Equal(c.t, want, string(got))
}

func (c *client) expectEOF() {
	c.t.Helper()
	rest, err := io.ReadAll(c)
	require.NoError(c.t, err)
	require.Empty(c.t, string(rest))
}

func (c *client) reset() {
	c.t.Helper()
	require.NoError(c.t, c.SetLinger(0))
	require.NoError(c.t, c.Close())
}

// pair is a connection accepted by l, with its handler and its client.
func pair(t testing.TB, l *Loop, s *script, setup func(c *Conn)) (*Conn, *client) {
	t.Helper()
	accepted := make(chan *Conn, 1)
	ln, address := serve(t, func(c *Conn) Handler {
		if setup != nil {
			setup(c)
		}
		accepted <- c
		return s
	}, l)
	peer := dial(t, address)
	c := await(t, accepted, "accept")
	ln.StopAccepting()
	return c, peer
}

// echo answers what it gets.
type echo struct{}

func (echo) OnData(c *Conn, b []byte) int { c.Write(b); return len(b) }
func (echo) OnEOF(c *Conn)                { c.Close() }
func (echo) OnDrain(*Conn)                {}
func (echo) OnClose(*Conn, error)         {}
func (echo) OnConnect(*Conn)              {}

func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 + i>>8)
	}
	return p
}

func ExampleParseAddr() {
	a, err := ParseAddr("[::1]:80")
	fmt.Println(a, err)
	// Output: [::1]:80 <nil>
}
