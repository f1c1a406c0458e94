package redirect_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
	"github.com/corelane/corelane/filters/redirect"
)

func provisioned(t testing.TB, location string) *redirect.Filter {
	t.Helper()
	f := &redirect.Filter{Status: 302, Location: location}
	require.NoError(t, f.Provision())
	return f
}

func TestRegistered(t *testing.T) {
	kind, ok := filters.Lookup("redirect")
	require.True(t, ok)
	f, ok := kind.New().(*redirect.Filter)
	require.True(t, ok)
	assert.Equal(t, &redirect.Filter{Status: 301, Location: "https://{host}{path}"}, f)
	require.NoError(t, f.Provision())
	assert.True(t, filters.NewEntry("redirect", f).Answers())
	assert.NotSame(t, f, kind.New())
}

func TestLocation(t *testing.T) {
	const origin = "Host: shop.example:8080"
	tests := []struct {
		name, location, line, host, want string
	}{
		{"to https", "https://{host}{path}", "GET /a/b HTTP/1.1", origin, "https://shop.example/a/b"},
		{"escapes stay", "https://{host}{path}", "GET /a%20b%2Fc HTTP/1.1", origin, "https://shop.example/a%20b%2Fc"},
		{"query", "https://{host}{path}?{query}", "GET /a?x=1&y=%20 HTTP/1.1", origin, "https://shop.example/a?x=1&y=%20"},
		{"no query, no mark", "https://{host}{path}?{query}", "GET /a HTTP/1.1", origin, "https://shop.example/a"},
		{"empty query, no mark", "https://{host}{path}?{query}", "GET /a? HTTP/1.1", origin, "https://shop.example/a"},
		{"query appended", "/new?from=old&{query}", "GET /a?x=1 HTTP/1.1", origin, "/new?from=old&x=1"},
		{"query not appended", "/new?from=old&{query}", "GET /a HTTP/1.1", origin, "/new?from=old"},
		{"query before a fragment", "/new?{query}#top", "GET /a?x=1 HTTP/1.1", origin, "/new?x=1#top"},
		{"scheme kept", "{scheme}://www.{host}{path}", "GET /a HTTP/1.1", origin, "http://www.shop.example/a"},
		{"other port", "https://{host}:8443{path}", "GET /a HTTP/1.1", origin, "https://shop.example:8443/a"},
		{"absolute form wins", "https://{host}{path}", "GET http://real.example/a HTTP/1.1", origin, "https://real.example/a"},
		{"IPv6", "https://{host}{path}", "GET /a HTTP/1.1", "Host: [2001:db8::1]:80", "https://[2001:db8::1]/a"},
		{"IPv6 without port", "https://{host}{path}", "GET /a HTTP/1.1", "Host: [2001:db8::1]", "https://[2001:db8::1]/a"},
		{"fixed", "https://other.example/x?y=z#top", "GET /a HTTP/1.1", origin, "https://other.example/x?y=z#top"},
		{"fixed, no path", "http://other.example", "GET /a HTTP/1.1", origin, "http://other.example"},
		{"prefix", "/v2{path}", "GET /a HTTP/1.1", origin, "/v2/a"},
		{"slash is not doubled", "https://{host}/v2/{path}", "GET /a HTTP/1.1", origin, "https://shop.example/v2/a"},
		{"values in a query", "https://login.example/?to={scheme}://{host}{path}&x=1", "GET /a%26b&c=d HTTP/1.1", origin, "https://login.example/?to=http://shop.example%2Fa%2526b%26c%3Dd&x=1"},
		{"asterisk", "https://{host}{path}", "OPTIONS * HTTP/1.1", origin, "https://shop.example/*"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := provisioned(t, test.location)
			x := filtertest.New(t, test.line, test.host)
			require.Equal(t, filters.Respond, f.OnRequest(&x.Context))
			reply, ok := x.Reply()
			require.True(t, ok)
			assert.Equal(t, 302, reply.Status)
			assert.Empty(t, reply.Body)
			assert.Equal(t, codec.ReasonNone, reply.Reason)
			assert.Equal(t, []filters.ReplyField{{Name: "Location", Value: test.want}}, reply.Fields)
		})
	}
}

// TestPathNeverNamesAHost sends paths that browsers have taken for hosts.
func TestPathNeverNamesAHost(t *testing.T) {
	locations := []string{"{path}", "/{path}", "https://shop.example{path}", "https://shop.example/{path}", "https://{host}{path}?{query}"}
	paths := []string{
		"/", "//evil.example", "///evil.example/x", "////evil.example", "/\\evil.example", "/%5Cevil.example", "/%2Fevil.example",
		"/@evil.example", "/.evil.example", "/:80@evil.example", "/a/..//evil.example", "/%0d%0aLocation:%20x", "/\r\nX: y", "/\t/evil.example",
		"evil.example", "@evil.example", ".evil.example", ":80@evil.example", "*", "/\xe2\x80\xa8", "/<script>", "/a?b", "/a#b",
	}
	base, err := url.Parse("https://shop.example/start")
	require.NoError(t, err)
	for _, location := range locations {
		f := provisioned(t, location)
		for _, path := range paths {
			x := filtertest.New(t, "GET / HTTP/1.1", "Host: shop.example")
			x.Request.SetPath([]byte(path))
			require.Equal(t, filters.Respond, f.OnRequest(&x.Context))
			reply, _ := x.Reply()
			got := reply.Fields[0].Value
			assert.False(t, strings.HasPrefix(got, "//"), "%q of %q", got, location)
			assert.False(t, strings.ContainsAny(got, "\r\n\t \\<>#"), "%q", got)
			target, err := base.Parse(got)
			require.NoError(t, err, got)
			assert.Equal(t, "shop.example", target.Host, "%q of %q", got, path)
			assert.Nil(t, target.User, got)
		}
	}
}

func TestHostThatIsNone(t *testing.T) {
	f := provisioned(t, "https://{host}{path}")
	for _, host := range []string{"", ":80", "a@b", "a/b", "a\\b", "a b", "a?b", "a%2fb", "[::1", "[]", "[::1%25eth0]", "a:b:c", "ü"} {
		t.Run(host, func(t *testing.T) {
			x := filtertest.New(t, "GET /a HTTP/1.1", "Host: x")
			x.Request.SetAuthority([]byte(host))
			require.Equal(t, filters.Respond, f.OnRequest(&x.Context))
			reply, _ := x.Reply()
			assert.Equal(t, codec.BadRequest, reply.Reason)
			assert.Equal(t, 400, reply.Status)
		})
	}
	x := filtertest.New(t, "GET /a HTTP/1.0")
	require.Equal(t, filters.Respond, f.OnRequest(&x.Context))
	reply, _ := x.Reply()
	assert.Equal(t, codec.BadRequest, reply.Reason, "HTTP/1.0 may come without Host")
}

func TestRefusedOptions(t *testing.T) {
	tests := []struct {
		status   int
		location string
		want     string
	}{
		{200, "/", "status: 200 is not one of"},
		{300, "/", "status: 300"},
		{304, "/", "status: 304"},
		{305, "/", "status: 305"},
		{301, "", "location: it is empty"},
		{301, "/" + strings.Repeat("a", 9000), "9001 bytes are too many"},
		{301, "/a\r\nX: y", `the byte '\r' cannot stand in a URL`},
		{301, "/a b", "the byte ' '"},
		{301, "/\\evil", `the byte '\\'`},
		{301, "/ü", "cannot stand in a URL"},
		{301, "/100%", "two hexadecimal digits must follow"},
		{301, "/%2{path}", "two hexadecimal digits must follow"},
		{301, "/%zz", "two hexadecimal digits must follow"},
		{301, "/a[0]", "brackets are for an address"},
		{301, "/{path", "a brace has no partner"},
		{301, "/path}", "a brace has no partner"},
		{301, "/{uri}", "{uri} is not one of"},
		{301, "//other.example/", "it must begin with"},
		{301, "a/b", "it must begin with"},
		{301, "{host}{path}", "it must begin with"},
		{301, "{scheme}{path}", "it must begin with"},
		{301, "{scheme}:/{path}", "it must begin with"},
		{301, "javascript://x", "it must begin with"},
		{301, "ftp://x/", "it must begin with"},
		{301, "https://{path}", "a host must follow"},
		{301, "https:///x", "a host must follow"},
		{301, "https://", "a host must follow"},
		{301, "https://{query}", "a host must follow"},
		{301, "https://user@{host}/", "a host must follow"},
		{301, "https://{host}:port/", "a host must follow"},
		{301, "https://{host}:123456/", "a host must follow"},
		{301, "https://[::1/", "a host must follow"},
		{301, "/a{query}", "{query} must come last"},
		{301, "/a?x{query}", "{query} must come last"},
		{301, "/a?{query}&x=y", "{query} must come last"},
		{301, "{path}{query}", "{query} must come last"},
		{301, "/a#{path}", "a fragment must be fixed text"},
		{301, "/a?b#{query}", "a fragment must be fixed text"},
	}
	for _, test := range tests {
		t.Run(test.location, func(t *testing.T) {
			f := &redirect.Filter{Status: test.status, Location: test.location}
			assert.ErrorContains(t, f.Provision(), test.want)
		})
	}
}

func TestStatuses(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		f := &redirect.Filter{Status: status, Location: "https://[2001:db8::1]:8443/"}
		assert.NoError(t, f.Provision())
	}
}

func TestAllocations(t *testing.T) {
	fixed := provisioned(t, "https://other.example/")
	made := provisioned(t, "https://{host}{path}?{query}")
	x := filtertest.New(t, "GET /a?b=c HTTP/1.1", "Host: shop.example")
	assert.Zero(t, testing.AllocsPerRun(100, func() { fixed.OnRequest(&x.Context) }))
	// The location and its field live until the answer is sent.
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { made.OnRequest(&x.Context) }), 2.0)
}

// FuzzLocation holds any template that is accepted, and any path and query, to
// what TestPathNeverNamesAHost says.
func FuzzLocation(f *testing.F) {
	f.Add("https://{host}{path}?{query}", "/a", "b=c")
	f.Add("{path}", "//evil.example", "")
	f.Add("/x?y={path}&{query}#z", "/\r\n", "\x00#")
	f.Add("{scheme}://{host}:1/{path}", "@evil.example", "?")
	f.Fuzz(func(t *testing.T, location, path, query string) {
		filter := &redirect.Filter{Status: 302, Location: location}
		if _, err := url.PathUnescape(path); err != nil || filter.Provision() != nil {
			return // a decoder refuses such a path
		}
		x := filtertest.New(t, "GET / HTTP/1.1", "Host: shop.example")
		filter.OnRequest(&x.Context)
		reply, _ := x.Reply()
		base, _ := url.Parse("http://shop.example/")
		plain, err := base.Parse(reply.Fields[0].Value)
		if err != nil {
			return
		}
		x.Request.SetPath([]byte(path))
		x.Request.SetQuery([]byte(query))
		filter.OnRequest(&x.Context)
		got := reply.Fields[0].Value
		require.NoError(t, filters.CheckFieldValue(got[:min(len(got), filters.MaxFieldValue)]))
		target, err := base.Parse(got)
		require.NoError(t, err)
		assert.Equal(t, plain.Host, target.Host)
		assert.Equal(t, plain.Scheme, target.Scheme)
		assert.Nil(t, target.User)
	})
}
