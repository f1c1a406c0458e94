package reactor

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestListenErrorsNameTheAddress(t *testing.T) {
	taken := listen(t).Addr().String()
	file := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, tc := range map[string]struct {
		o    ListenOptions
		want string
	}{
		"name":         {ListenOptions{Address: "localhost:80"}, `address "localhost:80": want ip:port or unix:/path`},
		"taken":        {ListenOptions{Address: taken, Loops: 2}, "listen on " + taken + ": bind: address already in use"},
		"not ours":     {ListenOptions{Address: "203.0.113.77:80"}, "listen on 203.0.113.77:80: bind: cannot assign"},
		"mode":         {ListenOptions{Address: "127.0.0.1:0", Accept: "magic"}, `accept mode "magic" is unknown`},
		"not a socket": {ListenOptions{Address: "unix:" + file}, "not a socket"},
		"no directory": {ListenOptions{Address: "unix:" + file + "/x"}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Listen(tc.o)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// A second socket with SO_REUSEPORT would be let in by the kernel and take half of the connections.
func TestListenRefusesToShare(t *testing.T) {
	first, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 2})
	require.NoError(t, err)
	_, err = Listen(ListenOptions{Address: first.Address(), Loops: 2})
	require.ErrorIs(t, err, unix.EADDRINUSE)
	first.StopAccepting()
	first.StopAccepting()
	second, err := Listen(ListenOptions{Address: first.Address()})
	require.NoError(t, err, "and the address is free again")
	second.StopAccepting()
}

func TestListenUnixStaleFile(t *testing.T) {
	address := "unix:" + filepath.Join(t.TempDir(), "s.sock")
	first, err := Listen(ListenOptions{Address: address})
	require.NoError(t, err)
	require.Equal(t, address, first.Address())
	_, err = Listen(ListenOptions{Address: address})
	require.ErrorIs(t, err, unix.EADDRINUSE, "a server answers")
	for _, fd := range first.sockets {
		require.NoError(t, unix.Close(fd)) // as if the process had died
	}
	second, err := Listen(ListenOptions{Address: address})
	require.NoError(t, err, "a file that nobody listens on is removed")
	second.StopAccepting()
	_, err = os.Stat(address[len("unix:"):])
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStopAcceptingTakesTheBacklogFirst(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l := start(t, o)
		ln, address := serve(t, func(*Conn) Handler { return echo{} }, l)
		release := hold(t, l)
		var waiting []*client
		for range 3 * acceptsPerTurn {
			waiting = append(waiting, dial(t, address))
		}
		ln.StopAccepting()
		release()
		for _, c := range waiting {
			c.send("x")
			c.expect("x")
		}
		for len(listeners(t, l)) > 0 {
			quiet(t, l)
		}
		_, err := net.DialTimeout("tcp", address, patience)
		require.ErrorIs(t, err, unix.ECONNREFUSED)
	})
}

func listeners(t *testing.T, l *Loop) (all []*acceptor) {
	do(t, l, func() { all = append(all, l.acceptors...) })
	return all
}

func TestAcceptByCPU(t *testing.T) {
	a, b := start(t, Options{CPU: -1}), start(t, Options{CPU: -1})
	ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 2, Accept: AcceptCPU})
	require.NoError(t, err)
	ln.Serve([]*Loop{a, b}, nil, func(*Conn) Handler { return echo{} })
	for range 8 {
		c := dial(t, ln.Address())
		c.send("x")
		c.expect("x")
	}
	require.Equal(t, int64(8), a.Live()+b.Live())
}

// On loopback the CPU that receives a connection is its client's.
func TestAcceptByCPUFollowsTheCPU(t *testing.T) {
	cpus := CPUs()
	if len(cpus) == 0 {
		t.Skip("this system does not tell its CPUs")
	}
	loops := []*Loop{start(t, Options{CPU: -1}), start(t, Options{CPU: -1})}
	ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 2, Accept: AcceptCPU})
	require.NoError(t, err)
	owners := make(chan *Loop, 1)
	ln.Serve(loops, nil, func(c *Conn) Handler { owners <- c.Loop(); return echo{} })
	for _, cpu := range cpus {
		for range 4 {
			dialFrom(t, cpu, ln.Address())
			require.Same(t, loops[cpu%2], await(t, owners, "an owner"), "CPU %d", cpu)
		}
	}
}

// dialFrom connects on a thread that is bound to the CPU and ends with it.
func dialFrom(t *testing.T, cpu int, address string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread is of no use to others
		err := pinThread(cpu)
		if err == nil {
			var c net.Conn
			if c, err = net.Dial("tcp", address); err == nil {
				t.Cleanup(func() { _ = c.Close() })
			}
		}
		done <- err
	}()
	require.NoError(t, await(t, done, "a connection"))
}

func TestServeBeforeAndAfterTheLoop(t *testing.T) {
	l, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	_, address := serve(t, func(*Conn) Handler { return echo{} }, l)
	early := dial(t, address)
	early.send("early")
	run(t, l)
	early.expect("early")

	ended, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	ended.Stop()
	require.NoError(t, ended.Run())
	_, address = serve(t, func(*Conn) Handler { return echo{} }, ended)
	_, err = net.DialTimeout("tcp", address, patience)
	require.Error(t, err, "nobody would ever accept")

	never, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	_, address = serve(t, func(*Conn) Handler { return echo{} }, never)
	never.Stop()
	require.NoError(t, never.Run())
	_, err = net.DialTimeout("tcp", address, patience)
	require.Error(t, err)
}

func TestMoreSocketsThanLoops(t *testing.T) {
	l := start(t, Options{CPU: -1})
	ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 3})
	require.NoError(t, err)
	ln.Serve([]*Loop{l}, nil, func(*Conn) Handler { return echo{} })
	for range 6 {
		c := dial(t, ln.Address())
		c.send("x")
		c.expect("x")
	}
}

func TestParseAddr(t *testing.T) {
	for _, good := range []string{"1.2.3.4:80", "[::1]:80", "unix:/tmp/x", "[fe80::1%2]:80"} {
		a, err := ParseAddr(good)
		require.NoError(t, err)
		require.Equal(t, good, a.String())
		require.NotNil(t, a.sockaddr())
	}
	for _, bad := range []string{"", "host:80", "1.2.3.4", ":80", "unix:", "unix:" + string(make([]byte, 200))} {
		_, err := ParseAddr(bad)
		require.Error(t, err, bad)
	}
	require.Equal(t, uint32(2), zoneID("2"))
	require.Zero(t, zoneID("eth0"))
}

func TestListenIPv6(t *testing.T) {
	l := start(t, Options{CPU: -1})
	ln, err := Listen(ListenOptions{Address: "[::1]:0", Loops: 1})
	if err != nil {
		require.ErrorContains(t, err, "[::1]:0") // a machine without IPv6
		return
	}
	remotes := make(chan string, 1)
	ln.Serve([]*Loop{l}, nil, func(c *Conn) Handler { remotes <- c.Remote().String(); return echo{} })
	c := dial(t, ln.Address())
	require.Equal(t, c.LocalAddr().String(), await(t, remotes, "accept"))
}
