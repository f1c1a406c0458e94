package e2e_test

import (
	"bytes"
	numbers "encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec/dubbo"
)

// dubboRecordings are frames of public implementations by their headings.
func dubboRecordings(t *testing.T) (names []string, frames map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../codec/dubbo/testdata/dubbo-vectors.md")
	require.NoError(t, err)
	frames = map[string]string{}
	section, name := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title[:2]
		} else if title, ok := strings.CutPrefix(line, "### "); ok {
			name = section + title
			names = append(names, name)
		} else if b, err := hex.DecodeString(line); err == nil && name != "" {
			frames[name] += string(b)
		}
	}
	return names, frames
}

const dubboHeader = 16

// withID is a frame with another id.
func withID(frame string, id uint64) string {
	b := []byte(frame)
	numbers.BigEndian.PutUint64(b[4:], id)
	return string(b)
}

func dubboID(frame string) uint64 { return numbers.BigEndian.Uint64([]byte(frame)[4:]) }

// readDubbo reads one frame; an empty one is the end.
func readDubbo(r io.Reader) string {
	b := make([]byte, dubboHeader)
	if _, err := io.ReadFull(r, b); err != nil {
		return ""
	}
	body := make([]byte, numbers.BigEndian.Uint32(b[12:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return ""
	}
	return string(b) + string(body)
}

// dubboProvider hands each request to the test and answers what that says.
type dubboProvider struct {
	address   string
	asked     chan string
	responses chan string
}

func newDubboProvider(t *testing.T) *dubboProvider {
	t.Helper()
	p := &dubboProvider{asked: make(chan string, 1), responses: make(chan string, 1)}
	p.address = serveConns(t, func(conn net.Conn) {
		for {
			frame := readDubbo(conn)
			if frame == "" {
				return
			}
			p.asked <- frame
			_, _ = io.WriteString(conn, withID(<-p.responses, dubboID(frame)))
		}
	})
	return p
}

// startDubbo runs a gateway with a listener for Dubbo and one for HTTP.
func startDubbo(t *testing.T, service string) *program {
	t.Helper()
	return start(t, strings.Replace(callsHead, "{name: frames, address: \"127.0.0.1:0\", protocol: frame}", "{name: rpc, address: \"127.0.0.1:0\", protocol: dubbo}", 1)+`
engine: {loops: 1}
services: [{name: greeter, `+service+`}]
routes:
  - {id: rpc, match: {rpc: {interface: com.corelane.peer.Greeter}}, service: greeter}
  - {id: recorded, match: {rpc: {interface: com.corelane.peer.Users}}, service: greeter}
  - {id: web, match: {template: "/com.corelane.peer.Greeter:1.0.0/{method}"}, service: greeter}
`)
}

// Whatever the recorded consumers and providers say to one another passes, but for
// the ids and what the gateway adds to requests.
func TestDubboToDubbo(t *testing.T) {
	o := newDubboProvider(t)
	p := startDubbo(t, `protocol: dubbo, endpoints: [{address: "`+o.address+`"}]`)
	c := dialWire(t, p.listeners[1])
	names, frames := dubboRecordings(t)
	calls := 0
	for i, name := range names {
		title, isRequest := strings.CutSuffix(name, ": request")
		if !isRequest {
			continue
		}
		calls++
		id := uint64(1000 + i)
		request, response := frames[name], frames[title+": response"]
		require.NotEmpty(t, response, title)
		o.responses <- response
		c.send(withID(request, id))
		got := <-o.asked
		arguments := request[dubboHeader:strings.LastIndexByte(request, 'H')]
		assert.Equal(t, arguments, got[dubboHeader:min(len(got), dubboHeader+len(arguments))], title)
		assert.Contains(t, got, "traceparent", title)
		assert.Equal(t, withID(response, id), readDubbo(c.in), title)
	}
	assert.Equal(t, 13, calls)

	beat := withID(frames["2.dubbo-remoting: consumer heartbeat"], 7)
	c.send(beat)
	reply := readDubbo(c.in)
	require.NotEmpty(t, reply)
	assert.Equal(t, "\xda\xbb\x22\x14", reply[:4])
	assert.EqualValues(t, 7, dubboID(reply))

	c.send(string(dubbo.AppendRequest(nil, &dubbo.Call{ID: 8, Interface: "com.example.Unknown", Method: "x"})))
	reply = readDubbo(c.in)
	require.NotEmpty(t, reply)
	assert.EqualValues(t, 60, reply[3])
	assert.Contains(t, reply, "route_not_found: ")
	p.await("the record", func() bool {
		return strings.Contains(p.stdout.String(), `"path":"/com.corelane.peer.Greeter/sayHello","protocol":"dubbo"`)
	})
}

// The generic invocation of an HTTP client.
func TestHTTPToDubbo(t *testing.T) {
	o := newDubboProvider(t)
	p := startDubbo(t, `protocol: dubbo, endpoints: [{address: "`+o.address+`"}]`)
	_, frames := dubboRecordings(t)
	post := func(response, arguments string) (int, string, string) {
		t.Helper()
		o.responses <- response
		res, err := p.client.Post("http://"+p.web+"/com.corelane.peer.Greeter:1.0.0/sayHello", "application/json", strings.NewReader(arguments))
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body), <-o.asked
	}
	code, body, asked := post(frames[`1.sayHello("world"): response`], `["world"]`)
	assert.Equal(t, `200 "Hello, world"`, fmt.Sprint(code, " ", body))
	for _, part := range []string{"$invoke", "sayHello", "java.lang.String", "world", "generic", "com.corelane.peer.Greeter", "1.0.0", "traceparent"} {
		assert.Contains(t, asked, part)
	}
	code, body, _ = post(string(dubbo.AppendResult(nil, 0, dubbo.Map{{Key: "name", Value: "Ann"}, {Key: "age", Value: int32(7)}}, nil)), `[]`)
	assert.Equal(t, 200, code)
	assert.JSONEq(t, `{"name": "Ann", "age": 7}`, body)
	code, body, _ = post(string(dubbo.AppendException(nil, 0, dubbo.Object{
		Class: "java.lang.IllegalStateException", Fields: []dubbo.Entry{{Key: "detailMessage", Value: "sold out"}},
	}, nil)), `[]`)
	assert.Equal(t, 500, code)
	assert.JSONEq(t, `{"error": "java.lang.IllegalStateException", "message": "sold out"}`, body)
	code, _, _ = post(string(dubbo.AppendError(nil, 0, 100, "no thread is free")), `[]`)
	assert.Equal(t, 503, code)

	res, err := p.client.Post("http://"+p.web+"/com.corelane.peer.Greeter:1.0.0/sayHello", "application/json", strings.NewReader(`{"no": "array"}`))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, 400, res.StatusCode, "refused before the provider is asked")
}

func TestDubboToHTTP(t *testing.T) {
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "fail") {
			http.Error(w, "sold out", http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"asked": %q, "arguments": %s, "version": %q}`, r.Method+" "+r.URL.Path, body, r.Header.Get("X-Rpc-Version"))
	}))
	defer o.Close()
	p := startDubbo(t, `endpoints: [{address: "`+o.Listener.Addr().String()+`"}]`)
	c := dialWire(t, p.listeners[1])
	_, frames := dubboRecordings(t)
	c.send(withID(frames[`1.sayHello("world"): request`], 77))
	reply := readDubbo(c.in)
	require.NotEmpty(t, reply)
	assert.EqualValues(t, 77, dubboID(reply))
	assert.EqualValues(t, 20, reply[3])
	shown, err := dubbo.AppendJSON(nil, []byte(reply[dubboHeader+1:]))
	require.NoError(t, err)
	assert.JSONEq(t, `{"asked": "POST /com.corelane.peer.Greeter/sayHello", "arguments": ["world"], "version": "1.0.0"}`, string(shown))

	c.send(withID(frames[`1.fail("boom"), an exception value (status 20, flag 0): request`], 78))
	reply = readDubbo(c.in)
	require.NotEmpty(t, reply)
	assert.EqualValues(t, 40, reply[3])
	assert.Contains(t, reply, "sold out")
}

// Requests that may have been carried out are not repeated when a provider
// breaks: each is told with its own id.
func TestDubboProviderBreaks(t *testing.T) {
	const many = 200
	whole := make(chan struct{})
	address := serveConns(t, func(conn net.Conn) {
		for range many {
			if readDubbo(conn) == "" {
				return
			}
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		close(whole)
	})
	p := startDubbo(t, `protocol: dubbo, endpoints: [{address: "`+address+`"}]`)
	c := dialWire(t, p.listeners[1])
	_, frames := dubboRecordings(t)
	var all bytes.Buffer
	for id := range uint64(many) {
		all.WriteString(withID(frames[`1.sayHello("world"): request`], id+1))
	}
	c.send(all.String())
	<-whole
	seen := map[uint64]bool{}
	for range many {
		reply := readDubbo(c.in)
		require.NotEmpty(t, reply)
		require.EqualValues(t, 50, reply[3])
		require.Contains(t, reply, "upstream_reset: ")
		seen[dubboID(reply)] = true
	}
	assert.Len(t, seen, many)
	told := fmt.Sprintf(`"endpoint":%q,"status":502,"reason":"upstream_reset"`, address)
	p.await("the records", func() bool { return strings.Count(p.stdout.String(), told) == many })
}
