package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// kind is one way of using the gateway.
type kind struct {
	name string
	// share is relative to the others.
	share int
	run   func(v *visitor) error
	// fragile kinds may fail when an endpoint dies: nothing can repeat them.
	fragile bool
}

// kinds is the mix.
var kinds = []kind{
	{name: "keep-alive", share: 30, run: keepAlive},
	{name: "short", share: 20, run: short},
	{name: "pipelined", share: 8, run: pipelined},
	{name: "posts", share: 12, run: posts, fragile: true},
	{name: "chunked", share: 8, run: chunked, fragile: true},
	{name: "downloads", share: 6, run: downloads, fragile: true},
	{name: "slow readers", share: 3, run: slowReader, fragile: true},
	{name: "upgrades", share: 5, run: upgrades, fragile: true},
	{name: "aborts", share: 6, run: aborts},
	{name: "unknown paths", share: 2, run: unknown},
}

// visitor is one client in the middle of one kind.
type visitor struct {
	address string
	random  *rand.Rand
	// answered counts the responses that were checked.
	answered int
}

func (v *visitor) id() uint64 { return v.random.Uint64() }

// get asks for a pattern small enough to be answered at once.
func (v *visitor) get(c *client, fields string) error {
	size := v.random.IntN(16 << 10)
	r := request{method: "GET", target: fmt.Sprintf("/data/%d", size), id: v.id(), size: -1, fields: fields}
	if err := c.send(r); err != nil {
		return err
	}
	return v.count(c.expect(r, size))
}

func (v *visitor) count(err error) error {
	if err == nil {
		v.answered++
	}
	return err
}

// with runs what a kind does on one connection.
func (v *visitor) with(do func(c *client) error) error {
	c, err := dial(v.address)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

func keepAlive(v *visitor) error {
	return v.with(func(c *client) error {
		for range 1 + v.random.IntN(50) {
			if err := v.get(c, ""); err != nil {
				return err
			}
		}
		return nil
	})
}

func short(v *visitor) error {
	return v.with(func(c *client) error {
		if err := v.get(c, "Connection: close\r\n"); err != nil {
			return err
		}
		if n, err := c.in.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			return fmt.Errorf("the connection was to be closed: %d bytes, %w", n, errors.Join(err))
		}
		return nil
	})
}

func pipelined(v *visitor) error {
	return v.with(func(c *client) error {
		var sent []request
		for range 8 {
			r := request{method: "GET", target: "/data/700", id: v.id(), size: -1}
			if err := c.send(r); err != nil {
				return err
			}
			sent = append(sent, r)
		}
		for _, r := range sent {
			if err := v.count(c.expect(r, 700)); err != nil {
				return err
			}
		}
		return nil
	})
}

func posts(v *visitor) error {
	return v.with(func(c *client) error {
		for range 1 + v.random.IntN(10) {
			size := v.random.IntN(64 << 10)
			r := request{method: "POST", target: "/echo", id: v.id(), size: size, chunked: v.random.IntN(2) == 0}
			if err := c.send(r); err != nil {
				return err
			}
			if err := v.count(c.expect(r, size)); err != nil {
				return err
			}
		}
		return nil
	})
}

// chunked uploads more than the gateway keeps.
func chunked(v *visitor) error {
	return v.with(func(c *client) error {
		size := v.random.IntN(1 << 20)
		r := request{method: "PUT", target: "/sum", id: v.id(), size: size, chunked: true}
		if err := c.send(r); err != nil {
			return err
		}
		res, err := c.receive(r, http.StatusOK)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body(r.id, size))
		got, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		if string(got) != hex.EncodeToString(sum[:]) {
			return fmt.Errorf("%w: the origin got another body", errWrongByte)
		}
		return v.count(nil)
	})
}

func downloads(v *visitor) error {
	return v.with(func(c *client) error {
		size := v.random.IntN(2 << 20)
		r := request{method: "GET", target: fmt.Sprintf("/data/%d?chunked=1", size), id: v.id(), size: -1}
		if err := c.send(r); err != nil {
			return err
		}
		return v.count(c.expect(r, size))
	})
}

// slowReader takes a large answer in sips, so that the gateway has to hold the
// upstream back.
func slowReader(v *visitor) error {
	return v.with(func(c *client) error {
		_ = c.Conn.(*net.TCPConn).SetReadBuffer(32 << 10)
		c.in.Reset(&sipping{r: c.Conn})
		const size = 3 << 20
		r := request{method: "GET", target: fmt.Sprintf("/data/%d", size), id: v.id(), size: -1}
		if err := c.send(r); err != nil {
			return err
		}
		return v.count(c.expect(r, size))
	})
}

type sipping struct{ r io.Reader }

// Read implements io.Reader.
func (s *sipping) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.r.Read(p)
}

// upgrades sends messages through a tunnel and half-closes it.
func upgrades(v *visitor) error {
	return v.with(func(c *client) error {
		r := request{method: "GET", target: "/tunnel", id: v.id(), size: -1, fields: "Connection: Upgrade\r\nUpgrade: echo\r\n"}
		if err := c.send(r); err != nil {
			return err
		}
		if _, err := c.receive(r, http.StatusSwitchingProtocols); err != nil {
			return err
		}
		for range 1 + v.random.IntN(20) {
			message := body(v.id(), 1+v.random.IntN(4<<10))
			if _, err := c.Write(message); err != nil {
				return err
			}
			got := make([]byte, len(message))
			if _, err := io.ReadFull(c.in, got); err != nil {
				return err
			}
			if !bytes.Equal(message, got) {
				return fmt.Errorf("%w: in a tunnel", errWrongByte)
			}
		}
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			return err
		}
		if n, err := c.in.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			return fmt.Errorf("the tunnel did not end: %d bytes, %w", n, errors.Join(err))
		}
		return v.count(nil)
	})
}

// aborts leaves in the middle of a request or of an answer, half of the times
// with a reset.
func aborts(v *visitor) error {
	return v.with(func(c *client) error {
		if v.random.IntN(2) == 0 {
			_ = c.Conn.(*net.TCPConn).SetLinger(0)
		}
		if v.random.IntN(2) == 0 {
			_, err := fmt.Fprintf(c, "PUT /sum HTTP/1.1\r\nHost: soak.example\r\nContent-Length: 100000\r\n\r\n%s", body(v.id(), v.random.IntN(50_000)))
			return err
		}
		r := request{method: "GET", target: "/data/1000000", id: v.id(), size: -1}
		if err := c.send(r); err != nil {
			return err
		}
		_, err := io.CopyN(io.Discard, c.in, v.random.Int64N(500_000))
		return err
	})
}

func unknown(v *visitor) error {
	return v.with(func(c *client) error {
		r := request{method: "GET", target: fmt.Sprintf("/nowhere/%d", v.id()), id: v.id(), size: -1}
		if err := c.send(r); err != nil {
			return err
		}
		res, err := c.receive(r, http.StatusNotFound)
		if err != nil {
			return err
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || !bytes.Contains(got, []byte("route_not_found")) {
			return fmt.Errorf("%w: %q, %w", errWrongByte, got, errors.Join(err))
		}
		return v.count(nil)
	})
}
