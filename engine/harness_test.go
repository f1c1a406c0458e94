package engine

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

// patience bounds every wait of a test; nothing asserts that it is short.
const patience = 10 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setup is what a test wants of its gateway; newSetup gives the defaults.
type setup struct {
	options   Options
	listener  snapshot.Listener
	limits    pool.Limits
	passive   pool.Passive
	balance   pool.Balance
	balancing snapshot.Balance
	gates     []pool.Gate
	endpoints []string
	spare     []string // endpoints without weight
	warmUp    time.Duration
	others    map[string][]string // endpoints of further services
	timeouts  snapshot.Timeouts
	retries   snapshot.Retries
	connect   time.Duration
	maxHead   int
	proxy     snapshot.ProxyVersion
	spec      route.Spec
	more      []route.Spec   // further routes to the same service
	protocol  codec.Protocol // of the services
	follows   bool
	route     func(*snapshot.Route)
	filters   []any
	listening []any
	tune      func(*Server)
	passing   *passing // the listener passes connections through
}

func newSetup(endpoints ...string) *setup {
	return &setup{
		options: Options{
			Node: "test", Loops: 1, Poller: "epoll", Accept: "handoff", High: 256 << 10, Low: 64 << 10,
			AccessLog: true, AccessSample: 1, Listeners: []ListenerOptions{{Name: "web", Address: "127.0.0.1:0"}},
		},
		listener: snapshot.Listener{
			Name: "web", RequestLine: 8 << 10, Headers: 64 << 10, HeaderCount: 200,
			Head: patience, ReadIdle: patience, WriteIdle: patience, Keepalive: patience,
			Paths: route.PathOptions{RejectDangerous: true},
		},
		limits:    pool.Limits{MaxConnections: 100, MaxWaiting: 100, Wait: time.Second, Idle: time.Minute},
		endpoints: endpoints,
		timeouts:  snapshot.Timeouts{FirstByte: patience, Idle: patience, TunnelIdle: patience},
		retries:   snapshot.Retries{Attempts: 1, Connect: true, Reset: true, Budget: 20},
		connect:   patience,
		maxHead:   64 << 10,
		spec:      route.Spec{ID: "all", Kind: route.Prefix, Pattern: "/"},
	}
}

// gateway is a running server with one route.
type gateway struct {
	t        *testing.T
	server   *Server
	registry *pool.Registry
	setup    *setup
	addr     string
	records  *recordReader
}

func (s *setup) start(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{t: t, setup: s, registry: pool.NewRegistry()}
	server, err := New(s.options, g.registry)
	require.NoError(t, err)
	g.server = server
	if s.tune != nil {
		s.tune(server)
	}
	server.Publish(g.compile(1))
	require.NoError(t, server.Listen())
	require.NoError(t, server.Start())
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	g.addr = server.Addresses()[0]
	g.records = &recordReader{rings: server.Rings()}
	return g
}

func (g *gateway) compile(generation uint64) *snapshot.Snapshot {
	t, s := g.t, g.setup
	svc := g.service("origin", s.endpoints)
	services := map[string]*snapshot.Service{svc.Name: svc}
	for name, endpoints := range s.others {
		services[name] = g.service(name, endpoints)
	}
	r := &snapshot.Route{
		Info: filters.RouteInfo{ID: s.spec.ID}, Service: svc, Timeouts: s.timeouts, Retries: s.retries,
		Chain: chainOf(s.filters), Series: snapshot.NewSeries(s.spec.ID),
	}
	if s.route != nil {
		s.route(r)
	}
	spec := s.spec
	changes := []route.Change[*snapshot.Route]{{Spec: &spec, Payload: r}}
	for i := range s.more {
		other := *r
		other.Info.ID, other.Series = s.more[i].ID, snapshot.NewSeries(s.more[i].ID)
		changes = append(changes, route.Change[*snapshot.Route]{Spec: &s.more[i], Payload: &other})
	}
	table, err := route.New[*snapshot.Route](7).Apply(changes)
	require.NoError(t, err)
	lis := s.listener
	lis.Chain = chainOf(s.listening)
	if s.passing != nil {
		lis.Passage = s.passing.compile(s, services)
	}
	return &snapshot.Snapshot{
		Generation: generation, Routes: table,
		Services:  services,
		Listeners: map[string]*snapshot.Listener{lis.Name: &lis},
	}
}

func (g *gateway) service(name string, endpoints []string) *snapshot.Service {
	s := g.setup
	cfg := pool.ServiceConfig{
		Name: name, State: g.registry.Service(name), Balance: s.balance, Limits: s.limits, Passive: s.passive,
		Gates: s.gates, Secret: "secret",
	}
	for _, address := range endpoints {
		e, err := g.registry.Endpoint(name, address, "")
		require.NoError(g.t, err)
		cfg.Members = append(cfg.Members, pool.Member{Endpoint: e, Weight: 1})
	}
	for _, address := range s.spare {
		e, err := g.registry.Endpoint(name, address, "")
		require.NoError(g.t, err)
		cfg.Members = append(cfg.Members, pool.Member{Endpoint: e})
	}
	cfg.WarmUp = s.warmUp
	ps, err := pool.NewService(cfg)
	require.NoError(g.t, err)
	return &snapshot.Service{
		Name: name, Pool: ps, Balance: s.balancing, MaxHead: s.maxHead, ConnectTimeout: s.connect, Timeouts: s.timeouts, Retries: s.retries,
		Source: netip.Addr{}, ProxyProtocol: s.proxy, Protocol: s.protocol, Follows: s.follows,
	}
}

func chainOf(fs []any) *filters.Chain {
	if len(fs) == 0 {
		return nil
	}
	var entries []*filters.Entry
	for _, f := range fs {
		entries = append(entries, filters.NewEntry("test", f))
	}
	return filters.NewChain(entries)
}

// stats returns the totals of all loops so far.
func (g *gateway) stats() *Stats {
	total := new(Stats)
	NewCollector(g.server).Collect(patience, func(loops []*Stats, missing []int) {
		require.Empty(g.t, missing)
		for _, s := range loops {
			total.Merge(s)
		}
	})
	return total
}

// peer is one end of a connection that a test plays: a client of the gateway or
// a connection at the origin.
type peer struct {
	t    *testing.T
	conn *net.TCPConn
	in   *bufio.Reader
}

func newPeer(t *testing.T, conn net.Conn) *peer {
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = conn.Close() })
	return &peer{t: t, conn: conn.(*net.TCPConn), in: bufio.NewReader(conn)}
}

func (g *gateway) dial() *peer {
	g.t.Helper()
	conn, err := net.Dial("tcp", g.addr)
	require.NoError(g.t, err)
	return newPeer(g.t, conn)
}

func (p *peer) send(parts ...string) *peer {
	p.t.Helper()
	_, err := io.WriteString(p.conn, strings.Join(parts, ""))
	require.NoError(p.t, err)
	return p
}

// get sends a simple request.
func (p *peer) get(path string, fields ...string) *peer {
	return p.send("GET "+path+" HTTP/1.1\r\nHost: a.test\r\n", strings.Join(fields, ""), "\r\n")
}

// request reads a whole request at the origin.
func (p *peer) request() *http.Request {
	p.t.Helper()
	r := p.requestHead()
	body, err := io.ReadAll(r.Body)
	require.NoError(p.t, err)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return r
}

func (p *peer) requestHead() *http.Request {
	p.t.Helper()
	r, err := http.ReadRequest(p.in)
	require.NoError(p.t, err)
	return r
}

// response reads a whole response at the client.
func (p *peer) response(method string) (status int, head http.Header, body string) {
	p.t.Helper()
	r, err := http.ReadResponse(p.in, &http.Request{Method: method})
	require.NoError(p.t, err)
	b, err := io.ReadAll(r.Body)
	require.NoError(p.t, err)
	if r.Close {
		r.Header.Set("Connection", "close") // net/http takes it out
	}
	return r.StatusCode, r.Header, string(b)
}

// expect reads a response and checks status and body.
func (p *peer) expect(status int, body string) http.Header {
	p.t.Helper()
	got, head, b := p.response("GET")
	require.Equal(p.t, status, got, b)
	require.Equal(p.t, body, b)
	return head
}

// expectReason reads a local answer and checks its reason token.
func (p *peer) expectReason(r codec.Reason) http.Header {
	p.t.Helper()
	status, head, body := p.response("GET")
	require.Equal(p.t, r.Status(), status, body)
	require.Contains(p.t, body, `"error":"`+r.String()+`"`)
	return head
}

// expectClosed reads to the end and expects it without another byte.
func (p *peer) expectClosed() {
	p.t.Helper()
	b, err := io.ReadAll(p.in)
	if err != nil {
		require.False(p.t, errors.Is(err, os.ErrDeadlineExceeded), "the connection stays open")
	}
	require.Empty(p.t, string(b))
}

func (p *peer) close() { _ = p.conn.Close() }

// reset closes with an RST.
func (p *peer) reset() {
	require.NoError(p.t, p.conn.SetLinger(0))
	p.close()
}

// origin is an upstream whose connections a test plays one by one.
type origin struct {
	t    *testing.T
	ln   *net.TCPListener
	addr string
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	return originAt(t, "127.0.0.1:0")
}

func originAt(t *testing.T, address string) *origin {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return &origin{t: t, ln: ln.(*net.TCPListener), addr: ln.Addr().String()}
}

// accept waits for the gateway's next connection.
func (o *origin) accept() *peer {
	o.t.Helper()
	require.NoError(o.t, o.ln.SetDeadline(time.Now().Add(patience)))
	conn, err := o.ln.Accept()
	require.NoError(o.t, err)
	return newPeer(o.t, conn)
}

// serve answers every request with the handler, on connections of its own.
func (o *origin) serve(h http.HandlerFunc) *origin {
	server := &http.Server{Handler: h, ReadHeaderTimeout: patience}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(o.ln)
	}()
	o.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return o
}

// echoOK reads the request and answers "ok".
func echoOK(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	_, _ = io.WriteString(w, "ok")
}

// fillBacklog makes the origin's address one that does not answer SYNs.
func fillBacklog(t *testing.T, o *origin) string {
	t.Helper()
	raw, err := o.ln.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 0) }))
	require.NoError(t, err)
	for range 3 {
		conn, err := net.DialTimeout("tcp", o.addr, 100*time.Millisecond)
		if err != nil {
			break
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	return o.addr
}

// refusing returns an address on which nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	return ln.Addr().String()
}

// recordReader collects access records.
type recordReader struct {
	mu    sync.Mutex
	rings []*Ring
	text  string
}

// next waits for one more record.
func (r *recordReader) next(t *testing.T) string {
	t.Helper()
	var line string
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, ring := range r.rings {
			a, b := ring.Peek()
			r.text += string(a) + string(b)
			ring.Take(len(a) + len(b))
		}
		i := strings.IndexByte(r.text, '\n')
		if i < 0 {
			return false
		}
		line, r.text = r.text[:i], r.text[i+1:]
		return true
	}, patience, time.Millisecond)
	return line
}

var loopbackPrefix = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// ok is a small whole response.
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// session is the connection that came last.
func (w *worker) session() *Session { return w.clients.owner.(*Session) }
