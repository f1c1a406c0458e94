package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSchedule(t *testing.T) {
	start := time.Unix(100, 0)
	p := schedule(start, 2, 4, 40)
	assert.Equal(t, 100*time.Millisecond, p.interval)
	assert.Equal(t, start.Add(50*time.Millisecond), p.next)
	assert.Zero(t, schedule(start, 2, 4, 0).interval)
}

func TestWaitCountsFromTheDueTimeWhenLate(t *testing.T) {
	due := time.Now().Add(-time.Hour)
	c := &client{pace: pace{next: due, interval: time.Second}, end: due.Add(2 * time.Hour)}
	assert.Equal(t, due, c.wait())
	assert.Equal(t, due.Add(time.Second), c.wait())
}

func TestReadResponse(t *testing.T) {
	tests := []struct {
		response string
		want     string
	}{
		{"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "unexpected EOF"},
		{"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "status is not 200"},
		{"HTTP/1.1 200 OK\r\n\r\n", "response without a length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "invalid syntax"},
		{"", "EOF"},
	}
	for _, tt := range tests {
		err := readResponse(bufio.NewReader(strings.NewReader(tt.response)))
		if tt.want == "" {
			assert.NoError(t, err, tt.response)
		} else {
			assert.ErrorContains(t, err, tt.want, tt.response)
		}
	}
}

func TestRun(t *testing.T) {
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
	defer good.Close()
	for _, rate := range []float64{0, 200} {
		report := run(parse(t, good.URL), 2, rate, 200*time.Millisecond)
		assert.Positive(t, report.Requests)
		assert.Zero(t, report.Failures)
		assert.LessOrEqual(t, report.P50, report.P99)
		assert.LessOrEqual(t, report.P99, report.Max)
	}
	bad := httptest.NewServer(http.NotFoundHandler())
	defer bad.Close()
	report := run(parse(t, bad.URL), 1, 0, 50*time.Millisecond)
	assert.Zero(t, report.Requests)
	assert.Positive(t, report.Failures)
}

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u
}
