package main

import (
	"bytes"
	"fmt"
	"net"
	"time"
)

// ioTimeout bounds everything that the client waits for.
const ioTimeout = 10 * time.Second

// bodyLength is what the origin is asked for.
const bodyLength = 128

// requests sends n requests one at a time, in turn over the connections, and
// returns how long each took.
func (b *bench) requests(address string, n int) ([]time.Duration, error) {
	request := fmt.Appendf(nil, "GET /%d HTTP/1.1\r\nHost: %s\r\n\r\n", bodyLength, address)
	conns := make([]net.Conn, b.o.connections)
	for i := range conns {
		c, err := net.DialTimeout("tcp", address, ioTimeout)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(ioTimeout + time.Duration(n)*time.Millisecond)); err != nil {
			return nil, err
		}
		conns[i] = c
	}
	latencies := make([]time.Duration, n)
	buffer := make([]byte, 8<<10)
	for i := range latencies {
		began := time.Now()
		if err := exchange(conns[i%len(conns)], request, buffer); err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		latencies[i] = time.Since(began)
	}
	return latencies, nil
}

// exchange sends a request and reads the whole response.
func exchange(c net.Conn, request, buffer []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	for n := 0; ; {
		got, err := c.Read(buffer[n:])
		if err != nil {
			return err
		}
		n += got
		head := bytes.Index(buffer[:n], []byte("\r\n\r\n"))
		switch {
		case head < 0:
		case !bytes.HasPrefix(buffer, []byte("HTTP/1.1 200 ")):
			return fmt.Errorf("the answer is %q", buffer[:n])
		case n >= head+4+bodyLength:
			return nil
		}
	}
}
