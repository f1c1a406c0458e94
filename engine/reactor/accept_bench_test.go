package reactor

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchHeld is the number of connections whose distribution is measured.
const benchHeld = 64

// BenchmarkAccept connects, sends a byte, reads it back and closes, for each
// accept mode, with two loops and clients on all CPUs. It reports connections a
// second, and for 64 connections that are held how many the fuller loop has: 32
// is even.
//
//	go test ./engine/reactor -run '^$' -bench BenchmarkAccept -benchtime 20000x -count 5
func BenchmarkAccept(b *testing.B) {
	for _, mode := range []string{AcceptHandoff, AcceptHash, AcceptCPU} {
		b.Run(mode, func(b *testing.B) {
			loops := []*Loop{start(b, Options{CPU: -1}), start(b, Options{CPU: -1})}
			ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: len(loops), Accept: mode})
			require.NoError(b, err)
			ln.Serve(loops, nil, func(*Conn) Handler { return echo{} })
			for range benchHeld {
				c := dial(b, ln.Address())
				c.send("x")
				c.expect("x")
			}
			fuller := max(loops[0].Live(), loops[1].Live())
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := touch(ln.Address()); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "conn/s")
			b.ReportMetric(float64(fuller), "fuller/64")
		})
	}
}

// touch is the whole life of a short connection. It ends with a reset, which
// leaves no port in TIME_WAIT.
func touch(address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.(*net.TCPConn).SetLinger(0)
	b := []byte("x")
	if _, err := c.Write(b); err != nil {
		return err
	}
	_, err = c.Read(b)
	return err
}
