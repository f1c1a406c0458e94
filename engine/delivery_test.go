package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// stopLoop keeps the loop from looking until the result is called.
func (g *gateway) stopLoop() (goOn func()) {
	stopped, wait := make(chan struct{}), make(chan struct{})
	g.server.workers[0].loop.Post(taskOf(func() {
		close(stopped)
		<-wait
	}))
	<-stopped
	return func() { close(wait) }
}

// The peer closes an idle connection at the moment in which it is taken: nothing
// was sent on it, so even an unsafe request goes on, with its body.
func TestUnsafeRequestOnADeadConnection(t *testing.T) {
	for name, end := range map[string]func(*peer){"reset": (*peer).reset, "closed": (*peer).close} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := noRetries(newSetup(o.addr)).start(t)
			c := g.dial()
			up := warm(g, o, c)
			goOn := g.stopLoop()
			c.send("POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
			end(up)
			goOn()
			up = o.accept()
			body, err := io.ReadAll(up.request().Body)
			require.NoError(t, err)
			require.Equal(t, "hi", string(body))
			up.send(ok)
			c.expect(200, "ok")
		})
	}
}

// faultyOrigin answers or breaks at random points, and remembers of which
// requests it has seen a first byte and a last one.
type faultyOrigin struct {
	mu     sync.Mutex
	random *rand.Rand
	begun  map[string]int
	whole  map[string]int
	next   chan struct{} // closed when one more request begins
	ended  chan struct{}
}

// begin notes a request that has begun.
func (o *faultyOrigin) begin(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun[id]++
	close(o.next)
	o.next = make(chan struct{})
}

func (o *faultyOrigin) end(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.whole[id]++
}

// another returns what is closed when one more request begins.
func (o *faultyOrigin) another() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.next
}

// points at which an origin may break, in the order in which it gets there.
const (
	breakBefore = iota
	breakAfterHead
	breakMidBody
	breakBeforeAnswer
	breakInAnswer
	breakAfterAnswer
	answerBusy
	answerLate
	answerWell       // and all above it
	outcomesOfOrigin = 14
)

func (o *faultyOrigin) draw() (point int, reset bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.random.IntN(outcomesOfOrigin), o.random.IntN(2) == 0
}

// serve plays one connection.
func (o *faultyOrigin) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		point, reset := o.draw()
		if reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		if point == breakBefore {
			return
		}
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		id := r.Header.Get("X-Id")
		o.begin(id)
		if point == breakMidBody {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
		}
		if point <= breakMidBody {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		o.end(id)
		if point == breakBeforeAnswer || !o.answer(conn, point, id) {
			return
		}
	}
}

// answer tells whether the connection goes on.
func (o *faultyOrigin) answer(conn net.Conn, point int, id string) bool {
	whole := fmt.Sprintf("HTTP/1.1 200 OK\r\nX-Id: %s\r\nContent-Length: 2\r\n\r\nok", id)
	switch point {
	case breakInAnswer:
		whole = whole[:25]
	case answerBusy:
		whole = busy
	case answerLate: // about when a hedge begins, or never
		select {
		case <-o.another():
		case <-o.ended:
		}
	}
	_, err := io.WriteString(conn, whole)
	return err == nil && point != breakInAnswer && point != breakAfterAnswer
}

// TestUnsafeRequestsArriveOnce sends requests with bodies through origins that
// break at random points. Of a POST no more than one endpoint may ever see a
// byte, whatever became of it; and nobody gets the answer of somebody else.
func TestUnsafeRequestsArriveOnce(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	o := &faultyOrigin{random: rand.New(rand.NewPCG(seed, 0)), begun: map[string]int{}, whole: map[string]int{}}
	o.next, o.ended = make(chan struct{}), make(chan struct{})
	s := newSetup()
	for range 3 {
		up := newOrigin(t)
		s.endpoints = append(s.endpoints, up.addr)
		go func() {
			for {
				conn, err := up.ln.Accept()
				if err != nil {
					return
				}
				go o.serve(conn)
			}
		}()
	}
	s.balance = pool.RoundRobin
	s.options.Loops = 2
	s.timeouts.FirstByte = 300 * time.Millisecond
	s.retries = snapshot.Retries{
		Attempts: 3, Connect: true, Reset: true, Statuses: snapshot.StatusSet(0).With(503), Budget: 0, Hedge: time.Millisecond,
	}
	g := s.start(t)
	collector := NewCollector(g.server)
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() { sendAtRandom(t, g.addr, n, rand.New(rand.NewPCG(seed, uint64(n)+1))) })
	}
	clients.Wait()
	close(o.ended)
	o.mu.Lock()
	defer o.mu.Unlock()
	again := 0
	for id, n := range o.begun {
		switch {
		case id[0] == 'P' && n > 1:
			t.Errorf("%d endpoints have seen %s, %d of them whole", n, id, o.whole[id])
		case n > 1:
			again++
		}
	}
	assert.Positive(t, again, "requests that may be repeated are")
	total := new(Stats)
	collector.Collect(patience, func(loops []*Stats, _ []int) {
		for _, l := range loops {
			total.Merge(l)
		}
	})
	assert.Positive(t, total.StaleRetries)
	assert.Positive(t, total.Retries)
	assert.Positive(t, total.Hedges)
}

// sendAtRandom is one client; ids of unsafe requests begin with P.
func sendAtRandom(t *testing.T, address string, client int, random *rand.Rand) {
	var conn net.Conn
	var in *bufio.Reader
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	body := bytes.Repeat([]byte("x"), 100<<10)
	for i := range 100 {
		if conn == nil {
			var err error
			if conn, err = net.Dial("tcp", address); !assert.NoError(t, err) {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(patience))
			in = bufio.NewReader(conn)
		}
		method, id := "POST", fmt.Sprintf("P%d-%d", client, i)
		if random.IntN(2) == 0 {
			method, id = "PUT", "I"+id
		}
		piece := body[:random.IntN(1<<random.IntN(17))]
		out := append([]byte(method+" / HTTP/1.1\r\nHost: a\r\nX-Id: "+id+"\r\nContent-Length: "+strconv.Itoa(len(piece))+"\r\n\r\n"), piece...)
		_, _ = conn.Write(out)
		r, err := http.ReadResponse(in, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
			if r.StatusCode == 200 {
				assert.Equal(t, id, r.Header.Get("X-Id"))
			}
		}
		if err != nil || r.Close {
			_ = conn.Close()
			conn = nil
		}
	}
}
