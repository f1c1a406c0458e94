package frame_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/netpoll"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/corelane/corelane/sdk/frame"
)

func TestMain(m *testing.M) {
	// netpoll's pollers run for the life of the program.
	netpoll.Initialize()
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/cloudwego/netpoll.(*defaultPoll).Wait"),
		goleak.IgnoreAnyFunction("github.com/bytedance/gopkg/util/gopool.(*worker).run.func1"))
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// The numbers of the protocol, written down again: the tests' peers share no code
// with what they test.
const (
	kRequest, kResponse, kOneWay, kHeartbeat, kGoAway, kCancel, kCredit = 1, 2, 3, 4, 5, 6, 7

	fMore, fCont, fZstd, fReply = 1, 2, 4, 8
)

// raw is a frame as a peer by hand writes and reads it.
type raw struct {
	kind, flags, status int
	id                  uint64
	meta                []string // name, value, name, value, …
	body                string
}

func (f raw) bytes() []byte {
	var meta []byte
	for i := 0; i < len(f.meta); i += 2 {
		meta = binary.BigEndian.AppendUint16(meta, uint16(len(f.meta[i])))
		meta = binary.BigEndian.AppendUint16(meta, uint16(len(f.meta[i+1])))
		meta = append(append(meta, f.meta[i]...), f.meta[i+1]...)
	}
	b := []byte{'C', 'L', 1, byte(f.kind)}
	b = binary.BigEndian.AppendUint16(b, uint16(f.flags))
	b = binary.BigEndian.AppendUint16(b, uint16(f.status))
	b = binary.BigEndian.AppendUint64(b, f.id)
	b = binary.BigEndian.AppendUint32(b, uint32(len(meta)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.body)))
	return append(append(b, meta...), f.body...)
}

// peer is one end of a connection that the test holds by hand.
type peer struct {
	t *testing.T
	c net.Conn
}

func (p *peer) send(frames ...raw) {
	p.t.Helper()
	var b []byte
	for _, f := range frames {
		b = append(b, f.bytes()...)
	}
	p.sendBytes(b)
}

func (p *peer) sendBytes(b []byte) {
	p.t.Helper()
	_, err := p.c.Write(b)
	require.NoError(p.t, err)
}

// next reads the next frame.
func (p *peer) next() raw {
	p.t.Helper()
	f, err := readFrame(p.c)
	require.NoError(p.t, err)
	return f
}

// want reads a frame and compares it.
func (p *peer) want(f raw) {
	p.t.Helper()
	require.Equal(p.t, f, p.next())
}

// ends waits until the other side has closed.
func (p *peer) ends() {
	p.t.Helper()
	_, err := readFrame(p.c)
	require.Error(p.t, err)
	require.NotErrorIs(p.t, err, context.DeadlineExceeded)
}

func readFrame(c io.Reader) (raw, error) {
	var h [24]byte
	if _, err := io.ReadFull(c, h[:]); err != nil {
		return raw{}, err
	}
	if string(h[:3]) != "CL\x01" {
		return raw{}, fmt.Errorf("no frame: %s", hex.EncodeToString(h[:]))
	}
	f := raw{
		kind: int(h[3]), flags: int(binary.BigEndian.Uint16(h[4:])),
		status: int(binary.BigEndian.Uint16(h[6:])), id: binary.BigEndian.Uint64(h[8:]),
	}
	rest := make([]byte, binary.BigEndian.Uint32(h[16:])+binary.BigEndian.Uint32(h[20:]))
	if _, err := io.ReadFull(c, rest); err != nil {
		return raw{}, err
	}
	meta := rest[:binary.BigEndian.Uint32(h[16:])]
	f.body = string(rest[len(meta):])
	for len(meta) > 0 {
		n, v := binary.BigEndian.Uint16(meta), binary.BigEndian.Uint16(meta[2:])
		meta = meta[4:]
		f.meta = append(f.meta, string(meta[:n]), string(meta[n:n+v]))
		meta = meta[n+v:]
	}
	return f, nil
}

// logs gathers what is logged.
type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// service is a server under test.
type service struct {
	*frame.Server
	t       *testing.T
	network string
	address string
	log     *logs
	served  chan error
}

// serve starts a server on a free port; change may change it before.
func serve(t *testing.T, h frame.HandlerFunc, change ...func(*frame.Server)) *service {
	return serveOn(t, "tcp", "127.0.0.1:0", h, change...)
}

func serveOn(t *testing.T, network, address string, h frame.HandlerFunc, change ...func(*frame.Server)) *service {
	t.Helper()
	s := &service{Server: &frame.Server{Handler: h}, t: t, network: network, log: &logs{}, served: make(chan error, 1)}
	s.Options.Logger = slog.New(slog.NewTextHandler(s.log, nil))
	for _, f := range change {
		f(s.Server)
	}
	l, err := net.Listen(network, address)
	require.NoError(t, err)
	s.address = l.Addr().String()
	started := make(chan struct{})
	go func() {
		close(started)
		s.served <- s.Serve(l)
	}()
	<-started
	t.Cleanup(func() {
		assert.NoError(t, s.Shutdown(patient(t)))
		select {
		case err := <-s.served:
			assert.ErrorIs(t, err, frame.ErrServerClosed)
		case <-time.After(patience):
			t.Error("Serve does not return")
		}
	})
	return s
}

// dial connects a peer by hand.
func (s *service) dial() *peer {
	s.t.Helper()
	c, err := net.Dial(s.network, s.address)
	require.NoError(s.t, err)
	require.NoError(s.t, c.SetDeadline(time.Now().Add(patience)))
	s.t.Cleanup(func() { c.Close() })
	return &peer{s.t, c}
}

// client makes a client of the service.
func (s *service) client(change ...func(*frame.Client)) *frame.Client {
	return newClient(s.t, s.network, s.address, change...)
}

func newClient(t *testing.T, network, address string, change ...func(*frame.Client)) *frame.Client {
	c := &frame.Client{Network: network, Address: address}
	c.Options.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	for _, f := range change {
		f(c)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// origin is a service by hand: the test accepts the connections of a client.
type origin struct {
	t *testing.T
	l net.Listener
}

func listen(t *testing.T) *origin {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return &origin{t, l}
}

func (o *origin) accept() *peer {
	o.t.Helper()
	require.NoError(o.t, o.l.(*net.TCPListener).SetDeadline(time.Now().Add(patience)))
	c, err := o.l.Accept()
	require.NoError(o.t, err)
	require.NoError(o.t, c.SetDeadline(time.Now().Add(patience)))
	o.t.Cleanup(func() { c.Close() })
	return &peer{o.t, c}
}

func (o *origin) client(change ...func(*frame.Client)) *frame.Client {
	return newClient(o.t, "tcp", o.l.Addr().String(), change...)
}

// later runs a call and hands its end over.
type outcome struct {
	r   *frame.Response
	err error
}

func later(t *testing.T, c *frame.Client, ctx context.Context, m *frame.Message) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		r, err := c.Call(ctx, m)
		done <- outcome{r, err}
	}()
	return done
}

func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// socket is a free path for a unix socket.
func socket(t *testing.T) string { return filepath.Join(t.TempDir(), "s") }

func echo(_ context.Context, r *frame.Request, w *frame.Responder) error {
	b, err := r.Body.Bytes()
	if err != nil {
		return err
	}
	return w.Reply(b)
}
