package control

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config"
)

// manyRoutes is a document with exact routes that answer by themselves.
func manyRoutes(folder string, routes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
engine: {loops: 2, pin: none}
listeners: [{name: web, address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0", token: t}
log: {access: {path: none}, level: error}
config: {cache: %s}
services: [{name: s, endpoints: [{address: "127.0.0.1:1"}]}]
routes:
`, filepath.Join(folder, "cache"))
	for i := range routes {
		fmt.Fprintf(&b, "  - {id: r%d, match: {path: /api/v1/app/%d}, service: s}\n", i, i)
	}
	return b.String()
}

// BenchmarkOneRouteOf50000 measures a change of one route from the validated
// delta to the report of the last loop; parsing is not part of it.
func BenchmarkOneRouteOf50000(b *testing.B) {
	folder := b.TempDir()
	path := filepath.Join(folder, "corelane.yaml")
	require.NoError(b, os.WriteFile(path, []byte(manyRoutes(folder, 50_000)), 0o600))
	n, err := Start(context.Background(), Options{Path: path, Stderr: io.Discard, Stdout: io.Discard})
	require.NoError(b, err)
	defer n.Stop()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		text := fmt.Sprintf("routes: [{id: r%d, match: {path: /api/v1/changed/%d}, service: s}]\n", i%50_000, i)
		changed, err := config.ParseRoutes(n.pipeline.Document(), config.File{Name: "delta", Text: []byte(text)})
		require.NoError(b, err)
		b.StartTimer()
		require.NoError(b, n.pipeline.Apply(context.Background(), changed, nil))
	}
	require.Equal(b, n.pipeline.Status().Generation, n.server.Passed())
}
