package cmd

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/control"
)

// quickstart runs examples/quickstart.yaml on free ports, with the demo service
// behind it, and returns what stands for the addresses written there.
func quickstart(t *testing.T) *strings.Replacer {
	t.Helper()
	d, err := startDemo("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(d.stop)
	text, err := os.ReadFile("../examples/quickstart.yaml")
	require.NoError(t, err)
	folder := t.TempDir()
	moved := strings.NewReplacer("127.0.0.1:8080", "127.0.0.1:0", "127.0.0.1:9900", "127.0.0.1:0",
		demoAddress, d.listener.Addr().String(), "var/corelane", folder).Replace(string(text))
	path := filepath.Join(folder, "quickstart.yaml")
	require.NoError(t, os.WriteFile(path, []byte(moved+"\nengine: {loops: 1, pin: none}\n"), 0o600))
	n, err := control.Start(context.Background(), control.Options{Path: path, Stderr: io.Discard, Stdout: io.Discard})
	require.NoError(t, err)
	t.Cleanup(n.Stop)
	return strings.NewReplacer("127.0.0.1:8080", n.Addresses()[0], "127.0.0.1:9900", n.AdminAddress())
}

// perform does what a line with curl does.
func perform(t *testing.T, curl string) (status int, body string) {
	t.Helper()
	words := strings.Fields(curl)
	method, data := http.MethodGet, ""
	if words[1] == "-d" {
		method, data = http.MethodPost, words[2]
	}
	req, err := http.NewRequest(method, words[len(words)-1], strings.NewReader(data))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

func TestTrials(t *testing.T) {
	want := []struct {
		status int
		body   string
	}{
		{200, "hello from the gateway"},
		{200, "Hello from the service"},
		{200, "line 5 of 5"},
		{200, "ping"},
		{200, "GET /accounts/42\n"},
		{404, "route_not_found"},
		{200, `"state":"ready"`},
		{200, "corelane_requests_total"},
	}
	require.Len(t, trials, len(want))
	moved := quickstart(t)
	for i, trial := range trials {
		status, body := perform(t, moved.Replace(trial.curl))
		assert.Equal(t, want[i].status, status, trial.curl)
		assert.Contains(t, body, want[i].body, trial.curl)
	}
	_, body := perform(t, moved.Replace("curl http://127.0.0.1:8080/demo/any"))
	assert.Contains(t, body, "X-Forwarded-For: 127.0.0.1")
	assert.Contains(t, body, "Traceparent: 00-")
}

func TestPrintDemo(t *testing.T) {
	var b bytes.Buffer
	printDemo(&b)
	for _, trial := range trials {
		assert.Contains(t, b.String(), trial.curl)
	}
}

func TestDemoAddressInUse(t *testing.T) {
	d, err := startDemo("127.0.0.1:0")
	require.NoError(t, err)
	defer d.stop()
	_, err = startDemo(d.listener.Addr().String())
	assert.ErrorContains(t, err, "demo service")
}
