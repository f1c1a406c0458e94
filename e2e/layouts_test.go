package e2e_test

import (
	numbers "encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// legacyHeader is the size of the header of the private protocol "legacy" of
// these tests, which has ids; "thrift" has none.
const legacyHeader = 16

// legacy is a frame: magic, kind, a byte that nobody describes, id, length, body.
func legacy(kind, odd byte, id uint64, body string) string {
	b := append([]byte{0xda, 0xbb, kind, odd}, make([]byte, legacyHeader-4)...)
	numbers.BigEndian.PutUint64(b[4:], id)
	numbers.BigEndian.PutUint32(b[12:], uint32(len(body)))
	return string(b) + body
}

// keyed is the body of a request: a key with its length, then the rest.
func keyed(key, rest string) string { return "\x00" + string(rune(len(key))) + key + rest }

// readLegacy reads one frame; an empty one is the end.
func readLegacy(r io.Reader) string {
	b := make([]byte, legacyHeader)
	if _, err := io.ReadFull(r, b); err != nil {
		return ""
	}
	body := make([]byte, numbers.BigEndian.Uint32(b[12:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return ""
	}
	return string(b) + string(body)
}

// serveConns accepts connections until the test ends.
func serveConns(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// legacyService answers pairs of requests, the second first, and heartbeats. A
// body that holds "alone" is answered at once.
func legacyService(conn net.Conn) {
	var held string
	for {
		frame := readLegacy(conn)
		if frame == "" {
			return
		}
		id := numbers.BigEndian.Uint64([]byte(frame)[4:])
		if frame[2]&0xe1 == 0xe0 {
			_, _ = io.WriteString(conn, legacy(0x20, 0, id, ""))
			continue
		}
		reply := legacy(0x00, frame[3]+1, id, "re:"+frame[legacyHeader:])
		if held == "" && !strings.Contains(frame, "alone") {
			held = reply
			continue
		}
		_, _ = io.WriteString(conn, reply+held)
		held = ""
	}
}

// thriftService answers in order, with what it got.
func thriftService(conn net.Conn) {
	for {
		size := make([]byte, 4)
		if _, err := io.ReadFull(conn, size); err != nil {
			return
		}
		rest := make([]byte, numbers.BigEndian.Uint32(size))
		if _, err := io.ReadFull(conn, rest); err != nil {
			return
		}
		rest[3] = 2
		_, _ = conn.Write(append(size, rest...))
	}
}

const layouts = `
node: {id: e2e}
engine: {loops: 1}
admin: {address: "127.0.0.1:0", token: ` + token + `}
listeners:
  - name: legacy
    address: LISTEN
    protocol: frame
    layout: &legacy
      magic: 0xdabb
      length: {at: 12, width: 4, counts: body, header: 16}
      id: {at: 4, width: 8}
      key: {at: 16, kind: string16}
      kind: {at: 2, mask: 0xe1, request: [0xc0], response: [0], one_way: [0x80], heartbeat: [0xe0], heartbeat_reply: 0x20}
      constants: [{at: 2, bytes: "0x02"}]
      error: {kind: 0x01, fields: [{at: 3, bytes: "0x46"}], body: "{status} {reason}"}
  - name: thrift
    address: LISTEN
    protocol: frame
    layout:
      length: {at: 0, width: 4, counts: rest, header: 8}
      key: {at: 8, kind: string32}
      kind: {at: 7, request: [1], response: [2, 3], one_way: [4]}
      constants: [{at: 4, bytes: "0x8001"}]
  - {name: web, address: LISTEN}
services:
  - {name: orders, protocol: frame, endpoints: [{address: "LEGACY"}]}
  - {name: same, protocol: frame, layout: *legacy, endpoints: [{address: "LEGACY"}]}
  - {name: store, protocol: frame, endpoints: [{address: "THRIFT"}]}
  - {name: pages, endpoints: [{address: "PAGES"}]}
routes:
  - {id: orders, match: {rpc: {key: orders}}, service: orders}
  - {id: page, match: {rpc: {key: page}}, service: pages}
  - {id: get, match: {rpc: {key: get}}, service: store}
  - {id: http, match: {path: /http}, service: same}
`

// freeAddress is a port of the loopback that is free at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// startLayouts starts the program with private protocols on two listeners.
func startLayouts(t *testing.T) (p *program, legacy, thrift, web string) {
	t.Helper()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "fail") {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" "+string(body))
	}))
	t.Cleanup(pages.Close)
	text := strings.NewReplacer(
		"LEGACY", serveConns(t, legacyService), "THRIFT", serveConns(t, thriftService),
		"PAGES", strings.TrimPrefix(pages.URL, "http://"),
	).Replace(layouts)
	legacy, thrift, web = freeAddress(t), freeAddress(t), freeAddress(t)
	for _, address := range []string{legacy, thrift, web} {
		text = strings.Replace(text, "LISTEN", `"`+address+`"`, 1)
	}
	return start(t, text), legacy, thrift, web
}

func TestAPrivateProtocolWithIDs(t *testing.T) {
	p, address, _, _ := startLayouts(t)
	w := dialWire(t, address)

	// Two at a time, answered in the other order; what no layout describes, the
	// byte behind the kind, passes unchanged.
	w.send(legacy(0xc2, 0x10, 1, keyed("orders", "a")) + legacy(0xc2, 0x20, 2, keyed("orders", "b")))
	require.Equal(t, legacy(0x00, 0x21, 2, "re:"+keyed("orders", "b")), readLegacy(w.in))
	require.Equal(t, legacy(0x00, 0x11, 1, "re:"+keyed("orders", "a")), readLegacy(w.in))

	// A heartbeat is answered at once, a key without a route with an error reply.
	w.send(legacy(0xe2, 0, 9, ""))
	require.Equal(t, legacy(0x22, 0, 9, ""), readLegacy(w.in))
	w.send(legacy(0xc2, 0, 3, keyed("nothing", "")))
	require.Equal(t, legacy(0x03, 0x46, 3, "404 route_not_found"), readLegacy(w.in))

	// A key that lies refuses its message; the connection goes on.
	w.send(legacy(0xc2, 0, 4, "\xff\xff"))
	require.Equal(t, legacy(0x03, 0x46, 4, "400 bad_request"), readLegacy(w.in))

	// From the layout to HTTP, with a failure of the service's too.
	w.send(legacy(0xc2, 0, 5, keyed("page", "x")))
	require.Equal(t, legacy(0x02, 0, 5, "POST /page "+keyed("page", "x")), readLegacy(w.in))
	w.send(legacy(0xc2, 0, 6, keyed("page", "fail")))
	require.Equal(t, legacy(0x03, 0x46, 6, "POST /page "+keyed("page", "fail")), readLegacy(w.in))

	// What is no frame ends the connection, and the log says whose it was.
	w.send("GET / HTTP/1.1\r\n\r\n")
	w.expectClosed()
	p.await("the log names the peer", func() bool {
		log := p.stderr.String()
		return strings.Contains(log, w.conn.LocalAddr().String()) && strings.Contains(log, "a frame does not begin with the magic of its layout")
	})
}

func TestAPrivateProtocolWithoutIDs(t *testing.T) {
	_, _, address, _ := startLayouts(t)
	w := dialWire(t, address)
	for _, rest := range []string{"first", "second"} {
		call := "\x80\x01\x00\x01\x00\x00\x00\x03get" + rest
		w.send("\x00\x00\x00" + string(rune(len(call))) + call)
		answer := make([]byte, 4+len(call))
		_, err := io.ReadFull(w.in, answer)
		require.NoError(t, err)
		require.Equal(t, "\x80\x01\x00\x02\x00\x00\x00\x03get"+rest, string(answer[4:]))
	}

	// Without error replies only the end of the connection tells of a failure.
	w.send("\x00\x00\x00\x0b\x80\x01\x00\x01\x00\x00\x00\x03put")
	w.expectClosed()
}

func TestHTTPToAPrivateProtocol(t *testing.T) {
	_, _, _, web := startLayouts(t)
	res, err := http.Post("http://"+web+"/http", "application/octet-stream", strings.NewReader("alone"))
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "re:alone", string(body))
}

func TestCheckDrawsWhatALayoutSays(t *testing.T) {
	p := newProgram(t, strings.NewReplacer("LISTEN", `"127.0.0.1:1"`, "LEGACY", "127.0.0.1:2", "THRIFT", "127.0.0.1:2", "PAGES", "127.0.0.1:2").
		Replace(strings.Replace(strings.Replace(layouts, "LISTEN", `"127.0.0.1:3"`, 1), "LISTEN", `"127.0.0.1:4"`, 1)))
	p.launch("check", "-c", p.config())
	require.Zero(t, p.exit(), "%s", p.stdout.String()+p.stderr.String())
	require.Contains(t, p.stdout.String(), "    0 | magic 0xdabb  | kind  |       | id                            |\n")
	require.Contains(t, p.stdout.String(), "layout of service same: that of listener legacy\n")
}
