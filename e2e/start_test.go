package e2e_test

import (
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const hello = `
routes:
  - {id: hello, match: {path: /hello}, filters: [{respond: {status: 200, body: hello}}]}
`

func TestStartAndEnd(t *testing.T) {
	p := start(t, head+hello)
	code, body := p.get("/hello")
	assert.Equal(t, 200, code)
	assert.Equal(t, "hello", body)
	assert.Equal(t, 200, p.ask(http.MethodGet, "/readyz", nil))
	assert.Equal(t, 200, p.ask(http.MethodGet, "/healthz", nil))
	assert.Equal(t, "v-e2e", p.status().Version)
	p.signal(syscall.SIGTERM)
	assert.Equal(t, 0, p.exit())
	assert.Equal(t, 1, strings.Count(p.stdout.String(), `"route":"hello"`), "the access log is flushed")
	assert.NotContains(t, p.stderr.String(), `"level":"ERROR"`)
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	p := newProgram(t, strings.Replace(head, "127.0.0.1:0", address, 1)+hello)
	p.launch("run", "-c", p.config())
	assert.Equal(t, 1, p.exit())
	assert.Contains(t, p.stderr.String(), "listener web")
	assert.Contains(t, p.stderr.String(), address)
	assert.Contains(t, p.stderr.String(), "address already in use")
}

// Two gateways must not share a port by accident, although both would allow it.
func TestPortOfAnotherGateway(t *testing.T) {
	first := start(t, head+hello)
	p := newProgram(t, strings.Replace(head, "127.0.0.1:0", first.web, 1)+hello)
	p.launch("run", "-c", p.config())
	assert.Equal(t, 1, p.exit())
	assert.Contains(t, p.stderr.String(), "address already in use")
}

func TestBadConfiguration(t *testing.T) {
	const broken = head + `
routes:
  - id: hello
    match: {path: /hello}
    serviec: nobody
`
	p := newProgram(t, broken)
	p.launch("run", "-c", p.config())
	assert.Equal(t, 1, p.exit())
	assert.Contains(t, p.stderr.String(), "corelane.yaml:9:5")
	assert.Contains(t, p.stderr.String(), "serviec")

	check := newProgram(t, broken)
	check.launch("check", "-c", check.config())
	assert.Equal(t, 1, check.exit())
	assert.Contains(t, check.stdout.String(), "corelane.yaml:9:5")
}

func TestCommandLine(t *testing.T) {
	tests := []struct {
		name string
		args []string
		exit int
		out  string
		err  string
	}{
		{"version", []string{"version"}, 0, "v-e2e\n", ""},
		{"check", []string{"check", "-c", "corelane.yaml"}, 0, "ok: 1 listener", ""},
		{"check that warns", []string{"check", "-c", "corelane.yaml", "--strict"}, 0, "ok: 1 listener", ""},
		{"filters", []string{"filters"}, 0, "respond", ""},
		{"options", []string{"filters", "maintenance"}, 0, "retry_after", ""},
		{"unknown filter", []string{"filters", "respnod"}, 1, "", `did you mean "respond"?`},
		{"schema", []string{"schema"}, 0, "json-schema.org/draft/2020-12", ""},
		{"diff", []string{"diff", "corelane.yaml", "corelane.yaml"}, 0, "nothing differs", ""},
		{"diff with nothing", []string{"diff", "corelane.yaml", "nothing.yaml"}, 2, "", "nothing.yaml"},
		{"build of no module", []string{"build", "--with", "./x"}, 2, "", "is not a module path"},
		{"help", []string{"--help"}, 0, "corelane [command]", ""},
		{"no file", []string{"run"}, 2, "", `"config" not set`},
		{"unknown command", []string{"walk"}, 2, "", "unknown command"},
		{"unknown flag", []string{"run", "--fast"}, 2, "", "unknown flag"},
		{"too many arguments", []string{"version", "now"}, 2, "", "unknown command"},
		{"file that is not there", []string{"run", "-c", "nothing.yaml"}, 1, "", "nothing.yaml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProgram(t, head+hello)
			p.launch(tt.args...)
			assert.Equal(t, tt.exit, p.exit())
			assert.Contains(t, p.stdout.String(), tt.out)
			assert.Contains(t, p.stderr.String(), tt.err)
		})
	}
}
