package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"
)

const (
	ioTimeout = 10 * time.Second
	// failurePause keeps a refused connection from being tried in a tight circle.
	failurePause = 10 * time.Millisecond
)

// client sends requests over one connection and opens a new one after a failure.
type client struct {
	address   string
	request   []byte
	pace      pace
	end       time.Time
	conn      net.Conn
	reader    *bufio.Reader
	latencies []time.Duration
	failures  int
}

func newClient(target *url.URL, p pace, end time.Time) *client {
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target.RequestURI(), target.Host)
	return &client{address: target.Host, request: []byte(request), pace: p, end: end}
}

func (c *client) run() {
	defer c.close()
	for {
		start := c.wait()
		if start.After(c.end) {
			return
		}
		if err := c.exchange(); err != nil {
			c.failures++
			c.close()
			time.Sleep(failurePause)
			continue
		}
		c.latencies = append(c.latencies, time.Since(start))
	}
}

// wait returns the time that the next request's latency counts from.
func (c *client) wait() time.Time {
	now := time.Now()
	if c.pace.interval == 0 {
		return now
	}
	due := c.pace.next
	c.pace.next = due.Add(c.pace.interval)
	if now.Before(due) && due.Before(c.end) {
		time.Sleep(due.Sub(now))
		return time.Now()
	}
	return due
}

func (c *client) exchange() error {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.address, ioTimeout)
		if err != nil {
			return err
		}
		c.conn, c.reader = conn, bufio.NewReaderSize(conn, 64<<10)
	}
	if err := c.conn.SetDeadline(time.Now().Add(ioTimeout)); err != nil {
		return err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	return readResponse(c.reader)
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

var errStatus = errors.New("status is not 200")

// readResponse reads one response with a Content-Length and throws its body away.
func readResponse(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
		return errStatus
	}
	length := -1
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
		name, value, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		if !ok {
			break
		}
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("response without a length")
	}
	if _, err = r.Discard(length); err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
