package control

import (
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/engine"
)

func TestServesAndLogs(t *testing.T) {
	r := serve(t, routes, ok)
	status, body := r.get("/o/x")
	assert.Equal(t, 200, status)
	assert.Equal(t, "from the origin", body)
	status, body = r.get("/nowhere?secret=1")
	assert.Equal(t, 404, status)
	assert.Contains(t, body, `"error":"route_not_found"`)

	eventually(t, "both records", func() bool { return strings.Count(r.out.String(), "\n") == 2 })
	assert.Contains(t, r.out.String(), `"node":"test-node"`)
	assert.Contains(t, r.out.String(), `"route":"forward"`)
	assert.Contains(t, r.out.String(), `"reason":"route_not_found"`)
	assert.NotContains(t, r.out.String(), "secret")
	assert.Contains(t, r.log.String(), `"msg":"serving"`)
}

func TestStartFailures(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	tests := []struct {
		name   string
		change func(document string) string
		want   []string
	}{
		{"listener's port in use", replace(`name: web, address: "127.0.0.1:0"`, `name: web, address: "`+address+`"`), []string{"listener web", address, "in use"}},
		{"admin's port in use", replace(`admin: {address: "127.0.0.1:0"`, `admin: {address: "`+address+`"`), []string{"admin server", address, "in use"}},
		{"bad document", replace("match: {prefix: /o}", "match: {prefixx: /o}"), []string{"corelane.yaml:", "prefixx"}},
		{"CPU that is not there", replace("loops: 2, pin: none", `loops: 1, pin: "4095"`), []string{"engine.pin", "4095"}},
		{"log that cannot be opened", replace("node:", "log: {access: {path: /proc/no/such/file}}\nnode:"), []string{"access log", "/proc/no/such/file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, ok)
			r.write(tt.change(r.document(routes)))
			_, err := r.start()
			require.Error(t, err)
			for _, part := range tt.want {
				assert.Contains(t, err.Error(), part)
			}
		})
	}
}

func replace(old, next string) func(string) string {
	return func(document string) string { return strings.Replace(document, old, next, 1) }
}

func TestReloads(t *testing.T) {
	r := serve(t, routes, ok)
	status, _ := r.get("/new")
	assert.Equal(t, 404, status)

	r.write(r.document(routes + `  - {id: new, match: {path: /new}, filters: [{respond: {status: 200, body: new}}]}`))
	r.signals <- syscall.SIGHUP
	eventually(t, "the new route", func() bool { status, _ := r.get("/new"); return status == 200 })
	eventually(t, "the report", func() bool { return strings.Contains(r.log.String(), "all loops have taken up the generation") })
	assert.Equal(t, uint64(2), r.node.server.Passed())
	assert.Contains(t, r.log.String(), `"routes_added":"new"`)
	eventually(t, "the count", func() bool { return r.node.reloads.published.Load() == 1 })
}

// A broken file saved over a good one: the old configuration stays, and the
// status tells where the mistake is.
func TestRefusesABrokenFile(t *testing.T) {
	r := serve(t, routes, ok)
	r.write(r.document(routes + "  - {id: broken, match: {path: /b}, service: nobody}\n"))
	var answer apiError
	assert.Equal(t, 422, r.admin(http.MethodPost, "/api/v1/reload", testToken, &answer))
	assert.Equal(t, "configuration_refused", answer.Error)
	assert.Regexp(t, `corelane\.yaml:\d+:\d+: .*nobody`, answer.Message)

	var status statusAnswer
	assert.Equal(t, 200, r.admin(http.MethodGet, "/api/v1/status", "", &status))
	assert.Equal(t, uint64(1), status.Generation)
	assert.Regexp(t, `corelane\.yaml:\d+:\d+: .*nobody`, status.Config.LastError)
	assert.NotNil(t, status.Config.LastErrorAt)
	got, _ := r.get("/hello")
	assert.Equal(t, 200, got)

	r.write(r.document(routes))
	var reloaded reloadAnswer
	assert.Equal(t, 200, r.admin(http.MethodPost, "/api/v1/reload", testToken, &reloaded))
	assert.False(t, reloaded.Published)
	r.admin(http.MethodGet, "/api/v1/status", "", &status)
	assert.Empty(t, status.Config.LastError)
}

func TestAdminToken(t *testing.T) {
	var out lockedBuffer
	n := &Node{options: Options{Stderr: &out}, doc: &config.Document{}}
	n.doc.Admin.Address = "0.0.0.0:9900"
	assert.Empty(t, n.adminToken(), "others can reach it: the operator must choose one")
	n.doc.Admin.Address = "127.0.0.1:9900"
	token := n.adminToken()
	assert.GreaterOrEqual(t, len(token), 20)
	assert.Contains(t, out.String(), token)
	n.doc.Admin.Token = "chosen"
	assert.Equal(t, "chosen", n.adminToken())
}

func TestStartsFromTheCopy(t *testing.T) {
	r := newRig(t, ok)
	r.write(r.document(routes))
	n, err := r.start()
	require.NoError(t, err)
	n.Stop()

	r.write(strings.Replace(r.document(routes), "match: {prefix: /o}", "match: {prefixx: /o}", 1))
	n, err = r.start()
	require.NoError(t, err)
	defer n.Stop()
	assert.True(t, n.pipeline.Status().FromCache)
	assert.Contains(t, n.pipeline.Status().LastError, "prefixx")
	assert.Equal(t, 2, n.server.Current().Routes.Len())
}

func TestAccessLogFileTurnsOver(t *testing.T) {
	r := newRig(t, ok)
	path := r.folder + "/access.log"
	r.write("log: {access: {path: " + path + "}}\n" + r.document(routes))
	n, err := r.start()
	require.NoError(t, err)
	r.node = n
	defer n.Stop()
	r.get("/hello")
	eventually(t, "a record", func() bool { return lines(path) == 1 })
	require.NoError(t, os.Rename(path, path+".1"))
	n.hangUp()
	eventually(t, "the new file", func() bool { _, err := os.Stat(path); return err == nil })
	r.get("/hello")
	eventually(t, "a record in the new file", func() bool { return lines(path) == 1 })
	assert.Equal(t, 1, lines(path+".1"))
}

// lines counts the lines of a file, -1 if there is none.
func lines(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	return strings.Count(string(text), "\n")
}

// What the engine accepts clients with comes from the document.
func TestServerOptions(t *testing.T) {
	doc, err := config.Parse(config.File{Name: "a.yaml", Text: []byte(`
engine: {accept: cpu, busy_poll: 50us, max_connections: 7}
listeners: [{name: a, address: "127.0.0.1:80"}, {name: b, address: "[::]:80"}]
`)})
	require.NoError(t, err)
	o := serverOptions(doc, "n", placement{loops: 2, cpus: []int{0, 1}}, 1<<30)
	assert.Equal(t, "cpu", o.Accept)
	assert.Equal(t, 50*time.Microsecond, o.BusyPoll)
	assert.Equal(t, 7, o.MaxConnections)
	assert.Equal(t, []engine.ListenerOptions{{Name: "a", Address: "127.0.0.1:80"}, {Name: "b", Address: "[::]:80"}}, o.Listeners)
}
