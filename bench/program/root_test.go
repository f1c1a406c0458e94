package program

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRoot(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(root, "bench/program/root_test.go"))
	t.Chdir("/")
	_, err = Root()
	require.ErrorContains(t, err, "inside the repository")
}
