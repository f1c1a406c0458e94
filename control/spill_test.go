package control

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// buffering is a document whose route holds bodies, and whose folder for them is
// missing.
func buffering(r *rig) (document, folder string) {
	folder = filepath.Join(r.folder, "spill")
	document = replace("engine: {", "engine: {spill_dir: "+folder+", ")(r.document(routes))
	return replace("service: origin, metadata", "service: origin, body: {mode: buffer}, metadata")(document), folder
}

func TestMissingSpillFolder(t *testing.T) {
	r := newRig(t, ok)
	document, folder := buffering(r)
	r.write(document)
	_, err := r.start()
	require.ErrorContains(t, err, "engine.spill_dir")
	require.ErrorContains(t, err, folder)
	require.NoError(t, os.Mkdir(folder, 0o700))
	node, err := r.start()
	require.NoError(t, err)
	node.Stop()
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left, "the trial leaves nothing behind")
}

// A node that runs is not stopped by a folder that has gone: it is told.
func TestSpillFolderGoesMissing(t *testing.T) {
	r := newRig(t, ok)
	document, folder := buffering(r)
	require.NoError(t, os.Mkdir(folder, 0o700))
	r.write(document)
	node, err := r.start()
	require.NoError(t, err)
	defer node.Stop()
	require.NoError(t, os.Remove(folder))
	r.write(document + "  - {id: new, match: {path: /new}, service: origin}\n")
	require.NoError(t, node.Reload(t.Context()))
	assert.Contains(t, r.log.String(), "engine.spill_dir: request bodies cannot be kept there")
}

// A folder that nobody needs may be missing.
func TestSpillFolderIsNotNeeded(t *testing.T) {
	r := newRig(t, ok)
	r.write(replace("engine: {", "engine: {spill_dir: /no/such/folder, ")(r.document(routes)))
	node, err := r.start()
	require.NoError(t, err)
	node.Stop()
	assert.False(t, strings.Contains(r.log.String(), "spill_dir"))
}

func TestErrnoName(t *testing.T) {
	assert.Equal(t, "ENOSPC", errnoName(&os.PathError{Op: "write", Path: "/tmp/x", Err: unix.ENOSPC}))
	assert.Empty(t, errnoName(errors.New("else")))
}
