package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config/tree"
)

const manualPath = "../docs/configuration.md"

// TestManual holds docs/configuration.md to the types: it is rendered from the
// comments and tags of their fields.
//
//	go test ./config -run TestManual -update
func TestManual(t *testing.T) {
	m := manual{comments: fieldComments(t)}
	head, err := os.ReadFile("testdata/manual_head.md")
	require.NoError(t, err)
	m.b.Write(head)
	m.sections(reflect.TypeFor[Document]())
	m.laterKeys()
	if *update {
		require.NoError(t, os.WriteFile(manualPath, []byte(m.b.String()), 0o644))
	}
	got, err := os.ReadFile(manualPath)
	require.NoError(t, err)
	assert.Equal(t, m.b.String(), string(got), "run go test ./config -run TestManual -update")
	assert.Empty(t, m.silent, "fields without a comment")
}

// manual renders the model.
type manual struct {
	b        strings.Builder
	comments map[string]string
	silent   []string
	layout   bool // the keys of layouts stand already
}

func (m *manual) sections(doc reflect.Type) {
	for i := range doc.NumField() {
		f := doc.Field(i)
		if !f.IsExported() {
			continue
		}
		m.b.WriteString("\n## " + key(f) + "\n\n" + m.comment(doc, f) + "\n")
		element, list := modelOf(f.Type)
		if element == nil {
			continue
		}
		if list != "" {
			m.b.WriteString("\n" + list + " has these keys:\n")
		}
		m.b.WriteString("\n| key | default | meaning |\n|---|---|---|\n")
		m.rows(element, "")
	}
}

func (m *manual) rows(t reflect.Type, prefix string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name := prefix + key(f)
		element, list := modelOf(f.Type)
		if list != "" && element != nil {
			name += "[]"
		}
		m.b.WriteString("| `" + name + "` | " + shownDefault(f, element) + " | " + m.comment(t, f) + rangeOf(f) + " |\n")
		if element == reflect.TypeFor[Layout]() {
			if m.layout {
				continue
			}
			m.layout = true
		}
		if element != nil {
			m.rows(element, name+".")
		}
	}
}

// modelOf returns the struct behind a field, if it is one of the model.
func modelOf(t reflect.Type) (reflect.Type, string) {
	list := ""
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		if t.Kind() == reflect.Slice {
			list = "Each item"
		}
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[Filter](), reflect.TypeFor[FilterSet](), reflect.TypeFor[Share](), reflect.TypeFor[Instant](), reflect.TypeFor[Balance]():
		return nil, list
	}
	if t.Kind() != reflect.Struct {
		return nil, list
	}
	return t, list
}

func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

func shownDefault(f reflect.StructField, element reflect.Type) string {
	if text := f.Tag.Get("default"); text != "" {
		return "`" + text + "`"
	}
	if element == nil && f.Type.Kind() == reflect.Slice {
		return "`[]`"
	}
	return ""
}

func (m *manual) comment(t reflect.Type, f reflect.StructField) string {
	text := m.comments[t.Name()+"."+f.Name]
	if text == "" {
		m.silent = append(m.silent, t.Name()+"."+f.Name)
	}
	text = meaning(f.Name, text)
	if words := f.Tag.Get("enum"); words != "" && f.Tag.Get("words") == "" {
		text += " One of `" + strings.ReplaceAll(words, "|", "`, `") + "`."
	}
	return strings.ReplaceAll(text, "|", "\\|")
}

// whereOf is where the keys of a type stand in a document.
var whereOf = map[string]string{
	"Document": "", "Engine": "engine.", "Origin": "config.",
	"Listener": "listeners[].", "ListenerLimits": "listeners[].limits.", "ListenerTimeouts": "listeners[].timeouts.",
	"Service": "services[].", "Pool": "services[].pool.",
	"ServiceRetries": "services[].retries.", "Health": "services[].health.",
	"Route": "routes[].", "RouteRetries": "routes[].retries.", "Match": "routes[].match.", "Body": "routes[].body.",
}

func (m *manual) laterKeys() {
	m.b.WriteString("\n## Keys of later versions\n\nThese are known, and accepted if they are absent, empty or hold the default. " +
		"Any other value is an error, so that nothing is ignored in silence.\n\n| key | default |\n|---|---|\n")
	types := make([]reflect.Type, 0, len(later))
	for t := range later {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	for _, t := range types {
		names := make([]string, 0, len(later[t]))
		for name := range later[t] {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			m.b.WriteString("| `" + whereOf[t.Name()] + name + "` | `" + later[t][name] + "` |\n")
		}
	}
}

// fieldComments reads the comments of struct fields from the source.
func fieldComments(t *testing.T) map[string]string {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	comments := make(map[string]string)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		collectComments(file, comments)
	}
	return comments
}

func collectComments(file *ast.File, comments map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					comments[spec.Name.Name+"."+name.Name] = f.Doc.Text()
				}
			}
		}
		return true
	})
}

func TestEveryLaterKeyHasADefaultThatIsAccepted(t *testing.T) {
	for typ, keys := range later {
		for name, text := range keys {
			parsed := tree.Parse(tree.Input{Bytes: []byte(name + ": " + text)})
			require.Len(t, parsed.Documents, 1, name)
			d := tree.Decoder{Later: laterKey}
			d.Decode(parsed.Documents[0], tree.Root(""), tree.Defaults(typ).Interface())
			assert.Empty(t, d.Findings, "%s.%s", typ.Name(), name)
			assert.NotContains(t, tree.Keys(typ), name)
		}
	}
}
