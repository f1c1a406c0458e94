package style_test

import (
	"go/ast"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lengths in lines, from the first to the last. Tests may be longer files, since
// they hold tables; the elements of a table do not count in its function.
const (
	maxFile     = 500
	maxTestFile = 800
	maxFunc     = 70
)

func TestFileLength(t *testing.T) {
	apply(t, checkFileLength)
}

func TestFunctionLength(t *testing.T) {
	apply(t, checkFuncLength)
}

func TestNoSleepInTests(t *testing.T) {
	apply(t, checkSleep)
}

func TestExportedNamesAreDocumented(t *testing.T) {
	apply(t, checkDocs)
}

// TestPackageComments wants one comment a package that tells its idea.
func TestPackageComments(t *testing.T) {
	files, err := tree()
	require.NoError(t, err)
	documented := map[string]bool{}
	for _, f := range files {
		// An external test package documents a folder only when it is alone there.
		documented[f.dir] = documented[f.dir] || f.syntax.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: no file has a package comment", dir)
		}
	}
}

func checkFileLength(f *sourceFile) []string {
	limit := maxFile
	if f.isTest() {
		limit = maxTestFile
	}
	if f.lines > limit {
		return []string{f.at(f.syntax.Package, "%d lines, more than %d", f.lines, limit)}
	}
	return nil
}

func checkFuncLength(f *sourceFile) []string {
	var findings []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		name, body := "function literal", (*ast.BlockStmt)(nil)
		switch n := n.(type) {
		case *ast.FuncDecl:
			name, body = n.Name.Name, n.Body
		case *ast.FuncLit:
			body = n.Body
		}
		if body == nil {
			return true
		}
		length := f.span(n)
		if f.isTest() {
			length -= f.tableLines(body)
		}
		if length > maxFunc {
			findings = append(findings, f.at(n.Pos(), "%s has %d lines, more than %d", name, length, maxFunc))
		}
		return true
	})
	return findings
}

// span counts the lines of a node.
func (f *sourceFile) span(n ast.Node) int {
	return f.fset.Position(n.End()).Line - f.fset.Position(n.Pos()).Line + 1
}

// tableLines counts the lines inside the outermost slice and map literals.
func (f *sourceFile) tableLines(body ast.Node) int {
	lines := 0
	ast.Inspect(body, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch lit.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			inside := f.fset.Position(lit.Rbrace).Line - f.fset.Position(lit.Lbrace).Line - 1
			lines += max(0, inside)
			return false
		}
		return true
	})
	return lines
}

// checkSleep keeps tests from synchronising by waiting a while and hoping.
func checkSleep(f *sourceFile) []string {
	if !f.isTest() {
		return nil
	}
	var findings []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if f.uses(n, "time", "Sleep") {
			findings = append(findings, f.at(n.Pos(), "time.Sleep in a test"))
		}
		return true
	})
	return findings
}

// checkDocs wants a comment on every exported top-level name and method.
func checkDocs(f *sourceFile) []string {
	if f.isTest() || f.syntax.Name.Name == "main" {
		return nil
	}
	var findings []string
	missing := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		for _, doc := range docs {
			if doc != nil {
				return
			}
		}
		findings = append(findings, f.at(name.Pos(), "%s has no doc comment", name.Name))
	}
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				missing(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				checkSpecs(d, missing)
			}
		}
	}
	return findings
}

// checkSpecs looks at types, constants and variables. A comment on the group
// serves constants and variables, not types.
func checkSpecs(d *ast.GenDecl, missing func(*ast.Ident, ...*ast.CommentGroup)) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := d.Doc
			if d.Lparen.IsValid() {
				doc = nil
			}
			missing(spec.Name, doc, spec.Doc, spec.Comment)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				missing(name, d.Doc, spec.Doc, spec.Comment)
			}
		}
	}
}

// receiver is the type name of a method's receiver, through pointers and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
