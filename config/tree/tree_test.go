package tree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type inner struct {
	Wait  time.Duration `yaml:"wait" default:"3s" max:"1m"`
	Words []string      `yaml:"words" default:"[a, b]"`
}

type outer struct {
	Name    string            `yaml:"name"`
	Kind    string            `yaml:"kind" default:"x" enum:"x|y" later:"z"`
	Count   int               `yaml:"count" default:"5" min:"1" max:"9"`
	Small   int8              `yaml:"small"`
	Ratio   float64           `yaml:"ratio"`
	On      bool              `yaml:"on"`
	Inner   inner             `yaml:"inner"`
	Maybe   *inner            `yaml:"maybe"`
	Number  *int              `yaml:"number" min:"2"`
	Many    []inner           `yaml:"many"`
	Labels  map[string]string `yaml:"labels"`
	Pairs   []pair            `yaml:"pairs"`
	Skipped string            `yaml:"-"`
	Plain   string
	Odd     chan int `yaml:"odd"`
}

type pair struct{ Name, Value string }

func decode(t *testing.T, text string) (*outer, []Finding) {
	t.Helper()
	p := Parse(Input{Bytes: []byte(text)})
	require.Empty(t, p.Findings)
	require.Len(t, p.Documents, 1)
	out := Defaults(reflect.TypeFor[outer]()).Interface().(*outer)
	d := Decoder{}
	d.Decode(p.Documents[0], Root("x"), out)
	return out, d.Findings
}

func TestDecode(t *testing.T) {
	got, findings := decode(t, `
name: 12
kind: y
count: 9
small: -3
ratio: 0.01
on: true
inner: {wait: 1m}
maybe: {words: [c]}
number: 7
many: [{wait: 0}, {}]
labels: {a: 1, b: true, c: text}
pairs: {z: 1, a: two}
plain: p
`)
	require.Empty(t, findings)
	seven := 7
	assert.Equal(t, &outer{
		Name: "12", Kind: "y", Count: 9, Small: -3, Ratio: 0.01, On: true,
		Inner: inner{Wait: time.Minute, Words: []string{"a", "b"}}, Maybe: &inner{Wait: 3 * time.Second, Words: []string{"c"}}, Number: &seven,
		Many:   []inner{{Words: []string{"a", "b"}}, {Wait: 3 * time.Second, Words: []string{"a", "b"}}},
		Labels: map[string]string{"a": "1", "b": "true", "c": "text"}, Pairs: []pair{{"z", "1"}, {"a", "two"}}, Plain: "p",
	}, got)
}

func TestDefaultsAreFresh(t *testing.T) {
	got, findings := decode(t, "name: null\ninner:\nmaybe: ~\n")
	require.Empty(t, findings)
	assert.Equal(t, &outer{Kind: "x", Count: 5, Inner: inner{Wait: 3 * time.Second, Words: []string{"a", "b"}}}, got)
}

func TestDecodeProblems(t *testing.T) {
	for text, want := range map[string]string{
		"count: 0":                    `1:8 x.count: "0" is below the least value 1`,
		"count: 10":                   `1:8 x.count: "10" is above the greatest value 9`,
		"count: 1.5":                  `1:8 x.count: expected a whole number, found "1.5"`,
		"count: 99999999999999999999": `1:8 x.count: expected a whole number, found "99999999999999999999"`,
		"small: 200":                  `1:8 x.small: "200" is too large`,
		"ratio: .nan":                 `1:8 x.ratio: expected a number, found ".nan"`,
		"ratio: text":                 `1:8 x.ratio: expected a number, found "text"`,
		"on: yes":                     `1:5 x.on: expected true or false, found "yes"`,
		"kind: zz":                    `1:7 x.kind: "zz" is none of the allowed words (known: x, y)`,
		"kind: z":                     `1:7 x.kind: not supported by this version, which has x, y`,
		"kind: {z: 1}":                `1:7 x.kind: not supported by this version, which has x, y`,
		"inner: [1]":                  `1:8 x.inner: expected a mapping of keys, found a list`,
		"inner: {wait: 2m}":           `1:15 x.inner.wait: "2m" is above the greatest value 1m`,
		"inner: {wait: [1]}":          `1:15 x.inner.wait: expected a duration such as 500ms, 3s or 2m, found a list`,
		"number: 1":                   `1:9 x.number: "1" is below the least value 2`,
		"many: {a: 1}":                `1:7 x.many: expected a list, found a mapping`,
		"many: [{}, null]":            `1:12 x.many[1]: an item of a list must not be empty`,
		"many: [{}, {wiat: 1s}]":      `1:13 x.many[1].wiat: unknown key (did you mean "wait"?)`,
		"labels: [a]":                 `1:9 x.labels: expected a mapping of names, found a list`,
		"labels: {\"a b\": [1]}":      `1:17 x.labels."a b": expected text, found a list`,
		"odd: 1":                      `1:6 x.odd: this version cannot read values of type chan int`,
		"skipped: a":                  `1:1 x.skipped: unknown key (known: `,
	} {
		_, findings := decode(t, text)
		require.Len(t, findings, 1, text)
		f := findings[0]
		got := fmt.Sprintf("%d:%d %s: %s", f.Pos.Line, f.Pos.Col, f.Path, f.Message)
		assert.True(t, strings.HasPrefix(got, want), "%s\nwant %s\ngot  %s", text, want, got)
	}
}

// A set of words grows with the program; the tag only names it.
func TestWordsOfASet(t *testing.T) {
	type spoken struct {
		Protocol string `yaml:"protocol" default:"http" enum:"http" words:"protocols" later:"tcp"`
	}
	words := func(set string) ([]string, string) {
		assert.Equal(t, "protocols", set)
		return []string{"frame", "lines"}, "build it in"
	}
	for text, want := range map[string]string{
		"http": "", "frame": "", "lines": "",
		"tcp":    "not supported by this version, which has http, frame, lines",
		"frames": `"frames" is none of the allowed words (did you mean "frame"?); build it in`,
		"mqtt":   `"mqtt" is none of the allowed words (known: frame, http, lines); build it in`,
	} {
		p := Parse(Input{Bytes: []byte("protocol: " + text)})
		d, out := Decoder{Words: words}, spoken{}
		d.Decode(p.Documents[0], Root("x"), &out)
		if want == "" {
			assert.Empty(t, d.Findings)
			assert.Equal(t, text, out.Protocol)
			continue
		}
		require.Len(t, d.Findings, 1)
		assert.Equal(t, want, d.Findings[0].Message)
	}
}

func TestWrongTagsPanic(t *testing.T) {
	assert.Panics(t, func() {
		Keys(reflect.TypeFor[struct {
			A int `default:"x"`
		}]())
	})
	assert.Panics(t, func() {
		Keys(reflect.TypeFor[struct {
			A string `min:"x"`
		}]())
	})
}

func TestFind(t *testing.T) {
	p := Parse(Input{Bytes: []byte("a:\n  b: [1, {c: x}]\n  d:\n    - e: 1\n"), Line: 10})
	root := p.Documents[0]
	for path, want := range map[string]Pos{
		"": {10, 1}, "a": {10, 1}, "a.b": {11, 6}, "a.b[1]": {11, 10}, "a.b[1].c": {11, 14}, "a.d[0].e": {13, 10},
		"a.missing": {10, 1}, "a.b[7]": {11, 6}, "a.b[1][0]": {11, 10}, "a.b.c": {11, 6},
	} {
		assert.Equal(t, want, root.Find(path), path)
	}
}

func TestJoin(t *testing.T) {
	assert.Equal(t, "a.b", Join("a", "b"))
	assert.Equal(t, "a[1]", Join("a", "[1]"))
	assert.Equal(t, "b", Join("", "b"))
	assert.Equal(t, "a", Join("a", ""))
}

func TestEqual(t *testing.T) {
	tree := func(text string) *Node { return Parse(Input{Bytes: []byte(text)}).Documents[0] }
	assert.True(t, tree("a: [1, {b: x}]").Equal(tree("\n\na:\n- 1\n- b: \"x\"\n")))
	for _, other := range []string{"a: [1]", "a: [1, {b: y}]", "a: [1, {c: x}]", "b: [1, {b: x}]", "a: [\"1\", {b: x}]"} {
		assert.False(t, tree("a: [1, {b: x}]").Equal(tree(other)), other)
	}
	assert.False(t, tree("a").Equal(nil))
	assert.True(t, (*Node)(nil).Equal(nil))
	assert.Nil(t, tree("a").Get("b"))
}

func TestValue(t *testing.T) {
	p := Parse(Input{Bytes: []byte("a: [1, 1.5, true, x, .nan]\nb: {c: null, d: []}\n")})
	assert.Equal(t, map[string]any{
		"a": []any{int64(1), 1.5, true, "x", ".nan"},
		"b": map[string]any{"c": nil, "d": []any{}},
	}, p.Documents[0].Value())
}

func TestSecrets(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "s")
	require.NoError(t, os.WriteFile(path, []byte("from file\r\n\n"), 0o600))
	s := &Secrets{Env: func(name string) (string, bool) {
		v, ok := map[string]string{"A": "first", "B": "first and more", "S": "x", "Q": "a\"b"}[name]
		return v, ok
	}}
	for text, want := range map[string]string{
		"plain": "plain", "${env:A}": "first", "<${env:A}|${env:B}>": "<first|first and more>", "${file:" + path + "}": "from file",
		"$${env:A}": "${env:A}", "${other}": "${other}", "${": "${", "$": "$", "${env:A}$${x}": "first${x}", "${env:S}": "x", "${env:Q}": "a\"b",
	} {
		got, err := s.Expand(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"${env:}", "${env:A", "${env:NONE}", "${file:" + folder + "}", "${file:/nowhere}"} {
		_, err := s.Expand(text)
		assert.Error(t, err, text)
	}
	assert.True(t, s.Used())
	assert.Equal(t, `is ${env:B}, ${env:A} and "${env:Q}"`, s.Clean(`is first and more, first and "a\"b"`))
	assert.Equal(t, "x", s.Clean("x"), "too short to hide")
	assert.Equal(t, "first", (*Secrets)(nil).Clean("first"))
}

func TestSecretFilesThatFail(t *testing.T) {
	s := &Secrets{ReadFile: func(string) ([]byte, error) { return nil, errors.New("the disk is gone") }}
	_, err := s.Expand("${file:x}")
	require.ErrorContains(t, err, "the disk is gone")
}

func TestTooDeep(t *testing.T) {
	for text, deep := range map[string]bool{
		strings.Repeat("[", 5000):                    true,
		strings.Repeat("{a: ", 5000):                 true,
		strings.Repeat("- ", 5000) + "a":             true,
		strings.Repeat("a: \"[[[[\"\n", 5000):        false,
		strings.Repeat("- {a: [1, 2]}\n", 5000):      false,
		"a: |\n  " + strings.Repeat("-", 500) + "\n": false,
		"a: '" + strings.Repeat("[", 500) + "'\n":    false,
		strings.Repeat("a: it's [x]\n", 500):         false,
	} {
		_, got := tooDeep([]byte(text))
		assert.Equal(t, deep, got, text[:20])
	}
	p := Parse(Input{Bytes: []byte(strings.Repeat("[", 100) + strings.Repeat("]", 100))})
	require.Len(t, p.Findings, 1)
	assert.Contains(t, p.Findings[0].Message, "nested deeper")
}

func TestSuggest(t *testing.T) {
	assert.Equal(t, ` (did you mean "listeners"?)`, Suggest("listener", []string{"services", "listeners"}))
	assert.Equal(t, " (known: a, b)", Suggest("zzzz", []string{"b", "a"}))
	assert.Equal(t, " (none is known)", Suggest("zzzz", nil))
	many := strings.Split(strings.Repeat("k ", 20), " ")
	assert.Contains(t, Suggest(strings.Repeat("z", 100), many), " more)")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a: [1, {b: c}]", "a: &x {b: *x}", "? a\n: b", "a: |\n  x\n", "- - - a", "!!str x", "%YAML 1.2\n---\na: 1", "a: ${env:X}", "\"\\u00e9\": é", "<<: {a: 1}", "{", "\x00", "a: 'x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := Parse(Input{Bytes: text, Secrets: &Secrets{Env: func(string) (string, bool) { return "v", true }, ReadFile: func(string) ([]byte, error) { return nil, nil }}})
		for _, n := range p.Documents {
			if !n.Equal(n) {
				t.Fatal("a tree differs from itself")
			}
			d := Decoder{}
			d.Decode(n, Root("x"), Defaults(reflect.TypeFor[outer]()).Interface())
		}
	})
}
