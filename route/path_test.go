package route

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNormalize(t *testing.T) {
	cases := map[string]string{
		"/":                "/",
		"*":                "*",
		"/a/b.c/.d/..e/f.": "/a/b.c/.d/..e/f.",
		"/...":             "/...",
		"/.":               "/",
		"/./":              "/",
		"/a/.":             "/a/",
		"/a/./b":           "/a/b",
		"/a/b/..":          "/a/",
		"/a/b/../":         "/a/",
		"/a/b/../c":        "/a/c",
		"/a/../b/../c":     "/c",
		"/a/..":            "/",
		"/a/b/c/./../../g": "/a/g",
		"/%2e":             "/",
		"/a/%2e%2E/b":      "/b",
		"/a/.%2e/b":        "/b",
		"/%2ea":            "/.a",
		"/%41%7e%5f%2d%30": "/A~_-0",
		"/%e4%C3%20%3f%25": "/%e4%C3%20%3f%25",
		"/%252e":           "/%252e",
		"/%2f%5c%00;":      "/%2f%5c%00;",
		"/;/..;/a":         "/;/..;/a",
		"//":               "//",
		"//a//b//":         "//a//b//",
		"/a//../b":         "/a/b",
		"/a/.//b":          "/a//b",
		"//..":             "/",
		"/a//.":            "/a//",
		"/\xff\x80é":       "/\xff\x80é",
	}
	for path, want := range cases {
		out, ambiguous := Normalize(nil, []byte(path), PathOptions{})
		assert.False(t, ambiguous, path)
		assert.Equal(t, want, string(out), path)
	}
}

func TestNormalizeMergesSlashes(t *testing.T) {
	cases := map[string]string{
		"/":           "/",
		"//":          "/",
		"///a//b///":  "/a/b/",
		"/a//../b":    "/b",
		"/a/.//b":     "/a/b",
		"/a//.":       "/a/",
		"/a/b/..//c":  "/a/c",
		"/a//%2e%2e/": "/",
		"/a/./":       "/a/",
	}
	for path, want := range cases {
		out, ambiguous := Normalize(nil, []byte(path), PathOptions{MergeSlashes: true})
		assert.False(t, ambiguous, path)
		assert.Equal(t, want, string(out), path)
	}
	_, ambiguous := Normalize(nil, []byte("//.."), PathOptions{MergeSlashes: true})
	assert.True(t, ambiguous, "merged first, it climbs above the root")
}

func TestNormalizeRefusesAmbiguousPaths(t *testing.T) {
	always := []string{
		"", "a", "a/b", "**", "/..", "/../", "/a/../..", "/./..", "/%2e%2e", "/a/../../b",
		`/a\b`, `/..\..`, "/%", "/%4", "/%4g", "/%g4", "/%%34", "/a#b", "/\x00", "/a\nb", "/\x7f",
	}
	for _, path := range always {
		out, ambiguous := Normalize(nil, []byte(path), PathOptions{})
		assert.True(t, ambiguous, "%q", path)
		assert.Equal(t, path, string(out))
	}
	for _, path := range []string{"/%2f", "/%2F", "/a%5cb", "/%5C", "/%00", "/;", "/a;b", "/..;/"} {
		_, ambiguous := Normalize(nil, []byte(path), PathOptions{RejectDangerous: true})
		assert.True(t, ambiguous, path)
		_, ambiguous = Normalize(nil, []byte(path), PathOptions{})
		assert.False(t, ambiguous, path)
	}
	_, ambiguous := Normalize(nil, []byte("/%3b%3F%20"), PathOptions{RejectDangerous: true})
	assert.False(t, ambiguous)
}

func TestNormalizeReturnsThePathItselfIfItCan(t *testing.T) {
	path := []byte("/api/v1/file.txt")
	out, _ := Normalize(nil, path, PathOptions{})
	assert.Same(t, &path[0], &out[0])

	dst := make([]byte, 3, 64)
	out, _ = Normalize(dst, []byte("/a/./b"), PathOptions{})
	assert.Same(t, &dst[0], &out[0])
}

func TestNormalizeInPlace(t *testing.T) {
	path := []byte("/a/%41/../%42//c/.")
	out, ambiguous := Normalize(path[:0], path, PathOptions{MergeSlashes: true})
	assert.False(t, ambiguous)
	assert.Equal(t, "/a/B/c/", string(out))
}

func TestStripSegments(t *testing.T) {
	cases := []struct {
		path string
		n    int
		want string
	}{
		{"/a/b/c", 0, "/a/b/c"},
		{"/a/b/c", 1, "/b/c"},
		{"/a/b/c", 2, "/c"},
		{"/a/b/c", 3, "/"},
		{"/a/b/c", 9, "/"},
		{"/a/", 1, "/"},
		{"/", 1, "/"},
		{"//x", 1, "/x"},
		{"/a/b/", 1, "/b/"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, string(StripSegments([]byte(c.path), c.n)), "%s %d", c.path, c.n)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, path := range []string{"/", "*", "/a/%2e%2e/b", "//..//", "/%2f;/%41", `/\`, "/a/./..//x%", "/.%2e"} {
		for policy := range byte(4) {
			f.Add([]byte(path), policy)
		}
	}
	f.Fuzz(func(t *testing.T, path []byte, policy byte) {
		o := PathOptions{RejectDangerous: policy&1 != 0, MergeSlashes: policy&2 != 0}
		before := bytes.Clone(path)
		once, ambiguous := Normalize(nil, path, o)
		assert.Equal(t, before, path)
		if ambiguous {
			assert.Equal(t, path, once)
			return
		}
		twice, ambiguous := Normalize(nil, once, o)
		assert.False(t, ambiguous)
		assert.Equal(t, string(once), string(twice))
		assert.LessOrEqual(t, len(once), len(path))
		inPlace, _ := Normalize(before[:0], before, o)
		assert.Equal(t, string(once), string(inPlace))
		assertNormal(t, once, o)
	})
}

func assertNormal(t *testing.T, path []byte, o PathOptions) {
	if string(path) == "*" {
		return
	}
	assert.Equal(t, byte('/'), path[0])
	for _, segment := range bytes.Split(path, []byte("/")) {
		assert.NotContains(t, []string{".", ".."}, string(segment))
	}
	lower := bytes.ToLower(path)
	bad := []string{`\`, "#", "%2e", "%41", "%7e"}
	if o.RejectDangerous {
		bad = append(bad, "%2f", "%5c", "%00", ";")
	}
	if o.MergeSlashes {
		bad = append(bad, "//")
	}
	for _, text := range bad {
		assert.NotContains(t, string(lower), text)
	}
}
