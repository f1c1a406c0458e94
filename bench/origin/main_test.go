package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/loopback"
)

func TestAnswer(t *testing.T) {
	tests := []struct {
		head   string
		body   int
		closes bool
	}{
		{"GET /128 HTTP/1.1\r\n\r\n", 128, false},
		{"GET /16k HTTP/1.1\r\n\r\n", 16 << 10, false},
		{"GET /7?n=1 HTTP/1.1\r\n\r\n", 7, false},
		{"GET /0 HTTP/1.1\r\n\r\n", 0, false},
		{"GET /-1 HTTP/1.1\r\n\r\n", 0, true},
		{"GET /99999999k HTTP/1.1\r\n\r\n", 0, true},
		{"GET /x HTTP/1.1\r\n\r\n", 0, true},
		{"GET /128\r\n\r\n", 0, true},
		{"POST /128 HTTP/1.1\r\n\r\n", 0, true},
	}
	for _, tt := range tests {
		reply, ok := answer([]byte(tt.head))
		assert.Equal(t, !tt.closes, ok, tt.head)
		_, body, found := strings.Cut(string(reply), "\r\n\r\n")
		require.True(t, found, tt.head)
		assert.Len(t, body, tt.body, tt.head)
		assert.Contains(t, string(reply), fmt.Sprintf("Content-Length: %d\r\n", tt.body))
	}
}

func TestServe(t *testing.T) {
	free, err := loopback.FreeAddresses(1)
	require.NoError(t, err)
	address, failed := free[0], make(chan error, 1)
	go func() { failed <- serve(address) }()
	require.NoError(t, loopback.Wait(t.Context(), address, failed))
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()

	// Two requests, of which the second ends in another segment.
	_, err = io.WriteString(conn, "GET /3 HTTP/1.1\r\nHost: a\r\n\r\nGET /5 HTTP/1.1\r\nHo")
	require.NoError(t, err)
	want := string(response([]byte("xxx")))
	assert.Equal(t, want, readN(t, conn, len(want)))
	_, err = io.WriteString(conn, "st: a\r\n\r\n")
	require.NoError(t, err)
	want = string(response([]byte("xxxxx")))
	assert.Equal(t, want, readN(t, conn, len(want)))

	res, err := http.Get("http://" + address + "/echo")
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(body), "GET /echo HTTP/1.1\r\nHost: "+address))
}

func readN(t *testing.T, r io.Reader, n int) string {
	t.Helper()
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	require.NoError(t, err)
	return string(b)
}
