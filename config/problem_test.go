package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProblemsAreCutAfterAHundred(t *testing.T) {
	text := "listeners:\n  - {name: web, address: 127.0.0.1:8080}\nroutes:\n" + strings.Repeat("  - {wrong: 1}\n", 150)
	_, err := Parse(File{Name: "x.yaml", Text: []byte(text)})
	var problems Problems
	require.ErrorAs(t, err, &problems)
	assert.Len(t, problems, 150)
	assert.Contains(t, err.Error(), "and 50 more")
	assert.Contains(t, problems.Brief(), "x.yaml:4:6: routes[0].wrong: unknown key")
	assert.Contains(t, problems.Brief(), "(and 149 more)")
	assert.Empty(t, Problems{}.Brief())
	assert.Equal(t, "m", Problems{{Message: "m"}}.Brief())
}

func TestExcerptsMaskSecrets(t *testing.T) {
	for line, want := range map[string]string{
		`admin: {token: hunter2, address: x}`: `admin: {token: ***, address: x}`,
		`  password: "hun ter2"`:              `  password: ***`,
		`  "secret" : 'hunter2'`:              `  "secret" : ***`,
		`  access_token: hunter2`:             `  access_token: ***`,
		`  token: "${env:TOKEN}"`:             `  token: "${env:TOKEN}"`,
		`  path: /token/secret`:               `  path: /token/secret`,
		"  tab:\there\r":                      "  tab: here",
		"  bytes: \xff":                       "  bytes: ?",
		strings.Repeat("x", 2*maxExcerptLine): strings.Repeat("x", maxExcerptLine) + "…",
	} {
		assert.Equal(t, want, shownLine([]byte(line), 0))
	}
	assert.Empty(t, excerpt([][]byte{nil}, 0, 0))
	assert.Empty(t, excerpt([][]byte{nil}, 9, 0))
}

// The caret stands below the place, also far along a line and behind a secret.
func TestExcerptsPointAtThePlace(t *testing.T) {
	far := strings.Repeat("é", 3*maxExcerptLine)
	for _, line := range []string{
		"a: @", far + "@" + far, far + "@", "\t@" + far, "{token: hunter2hunter2, a: @}", "{token: x, a: @}", "{token: hunter2, a: " + far + "@}",
	} {
		before, _, _ := strings.Cut(line, "@")
		got := strings.Split(excerpt([][]byte{[]byte("above"), []byte(line)}, 2, len([]rune(before))+1), "\n")
		assert.NotContains(t, got[1], "hunter2")
		shown, caret := []rune(got[1]), strings.Index(got[2], "^")
		assert.Equal(t, "@", string(shown[caret]), line)
		assert.LessOrEqual(t, len(shown), len("      2 | ")+maxExcerptLine+2)
	}
}

func TestFilesThatAreTooLarge(t *testing.T) {
	_, err := Parse(File{Name: "x.yaml", Text: make([]byte, 64<<20+1)})
	require.ErrorContains(t, err, "the file has more than")
	_, err = Parse()
	require.ErrorContains(t, err, "there is no document")
}

func TestSplitRoutes(t *testing.T) {
	for name, c := range map[string]struct {
		text, rest string
		items      []string
	}{
		"none":       {"a: 1\n", "a: 1\n", nil},
		"flow":       {"routes: [{id: a}]\n", "routes: [{id: a}]\n", nil},
		"two":        {"routes: # x\n  - id: a\n    b: c\n  - id: b\nz: 1\n", "routes: # x\n\n\n\nz: 1\n", []string{"  - id: a\n    b: c\n", "  - id: b\n"}},
		"no newline": {"routes:\n- id: a", "routes:\n\n", []string{"- id: a"}},
		"comments":   {"routes:\n# x\n\n- id: a\n# y\n\n- id: b\n", "routes:\n# x\n\n\n\n\n\n", []string{"- id: a\n# y\n\n", "- id: b\n"}},
		"nested":     {"x:\n  routes:\n    - a\n", "x:\n  routes:\n    - a\n", nil},
		"ends":       {"routes:\n  - a\n---\nroutes:\n  - b\n", "routes:\n\n---\nroutes:\n\n", []string{"  - a\n", "  - b\n"}},
		"not a list": {"routes:\n  a: b\n", "routes:\n  a: b\n", nil},
		"outdented":  {"routes:\n   - a\n  - b\n", "routes:\n\n  - b\n", []string{"   - a\n"}},
		"CRLF":       {"routes:\r\n  - a\r\n  - b\r\nx: 1\r\n", "routes:\r\n\n\nx: 1\r\n", []string{"  - a\r\n", "  - b\r\n"}},
		"other key":  {"routes:x\n  - a\nroutesx:\n  - b\n", "routes:x\n  - a\nroutesx:\n  - b\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			rest, chunks := splitRoutes([]byte(c.text))
			assert.Equal(t, c.rest, string(rest))
			var items []string
			for _, chunk := range chunks {
				items = append(items, string(chunk.text))
			}
			assert.Equal(t, c.items, items)
		})
	}
}
