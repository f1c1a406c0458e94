package program

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandLine(t *testing.T) {
	f := flag.NewFlagSet("x", flag.ContinueOnError)
	f.String("gateway", "bin/corelane", "")
	f.Int("rounds", 15, "")
	f.String("out", "", "")
	require.NoError(t, f.Parse([]string{"-rounds=3", "-gateway=/somewhere/else/corelane", "-out=/private"}))
	require.Equal(t, "go run ./bench/x -gateway=corelane -rounds=3", CommandLine("x", f))
}

func TestPath(t *testing.T) {
	require.Equal(t, "/root/bin/x", Path("/root", "bin/x"))
	require.Equal(t, "/bin/x", Path("/root", "/bin/x"))
}

func TestRender(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "source"), filepath.Join(dir, "target")
	require.NoError(t, os.WriteFile(source, []byte("port {{.Port}}"), 0o600))
	require.NoError(t, Render(source, target, struct{ Port int }{80}))
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "port 80", string(text))
	require.Error(t, Render(filepath.Join(dir, "nothing"), target, nil))
	require.Error(t, RenderText("{{", target, nil))
	require.Error(t, RenderText("{{.Port}}", target, struct{}{}))
	require.Error(t, RenderText("", filepath.Join(dir, "no", "folder"), nil))
}
