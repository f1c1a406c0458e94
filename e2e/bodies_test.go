package e2e_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holding is a configuration that receives bodies whole, most of each in a file.
func holding(address string) string {
	return fmt.Sprintf(head+`
engine: {loops: 2, spill_dir: FOLDER}
services:
  - name: origin
    endpoints: [{address: %q}]
    retries: {attempts: 2, on: [connect, reset, 503]}
routes: [{id: upload, match: {prefix: /}, service: origin, body: {mode: buffer, memory: 1MiB}}]
`, address)
}

// endless gives n bytes that do not repeat.
func endless(n int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{1}), n)
}

// descriptors counts the open files of the program that are not sockets.
func (p *program) descriptors() (files int) {
	p.t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	all, err := os.ReadDir(folder)
	require.NoError(p.t, err)
	for _, fd := range all {
		if to, err := os.Readlink(filepath.Join(folder, fd.Name())); err == nil && !strings.HasPrefix(to, "socket:") {
			files++
		}
	}
	return files
}

// settled waits until nothing of a body is held.
func (p *program) settled() {
	p.t.Helper()
	p.await("everything given back", func() bool {
		return p.metric("corelane_buffer_bytes") == 0 && p.metric("corelane_spill_files") == 0 && p.metric("corelane_spill_bytes") == 0
	})
}

// A large upload of unknown length reaches the third try whole, with its length.
func TestLargeUploadIsRepeated(t *testing.T) {
	const size = 64 << 20
	var tries, length atomic.Int64
	sums := make(chan string, 3)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		_, _ = io.Copy(sum, r.Body)
		sums <- string(sum.Sum(nil))
		length.Store(r.ContentLength)
		if tries.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer origin.Close()
	p := start(t, holding(origin.Listener.Addr().String()))
	before := p.descriptors()

	req, err := http.NewRequest(http.MethodPut, "http://"+p.web+"/", io.MultiReader(endless(size)))
	require.NoError(t, err)
	res, err := p.client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 200, res.StatusCode)
	want := sha256.New()
	_, _ = io.Copy(want, endless(size))
	for range 3 {
		assert.Equal(t, string(want.Sum(nil)), <-sums)
	}
	assert.EqualValues(t, size, length.Load())
	assert.EqualValues(t, size, p.metric("corelane_spill_written_bytes_total"))
	p.settled()
	p.await("no file left open", func() bool { return p.descriptors() == before })
}

// Fifty clients leave at some point of an upload: nothing of theirs stays.
func TestUploadsThatBreakOff(t *testing.T) {
	const size, clients = 4 << 20, 50
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer origin.Close()
	p := start(t, holding(origin.Listener.Addr().String()))
	before := p.descriptors()
	var done sync.WaitGroup
	for i := range clients {
		done.Go(func() {
			c, err := net.Dial("tcp", p.web)
			if !assert.NoError(t, err) {
				return
			}
			defer c.Close()
			fmt.Fprintf(c, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
			n := rand.New(rand.NewPCG(7, uint64(i))).Int64N(size + 1)
			_, _ = io.Copy(c, endless(n))
			_ = c.(*net.TCPConn).SetLinger(0)
		})
	}
	done.Wait()
	p.await("all records", func() bool { return strings.Count(p.stdout.String(), `"route":"upload"`) == clients })
	p.settled()
	p.await("no file left open", func() bool { return p.descriptors() == before })
	assert.Positive(t, p.metric("corelane_spill_written_bytes_total"))
	assert.NotContains(t, p.stderr.String(), "panic")
	left, err := filepath.Glob(filepath.Join(p.folder, "corelane-body-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A folder that has gone is the gateway's fault, and told.
func TestUploadWithoutFolder(t *testing.T) {
	p := newProgram(t, strings.Replace(holding("127.0.0.1:1"), "spill_dir: FOLDER", "spill_dir: FOLDER/spill", 1))
	require.NoError(t, os.Mkdir(filepath.Join(p.folder, "spill"), 0o700))
	p.launch("run", "-c", p.config())
	p.await("serving", p.serving)
	require.NoError(t, os.Remove(filepath.Join(p.folder, "spill")))
	req, err := http.NewRequest(http.MethodPut, "http://"+p.web+"/", endless(2<<20))
	require.NoError(t, err)
	req.Header.Set("Expect", "100-continue")
	res, err := p.client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	assert.Equal(t, 503, res.StatusCode)
	assert.Contains(t, string(body), `"error":"overloaded"`)
	p.await("the event", func() bool { return strings.Contains(p.stderr.String(), `"errno":"ENOENT"`) })
	assert.Contains(t, p.stderr.String(), p.folder+"/spill")
	p.settled()
}
