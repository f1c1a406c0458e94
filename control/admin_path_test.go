package control

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPatterns(t *testing.T) {
	p := pattern{path: "/s/{service}/e/{endpoint}"}
	for path, want := range map[string][]string{
		"/s/a/e/127.0.0.1:80":        {"a", "127.0.0.1:80"},
		"/s/a%2Fb/e/unix:%2Frun%2Fx": {"a/b", "unix:/run/x"},
		"/s/a/e/%5B::1%5D:80":        {"a", "[::1]:80"},
		"/s/a/e/":                    nil,
		"/s//e/b":                    nil,
		"/s/a/e/b/":                  nil,
		"/s/a/e":                     nil,
		"/s/a/f/b":                   nil,
		"/x/s/a/e/b":                 nil,
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		matched := p.match(r)
		assert.Equal(t, want != nil, matched, path)
		if matched {
			assert.Equal(t, want, []string{r.PathValue("service"), r.PathValue("endpoint")}, path)
		}
	}
}
