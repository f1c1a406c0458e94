package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// conformance is the folder of the conformance cases; empty if there is none.
func conformance() string {
	folder := os.Getenv("CORELANE_CONFORMANCE")
	if folder != "" {
		return folder
	}
	folder = filepath.Join("..", "..", "shared", "conformance")
	if _, err := os.Stat(filepath.Join(folder, "run.py")); err != nil {
		return ""
	}
	return folder
}

func TestConformance(t *testing.T) {
	folder := conformance()
	if folder == "" {
		t.Skip("the conformance cases are not part of this repository: name their folder in CORELANE_CONFORMANCE")
	}
	python, err := exec.LookPath("python3")
	require.NoError(t, err, "scripts/setup.sh installs it")
	for _, poller := range []string{"epoll", "gnet"} {
		for _, loops := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s with %d", poller, loops), func(t *testing.T) {
				port := freePort(t)
				p := start(t, fmt.Sprintf(conformanceConfiguration, poller, loops, port))
				run := exec.Command(python, filepath.Join(folder, "run.py"), "--target", p.web,
					"--origin-port", port, "--upstream-timeout", "3", "--slow-timeout", "2")
				run.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
				out, err := run.CombinedOutput()
				require.NoError(t, err, notPassed(string(out)))
				assert.Regexp(t, `\d{2,} passed, 0 failed, 0 skipped`, string(out), notPassed(string(out)))
			})
		}
	}
}

// conformanceConfiguration forwards everything, with limits of time that can be
// observed.
const conformanceConfiguration = `
engine: {poller: %s, loops: %d}
listeners: [{name: web, address: "127.0.0.1:0", timeouts: {head: 2s}}]
admin: {address: "127.0.0.1:0", token: ` + token + `}
log: {access: {path: none}}
services:
  - name: origin
    endpoints: [{address: "127.0.0.1:%s"}]
    pool: {max_connections: 1000}
    timeouts: {first_byte: 3s}
    health: {passive: {consecutive_failures: 0}}
routes: [{id: all, match: {prefix: /}, service: origin}]
`

// freePort returns a port that nobody listens on just now.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	return port
}

// notPassed keeps the lines about cases that did not pass.
func notPassed(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "PASS ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
