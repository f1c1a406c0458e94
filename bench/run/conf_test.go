package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/program"
)

// written renders a rival's configuration and returns its place.
func written(t *testing.T, name string, log bool) (*rival, *place) {
	t.Helper()
	o, err := parseOptions(nil)
	require.NoError(t, err)
	r := rivalNamed(name)
	require.NotNil(t, r)
	p := &place{
		Dir: t.TempDir(), Listen: "127.0.0.1:18080", Origin: "127.0.0.1:19000", Admin: "127.0.0.1:19900",
		Log: log, Root: os.Getuid() == 0,
	}
	if r.program == "" {
		p.Poller = r.poller
		require.NoError(t, program.Render(o.path(filepath.Join("bench/conf", r.config)), filepath.Join(p.Dir, r.config), p))
		return r, p
	}
	require.NoError(t, r.prepare(t.Context(), o, p))
	return r, p
}

// TestRivalsAcceptTheirConfigurations asks nginx and HAProxy themselves.
func TestRivalsAcceptTheirConfigurations(t *testing.T) {
	check := map[string]string{"nginx": "-t", "nginx-large": "-t", "haproxy": "-c", "haproxy-large": "-c"}
	for name, flag := range check {
		for _, log := range []bool{false, true} {
			r, p := written(t, name, log)
			out, err := exec.CommandContext(t.Context(), p.binary, append(r.args(p), flag)...).CombinedOutput()
			assert.NoError(t, err, "%s, log %v: %s", name, log, out)
		}
	}
}

func TestCorelaneConfigurationIsYAML(t *testing.T) {
	for _, name := range []string{"corelane", "corelane-gnet"} {
		for _, log := range []bool{false, true} {
			r, p := written(t, name, log)
			b, err := os.ReadFile(filepath.Join(p.Dir, "corelane.yaml"))
			require.NoError(t, err)
			var document struct {
				Engine struct {
					Loops  int
					Poller string
				}
				Log struct{ Access struct{ Path string } }
			}
			require.NoError(t, yaml.Unmarshal(b, &document))
			assert.Equal(t, 1, document.Engine.Loops)
			assert.Equal(t, r.poller, document.Engine.Poller)
			want := "none"
			if log {
				want = p.accessLog()
			}
			assert.Equal(t, want, document.Log.Access.Path)
		}
	}
}
