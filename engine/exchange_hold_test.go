package engine

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
)

// buffered is a setup whose route holds bodies, the first memory bytes in memory.
func buffered(t *testing.T, memory int64, endpoints ...string) *setup {
	s := newSetup(endpoints...)
	s.options.SpillDir = t.TempDir()
	s.route = func(r *snapshot.Route) { r.Buffer, r.BodyMemory = true, memory }
	return s
}

// noise is a body in which no piece is like another.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint32(n)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// put makes the head of a PUT with these fields.
func put(fields ...string) string {
	return "PUT /up HTTP/1.1\r\nHost: a\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n"
}

// sendChunks sends a body in chunks of n bytes and ends it.
func (p *peer) sendChunks(body []byte, n int) *peer {
	for len(body) > 0 {
		k := min(n, len(body))
		p.send(fmt.Sprintf("%x\r\n", k), string(body[:k]), "\r\n")
		body = body[k:]
	}
	return p.send("0\r\n\r\n")
}

// settled waits until nothing is held any more: no block, no file, no memory.
func (g *gateway) settled() {
	g.t.Helper()
	require.Eventually(g.t, func() bool {
		used, _ := g.server.Memory()
		spilled := g.server.Spilled()
		return used == 0 && spilled.Files == 0 && spilled.Bytes == 0 && g.stats().Reactor.BlocksHeld == 0
	}, patience, time.Millisecond)
	left, err := os.ReadDir(g.setup.options.SpillDir)
	require.NoError(g.t, err)
	require.Empty(g.t, left, "files have no name")
}

// Nothing of the request leaves before its body is whole, and then its length is
// known.
func TestHoldsTheBody(t *testing.T) {
	for name, memory := range map[string]int64{"in memory": 1 << 20, "in a file": 4, "without a limit": 0} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := buffered(t, memory, o.addr).start(t)
			c := g.dial().send(put("Transfer-Encoding: chunked"), "5\r\nhello\r\n")
			require.Eventually(t, func() bool { return g.stats().LiveExchanges == 1 }, patience, time.Millisecond)
			require.Zero(t, g.stats().Pool.Dialed)
			c.send("1\r\n!\r\n0\r\n\r\n")
			up := o.accept()
			r := up.requestHead()
			require.EqualValues(t, 6, r.ContentLength)
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.Equal(t, "hello!", string(body))
			up.send(ok)
			c.expect(200, "ok")
			require.Equal(t, memory == 4, g.server.Spilled().Written > 0)
			g.settled()
		})
	}
}

func TestHeldFraming(t *testing.T) {
	for name, tt := range map[string]struct {
		request string
		length  int64
		body    string
	}{
		"a length stays":         {put("Content-Length: 5") + "hello", 5, "hello"},
		"an empty length stays":  {put("Content-Length: 0"), 0, ""},
		"no body stays none":     {put(), 0, ""},
		"empty chunks":           {put("Transfer-Encoding: chunked") + "0\r\n\r\n", 0, ""},
		"trailers keep chunks":   {put("Transfer-Encoding: chunked") + "2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n", -1, "hi"},
		"HTTP/1.0 has no chunks": {"PUT /up HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", 2, "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := buffered(t, 1<<20, o.addr).start(t)
			c := g.dial().send(tt.request)
			up := o.accept()
			r := up.requestHead()
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.Equal(t, tt.body, string(body))
			require.Equal(t, tt.length, r.ContentLength)
			if tt.length < 0 {
				require.Equal(t, "7", r.Trailer.Get("X-Sum"))
			}
			up.send(ok)
			c.expect(200, "ok")
			g.settled()
		})
	}
}

// The endpoint refuses twice; each try gets the whole body, from wherever it is
// held, also if the endpoint refused before it had read it.
func TestHeldBodyIsRepeated(t *testing.T) {
	const size = 3<<20 + 77
	want := sha256.Sum256(noise(size))
	for name, memory := range map[string]int64{"from memory": 16 << 20, "from a file": 64 << 10} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			sums := make(chan [32]byte, 3)
			o := newOrigin(t).serve(func(w http.ResponseWriter, r *http.Request) {
				if tries.Add(1) == 1 {
					w.WriteHeader(503) // unread
					return
				}
				body, _ := io.ReadAll(r.Body)
				sums <- sha256.Sum256(body)
				if tries.Load() < 3 {
					w.WriteHeader(503)
				}
			})
			s := buffered(t, memory, o.addr)
			s.retries.Attempts = 2
			s.retries.Statuses = snapshot.StatusSet(0).With(503)
			g := s.start(t)
			c := g.dial().send(put("Transfer-Encoding: chunked")).sendChunks(noise(size), 70000)
			c.expect(200, "")
			require.EqualValues(t, 3, tries.Load())
			require.Equal(t, want, <-sums)
			require.Equal(t, want, <-sums)
			require.Equal(t, memory < size, g.server.Spilled().Written == size)
			g.settled()
		})
	}
}

// A slow endpoint does not make the gateway hold the body twice.
func TestHeldBodyIsFedAtTheEndpointsPace(t *testing.T) {
	const size = 12 << 20
	for name, memory := range map[string]int64{"from memory": 16 << 20, "from a file": 64 << 10} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := buffered(t, memory, o.addr).start(t)
			c := g.dial().send(put(fmt.Sprintf("Content-Length: %d", size)))
			go c.flood(size)
			up := o.accept()
			r := up.requestHead()
			last := int64(-1)
			require.Eventually(t, func() bool { // nothing moves any more between two looks
				used, _ := g.server.Memory()
				still := used == last
				last = used
				return still
			}, patience, 50*time.Millisecond)
			require.Less(t, last, min(memory, size)+2<<20)
			n, err := io.Copy(io.Discard, r.Body)
			require.NoError(t, err)
			require.EqualValues(t, size, n)
			up.send(ok)
			c.expect(200, "ok")
			g.settled()
		})
	}
}

// An answer before the endpoint has read the body does not stop the body.
func TestHeldBodyGoesOnAfterAnEarlyAnswer(t *testing.T) {
	const size = 12 << 20
	o := newOrigin(t)
	g := buffered(t, 64<<10, o.addr).start(t)
	c := g.dial().send(put(fmt.Sprintf("Content-Length: %d", size)))
	go c.flood(size)
	up := o.accept()
	r := up.requestHead()
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nea")
	c.readUntil("ea")
	n, err := io.Copy(io.Discard, r.Body)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	up.send("rly")
	c.readUntil("rly")
	g.settled()
}

// 100 (Continue) is said by who holds the body, and by the upstream otherwise.
func TestExpectIsAnsweredByTheHolder(t *testing.T) {
	o := newOrigin(t)
	s := buffered(t, 1<<20, o.addr)
	s.listener.ReadIdle = 0
	g := s.start(t)
	c := g.dial().send(put("Content-Length: 5", "Expect: 100-continue"))
	c.readUntil("HTTP/1.1 100 Continue\r\n\r\n")
	require.Zero(t, g.stats().Pool.Dialed)
	c.send("hello")
	up := o.accept()
	r := up.request()
	require.Empty(t, r.Header.Get("Expect"))
	up.send("HTTP/1.1 100 Continue\r\n\r\n", ok) // not a second time
	c.readUntil("HTTP/1.1 200 OK")
	g.settled()
}

func TestHeldBodyTooLarge(t *testing.T) {
	for name, tt := range map[string]struct {
		memory int64
		send   string
	}{
		"said early":          {1 << 20, put("Content-Length: 11", "Expect: 100-continue")},
		"counted":             {1 << 20, put("Transfer-Encoding: chunked") + "6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n"},
		"counted and in file": {4, put("Transfer-Encoding: chunked") + "6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := buffered(t, tt.memory, refusing(t))
			s.route = func(r *snapshot.Route) { r.Buffer, r.BodyMemory, r.MaxBody = true, tt.memory, 10 }
			g := s.start(t)
			g.dial().send(tt.send).expectReason(codec.BodyTooLarge)
			require.Zero(t, g.stats().Pool.Dialed, "nothing reaches the upstream")
			g.settled()
		})
	}
}

// Whatever ends a held upload leaves nothing behind.
func TestHeldUploadEnds(t *testing.T) {
	const size = 2 << 20
	for name, tt := range map[string]struct {
		change func(*setup)
		end    func(*gateway, *peer)
		reason codec.Reason
	}{
		"the client resets":   {nil, func(_ *gateway, c *peer) { c.reset() }, codec.ClientAborted},
		"the body ends early": {nil, func(_ *gateway, c *peer) { _ = c.conn.CloseWrite() }, codec.BadFraming},
		"the body stops":      {func(s *setup) { s.listener.ReadIdle = 30 * time.Millisecond }, func(*gateway, *peer) {}, codec.RequestTimeout},
		"the body is too slow": {func(s *setup) {
			s.listener.MinBodyRate = 1 << 30
			s.tune = func(server *Server) { server.rateWindow = int64(20 * time.Millisecond) }
		}, func(*gateway, *peer) {}, codec.RequestTimeout},
		"the total time is over": {func(s *setup) { s.timeouts.Total = 50 * time.Millisecond }, func(*gateway, *peer) {}, codec.TotalTimeout},
		"the gateway stops":      {nil, func(g *gateway, _ *peer) { require.NoError(g.t, g.server.Stop()) }, codec.Draining},
		"no endpoint is there":   {nil, func(_ *gateway, c *peer) { c.send(string(noise(size))) }, codec.UpstreamRefused},
	} {
		for where, memory := range map[string]int64{" in memory": 8 << 20, " in a file": 64 << 10} {
			t.Run(name+where, func(t *testing.T) {
				s := buffered(t, memory, refusing(t))
				s.retries.Attempts = 0
				if tt.change != nil {
					tt.change(s)
				}
				g := s.start(t)
				c := g.dial().send(put(fmt.Sprintf("Content-Length: %d", 2*size)), string(noise(size)))
				if tt.change == nil {
					held := func() bool {
						used, _ := g.server.Memory()
						return used >= size || g.server.Spilled().Written > size/2
					}
					require.Eventually(t, held, patience, time.Millisecond)
				}
				tt.end(g, c)
				require.Contains(t, g.records.next(t), `"reason":"`+tt.reason.String()+`"`)
				if tt.reason != codec.Draining {
					g.settled()
				}
			})
		}
	}
}

// A disk that cannot take a body is the gateway's fault: 503, and told by folder
// and cause.
func TestSpillFails(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*setup)
		cause  error
	}{
		"without its folder":   {func(s *setup) { s.options.SpillDir = "/no/such/folder" }, unix.ENOENT},
		"in what is no folder": {func(s *setup) { s.options.SpillDir = "/dev/full" }, unix.ENOTDIR},
		"over the bound": {func(s *setup) {
			s.tune = func(server *Server) { server.files.limit = 100 << 10 }
		}, errSpillFull},
	} {
		t.Run(name, func(t *testing.T) {
			s := buffered(t, 64<<10, refusing(t))
			folder := s.options.SpillDir
			tt.change(s)
			g := s.start(t)
			g.dial().send(put("Content-Length: 200000"), string(noise(200000))).expectReason(codec.Overloaded)
			require.Zero(t, g.stats().Pool.Dialed)
			events, _ := g.server.TakeEvents()
			require.NotEmpty(t, events)
			require.Equal(t, EventSpillFailed, events[0].Kind)
			require.Equal(t, s.options.SpillDir, events[0].Name)
			require.ErrorIs(t, events[0].Value.(error), tt.cause)
			g.setup.options.SpillDir = folder
			g.settled()
		})
	}
}

// A disk that is full after the file was made fails the job that finds it so.
func TestSpillOnAFullDisk(t *testing.T) {
	s := buffered(t, 64<<10, refusing(t))
	g := s.start(t)
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	require.NoError(t, err)
	stop := g.stopFiles()
	c := g.dial().send(put("Content-Length: 200000"), string(noise(150000)))
	var held *spill
	require.Eventually(t, func() bool {
		done := make(chan struct{})
		g.server.workers[0].loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
			if x := g.server.workers[0].oldest; x != nil && x.buffer.spill != nil && x.buffer.spill.busy {
				held = x.buffer.spill
			}
			close(done)
		}})
		<-done
		return held != nil
	}, patience, time.Millisecond)
	held.file = full // its job waits, and sees this when the loop of files goes on
	g.server.files.open.Add(1)
	stop()
	c.expectReason(codec.Overloaded)
	events, _ := g.server.TakeEvents()
	require.NotEmpty(t, events)
	require.ErrorIs(t, events[0].Value.(error), unix.ENOSPC)
	require.Zero(t, g.stats().Pool.Dialed)
	g.settled()
}

// stopFiles keeps the loop of files from working until the result is called.
func (g *gateway) stopFiles() (goOn func()) {
	stopped, wait := make(chan struct{}), make(chan struct{})
	g.server.files.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
		close(stopped)
		<-wait
	}})
	<-stopped
	return func() { close(wait) }
}

// A disk that hangs is given up, and whatever it holds is given back when it
// comes to.
func TestSpillHangs(t *testing.T) {
	s := buffered(t, 64<<10, refusing(t))
	s.tune = func(server *Server) { server.spillTime = int64(30 * time.Millisecond) }
	g := s.start(t)
	goOn := g.stopFiles()
	g.dial().send(put("Content-Length: 200000"), string(noise(200000))).expectReason(codec.Overloaded)
	used, _ := g.server.Memory()
	require.Positive(t, used, "the disk still has blocks")
	goOn()
	g.settled()
}

// When memory is scarce a held body goes to a file before its own limit.
func TestScarceMemorySpills(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := buffered(t, 8<<20, o.addr)
	s.options.Memory = 256 << 10
	g := s.start(t)
	c := g.dial().send(put("Content-Length: 2097152"), string(noise(2<<20)))
	c.expect(200, "ok")
	require.Positive(t, g.server.Spilled().Written)
	g.settled()
}

// wholeReader is a filter that reads the whole body.
type wholeReader struct {
	probe
	whole func(*filters.Context, filters.Body) filters.Verdict
}

func (w *wholeReader) OnWholeRequest(ctx *filters.Context, b filters.Body) filters.Verdict {
	return w.whole(ctx, b)
}

// reading returns a filter that asks for the body and calls whole with it.
func reading(whole func(*filters.Context, string) filters.Verdict) *wholeReader {
	return &wholeReader{
		probe: probe{request: func(ctx *filters.Context) filters.Verdict { ctx.HoldBody(); return filters.Continue }},
		whole: func(ctx *filters.Context, b filters.Body) filters.Verdict {
			var text bytes.Buffer
			for n := int64(0); n < b.Len(); n = int64(text.Len()) {
				text.Write(b.At(n))
			}
			return whole(ctx, text.String())
		},
	}
}

func TestFilterReadsTheWholeBody(t *testing.T) {
	body := string(noise(100000))
	for name, request := range map[string]string{
		"with a length": put("Content-Length: 100000") + body,
		"without one":   put("Transfer-Encoding: chunked") + "186a0\r\n" + body + "\r\n0\r\n\r\n",
		"of no body":    put(),
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := newSetup(o.addr)
			s.options.SpillDir = t.TempDir()
			var got string
			s.filters = []any{reading(func(_ *filters.Context, text string) filters.Verdict { got = text; return filters.Continue })}
			g := s.start(t)
			c := g.dial().send(request)
			up := o.accept()
			r := up.request()
			sent, _ := io.ReadAll(r.Body)
			up.send(ok)
			c.expect(200, "ok")
			g.records.next(t)
			require.Equal(t, string(sent), got)
			require.Equal(t, name != "of no body", got == body)
			g.settled()
		})
	}
}

func TestFilterRefusesTheWholeBody(t *testing.T) {
	s := newSetup(refusing(t))
	s.options.SpillDir = t.TempDir()
	s.filters = []any{reading(func(ctx *filters.Context, text string) filters.Verdict {
		return ctx.Fail(codec.BadSignature, "not this body")
	})}
	g := s.start(t)
	c := g.dial()
	for range 2 {
		c.send(put("Content-Length: 5"), "hello").expectReason(codec.BadSignature)
	}
	require.Zero(t, g.stats().Pool.Dialed)
	g.settled()
}

func TestFilterWaitsWithTheWholeBody(t *testing.T) {
	handles := make(chan filters.Handle, 1)
	waits := func() *wholeReader {
		f := reading(func(ctx *filters.Context, _ string) filters.Verdict { handles <- ctx.Wait(0); return filters.Wait })
		f.resume = func(ctx *filters.Context, v any) filters.Verdict {
			if v != nil {
				return ctx.Fail(codec.Forbidden, "no")
			}
			return filters.Continue
		}
		return f
	}
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.options.SpillDir = t.TempDir()
	s.filters = []any{waits(), waits()}
	g := s.start(t)
	c := g.dial().send(put("Content-Length: 5"), "hello")
	(<-handles).Resume(nil)
	(<-handles).Resume(nil)
	c.expect(200, "ok")
	c.send(put("Content-Length: 5"), "hello")
	(<-handles).Resume(nil)
	(<-handles).Resume("no")
	c.expectReason(codec.Forbidden)
	c.send(put("Content-Length: 5"), "hello")
	h := <-handles
	c.reset()
	g.records.next(t)
	g.records.next(t)
	require.Contains(t, g.records.next(t), "client_aborted")
	require.False(t, h.Resume(nil))
	g.settled()
}

// A body that a filter must read stays in memory, or is refused.
func TestWholeBodyMustFit(t *testing.T) {
	asks := reading(func(*filters.Context, string) filters.Verdict { return filters.Continue })
	for name, tt := range map[string]struct {
		request string
		memory  int64
		want    codec.Reason
	}{
		"by its length":     {put("Content-Length: 100000", "Expect: 100-continue"), 0, codec.BodyTooLarge},
		"by count":          {put("Transfer-Encoding: chunked") + "186a0\r\n" + string(noise(100000)), 0, codec.BodyTooLarge},
		"when it is scarce": {put("Transfer-Encoding: chunked") + "8000\r\n" + string(noise(32<<10)), 20 << 10, codec.Overloaded},
	} {
		t.Run(name, func(t *testing.T) {
			s := buffered(t, 64<<10, refusing(t))
			s.filters = []any{asks}
			s.options.Memory = tt.memory
			g := s.start(t)
			c := g.dial()
			c.send(tt.request).expectReason(tt.want)
			g.settled()
		})
	}
}

// A filter that only sums the body up may have it held without reading it, and a
// body that is in a file then: its last piece comes before the first byte is sent.
func TestBodyFilterDecidesBeforeAnythingIsSent(t *testing.T) {
	s := buffered(t, 64<<10, refusing(t))
	s.route = func(r *snapshot.Route) { r.BodyMemory = 64 << 10 }
	sum := sha256.New()
	s.filters = []any{&probe{
		request: func(ctx *filters.Context) filters.Verdict { ctx.HoldBody(); return filters.Continue },
		body: func(ctx *filters.Context, b []byte, last bool) filters.Verdict {
			sum.Write(b)
			if last {
				return ctx.Fail(codec.BadSignature, "no")
			}
			return filters.Continue
		},
	}}
	g := s.start(t)
	g.dial().send(put("Content-Length: 200000"), string(noise(200000))).expectReason(codec.BadSignature)
	g.records.next(t)
	want := sha256.Sum256(noise(200000))
	require.Equal(t, want[:], sum.Sum(nil))
	require.Zero(t, g.stats().Pool.Dialed)
	g.settled()
}

// Two tries of one exchange each get the whole body, from the one holder; the
// wait for a hedge begins when the first has all of it.
func TestHeldBodyIsHedged(t *testing.T) {
	const size = 12 << 20 // no socket holds it
	body := noise(size)
	want := sha256.Sum256(body)
	for name, memory := range map[string]int64{"from memory": 16 << 20, "from a file": 64 << 10} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, func(s *setup) {
				held := buffered(t, memory)
				s.options.SpillDir, s.route = held.options.SpillDir, held.route
			})
			c := r.dial().send(put(fmt.Sprintf("Content-Length: %d", size)))
			go c.send(string(body))
			first := r.next()
			head := first.requestHead()
			r.fire()
			require.Zero(t, r.stats().Hedges, "it does not wait for an answer yet")
			whole := func(body io.Reader) {
				b, err := io.ReadAll(body)
				require.NoError(t, err)
				require.Equal(t, want, sha256.Sum256(b))
			}
			whole(head.Body)
			require.Eventually(t, r.fire, patience, time.Millisecond)
			second := r.next()
			whole(second.request().Body)
			second.send(ok)
			c.expect(200, "ok")
			first.expectCut()
			r.gateway.settled()
		})
	}
}

// A try that ends while the other is half way leaves the body to it.
func TestHedgeOfAHeldBodyGoesOnAlone(t *testing.T) {
	const size = 12 << 20
	r := newRace(t, func(s *setup) {
		held := buffered(t, 64<<10)
		s.options.SpillDir, s.route = held.options.SpillDir, held.route
	})
	c := r.dial().send(put(fmt.Sprintf("Content-Length: %d", size)))
	go c.flood(size)
	first := r.next()
	_, err := io.Copy(io.Discard, first.requestHead().Body)
	require.NoError(t, err)
	require.Eventually(t, r.fire, patience, time.Millisecond)
	second := r.next()
	head := second.requestHead()
	first.reset()
	n, err := io.Copy(io.Discard, head.Body)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	second.send(ok)
	c.expect(200, "ok")
	r.gateway.settled()
}

// No loop gives its memory back while a file is written from it.
func TestServerStopsDuringASpill(t *testing.T) {
	g := buffered(t, 64<<10, refusing(t)).start(t)
	goOn := sync.OnceFunc(g.stopFiles())
	t.Cleanup(goOn) // before the server stops
	g.dial().send(put("Content-Length: 200000"), string(noise(100000)))
	require.Eventually(t, func() bool { return g.server.Spilled().Bytes > 0 }, patience, time.Millisecond)
	var stopped sync.WaitGroup
	stopped.Go(func() { require.NoError(t, g.server.Stop()) })
	require.Eventually(t, func() bool {
		free := g.server.mu.TryLock()
		if free {
			g.server.mu.Unlock()
		}
		return !free
	}, patience, time.Millisecond, "it has begun to stop")
	done := make(chan struct{})
	for range 2000 {
		require.True(t, g.server.workers[0].loop.Post(&reactor.Task{Run: func(*reactor.Loop) { done <- struct{}{} }}))
		<-done
	}
	goOn()
	stopped.Wait()
	require.Equal(t, SpillInfo{Written: g.server.Spilled().Written}, g.server.Spilled())
}
