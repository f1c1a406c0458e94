// Package style_test holds the rules of the code that a compiler does not
// check: which package may import which, what hot packages must not use, how
// long a file and a function may be, and that exported names are documented.
//
// Every rule is a function from one parsed file to a list of findings. The
// tests apply the rules to the whole module and print each finding as
// file:line; rules_test.go shows each rule a violation and expects it found.
package style_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the import path of the repository's root.
const module = "github.com/corelane/corelane"

// sourceFile is one parsed Go file of the module.
type sourceFile struct {
	name    string // slash-separated, from the module root
	dir     string // of name; "." at the root
	lines   int
	fset    *token.FileSet
	syntax  *ast.File
	imports map[string]string // local name → import path
}

// rule names what is wrong with a file, one finding a place.
type rule func(f *sourceFile) []string

func (f *sourceFile) isTest() bool {
	return strings.HasSuffix(f.name, "_test.go")
}

// at puts the place in front of a finding.
func (f *sourceFile) at(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.name, f.fset.Position(pos).Line, fmt.Sprintf(format, args...))
}

// uses tells whether an expression is the name of a package's member, such as time.Now.
func (f *sourceFile) uses(n ast.Node, pkg, name string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && f.imports[id.Name] == pkg
}

func parseSource(name string, src []byte) (*sourceFile, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &sourceFile{
		name:    name,
		dir:     path.Dir(name),
		lines:   fset.File(syntax.FileStart).LineCount(),
		fset:    fset,
		syntax:  syntax,
		imports: map[string]string{},
	}
	for _, spec := range syntax.Imports {
		target := strings.Trim(spec.Path.Value, `"`)
		local := path.Base(target)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		f.imports[local] = target
	}
	return f, nil
}

// skippedDirs hold no code of the module.
var skippedDirs = map[string]bool{"testdata": true, "bin": true, "var": true, "vendor": true, "node_modules": true}

// tree parses the module once for all tests.
var tree = sync.OnceValues(func() ([]*sourceFile, error) {
	var files []*sourceFile
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (skippedDirs[d.Name()] || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parseSource(name, src)
		if err == nil && !ast.IsGenerated(f.syntax) {
			files = append(files, f)
		}
		return err
	})
	return files, err
})

// apply reports what a rule finds in the whole module.
func apply(t *testing.T, r rule) {
	t.Helper()
	files, err := tree()
	require.NoError(t, err)
	for _, f := range files {
		for _, finding := range r(f) {
			t.Error(finding)
		}
	}
}
