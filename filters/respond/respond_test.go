package respond_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
	"github.com/corelane/corelane/filters/respond"
)

type fields = map[string]string

func TestRegistered(t *testing.T) {
	kind, ok := filters.Lookup("respond")
	require.True(t, ok)
	f, ok := kind.New().(*respond.Filter)
	require.True(t, ok)
	assert.Equal(t, &respond.Filter{Status: 200}, f)
	require.NoError(t, f.Provision())
	assert.True(t, filters.NewEntry("respond", f).Answers())
}

func TestAnswer(t *testing.T) {
	const plain = "text/plain; charset=utf-8"
	tests := []struct {
		name   string
		filter respond.Filter
		want   []filters.ReplyField
	}{
		{"empty", respond.Filter{Status: 200}, nil},
		{"text", respond.Filter{Status: 503, Body: "later"}, []filters.ReplyField{{Name: "Content-Type", Value: plain}}},
		{
			"fields in the order of names",
			respond.Filter{Status: 200, Body: "ok", Headers: fields{"X-B": "2", "X-A": "1"}},
			[]filters.ReplyField{{Name: "X-A", Value: "1"}, {Name: "X-B", Value: "2"}, {Name: "Content-Type", Value: plain}},
		},
		{
			"its own type",
			respond.Filter{Status: 200, Body: "{}", Headers: fields{"content-type": "application/json"}},
			[]filters.ReplyField{{Name: "content-type", Value: "application/json"}},
		},
		{"no content", respond.Filter{Status: 204, Headers: fields{"X-A": "1"}}, []filters.ReplyField{{Name: "X-A", Value: "1"}}},
		{"a status nobody knows", respond.Filter{Status: 599}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &test.filter
			require.NoError(t, f.Provision())
			x := filtertest.New(t, "GET / HTTP/1.1", "Host: a")
			require.Equal(t, filters.Respond, f.OnRequest(&x.Context))
			reply, ok := x.Reply()
			require.True(t, ok)
			assert.Equal(t, test.filter.Status, reply.Status)
			assert.Equal(t, test.filter.Body, string(reply.Body))
			assert.Equal(t, test.want, reply.Fields)
			assert.Equal(t, codec.ReasonNone, reply.Reason)
		})
	}
}

func TestRefusedOptions(t *testing.T) {
	tests := []struct {
		name   string
		filter respond.Filter
		want   string
	}{
		{"no status", respond.Filter{}, "status: 0 is not from 200 to 599"},
		{"interim status", respond.Filter{Status: 101}, "status: 101"},
		{"status too high", respond.Filter{Status: 600}, "status: 600"},
		{"body with 204", respond.Filter{Status: 204, Body: "x"}, "body: an answer 204 has none"},
		{"body with 205", respond.Filter{Status: 205, Body: "x"}, "body: an answer 205 has none"},
		{"body with 304", respond.Filter{Status: 304, Body: "x"}, "body: an answer 304 has none"},
		{"body too long", respond.Filter{Status: 200, Body: strings.Repeat("x", respond.MaxBody+1)}, "body: 1048577 bytes are too many"},
		{"no token", respond.Filter{Status: 200, Headers: fields{"X A": "b"}}, `headers: "X A" is not a field name`},
		{"line break", respond.Filter{Status: 200, Headers: fields{"X-A": "b\r\nX-B: c"}}, "has a control character"},
		{"framing", respond.Filter{Status: 200, Headers: fields{"content-length": "1"}}, "headers: the field Content-Length is hop-by-hop or part of the framing"},
		{"one name twice", respond.Filter{Status: 200, Headers: fields{"X-A": "1", "x-a": "2"}}, "headers: X-A and x-a are one field"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.ErrorContains(t, test.filter.Provision(), test.want)
		})
	}
	err := (&respond.Filter{Status: 1, Headers: fields{"TE": "x", "Upgrade": "y"}}).Provision()
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 3, "all that is wrong")
}

func TestAllocations(t *testing.T) {
	f := &respond.Filter{Status: 200, Headers: fields{"X-A": "1"}, Body: "ok"}
	require.NoError(t, f.Provision())
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a")
	assert.Zero(t, testing.AllocsPerRun(100, func() { f.OnRequest(&x.Context) }))
}
