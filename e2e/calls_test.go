package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

// callsHead has a listener for each of two protocols.
const callsHead = `
node: {id: e2e}
admin: {address: "127.0.0.1:0", token: ` + token + `}
listeners:
  - {name: web, address: "127.0.0.1:0"}
  - {name: frames, address: "127.0.0.1:0", protocol: frame}
`

// quiet keeps the services of tests from the test's output.
var quiet = slog.New(slog.DiscardHandler)

// frameService is a service of sdk/frame in this process.
type frameService struct {
	t       *testing.T
	server  *frame.Server
	address string
	served  chan error
}

// serveFrames runs a service until the test ends.
func serveFrames(t *testing.T, h frame.Handler) *frameService {
	t.Helper()
	return serveFramesAt(t, "127.0.0.1:0", h)
}

func serveFramesAt(t *testing.T, address string, h frame.Handler) *frameService {
	t.Helper()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	s := &frameService{
		t: t, address: l.Addr().String(), served: make(chan error, 1),
		server: &frame.Server{Handler: h, Options: frame.Options{Zstd: true, Logger: quiet}},
	}
	go func() { s.served <- s.server.Serve(l) }()
	t.Cleanup(s.stop)
	return s
}

// stop lets the service end as in a rolling restart: what was taken is answered.
func (s *frameService) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	assert.NoError(s.t, s.server.Shutdown(ctx))
	assert.ErrorIs(s.t, <-s.served, frame.ErrServerClosed)
	s.served <- frame.ErrServerClosed // for the end of the test
}

// frameClient is a client of the program's frame listener, or of any address.
func frameClient(t *testing.T, address string) *frame.Client {
	t.Helper()
	c := &frame.Client{Network: "tcp", Address: address, Options: frame.Options{Logger: quiet}}
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// soon is a context that ends when a test has waited in vain.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// orders is a service with everything that the protocol can say.
type orders struct {
	notified chan string
	waiting  chan string // calls of wait, by their body
	ended    chan string // those whose context ended
}

func newOrders() *orders {
	return &orders{notified: make(chan string, 8), waiting: make(chan string, 8), ended: make(chan string, 8)}
}

// ServeFrame implements frame.Handler by the method, or the last segment of the
// path.
func (o *orders) ServeFrame(ctx context.Context, r *frame.Request, w *frame.Responder) error {
	path, _, _ := strings.Cut(r.Call.Path, "?")
	switch name := r.Call.Method + path[strings.LastIndexByte(path, '/')+1:]; name {
	case "stream":
		return relay(r, w)
	case "hold":
		return hold(r, w)
	case "wait":
		body, err := r.Body.Bytes()
		if err != nil {
			return err
		}
		o.waiting <- string(body)
		<-ctx.Done()
		o.ended <- string(body)
		return ctx.Err()
	case "fail":
		return frame.Errorf(409, "sold out")
	default:
		body, err := r.Body.Bytes()
		if err != nil {
			return err
		}
		if r.OneWay {
			o.notified <- string(body)
		}
		w.Metadata.Add("x-call", r.Call.String())
		w.Metadata.Add("x-group", r.Call.Group+"/"+r.Call.Version+"/"+r.Call.Authority)
		w.Metadata.Add("x-trace", r.TraceParent())
		w.Metadata.Add("x-tenant", r.Metadata.Get("x-tenant"))
		w.Metadata.Add("x-forwarded", r.Metadata.Get("x-forwarded-for"))
		w.Metadata.Add("x-in-time", fmt.Sprint(!r.Deadline.IsZero() && time.Until(r.Deadline) < time.Minute))
		w.Trailers.Add("x-sum", fmt.Sprint(len(body)))
		return w.Reply(body)
	}
}

// relay answers with the body as it comes, and with its trailers.
func relay(r *frame.Request, w *frame.Responder) error {
	n, piece := 0, make([]byte, 32<<10)
	for {
		got, err := r.Body.Read(piece)
		n += got
		if _, err := w.Write(piece[:got]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err := errors.Join(err, w.Flush()); err != nil {
			return err
		}
	}
	w.Trailers = append(w.Trailers, r.Body.Trailers()...)
	w.Trailers.Add("x-sum", fmt.Sprint(n))
	return nil
}

// hold answers with as many bytes as the body says, which need credit.
func hold(r *frame.Request, w *frame.Responder) error {
	var n int
	if _, err := fmt.Fscan(&r.Body, &n); err != nil {
		return frame.Errorf(400, "%v", err)
	}
	_, err := w.Write(pattern(n))
	return err
}

// pattern is a body in which every place is told apart from its neighbours.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

// startCalls runs a gateway for clients of frames and of HTTP in front of a
// service that speaks frames.
func startCalls(t *testing.T, endpoint string) *program {
	return start(t, callsHead+`
services: [{name: orders, protocol: frame, endpoints: [{address: "`+endpoint+`"}]}]
routes:
  - {id: call, match: {rpc: {interface: Order}}, service: orders}
  - {id: key, match: {rpc: {key: order-key}}, service: orders}
  - {id: path, match: {prefix: /Order}, service: orders}
`)
}

func TestFramesToFrames(t *testing.T) {
	o := newOrders()
	p := startCalls(t, serveFrames(t, o).address)
	c := frameClient(t, p.listeners[1])
	ctx := soon(t)

	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	r, err := c.Call(ctx, &frame.Message{
		Call:     frame.Call{Interface: "Order", Method: "find", Group: "g", Version: "2.0", Authority: "shop.test"},
		Metadata: frame.Metadata{{Name: "traceparent", Value: trace}, {Name: "X-Tenant", Value: "a"}},
		Body:     []byte("seven"),
	})
	require.NoError(t, err)
	assert.Equal(t, 200, r.Status)
	assert.Equal(t, "seven", string(r.Body))
	assert.Equal(t, "Order/find", r.Metadata.Get("x-call"))
	assert.Equal(t, "g/2.0/shop.test", r.Metadata.Get("x-group"))
	assert.Equal(t, trace[:36], r.Metadata.Get("x-trace")[:36], "the trace goes on")
	assert.Equal(t, "a", r.Metadata.Get("x-tenant"))
	assert.Equal(t, "127.0.0.1", r.Metadata.Get("x-forwarded"))
	assert.Equal(t, "true", r.Metadata.Get("x-in-time"), "the client's time is told")
	assert.Equal(t, "5", r.Trailers.Get("x-sum"))

	for _, call := range []frame.Call{frame.Key("order-key"), frame.Path("GET", "/Order/7?full=1")} {
		r, err = c.Call(ctx, &frame.Message{Call: call})
		require.NoError(t, err)
		assert.Equal(t, call.String(), r.Metadata.Get("x-call"))
	}
	r, err = c.Call(ctx, &frame.Message{Call: frame.Method("Order", "fail")})
	require.NoError(t, err)
	assert.Equal(t, "409 sold out", fmt.Sprint(r.Status, " ", string(r.Body)))
	r, err = c.Call(ctx, &frame.Message{Call: frame.Method("Unknown", "find")})
	require.NoError(t, err)
	assert.Equal(t, 404, r.Status)
	assert.Equal(t, "route_not_found", r.Metadata.Get("x-corelane-reason"))

	require.NoError(t, c.OneWay(ctx, &frame.Message{Call: frame.Method("Order", "note"), Body: []byte("shipped")}))
	assert.Equal(t, "shipped", <-o.notified)
}

func TestFramesCompressed(t *testing.T) {
	p := startCalls(t, serveFrames(t, newOrders()).address)
	c := frameClient(t, p.listeners[1])
	c.Options.Zstd = true
	body := bytes.Repeat([]byte("again and "), 40<<10)
	before := p.metric(`corelane_socket_bytes_total{direction="in"}`)
	r, err := c.Call(soon(t), &frame.Message{Call: frame.Method("Order", "find"), Body: body, Zstd: true})
	require.NoError(t, err)
	assert.True(t, bytes.Equal(body, r.Body))
	assert.Less(t, p.metric(`corelane_socket_bytes_total{direction="in"}`)-before, float64(len(body)/4), "both ways")
}

// More than the window in both directions at once.
func TestStreamsOfFrames(t *testing.T) {
	p := startCalls(t, serveFrames(t, newOrders()).address)
	c := frameClient(t, p.listeners[1])
	s, err := c.Stream(soon(t), &frame.Message{Call: frame.Method("Order", "stream")})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Write([]byte("first"))
	require.NoError(t, err)
	first := make([]byte, 5)
	_, err = io.ReadFull(s, first)
	require.NoError(t, err)
	assert.Equal(t, "first", string(first), "it comes before the second is sent")

	body := pattern(3 << 20)
	go func() {
		_, _ = s.Write(body)
		_ = s.CloseWrite(frame.Field{Name: "x-last", Value: "yes"})
	}()
	got, err := io.ReadAll(s)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(body, got))
	assert.Equal(t, "yes", s.Trailers().Get("x-last"))
	assert.Equal(t, fmt.Sprint(len(body)+5), s.Trailers().Get("x-sum"))
}

// A stream that its client does not read holds up no other.
func TestStreamThatNobodyReads(t *testing.T) {
	const size = 2 << 20
	p := startCalls(t, serveFrames(t, newOrders()).address)
	c := frameClient(t, p.listeners[1])
	ctx := soon(t)
	s, err := c.Stream(ctx, &frame.Message{Call: frame.Method("Order", "hold"), Body: fmt.Append(nil, size)})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.CloseWrite())
	_, err = s.Response()
	require.NoError(t, err)
	for range 10 {
		r, err := c.Call(ctx, &frame.Message{Call: frame.Method("Order", "hold"), Body: fmt.Append(nil, size/2)})
		require.NoError(t, err)
		require.True(t, bytes.Equal(pattern(size/2), r.Body))
	}
	got, err := io.ReadAll(s)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(pattern(size), got))
}

// Whoever stops waiting stops the service, over every way there is.
func TestCancelReachesTheService(t *testing.T) {
	o := newOrders()
	p := startCalls(t, serveFrames(t, o).address)
	c := frameClient(t, p.listeners[1])

	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, &frame.Message{Call: frame.Method("Order", "wait"), Body: []byte("call")})
		failed <- err
	}()
	assert.Equal(t, "call", <-o.waiting)
	cancel()
	assert.ErrorIs(t, <-failed, context.Canceled)
	assert.Equal(t, "call", <-o.ended)
	p.await("the record", func() bool {
		return strings.Contains(p.stdout.String(), `"path":"/Order/wait","protocol":"frame"`) &&
			strings.Contains(p.stdout.String(), `"status":499,"reason":"client_aborted"`)
	})

	ctx, cancel = context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.web+"/Order/wait", strings.NewReader("http"))
	require.NoError(t, err)
	go func() {
		res, err := p.client.Do(req)
		if err == nil {
			res.Body.Close()
		}
		failed <- err
	}()
	assert.Equal(t, "http", <-o.waiting)
	cancel()
	assert.ErrorIs(t, <-failed, context.Canceled)
	assert.Equal(t, "http", <-o.ended)

	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r, err := c.Call(ctx, &frame.Message{Call: frame.Method("Order", "wait"), Body: []byte("late")})
	if err == nil { // the service or the gateway was faster to say so
		assert.Equal(t, 504, r.Status)
	}
	assert.Equal(t, "late", <-o.waiting)
	assert.Equal(t, "late", <-o.ended)
}

func TestHTTPToFrames(t *testing.T) {
	o := newOrders()
	p := startCalls(t, serveFrames(t, o).address)
	req, err := http.NewRequest(http.MethodPut, "http://"+p.web+"/Order/7?full=1", strings.NewReader("seven"))
	require.NoError(t, err)
	req.Host = "shop.test"
	req.Header.Set("X-Tenant", "a")
	req.Header.Set("X-Corelane-Timeout-Ms", "20000")
	res, err := p.client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, "200 seven", fmt.Sprint(res.StatusCode, " ", string(body)))
	assert.Equal(t, "PUT /Order/7?full=1", res.Header.Get("X-Call"))
	assert.Equal(t, "//shop.test", res.Header.Get("X-Group"))
	assert.Equal(t, "a", res.Header.Get("X-Tenant"))
	assert.Equal(t, "5", res.Trailer.Get("X-Sum"))
	assert.NotEmpty(t, res.Header.Get("X-Trace"))

	status, text := p.call(http.MethodGet, "http://"+p.web+"/Order/fail")
	assert.Equal(t, "409 sold out", fmt.Sprint(status, " ", text))
}

// Bodies without a length, longer than any window, with trailers.
func TestHTTPStreamsToFrames(t *testing.T) {
	p := startCalls(t, serveFrames(t, newOrders()).address)
	body := pattern(3 << 20)
	req, err := http.NewRequest(http.MethodPost, "http://"+p.web+"/Order/stream", io.MultiReader(bytes.NewReader(body)))
	require.NoError(t, err)
	req.Trailer = http.Header{"X-Last": {"yes"}}
	res, err := p.client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(body, got))
	assert.Equal(t, "yes", res.Trailer.Get("X-Last"))
	assert.Equal(t, fmt.Sprint(len(body)), res.Trailer.Get("X-Sum"))
}

func TestFramesToHTTP(t *testing.T) {
	cut := make(chan struct{})
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/Order/cut" {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "some")
			w.(http.Flusher).Flush()
			<-cut
			panic(http.ErrAbortHandler)
		}
		_ = http.NewResponseController(w).EnableFullDuplex() // never fails here
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("X-Line", r.Method+" "+r.URL.String()+" "+r.Host)
		w.Header().Set("X-Version", r.Header.Get("X-Rpc-Version"))
		w.Header().Set("X-Waits", fmt.Sprint(r.Header.Get("X-Corelane-Timeout-Ms") != ""))
		w.WriteHeader(http.StatusAccepted)
		n, _ := io.Copy(w, r.Body)
		w.Header().Set("X-Sum", fmt.Sprint(n, " ", r.Trailer.Get("X-Last")))
	}))
	defer o.Close()
	p := start(t, callsHead+`
services: [{name: pages, endpoints: [{address: "`+strings.TrimPrefix(o.URL, "http://")+`"}]}]
routes:
  - {id: call, match: {rpc: {interface: Order}}, service: pages}
  - {id: path, match: {prefix: /Order}, service: pages}
`)
	c := frameClient(t, p.listeners[1])
	ctx := soon(t)
	r, err := c.Call(ctx, &frame.Message{Call: frame.Call{Interface: "Order", Method: "find", Version: "2.0", Authority: "shop.test"}, Body: []byte("seven")})
	require.NoError(t, err)
	assert.Equal(t, "202 seven", fmt.Sprint(r.Status, " ", string(r.Body)))
	assert.Equal(t, "POST /Order/find shop.test", r.Metadata.Get("x-line"))
	assert.Equal(t, "2.0", r.Metadata.Get("x-version"))
	assert.Equal(t, "true", r.Metadata.Get("x-waits"))
	assert.Equal(t, "5", strings.TrimSpace(r.Trailers.Get("x-sum")))
	r, err = c.Call(ctx, &frame.Message{Call: frame.Path("PUT", "/Order/7?full=1")})
	require.NoError(t, err)
	assert.Contains(t, r.Metadata.Get("x-line"), "PUT /Order/7?full=1 ")

	s, err := c.Stream(ctx, &frame.Message{Call: frame.Method("Order", "stream")})
	require.NoError(t, err)
	defer s.Close()
	body := pattern(3 << 20)
	go func() {
		_, _ = s.Write(body)
		_ = s.CloseWrite(frame.Field{Name: "x-last", Value: "yes"})
	}()
	got, err := io.ReadAll(s)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(body, got))
	assert.Equal(t, fmt.Sprint(len(body), " yes"), s.Trailers().Get("x-sum"))

	s, err = c.Stream(ctx, &frame.Message{Call: frame.Method("Order", "cut")})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.CloseWrite())
	some := make([]byte, 4)
	_, err = io.ReadFull(s, some)
	require.NoError(t, err)
	close(cut)
	_, err = io.ReadAll(s)
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Cancelled}, "it must not be taken for whole")
}
