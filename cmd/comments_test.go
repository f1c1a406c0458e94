package cmd

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/filters"
)

var update = flag.Bool("update", false, "write comments.json anew")

// TestComments holds comments.json to the comments in the source.
//
//	go test ./cmd -run TestComments -update
func TestComments(t *testing.T) {
	all := map[string]string{}
	for _, pattern := range []string{"../config/*.go", "../filters/*/*.go"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				readComments(t, name, all)
			}
		}
	}
	want, err := json.MarshalIndent(all, "", "\t")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("comments.json", append(want, '\n'), 0o644))
	}
	got, err := os.ReadFile("comments.json")
	require.NoError(t, err)
	assert.Equal(t, string(want)+"\n", string(got), "run go test ./cmd -run TestComments -update")
}

// readComments takes the comments of fields that have a key.
func readComments(t *testing.T, name string, into map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	require.NoError(t, err)
	where := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			text := strings.Join(strings.Fields(f.Doc.Text()), " ")
			if f.Tag == nil || text == "" || !strings.Contains(f.Tag.Value, "yaml:") {
				continue
			}
			for _, field := range f.Names {
				into[where+"."+spec.Name.Name+"."+field.Name] = text
			}
		}
		return true
	})
}

// Whoever lists the filters of this program learns what each option means.
func TestEveryOptionIsDescribed(t *testing.T) {
	for _, name := range filters.Names() {
		kind, _ := filters.Lookup(name)
		assert.NotEmpty(t, kind.Doc, name)
		for _, o := range config.Options(kind, commentOf) {
			assert.NotEmpty(t, o.Doc, "%s.%s: give the field a comment", name, o.Name)
		}
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	config.NewSchema(func(owner reflect.Type, f reflect.StructField) string {
		text := commentOf(owner, f)
		assert.NotEmpty(t, text, "%s.%s: give the field a comment", owner, f.Name)
		return text
	})
}
