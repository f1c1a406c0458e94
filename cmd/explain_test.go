package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/explain"
)

// runCommand runs one command line in this process.
func runCommand(args ...string) (code int, out string, err error) {
	var b bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&b)
	root.SetErr(&b)
	err = root.Execute()
	var c exit
	switch {
	case errors.As(err, &c):
		return int(c), b.String(), nil
	case err != nil:
		return exitUsage, b.String(), err
	}
	return exitClean, b.String(), nil
}

// explained asks about the shop of testdata.
func explained(args ...string) (code int, out string, err error) {
	return runCommand(append([]string{"explain", "-c", "testdata/explain/gateway.yaml"}, args...)...)
}

func TestExplain(t *testing.T) {
	web := []string{"--listener", "web"}
	for name, tt := range map[string]struct {
		args []string
		code int
	}{
		"routed":         {append(web, "GET", "http://Shop.Example:80/x/../orders/4%32?a=b", "-H", "X-Env: test", "--client", "192.0.2.7"), exitClean},
		"outranked":      {append(web, "GET", "http://shop.example/orders/1", "-H", "X-Env: pre", "-H", "X-Api-Key: top-secret"), exitClean},
		"secret":         {append(web, "GET", "http://shop.example/orders/1", "-H", "X-Env: pre", "-H", "X-Api-Key: guess"), exitClean},
		"trusted":        {append(web, "GET", "http://h/orders/1", "--client", "10.9.9.9", "-H", "X-Forwarded-For: 198.51.100.4"), exitClean},
		"method":         {append(web, "DELETE", "http://shop.example/orders/1"), exitFailed},
		"query":          {append(web, "POST", "http://shop.example/orders/1?dry=no+way&dry=2"), exitFailed},
		"cookie":         {append(web, "GET", "http://shop.example/lane/a", "-H", "Cookie: lane=very-private"), exitFailed},
		"regex":          {append(web, "GET", "http://shop.example/lane/a", "-H", "Cookie: lane=blue"), exitFailed},
		"unknown path":   {append(web, "GET", "http://shop.example/.env"), exitFailed},
		"no endpoint":    {append(web, "GET", "http://a.partner.example/"), exitFailed},
		"filter":         {append(web, "GET", "http://shop.example/hello"), exitClean},
		"listener":       {[]string{"GET", "http://shop.example/hello", "--listener", "closed"}, exitClean},
		"slashes":        {[]string{"HEAD", "http://shop.example/orders//7", "--listener", "strict"}, exitClean},
		"ambiguous":      {append(web, "GET", "http://shop.example/a%2fb"), exitFailed},
		"long line":      {[]string{"GET", "http://shop.example/" + strings.Repeat("a", 64), "--listener", "strict"}, exitFailed},
		"large body":     {[]string{"POST", "http://shop.example/orders/1?dry=1", "-H", "Content-Length: 2000", "--listener", "strict"}, exitFailed},
		"expectation":    {append(web, "GET", "http://shop.example/hello", "-H", "Expect: magic"), exitFailed},
		"last hop":       {append(web, "OPTIONS", "http://shop.example", "-H", "Max-Forwards: 0"), exitClean},
		"options of all": {append(web, "OPTIONS", "http://shop.example"), exitFailed},
	} {
		t.Run(name, func(t *testing.T) { checkExplained(t, "testdata/explain/gateway.yaml", name, tt.code, tt.args) })
	}
}

func TestExplainOfCalls(t *testing.T) {
	calls := []string{"--listener", "calls"}
	for name, tt := range map[string]struct {
		args []string
		code int
	}{
		"call of version":   {append(calls, "--rpc", "com.example.Order/find", "--version", "2.0.0", "--group", "shop"), exitClean},
		"call over http":    {append(calls, "--rpc", "com.example.Order/find", "--version", "3.0.0", "-H", "Host: shop.example"), exitClean},
		"call of interface": {append(calls, "--rpc", "com.example.Order/save"), exitClean},
		"call of nobody":    {append(calls, "--rpc", "com.example.Cart/find"), exitFailed},
		"call by key":       {append(calls, "--key", "get?"), exitClean},
	} {
		t.Run(name, func(t *testing.T) { checkExplained(t, "testdata/explain/calls.yaml", name, tt.code, tt.args) })
	}
	for want, args := range map[string][]string{
		"accepts 0 arg(s)":                                {"--rpc", "a/b", "GET", "http://h/"},
		"accepts 2 arg(s)":                                calls,
		`rpc "a": want INTERFACE/METHOD`:                  append(calls, "--rpc", "a"),
		"rpc: want an interface and a method, or a key":   append(calls, "--rpc", "a/b", "--key", "k"),
		`rpc: "/" is not an interface and a method`:       append(calls, "--version", "1"),
		"rpc: the listener web speaks http, which has no": {"--listener", "web", "--key", "k"},
	} {
		code, _, err := runCommand(append([]string{"explain", "-c", "testdata/explain/calls.yaml"}, args...)...)
		assert.Equal(t, exitUsage, code)
		assert.ErrorContains(t, err, want)
	}
}

// checkExplained holds what a command line prints to its golden file.
func checkExplained(t *testing.T, config, name string, want int, args []string) {
	t.Helper()
	args = append([]string{"explain", "-c", config}, args...)
	code, out, err := runCommand(args...)
	require.NoError(t, err)
	assert.Equal(t, want, code)
	golden := filepath.Join("testdata/explain", strings.ReplaceAll(name, " ", "_")+".txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out), 0o600))
	}
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(text), out)
	for _, secret := range []string{"top-secret", "guess", "very-private"} {
		assert.NotContains(t, out, secret)
	}

	again, asJSON, err := runCommand(append(args, "--json")...)
	require.NoError(t, err)
	assert.Equal(t, want, again)
	var e explain.Explanation
	require.NoError(t, json.Unmarshal([]byte(asJSON), &e))
	var b bytes.Buffer
	require.NoError(t, e.Write(&b))
	assert.Equal(t, out, b.String(), "both forms tell the same")
}

// The example in the documentation is what the program prints.
func TestExplainPage(t *testing.T) {
	page, err := os.ReadFile("../docs/explain.md")
	require.NoError(t, err)
	golden, err := os.ReadFile("testdata/explain/routed.txt")
	require.NoError(t, err)
	assert.Contains(t, string(page), string(golden))
}

func TestExplainRefusesQuestions(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no url":           {[]string{"GET"}, "accepts 2 arg(s)"},
		"which listener":   {[]string{"GET", "http://h/"}, "listener: name one of closed, strict, web"},
		"unknown listener": {[]string{"GET", "http://h/", "--listener", "x"}, `listener: there is no "x", only closed, strict, web`},
		"header":           {[]string{"GET", "http://h/", "--listener", "web", "-H", "nothing"}, "want 'Name: value'"},
		"url":              {[]string{"GET", "/path", "--listener", "web"}, "url: want http://host/path"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, err := explained(tt.args...)
			assert.Equal(t, exitUsage, code)
			assert.ErrorContains(t, err, tt.want)
		})
	}
	code, out, err := runCommand("explain", "-c", "testdata/explain/nothing.yaml", "GET", "http://h/")
	require.NoError(t, err)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, out, "nothing.yaml")
}

// What stands in the second file belongs to the configuration, as in a node.
func TestExplainFollowsFurtherFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	more := write("routes.yaml", "routes: [{id: there, match: {path: /there}, filters: [{respond: {}}]}]\n")
	first := write("node.yaml", "listeners: [{name: web, address: \"127.0.0.1:0\"}]\nconfig: {file: {path: "+more+"}}\n")
	code, out, err := runCommand("explain", "-c", first, "GET", "http://h/there")
	require.NoError(t, err)
	assert.Equal(t, exitClean, code)
	assert.Contains(t, out, "route there")

	bad := write("bad.yaml", "nonsense: 1\n")
	code, out, err = runCommand("explain", "-c", bad, "GET", "http://h/there")
	require.NoError(t, err)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, out, "bad.yaml:1:1")
}
