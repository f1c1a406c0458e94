package control

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	_ "github.com/corelane/corelane/filters/respond"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something that must come.
const patience = 20 * time.Second

// testToken is the admin token of nodes under test.
const testToken = "secret-of-the-test"

// lockedBuffer is a log that a test reads while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// rig is a node in this process with an origin behind it.
type rig struct {
	t        *testing.T
	node     *Node
	origin   *httptest.Server
	folder   string
	log, out lockedBuffer
	signals  chan os.Signal
	served   chan struct{}
	client   *http.Client
}

// document is a configuration with one listener and the sections of a test.
func (r *rig) document(sections string) string {
	text := `
node: {id: test-node}
engine: {loops: 2, pin: none, drain_timeout: 20s}
listeners: [{name: web, address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0", token: ` + testToken + `}
config: {cache: ` + filepath.Join(r.folder, "cache") + `}
` + sections
	return strings.ReplaceAll(text, "ORIGIN", strings.TrimPrefix(r.origin.URL, "http://"))
}

// routes forwards everything below /o to the origin and answers /hello.
const routes = `
services: [{name: origin, endpoints: [{address: "ORIGIN"}]}]
routes:
  - {id: forward, match: {prefix: /o}, service: origin, metadata: {owner: tests}}
  - {id: hello, match: {path: /hello, methods: [GET]}, filters: [{respond: {status: 200, body: hello}}]}
`

// newRig prepares a node without starting it.
func newRig(t *testing.T, handler http.HandlerFunc) *rig {
	t.Helper()
	r := &rig{
		t: t, folder: t.TempDir(), signals: make(chan os.Signal, 4), served: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{}, Timeout: patience},
	}
	r.origin = httptest.NewServer(handler)
	t.Cleanup(r.origin.Close)
	t.Cleanup(r.client.CloseIdleConnections)
	return r
}

func (r *rig) path() string { return filepath.Join(r.folder, "corelane.yaml") }

// write puts a document in place as an editor does.
func (r *rig) write(document string) {
	r.t.Helper()
	next := r.path() + ".next"
	require.NoError(r.t, os.WriteFile(next, []byte(document), 0o600))
	require.NoError(r.t, os.Rename(next, r.path()))
}

func (r *rig) start() (*Node, error) {
	return Start(context.Background(), Options{Path: r.path(), Version: "v-test", Stderr: &r.log, Stdout: &r.out})
}

// serve starts the node with the document and serves until the test ends.
func serve(t *testing.T, sections string, handler http.HandlerFunc) *rig {
	t.Helper()
	r := newRig(t, handler)
	r.serve(r.document(sections))
	return r
}

// serve starts the node with a whole document.
func (r *rig) serve(document string) {
	t := r.t
	t.Helper()
	r.write(document)
	var err error
	r.node, err = r.start()
	require.NoError(t, err, r.log.String())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(r.served)
		r.node.Serve(ctx, r.signals)
	}()
	t.Cleanup(func() {
		cancel()
		r.ended()
	})
}

// ended waits until Serve has returned.
func (r *rig) ended() {
	r.t.Helper()
	select {
	case <-r.served:
	case <-time.After(patience):
		r.t.Error("Serve does not return")
	}
}

// get calls the gateway.
func (r *rig) get(path string) (int, string) {
	r.t.Helper()
	return r.do(http.MethodGet, "http://"+r.node.Addresses()[0]+path, "")
}

// admin calls the admin server and decodes its answer.
func (r *rig) admin(method, path, token string, into any) int {
	r.t.Helper()
	status, body := r.do(method, "http://"+r.node.AdminAddress()+path, token)
	if into != nil {
		require.NoError(r.t, json.Unmarshal([]byte(body), into), body)
	}
	return status
}

func (r *rig) do(method, url, token string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequest(method, url, nil)
	require.NoError(r.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return res.StatusCode, string(body)
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, 5*time.Millisecond, what)
}

// ok answers every request.
func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "from the origin") }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
