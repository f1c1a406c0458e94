package control

import (
	"net/http"
	"net/url"
	"strings"
)

// pattern is a call at a path with names in it, such as
// /api/v1/services/{service}. A name takes one segment, which may hold anything
// in escaped form, also a slash.
type pattern struct {
	path string
	call call
}

// match says whether the request is for the call, and gives it the values of
// the names (http.Request.PathValue).
func (p *pattern) match(r *http.Request) bool {
	want, got := strings.Split(p.path, "/"), strings.Split(r.URL.EscapedPath(), "/")
	if len(want) != len(got) {
		return false
	}
	values := make(map[string]string)
	for i, segment := range want {
		value, err := url.PathUnescape(got[i])
		if err != nil {
			return false
		}
		if name, ok := strings.CutPrefix(segment, "{"); ok && value != "" {
			values[strings.TrimSuffix(name, "}")] = value
		} else if segment != value {
			return false
		}
	}
	for name, value := range values {
		r.SetPathValue(name, value)
	}
	return true
}
