package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/bench/process"
)

// What the first byte of a connection asks of the service.
const (
	wantBytes   = 'd' // bytes without end
	wantNothing = 'u' // all is taken, nothing comes back
	wantEcho    = 's' // what follows, back
)

const (
	pieceSize = 256 << 10 // of one read or write where bytes go one way
	patience  = 10 * time.Second
)

// laneNames are the lanes that -lanes can name.
const laneNames = "download,download-one,upload,messages"

// service is what proxies stand in front of.
type service struct{ listener net.Listener }

func newService() (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return s, nil
}

func (s *service) address() string { return s.listener.Addr().String() }
func (s *service) stop()           { s.listener.Close() }

// serve does what a connection asks for, until it ends.
func serve(conn net.Conn) {
	defer conn.Close()
	want := make([]byte, 1)
	if _, err := io.ReadFull(conn, want); err != nil {
		return
	}
	piece := make([]byte, pieceSize)
	switch want[0] {
	case wantBytes:
		_ = send(conn, piece, nil)
	case wantNothing:
		_ = receive(conn, piece, new(atomic.Int64))
	default:
		for {
			n, err := conn.Read(piece)
			if err != nil {
				return
			}
			if _, err := conn.Write(piece[:n]); err != nil {
				return
			}
		}
	}
}

// send writes without end and counts what was taken.
func send(conn net.Conn, piece []byte, count *atomic.Int64) error {
	for {
		n, err := conn.Write(piece)
		if count != nil {
			count.Add(int64(n))
		}
		if err != nil {
			return err
		}
	}
}

// receive reads without end and counts what came.
func receive(conn net.Conn, piece []byte, count *atomic.Int64) error {
	for {
		n, err := conn.Read(piece)
		count.Add(int64(n))
		if err != nil {
			return err
		}
	}
}

// lane is one way to use a proxy: what a connection does, over and over, and how
// many of them.
type lane struct {
	name        string
	want        byte
	connections int
	message     int // length of one that goes there and back, in bytes
}

// lanes are those of -lanes.
func (o options) makeLanes() (all []lane, err error) {
	for _, name := range strings.Split(o.lanes, ",") {
		l := lane{name: name, connections: o.connections, message: o.message}
		switch name {
		case "download":
			l.want = wantBytes
		case "download-one":
			l.want, l.connections = wantBytes, 1
		case "upload":
			l.want = wantNothing
		case "messages":
			l.want, l.connections = wantEcho, o.users
		default:
			return nil, fmt.Errorf("%q is not a lane: %s", name, laneNames)
		}
		all = append(all, l)
	}
	return all, nil
}

// title is what the results say of a lane.
func (l *lane) title() string {
	if l.want == wantEcho {
		return fmt.Sprintf("%d B there and back, %d connections", l.message, l.connections)
	}
	return fmt.Sprintf("%s, %d connections", strings.TrimSuffix(l.name, "-one"), l.connections)
}

func (l *lane) unit() string {
	if l.want == wantEcho {
		return "CPU µs per round trip"
	}
	return "GB per CPU second"
}

// use makes a connection do what the lane is about.
func (l *lane) use(conn net.Conn, count *atomic.Int64) error {
	if _, err := conn.Write([]byte{l.want}); err != nil {
		return err
	}
	switch l.want {
	case wantBytes:
		return receive(conn, make([]byte, pieceSize), count)
	case wantNothing:
		return send(conn, make([]byte, pieceSize), count)
	}
	message := make([]byte, l.message)
	for {
		if _, err := conn.Write(message); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, message); err != nil {
			return err
		}
		count.Add(1)
	}
}

// measure returns gigabytes per second of processor time, or microseconds of it
// per round trip. The first fifth of the time is not counted.
func (l *lane) measure(ctx context.Context, p *process.Process, slice time.Duration) (float64, error) {
	var count atomic.Int64
	var users sync.WaitGroup
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
		users.Wait()
	}()
	failed := make(chan error, l.connections)
	for range l.connections {
		conn, err := net.DialTimeout("tcp", p.Address, patience)
		if err != nil {
			return 0, err
		}
		conns = append(conns, conn)
		users.Add(1)
		go func() {
			defer users.Done()
			failed <- l.use(conn, &count)
		}()
	}
	if err := wait(ctx, slice/5, failed); err != nil {
		return 0, err
	}
	before, err := process.CPUTime(p.PID())
	if err != nil {
		return 0, err
	}
	begun := count.Load()
	if err := wait(ctx, slice, failed); err != nil {
		return 0, err
	}
	done := count.Load() - begun
	after, err := process.CPUTime(p.PID())
	switch {
	case err != nil:
		return 0, err
	case done == 0:
		return 0, errors.New("nothing passed through")
	case after <= before:
		return 0, errors.New("the slice is too short for the clock of processor time")
	case l.want != wantEcho:
		return float64(done) / 1e9 / (after - before).Seconds(), nil
	}
	return float64((after - before).Microseconds()) / float64(done), nil
}

// wait lets the users of a lane work, unless one of them fails.
func wait(ctx context.Context, d time.Duration, failed <-chan error) error {
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
