package headers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
	"github.com/corelane/corelane/filters/headers"
)

type fields = map[string]string

func TestRegistered(t *testing.T) {
	kind, ok := filters.Lookup("headers")
	require.True(t, ok)
	f, ok := kind.New().(*headers.Filter)
	require.True(t, ok)
	assert.Equal(t, &headers.Filter{}, f)
	assert.NoError(t, f.Provision(), "no options: nothing to do")
	assert.False(t, filters.NewEntry("headers", f).Answers())
}

func TestEdits(t *testing.T) {
	received := []string{"Host: a.example", "Server: s", "X-A: 1", "x-a: 2", "X-B: 3", "Via: v"}
	tests := []struct {
		name  string
		edits headers.Edits
		want  []string
	}{
		{"nothing", headers.Edits{}, received},
		{
			"remove every field of a name, known or not",
			headers.Edits{Remove: []string{"x-A", "SERVER", "X-Absent"}},
			[]string{"Host: a.example", "X-B: 3", "Via: v"},
		},
		{
			"set in place of the first, the others go",
			headers.Edits{Set: fields{"X-A": "new"}},
			[]string{"Host: a.example", "Server: s", "X-A: new", "X-B: 3", "Via: v"},
		},
		{
			"set what was not there, in the order of names",
			headers.Edits{Set: fields{"X-D": "", "X-C": "c"}},
			append(append([]string{}, received...), "X-C: c", "X-D: "),
		},
		{
			"add keeps what is there",
			headers.Edits{Add: fields{"X-A": "3"}},
			append(append([]string{}, received...), "X-A: 3"),
		},
		{
			"first remove, then set, then add",
			headers.Edits{Remove: []string{"X-A"}, Set: fields{"X-A": "set"}, Add: fields{"X-A": "add"}},
			[]string{"Host: a.example", "Server: s", "X-B: 3", "Via: v", "X-A: set", "X-A: add"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &headers.Filter{Request: test.edits, Response: test.edits}
			require.NoError(t, f.Provision())
			x := filtertest.New(t, append([]string{"GET / HTTP/1.1"}, received...)...)
			require.Equal(t, filters.Continue, f.OnRequest(&x.Context))
			assert.Equal(t, test.want, filtertest.Fields(x.Request))

			x.NewResponse(append([]string{"HTTP/1.1 200 OK"}, received[1:]...)...)
			require.Equal(t, filters.Continue, f.OnResponse(&x.Context))
			assert.Equal(t, test.want[1:], filtertest.Fields(x.Response))
		})
	}
}

func TestSidesAreApart(t *testing.T) {
	f := &headers.Filter{
		Request:  headers.Edits{Set: fields{"X-Side": "request"}},
		Response: headers.Edits{Set: fields{"X-Side": "response"}},
	}
	require.NoError(t, f.Provision())
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a")
	x.NewResponse("HTTP/1.1 204 No Content")
	f.OnRequest(&x.Context)
	f.OnResponse(&x.Context)
	assert.Equal(t, "request", string(x.Request.GetName("X-Side")))
	assert.Equal(t, "response", string(x.Response.GetName("X-Side")))
}

func TestRefusedOptions(t *testing.T) {
	tests := []struct {
		name  string
		edits headers.Edits
		want  string
	}{
		{"no token", headers.Edits{Set: fields{"X A": "b"}}, `set: "X A" is not a field name`},
		{"empty name", headers.Edits{Remove: []string{"X-A", ""}}, `remove[1]: "" is not a field name`},
		{"colon", headers.Edits{Add: fields{"X:": "b"}}, `add: "X:" is not a field name`},
		{"line break in a value", headers.Edits{Set: fields{"X-A": "b\r\nX-B: c"}}, "set: X-A: the field value"},
		{"line feed in a value", headers.Edits{Add: fields{"X-A": "b\nc"}}, "has a control character"},
		{"blank at an end", headers.Edits{Add: fields{"X-A": "b "}}, "begins or ends with a blank"},
		{"hop by hop", headers.Edits{Set: fields{"connection": "close"}}, "set: the field Connection is hop-by-hop"},
		{"framing", headers.Edits{Add: fields{"Transfer-Encoding": "chunked"}}, "part of the framing"},
		{"length", headers.Edits{Remove: []string{"Content-Length"}}, "remove[0]: the field Content-Length"},
		{"host", headers.Edits{Set: fields{"Host": "b"}}, "use rewrite.host"},
		{"one name twice", headers.Edits{Set: fields{"X-A": "1", "x-a": "2"}}, "X-A and x-a are one field"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := (&headers.Filter{Request: test.edits}).Provision()
			assert.ErrorContains(t, err, "request.")
			assert.ErrorContains(t, err, test.want)
			err = (&headers.Filter{Response: test.edits}).Provision()
			assert.ErrorContains(t, err, "response.")
		})
	}
}

func TestAllThatIsWrongIsReported(t *testing.T) {
	err := (&headers.Filter{
		Request:  headers.Edits{Remove: []string{"TE", "ok", "a b"}, Set: fields{"Upgrade": "x"}},
		Response: headers.Edits{Add: fields{"Trailer": "x"}},
	}).Provision()
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 4)
}

// TestAllocations also covers a name that is longer than what the stack holds
// for a conversion.
func TestAllocations(t *testing.T) {
	long := "X-" + strings.Repeat("Long", 20)
	edits := headers.Edits{
		Remove: []string{"Server", "X-Gone", long + "-Gone"},
		Set:    fields{"X-A": "b", "User-Agent": "c", long: "d"},
		Add:    fields{"X-B": "e"},
	}
	f := &headers.Filter{Request: edits, Response: edits}
	require.NoError(t, f.Provision())
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a", "X-Gone: 1", long+"-Gone: 1")
	x.NewResponse("HTTP/1.1 200 OK", "Server: s", "Content-Length: 0")
	request, response := append([]byte{}, x.Request.Bytes()...), append([]byte{}, x.Response.Bytes()...)
	run := func() {
		x.Request.Reset()
		x.Request.AppendBytes(request)
		x.Request.AddString("X-Gone", "1")
		x.Response.Reset()
		x.Response.AppendBytes(response)
		f.OnRequest(&x.Context)
		f.OnResponse(&x.Context)
	}
	run()
	assert.Zero(t, testing.AllocsPerRun(100, run))
}
