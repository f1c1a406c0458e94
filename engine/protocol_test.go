package engine

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

func TestNothingOfOneClientShowsToTheNext(t *testing.T) {
	const trace = "0af7651916cd43dd8448eb211c80319c"
	for name, garbage := range map[string]string{"bare line feeds": "\n\n", "too many empty lines": strings.Repeat("\r\n", 20)} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t).serve(echoOK)
			g := newSetup(o.addr).start(t)
			first := g.dial().send("HEAD /private HTTP/1.1\r\nHost: secret.test\r\ntraceparent: 00-" + trace + "-b7ad6b7169203331-01\r\n\r\n")
			first.response("HEAD")
			g.records.next(t)
			c := g.dial().send(garbage)
			status, _, body := c.response("GET")
			require.Equal(t, 400, status)
			require.NotEmpty(t, body, "the answer to HEAD must not leak into this one")
			require.NotContains(t, body, trace)
			rec := g.records.next(t)
			require.NotContains(t, rec, "private")
			require.NotContains(t, rec, "secret")
		})
	}
}

func TestTrailersNamedInConnectionAreDropped(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nConnection: X-Hop\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"2\r\nhi\r\n0\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n")
	up := o.accept()
	got := up.readUntil("0\r\nX-End: 2\r\n\r\n")
	require.NotContains(t, got, "X-Hop")
	up.send("HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n")
	require.NotContains(t, c.readUntil("0\r\nX-End: 2\r\n\r\n"), "X-Hop")
}

func TestRefusedHeadHasNoBody(t *testing.T) {
	g := newSetup(refusing(t)).start(t)
	c := g.dial().send("HEAD / HTTP/1.1\r\nHost: a b\r\n\r\n")
	status, _, _ := c.response("HEAD")
	require.Equal(t, 400, status)
	require.NoError(t, c.conn.CloseWrite())
	c.expectClosed()
}

func TestEarlyAnswerAnnouncesTheClose(t *testing.T) {
	for name, request := range map[string]string{
		"expectation": "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
		"long body":   "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\nx",
		"chunked":     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := newSetup(o.addr).start(t)
			c := g.dial().send(request)
			up := o.accept()
			up.requestHead()
			up.send(ok)
			require.Equal(t, "close", c.expect(200, "ok").Get("Connection"))
			require.NoError(t, c.conn.CloseWrite())
			c.expectClosed()
		})
	}
}

func TestUpgradeRequiredSaysToWhat(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/")
	up := o.accept()
	up.request()
	up.send("HTTP/1.1 426 Upgrade Required\r\nUpgrade: echo\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nno")
	resp, err := http.ReadResponse(c.in, nil)
	require.NoError(t, err)
	require.Equal(t, "echo", resp.Header.Get("Upgrade"))
	b, _ := io.ReadAll(resp.Body)
	require.Equal(t, "no", string(b))
}

func TestMaxForwardsValues(t *testing.T) {
	for in, want := range map[string]int{
		"0": 0, "7": 7, "99999999999999999999": maxMaxForwards, "": -1, "-1": -1, "1x": -1, "+1": -1,
	} {
		n, good := maxForwards([]byte(in))
		require.Equal(t, want >= 0, good, in)
		if good {
			require.Equal(t, want, n)
		}
	}
}

func TestClientThatClosesWhileWaitingIsGivenUp(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/hang")
	up := o.accept()
	up.request()
	c.close() // a FIN, as from a client that only half-closes
	up.expectCut()
	require.Contains(t, g.records.next(t), `"reason":"`+codec.ClientAborted.String()+`"`)
}
