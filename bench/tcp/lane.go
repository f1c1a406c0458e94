package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/bench/process"
)

// What the first byte of a connection asks of the service.
const (
	wantBulk  = 'b' // bytes without end
	wantSmall = 's' // each message of messageSize bytes, back
)

const (
	pieceSize   = 256 << 10 // of one read or write of the bulk lane, in bytes
	messageSize = 128
	patience    = 10 * time.Second
)

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
	if want[0] == wantBulk {
		piece := make([]byte, pieceSize)
		for {
			if _, err := conn.Write(piece); err != nil {
				return
			}
		}
	}
	message := make([]byte, messageSize)
	for {
		if _, err := io.ReadFull(conn, message); err != nil {
			return
		}
		if _, err := conn.Write(message); err != nil {
			return
		}
	}
}

// lane is one way to use a proxy: what a connection does, over and over, and how
// many of them.
type lane struct {
	name        string
	kind        kind
	connections int
}

// kind is what is counted: bytes, or round trips.
type kind func(conn net.Conn, count *atomic.Int64) error

// bulk reads what the service sends.
func bulk(conn net.Conn, count *atomic.Int64) error {
	if _, err := conn.Write([]byte{wantBulk}); err != nil {
		return err
	}
	piece := make([]byte, pieceSize)
	for {
		n, err := conn.Read(piece)
		count.Add(int64(n))
		if err != nil {
			return err
		}
	}
}

// small sends messages and waits for each to come back.
func small(conn net.Conn, count *atomic.Int64) error {
	if _, err := conn.Write([]byte{wantSmall}); err != nil {
		return err
	}
	message := make([]byte, messageSize)
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
			failed <- l.kind(conn, &count)
		}()
	}
	if err := wait(ctx, slice/5, failed); err != nil {
		return 0, err
	}
	before, err := spent(p)
	if err != nil {
		return 0, err
	}
	begun := count.Load()
	if err := wait(ctx, slice, failed); err != nil {
		return 0, err
	}
	done := count.Load() - begun
	after, err := spent(p)
	switch {
	case err != nil:
		return 0, err
	case done == 0 || after <= before:
		return 0, errors.New("nothing passed through")
	case l.name == "bulk":
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

// spent is the processor time of a proxy and its children so far.
func spent(p *process.Process) (time.Duration, error) {
	family, err := process.Family(p.PID())
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for pid := range family {
		t, err := process.CPUTime(pid)
		if err != nil {
			return 0, err
		}
		sum += t
	}
	return sum, nil
}
