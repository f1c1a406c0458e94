package control

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnknownPathsAPI(t *testing.T) {
	r := serve(t, routes, ok)
	r.get("/.env?token=secret")
	r.get("/x/../.env")
	r.get("/\"><script>")
	r.get("/o/known")
	var answer unknownPathsAnswer
	require.Equal(t, 200, r.admin(http.MethodGet, "/api/v1/unknown-paths", "", &answer))
	assert.Equal(t, uint64(3), answer.Hits)
	assert.Equal(t, 2, answer.Tracked)
	assert.Zero(t, answer.Floor)
	assert.Empty(t, answer.Missing)
	first := answer.Paths[0]
	assert.Equal(t, "127.0.0.1", first.Host)
	assert.Equal(t, "/.env", first.Path)
	assert.Equal(t, uint64(2), first.Count)
	assert.Zero(t, first.Error)
	assert.Equal(t, "127.0.0.1", first.Client)
	assert.False(t, first.LastSeen.IsZero())

	answer = unknownPathsAnswer{}
	require.Equal(t, 200, r.admin(http.MethodGet, "/api/v1/unknown-paths?limit=1", "", &answer))
	assert.Len(t, answer.Paths, 1)
	assert.Equal(t, 400, r.admin(http.MethodGet, "/api/v1/unknown-paths?limit=0", "", nil))
	_, text := r.do(http.MethodGet, "http://"+r.node.AdminAddress()+"/metrics", "")
	assert.Contains(t, text, "corelane_unknown_paths_tracked 2\n")
	assert.Contains(t, text, "corelane_unknown_paths_total 3\n")
}

// What strangers send is not what JSON likes; the answer is JSON all the same.
func TestUnknownPathsAreEscaped(t *testing.T) {
	r := serve(t, routes, ok)
	c := dialRaw(t, r.node.Addresses()[0])
	for _, path := range []string{"/\"quoted\"", "/%ff%FE", "/" + strings.Repeat("%e2%82", 200), "/<b>&"} {
		c.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n")
		require.Equal(t, 404, c.response(http.MethodGet).StatusCode, path)
	}
	res, err := r.client.Get("http://" + r.node.AdminAddress() + "/api/v1/unknown-paths")
	require.NoError(t, err)
	defer res.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	require.NoError(t, err)
	require.True(t, json.Valid(b.Bytes()), b.String())
	var answer unknownPathsAnswer
	require.NoError(t, json.Unmarshal(b.Bytes(), &answer))
	require.Len(t, answer.Paths, 4)
}
