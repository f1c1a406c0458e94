package control

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One file says how the node is set up, and names the folder of routes and
// services, which is watched as well.
func TestRoutesInAFolder(t *testing.T) {
	r := newRig(t, ok)
	folder := filepath.Join(r.folder, "routes")
	require.NoError(t, os.Mkdir(folder, 0o755))
	put := func(name, text string) {
		text = strings.ReplaceAll(text, "ORIGIN", strings.TrimPrefix(r.origin.URL, "http://"))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	put("a.yaml", routes)
	base := strings.Replace(r.document(""), "config: {", "config: {file: {path: "+folder+"}, ", 1)
	r.write(base + "routes: [{id: base, match: {path: /base}, service: origin}]\n") // a service of the other file
	var err error
	r.node, err = r.start()
	require.NoError(t, err)
	go func() { defer close(r.served); r.node.Serve(t.Context(), r.signals) }()
	defer func() { r.signals <- os.Interrupt; r.ended() }()
	status, _ := r.get("/base")
	assert.Equal(t, 200, status)

	put("b.yaml", "routes: [{id: b, match: {path: /b}, service: origin}]\n")
	eventually(t, "the route of the new file", func() bool { status, _ := r.get("/b"); return status == 200 })
	r.write(base)
	eventually(t, "the change of the first file", func() bool { status, _ := r.get("/base"); return status == 404 })
	var s statusAnswer
	r.admin(http.MethodGet, "/api/v1/status", "", &s)
	assert.Equal(t, r.path()+" and "+folder, s.Config.Source)
}

// What cannot be read of a configuration does not hide where its copy is kept.
func TestStartsFromTheCopyWithoutTheFolder(t *testing.T) {
	r := newRig(t, ok)
	folder := filepath.Join(r.folder, "routes")
	require.NoError(t, os.Mkdir(folder, 0o755))
	text := strings.ReplaceAll(routes, "ORIGIN", strings.TrimPrefix(r.origin.URL, "http://"))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(text), 0o600))
	r.write(strings.Replace(r.document(""), "config: {", "config: {file: {path: "+folder+"}, ", 1))
	n, err := r.start()
	require.NoError(t, err)
	n.Stop()

	for _, breakIt := range []func() error{
		func() error { return os.Symlink("/no/such/file", filepath.Join(folder, "b.yaml")) },
		func() error { return os.RemoveAll(folder) },
	} {
		require.NoError(t, breakIt())
		n, err = r.start()
		require.NoError(t, err)
		assert.True(t, n.pipeline.Status().FromCache)
		assert.Contains(t, n.pipeline.Status().LastError, folder)
		assert.Equal(t, 2, n.server.Current().Routes.Len())
		n.Stop()
	}

	// Without the file that names both, only who starts the program can say
	// where the copy is.
	cache := n.pipeline.Document().Config.Cache
	require.NoError(t, os.Remove(r.path()))
	n, err = Start(context.Background(), Options{Path: r.path(), Cache: cache, Stderr: &r.log, Stdout: &r.out})
	require.NoError(t, err)
	assert.True(t, n.pipeline.Status().FromCache)
	assert.Equal(t, 2, n.server.Current().Routes.Len())
	n.Stop()
}

// A file that names itself is read once.
func TestFileThatNamesItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte("config: {file: {path: "+path+"}}\n"), 0o600))
	assert.Equal(t, path, filesOf(path, quiet()).Name())
	other := filepath.Join(t.TempDir(), "gone.yaml")
	require.NoError(t, os.WriteFile(path, []byte("config: {file: {path: "+other+"}}\n"), 0o600))
	_, err := filesOf(path, quiet()).Fetch(t.Context())
	assert.ErrorContains(t, err, "gone.yaml")
}
