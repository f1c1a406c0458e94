package control

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rawClient sends bytes as they are, on one connection.
type rawClient struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func dialRaw(t *testing.T, address string) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(3*patience)))
	return &rawClient{t: t, conn: conn, in: bufio.NewReader(conn)}
}

func (c *rawClient) send(text string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, text)
	require.NoError(c.t, err)
}

// response reads one; its body is read to the end and can be read again.
func (c *rawClient) response(method string) *http.Response {
	c.t.Helper()
	res, err := http.ReadResponse(c.in, &http.Request{Method: method})
	require.NoError(c.t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	res.Body = io.NopCloser(strings.NewReader(string(body)))
	return res
}
