package requestid_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
	"github.com/corelane/corelane/filters/requestid"
)

func provisioned(t testing.TB, header string, trust bool) *requestid.Filter {
	t.Helper()
	f := &requestid.Filter{Header: header, Trust: trust}
	require.NoError(t, f.Provision())
	return f
}

func TestRegistered(t *testing.T) {
	kind, ok := filters.Lookup("request_id")
	require.True(t, ok)
	f, ok := kind.New().(*requestid.Filter)
	require.True(t, ok)
	assert.Equal(t, &requestid.Filter{Header: "X-Request-Id"}, f)
	assert.NoError(t, f.Provision())
	assert.False(t, filters.NewEntry("request_id", f).Answers())
}

// fresh stands for an identifier of the gateway's own in the tables.
const fresh = "^[0-9a-f]{32}$"

func TestIdentifier(t *testing.T) {
	longest, tooLong := strings.Repeat("a", 128), strings.Repeat("a", 129)
	tests := []struct {
		name, header string
		trust        bool
		received     []string
		want         string
	}{
		{"none sent", "X-Request-Id", false, nil, fresh},
		{"none sent, trusting", "X-Request-Id", true, nil, fresh},
		{"not trusted", "X-Request-Id", false, []string{"X-Request-Id: mine"}, fresh},
		{"trusted", "X-Request-Id", true, []string{"x-request-id: mine-1.2_3"}, "^mine-1.2_3$"},
		{"longest", "X-Request-Id", true, []string{"X-Request-Id: " + longest}, "^" + longest + "$"},
		{"too long", "X-Request-Id", true, []string{"X-Request-Id: " + tooLong}, fresh},
		{"empty", "X-Request-Id", true, []string{"X-Request-Id:"}, fresh},
		{"two words", "X-Request-Id", true, []string{"X-Request-Id: a b"}, fresh},
		{"a list", "X-Request-Id", true, []string{"X-Request-Id: a,b"}, fresh},
		{"a quote", "X-Request-Id", true, []string{`X-Request-Id: a"`}, fresh},
		{"not ASCII", "X-Request-Id", true, []string{"X-Request-Id: \xff"}, fresh},
		{"two fields", "X-Request-Id", true, []string{"X-Request-Id: a", "X-Request-Id: a"}, fresh},
		{"a lookalike", "X-Request-Id", true, []string{"X_Request.ID: a"}, fresh},
		{"a lookalike beside", "X-Request-Id", true, []string{"X_REQUEST_ID: b", "X-Request-Id: a"}, "^a$"},
		{"other name", "X-Trace", false, []string{"X-Trace: a", "x-trace: b"}, fresh},
		{"other name, trusted", "X-Trace", true, []string{"X-Trace: a"}, "^a$"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := provisioned(t, test.header, test.trust)
			x := filtertest.New(t, append([]string{"GET / HTTP/1.1", "Host: a", "X-Request-It: kept"}, test.received...)...)
			require.Equal(t, filters.Continue, f.OnRequest(&x.Context))
			fields := filtertest.Fields(x.Request)
			require.Len(t, fields, 3, "one identifier: %q", fields)
			assert.Equal(t, []string{"Host: a", "X-Request-It: kept"}, fields[:2])
			name, id, _ := strings.Cut(fields[2], ": ")
			assert.True(t, strings.EqualFold(test.header, name))
			assert.Regexp(t, test.want, id)
		})
	}
}

func TestRefusedOptions(t *testing.T) {
	for name, want := range map[string]string{
		"":               `header: "" is not a field name`,
		"X Request":      "is not a field name",
		"X\r\n":          "is not a field name",
		"Content-Length": "header: the field Content-Length",
		"Host":           "rewrite.host",
	} {
		assert.ErrorContains(t, (&requestid.Filter{Header: name}).Provision(), want)
	}
}

// TestLoopsShareNothing runs every loop on a goroutine of its own; the race
// detector watches the generators, and no two identifiers are the same.
func TestLoopsShareNothing(t *testing.T) {
	const each = 200
	f := provisioned(t, "X-Request-Id", false)
	ids := make([][]string, filters.MaxLoops)
	var all sync.WaitGroup
	for loop := range filters.MaxLoops {
		x := filtertest.New(t, "GET / HTTP/1.1", "Host: a")
		x.Loop = loop
		all.Go(func() {
			for range each {
				f.OnRequest(&x.Context)
				ids[loop] = append(ids[loop], string(x.Request.GetName("X-Request-Id")))
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, of := range ids {
		for _, id := range of {
			seen[id] = true
		}
	}
	assert.Len(t, seen, each*filters.MaxLoops)
}

func TestAllocations(t *testing.T) {
	for _, header := range []string{"X-Request-Id", "X-" + strings.Repeat("Long", 20)} {
		f := provisioned(t, header, true)
		x := filtertest.New(t, "GET / HTTP/1.1", "Host: a")
		run := func() {
			x.Request.Reset()
			x.Request.AddString("X-Other", "1")
			f.OnRequest(&x.Context)
		}
		run()
		assert.Zero(t, testing.AllocsPerRun(100, run), header)
	}
}
