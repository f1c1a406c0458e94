package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// ioTimeout is far longer than anything takes; who reaches it hangs.
const ioTimeout = 30 * time.Second

// client is one connection to the gateway.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(address string) (*client, error) {
	conn, err := net.DialTimeout("tcp", address, ioTimeout)
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn, in: bufio.NewReader(conn)}
	return c, conn.SetDeadline(time.Now().Add(ioTimeout))
}

// request is what a client sends; a body of size -1 is none.
type request struct {
	method, target string
	id             uint64
	size           int
	chunked        bool
	fields         string // more field lines, each with its end
}

// send writes the request, chunked bodies in pieces of odd sizes.
func (c *client) send(r request) error {
	if err := c.SetDeadline(time.Now().Add(ioTimeout)); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: soak.example\r\n%s: %d\r\n%s", r.method, r.target, idField, r.id, r.fields)
	switch {
	case r.size < 0:
		b.WriteString("\r\n")
	case r.chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		content, piece := body(r.id, r.size), 1+int(r.id%9000)
		for len(content) > 0 {
			n := min(piece, len(content))
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, content[:n])
			content = content[n:]
		}
		b.WriteString("0\r\n\r\n")
	default:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", r.size)
		b.Write(body(r.id, r.size))
	}
	_, err := c.Write(b.Bytes())
	return err
}

// failure is an answer that is not the one hoped for.
type failure struct {
	status int
	body   string
}

func (f *failure) Error() string { return fmt.Sprintf("status %d: %s", f.status, f.body) }

var errNotMine = errors.New("the answer belongs to another request")

// receive reads the head of an answer to r and says whose it is.
func (c *client) receive(r request, status int) (*http.Response, error) {
	res, err := http.ReadResponse(c.in, &http.Request{Method: r.method})
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	if res.StatusCode != status {
		b, _ := io.ReadAll(io.LimitReader(res.Body, 512))
		return nil, &failure{res.StatusCode, string(b)}
	}
	if id := res.Header.Get(idField); status == http.StatusOK && id != strconv.FormatUint(r.id, 10) {
		return nil, fmt.Errorf("%w: %s, not %d", errNotMine, id, r.id)
	}
	return res, nil
}

// expect reads an answer whose body is the request's pattern of n bytes, and
// nothing behind it.
func (c *client) expect(r request, n int) error {
	res, err := c.receive(r, http.StatusOK)
	if err != nil {
		return err
	}
	if err := check(res.Body, r.id, n); err != nil {
		return err
	}
	if more, err := io.Copy(io.Discard, res.Body); more > 0 || err != nil {
		return fmt.Errorf("%d bytes behind the body: %w", more, errors.Join(errWrongByte, err))
	}
	return nil
}
