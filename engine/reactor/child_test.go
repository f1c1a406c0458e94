package reactor

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// childMode in the environment makes the test binary an echo server with few descriptors, since a limit
// on descriptors holds for a whole process. It answers each line on its input with its counters.
const childMode = "REACTOR_TEST_CHILD"

func runChild() {
	l, err := NewLoop(Options{CPU: -1, Poller: os.Getenv(childMode)})
	exitOn(err)
	ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 1})
	exitOn(err)
	ln.Serve([]*Loop{l}, nil, func(*Conn) Handler { return echo{} })
	limit := unix.Rlimit{Cur: 24, Max: 24}
	exitOn(unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	go func() {
		exitOn(l.Run())
		os.Exit(0)
	}()
	fmt.Println(ln.Address())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		l.Post(&Task{Run: func(l *Loop) { fmt.Println(l.stats.AcceptErrors, l.stats.Accepts, l.stats.Turns) }})
	}
	l.Stop()
	select {}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is that process.
type child struct {
	t   *testing.T
	in  *os.File
	out *bufio.Scanner
}

func startChild(t *testing.T, poller string) (*child, string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childMode+"="+poller)
	cmd.Stderr = os.Stderr
	read, write, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdin = read
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, read.Close())
	t.Cleanup(func() {
		_ = write.Close()
		require.NoError(t, cmd.Wait())
	})
	c := &child{t, write, bufio.NewScanner(out)}
	return c, c.line()
}

func (c *child) line() string {
	require.True(c.t, c.out.Scan())
	return strings.TrimSpace(c.out.Text())
}

func (c *child) counters() (acceptErrors, accepts, turns int) {
	_, err := fmt.Fprintln(c.in)
	require.NoError(c.t, err)
	_, err = fmt.Sscan(c.line(), &acceptErrors, &accepts, &turns)
	require.NoError(c.t, err)
	return acceptErrors, accepts, turns
}

func TestExhaustedDescriptorsRestAccepting(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		proc, address := startChild(t, o.Poller)
		var crowd []*client
		for range 60 {
			crowd = append(crowd, dial(t, address))
		}
		failures := 0
		for failures == 0 {
			failures, _, _ = proc.counters()
		}
		for _, c := range crowd {
			require.NoError(t, c.Close())
		}
		late := dial(t, address)
		late.send("hello")
		late.expect("hello") // descriptors are back and so is accepting
		failures, accepts, turns := proc.counters()
		require.Less(t, failures, 40, "accepting must rest, not spin")
		require.Less(t, turns, 20_000)
		require.Positive(t, accepts)
	})
}
