package maintenance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
	"github.com/corelane/corelane/filters/maintenance"
)

func TestRegistered(t *testing.T) {
	kind, ok := filters.Lookup("maintenance")
	require.True(t, ok)
	assert.Equal(t, &maintenance.Filter{Active: true, Status: 503, RetryAfter: time.Minute}, kind.New())
	_, answers := kind.New().(filters.Answerer)
	assert.False(t, answers, "a route keeps its service, so that the filter can be switched off")
}

func TestAnswer(t *testing.T) {
	const plain = "text/plain; charset=utf-8"
	tests := []struct {
		name   string
		filter maintenance.Filter
		body   string
		kind   string
		retry  string
	}{
		{"the gateway's error body", maintenance.Filter{Status: 503, RetryAfter: time.Minute}, "the service is under maintenance", "", "60"},
		{"text", maintenance.Filter{Status: 503, Body: "back at 8"}, "back at 8", plain, ""},
		{"a number is text", maintenance.Filter{Status: 503, Body: "8"}, "8", plain, ""},
		{"JSON", maintenance.Filter{Status: 200, Body: ` {"points": 0}`}, ` {"points": 0}`, "application/json", ""},
		{"a list", maintenance.Filter{Status: 200, Body: `[]`}, `[]`, "application/json", ""},
		{"a brace is no JSON", maintenance.Filter{Status: 503, Body: "{x}"}, "{x}", plain, ""},
		{"seconds are rounded up", maintenance.Filter{Status: 503, RetryAfter: 1001 * time.Millisecond}, "the service is under maintenance", "", "2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.filter.Active = true
			got := filtertest.Run(t, &tt.filter, "GET / HTTP/1.1", "Host: a.example")
			assert.False(t, got.Forwarded)
			assert.Equal(t, codec.Maintenance, got.Reason)
			assert.Equal(t, tt.filter.Status, got.Status)
			assert.Equal(t, tt.body, got.Body)
			assert.Equal(t, tt.kind, got.Received("Content-Type"))
			assert.Equal(t, tt.retry, got.Received("Retry-After"))
		})
	}
}

func TestSwitchedOffItDoesNothing(t *testing.T) {
	got := filtertest.Run(t, &maintenance.Filter{Status: 503, Body: "x"}, "GET / HTTP/1.1", "Host: a.example")
	assert.True(t, got.Forwarded)
	assert.Equal(t, codec.ReasonNone, got.Reason)
}

func TestRefusedOptions(t *testing.T) {
	tests := []struct {
		name   string
		filter maintenance.Filter
		want   string
	}{
		{"no status", maintenance.Filter{}, "status: 0 is not from 200 to 599"},
		{"interim status", maintenance.Filter{Status: 100}, "status: 100"},
		{"status too high", maintenance.Filter{Status: 600}, "status: 600"},
		{"no content", maintenance.Filter{Status: 204}, "status: an answer 204 has no body"},
		{"not modified", maintenance.Filter{Status: 304}, "status: an answer 304 has no body"},
		{"body too long", maintenance.Filter{Status: 503, Body: strings.Repeat("x", maintenance.MaxBody+1)}, "body: 1048577 bytes are too many"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.ErrorContains(t, tt.filter.Provision(), tt.want)
		})
	}
}

func TestAllocations(t *testing.T) {
	f := &maintenance.Filter{Active: true, Status: 503, Body: "later", RetryAfter: time.Minute}
	require.NoError(t, f.Provision())
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a.example")
	assert.Zero(t, testing.AllocsPerRun(100, func() { f.OnRequest(&x.Context) }))
}
