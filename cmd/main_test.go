package cmd

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExitCodes(t *testing.T) {
	good := "../examples/quickstart.yaml"
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("nonsense: 1\n"), 0o600))
	tests := []struct {
		name string
		args []string
		want int
	}{
		{"nothing to do", nil, exitClean},
		{"version", []string{"version"}, exitClean},
		{"filters", []string{"filters"}, exitClean},
		{"good configuration", []string{"check", "-c", good}, exitClean},
		{"bad configuration", []string{"check", "-c", bad}, exitFailed},
		{"run without a file", []string{"run", "-c", filepath.Join(t.TempDir(), "nothing.yaml")}, exitFailed},
		{"check without a name", []string{"check"}, exitUsage},
		{"unknown command", []string{"walk"}, exitUsage},
		{"unknown flag", []string{"run", "--fast"}, exitUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, execute(tt.args))
		})
	}
}

func TestRaiseDescriptors(t *testing.T) {
	raiseDescriptors()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	assert.Equal(t, limit.Max, limit.Cur)
}
