package engine

import (
	"bytes"
	"encoding/binary"
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec/frame"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// TestSteadyStateAllocatesNothing counts the heap objects that the whole
// process makes while requests go through. Client and origin are written so
// that they make none.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	const get = "GET /a/b?c=d HTTP/1.1\r\nHost: a.test\r\nUser-Agent: x\r\nAccept: */*\r\nCookie: a=b; lane=forged\r\n\r\n"
	for name, tc := range map[string]struct{ request, response string }{
		"GET":            {get, ok},
		"GET by EWMA":    {get, ok},
		"GET by hash":    {get, ok},
		"GET, sticky":    {get, ok},
		"GET with hedge": {"GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n", ok},
		"POST, held":     {"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello", ok},
		"POST, edited":   {"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello", ok},
		"POST": {
			"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nX_A: b\r\n\r\nhello",
			"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer ln.Close()
			end := tc.request[len(tc.request)-4:]
			go answerForEver(ln, []byte(end), []byte(tc.response))
			s := newSetup(ln.Addr().String())
			switch name {
			case "GET by EWMA":
				s.balance = pool.EWMA
			case "GET by hash":
				s.balance, s.balancing = pool.Hash, snapshot.Balance{Key: snapshot.KeyQuery, Name: "c"}
			case "GET, sticky":
				s.balance, s.balancing = pool.Sticky, snapshot.Balance{Cookie: "lane"}
			case "GET with hedge":
				s.retries.Hedge = patience // armed for each request, never due
			case "POST, held":
				s.route = func(r *snapshot.Route) { r.Buffer = true }
			case "POST, edited":
				s.filters = []any{&same{}}
			}
			requireNoAllocations(t, s.start(t).dial(), tc.request)
		})
	}
}

// same is a filter that asks for everything and changes nothing.
type same struct{ buf [16]byte }

func (*same) OnRequest(ctx *filters.Context) filters.Verdict {
	ctx.HoldBody()
	ctx.BodyChanges()
	return filters.Continue
}

func (s *same) OnRequestBody(ctx *filters.Context, b []byte, _ bool) filters.Verdict {
	ctx.ReplaceBody(s.buf[:copy(s.buf[:], b)])
	return filters.Continue
}

func (*same) OnWholeRequest(*filters.Context, filters.Body) filters.Verdict { return filters.Continue }

// requireNoAllocations sends a request many times.
func requireNoAllocations(t *testing.T, c *peer, request string) {
	t.Helper()
	roundTrips(t, c, request, 200) // grow every buffer
	const n = 2000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	roundTrips(t, c, request, n)
	runtime.ReadMemStats(&after)
	// The runtime and the testing package make a few of their own.
	require.Less(t, after.Mallocs-before.Mallocs, uint64(n/20))
}

// answerForEver answers, on one connection, whatever ends in end.
func answerForEver(ln net.Listener, end, response []byte) {
	conn, err := ln.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	buf := make([]byte, 4096)
	got := 0
	for {
		n, err := conn.Read(buf[got:])
		if err != nil {
			return
		}
		if got += n; !bytes.HasSuffix(buf[:got], end) {
			continue
		}
		got = 0
		if _, err := conn.Write(response); err != nil {
			return
		}
	}
}

func roundTrips(t *testing.T, c *peer, request string, n int) {
	t.Helper()
	out, in := []byte(request), make([]byte, 4096)
	for range n {
		if _, err := c.conn.Write(out); err != nil {
			t.Fatal(err)
		}
		got := 0
		for !bytes.Contains(in[:got], []byte("ok")) {
			k, err := c.conn.Read(in[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += k
		}
		if bytes.Contains(in[:got], []byte("chunked")) {
			for !bytes.HasSuffix(in[:got], []byte("0\r\n\r\n")) {
				k, err := c.conn.Read(in[got:])
				if err != nil {
					t.Fatal(err)
				}
				got += k
			}
		}
	}
}

// TestFramesAllocateNothing does that for frames: many requests at a time on one
// connection of a client, which share one of the endpoint's.
func TestFramesAllocateNothing(t *testing.T) {
	for name, inFlight := range map[string]int{"one": 1, "many": 64} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer ln.Close()
			go answerFramesForEver(ln)
			g := frames(ln.Addr().String()).start(t)
			p := &framePeer{conn: g.dial().conn}
			var requests []byte
			for i := range inFlight {
				requests = append(requests, rpcCall(uint64(i+1), "hello", "x-tenant", "a").bytes()...)
			}
			rounds := func(n int) {
				for range n {
					if _, err := p.conn.Write(requests); err != nil {
						t.Fatal(err)
					}
					for range inFlight {
						if _, status, err := p.next(); err != nil || status != 200 {
							t.Fatal(status, err)
						}
					}
				}
			}
			const n = 4000
			rounds(100 + 10*inFlight) // grow every buffer
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			rounds(n / inFlight)
			runtime.ReadMemStats(&after)
			require.Less(t, after.Mallocs-before.Mallocs, uint64(n/40))
		})
	}
}

// framePeer is one end of a connection that speaks frames and makes no objects.
type framePeer struct {
	conn     net.Conn
	buf      [64 << 10]byte
	from, to int
	header   frame.Header
	out      []byte
}

// next reads the next frame and forgets all but its header.
func (p *framePeer) next() (id uint64, status int, err error) {
	for {
		if p.to-p.from >= frame.HeaderSize {
			b := p.buf[p.from:p.to]
			size := frame.HeaderSize + int(binary.BigEndian.Uint32(b[16:])+binary.BigEndian.Uint32(b[20:]))
			if len(b) >= size {
				p.from += size
				return binary.BigEndian.Uint64(b[8:]), int(binary.BigEndian.Uint16(b[6:])), nil
			}
		}
		p.to = copy(p.buf[:], p.buf[p.from:p.to])
		p.from = 0
		n, err := p.conn.Read(p.buf[p.to:])
		if err != nil {
			return 0, 0, err
		}
		p.to += n
	}
}

// answerFramesForEver answers the requests of one connection, those that have come
// together in one write.
func answerFramesForEver(ln net.Listener) {
	conn, err := ln.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	p := &framePeer{conn: conn}
	for {
		id, _, err := p.next()
		if err != nil {
			return
		}
		p.header = frame.Header{Kind: frame.Response, Status: 200, ID: id, Body: 2}
		p.out = append(frame.AppendHeader(p.out, &p.header), "ok"...)
		if p.from == p.to {
			if _, err := conn.Write(p.out); err != nil {
				return
			}
			p.out = p.out[:0]
		}
	}
}
