package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for something that must come.
const patience = 30 * time.Second

// token is the admin token of programs under test.
const token = "e2e-token"

// program is one run of the binary.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	folder string
	stdout output
	stderr output
	exited chan struct{}
	// web and admin are where it listens, once it serves; web is the first of its
	// listeners.
	web, admin string
	listeners  []string
	client     *http.Client
}

// output collects what a program writes.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String returns what was written so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// head is the part of a configuration that tests share.
const head = `
node: {id: e2e}
listeners: [{name: web, address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0", token: ` + token + `}
`

// newProgram prepares a run with a configuration; FOLDER in it is the run's own
// folder.
func newProgram(t *testing.T, configuration string) *program {
	t.Helper()
	p := &program{
		t: t, folder: t.TempDir(), exited: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: patience},
	}
	p.write(configuration)
	return p
}

// config is the path of the configuration.
func (p *program) config() string { return filepath.Join(p.folder, "corelane.yaml") }

// write saves a configuration as an editor does.
func (p *program) write(configuration string) {
	p.t.Helper()
	if !strings.Contains(configuration, "\nconfig:") {
		configuration += "\nconfig: {cache: FOLDER/cache}\n"
	}
	text := strings.ReplaceAll(configuration, "FOLDER", p.folder)
	require.NoError(p.t, os.WriteFile(p.config()+".next", []byte(text), 0o600))
	require.NoError(p.t, os.Rename(p.config()+".next", p.config()))
}

// launch starts the program with arguments.
func (p *program) launch(args ...string) {
	p.t.Helper()
	p.command(binary, args...)
}

// command starts whatever becomes the program.
func (p *program) command(name string, args ...string) {
	p.t.Helper()
	p.cmd = exec.Command(name, args...)
	p.cmd.Dir = p.folder
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	require.NoError(p.t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the exit code is looked at where it matters
		close(p.exited)
	}()
	p.t.Cleanup(func() {
		select {
		case <-p.exited:
		default:
			_ = p.cmd.Process.Kill()
			<-p.exited
		}
		p.client.CloseIdleConnections()
		if p.t.Failed() {
			p.t.Log("stderr of the program:\n" + p.stderr.String())
		}
	})
}

// start runs the gateway with a configuration and returns when it serves.
func start(t *testing.T, configuration string) *program {
	t.Helper()
	p := newProgram(t, configuration)
	p.launch("run", "-c", p.config())
	p.await("serving", func() bool { return p.serving() })
	return p
}

// serving finds the addresses in the log.
func (p *program) serving() bool {
	for line := range strings.Lines(p.stderr.String()) {
		var entry struct {
			Msg       string   `json:"msg"`
			Listeners []string `json:"listeners"`
			Admin     string   `json:"admin"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serving" {
			p.web, p.admin, p.listeners = entry.Listeners[0], entry.Admin, entry.Listeners
			return true
		}
	}
	return false
}

// await waits for a condition; it fails at once if the program ends.
func (p *program) await(what string, condition func() bool) {
	p.t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-p.exited:
			if !condition() {
				p.t.Fatalf("the program ended before: %s", what)
			}
			return
		case <-end:
			p.t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

// signal sends a signal to the program.
func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// exit waits for the end and returns the exit code, -1 for a signal.
func (p *program) exit() int {
	p.t.Helper()
	return p.exitWithin(patience)
}

func (p *program) exitWithin(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(limit):
		p.t.Fatal("the program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// get calls the gateway and returns status and body.
func (p *program) get(path string) (int, string) {
	p.t.Helper()
	return p.call(http.MethodGet, "http://"+p.web+path)
}

// ask calls the admin server and decodes the answer.
func (p *program) ask(method, path string, into any) int {
	p.t.Helper()
	status, body := p.call(method, "http://"+p.admin+path)
	if into != nil {
		require.NoError(p.t, json.Unmarshal([]byte(body), into), body)
	}
	return status
}

func (p *program) call(method, url string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequest(method, url, nil)
	require.NoError(p.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := p.client.Do(req)
	require.NoError(p.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return res.StatusCode, string(body)
}

// status is the part of /api/v1/status that tests look at.
type status struct {
	Version    string `json:"version"`
	Generation uint64 `json:"generation"`
	Config     struct {
		FromCache bool   `json:"from_cache"`
		LastError string `json:"last_error"`
	} `json:"config"`
}

func (p *program) status() status {
	p.t.Helper()
	var s status
	require.Equal(p.t, 200, p.ask(http.MethodGet, "/api/v1/status", &s))
	return s
}

// metric reads one sample by its name and labels.
func (p *program) metric(name string) float64 {
	p.t.Helper()
	_, page := p.call(http.MethodGet, "http://"+p.admin+"/metrics")
	for line := range strings.Lines(page) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(p.t, err)
			return x
		}
	}
	p.t.Fatalf("no metric %s", name)
	return 0
}
