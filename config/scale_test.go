package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// How the figures of docs/benchmarks.md about configuration are taken:
//
//	go test -run '^$' -bench 'Routes' -benchtime 3x -benchmem ./config
const manyRoutes = 50_000

func manyDocument(n int) string {
	var b strings.Builder
	b.WriteString("listeners:\n  - {name: web, address: 127.0.0.1:8080}\nservices:\n")
	for i := range 100 {
		fmt.Fprintf(&b, "  - name: service-%d\n    endpoints: [{address: 127.0.0.1:%d}]\n", i, 9000+i)
	}
	b.WriteString("routes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: route-%d\n    metadata: {group: order, owner: team}\n    match: {path: /api/v1/app/%d/detail, methods: [GET]}\n    service: service-%d\n", i, i, i%100)
	}
	return b.String()
}

func BenchmarkRoutesParse(b *testing.B) {
	file := File{Name: "many.yaml", Text: []byte(manyDocument(manyRoutes))}
	b.SetBytes(int64(len(file.Text)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := Parse(file)
		require.NoError(b, err)
	}
}

func BenchmarkRoutesParseAgainOneChanged(b *testing.B) {
	text := manyDocument(manyRoutes)
	earlier, err := Parse(File{Name: "many.yaml", Text: []byte(text)})
	require.NoError(b, err)
	file := File{Name: "many.yaml", Text: []byte(strings.Replace(text, "/api/v1/app/77/detail", "/api/v1/app/77/other", 1))}
	b.ReportAllocs()
	for b.Loop() {
		_, err := parse([]File{file}, earlier)
		require.NoError(b, err)
	}
}

func BenchmarkRoutesCompile(b *testing.B) {
	doc, err := Parse(File{Name: "many.yaml", Text: []byte(manyDocument(manyRoutes))})
	require.NoError(b, err)
	c := NewCompiler(pool.NewRegistry())
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := c.Compile(doc, nil)
		require.NoError(b, err)
	}
}

func BenchmarkRoutesCompileAgainOneChanged(b *testing.B) {
	c, doc, first := manyCompiled(b)
	text := strings.Replace(manyDocument(manyRoutes), "/api/v1/app/77/detail", "/api/v1/app/77/other", 1)
	changed, err := parse([]File{{Name: "many.yaml", Text: []byte(text)}}, doc)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := c.Compile(changed, first)
		require.NoError(b, err)
	}
}

func BenchmarkRoutesDelta(b *testing.B) {
	c, doc, first := manyCompiled(b)
	changed, err := ParseRoutes(doc, File{Name: "delta", Text: []byte("routes:\n  - {id: route-77, match: {path: /api/v1/app/77/other}, service: service-1}\n")})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := c.CompileDelta(doc, first, changed, nil)
		require.NoError(b, err)
	}
}

func manyCompiled(b *testing.B) (*Compiler, *Document, *snapshot.Snapshot) {
	doc, err := Parse(File{Name: "many.yaml", Text: []byte(manyDocument(manyRoutes))})
	require.NoError(b, err)
	c := NewCompiler(pool.NewRegistry())
	first, _, err := c.Compile(doc, nil)
	require.NoError(b, err)
	return c, doc, first
}
