package message

import (
	"strings"
	"testing"

	"github.com/cloudwego/netpoll"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadHead(t *testing.T) {
	reader := netpoll.NewReader(strings.NewReader("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody"))
	head, err := ReadHead(reader)
	require.NoError(t, err)
	assert.Equal(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", string(head))
	rest, err := reader.Next(4)
	require.NoError(t, err)
	assert.Equal(t, "body", string(rest))

	reader = netpoll.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 2*MaxHead)))
	head, err = ReadHead(reader)
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 200 OK\r\n\r\n", string(head), "a long body is not a long head")

	_, err = ReadHead(netpoll.NewReader(strings.NewReader("GET / HTTP/1.1\r\n")))
	require.Error(t, err)
	_, err = ReadHead(netpoll.NewReader(strings.NewReader(strings.Repeat("x", MaxHead+1))))
	require.Error(t, err)
}

func TestLines(t *testing.T) {
	first, fields := Lines([]byte("GET / HTTP/1.1\r\nHost: a:1\r\nX:\r\n\r\n"))
	assert.Equal(t, "GET / HTTP/1.1", string(first))
	var got []string
	for name, value := range fields {
		got = append(got, string(name)+"="+string(value))
	}
	assert.Equal(t, []string{"Host=a:1", "X="}, got)
}

func TestContentLength(t *testing.T) {
	tests := []struct {
		fields string
		want   int
		bad    bool
	}{
		{"", 0, false},
		{"content-length: 12\r\n", 12, false},
		{"Content-Length: -1\r\n", 0, true},
		{"Content-Length: x\r\n", 0, true},
		{"Transfer-Encoding: chunked\r\n", 0, true},
	}
	for _, tt := range tests {
		n, err := ContentLength([]byte("HTTP/1.1 200 OK\r\n" + tt.fields + "\r\n"))
		assert.Equal(t, tt.bad, err != nil, tt.fields)
		assert.Equal(t, tt.want, n, tt.fields)
	}
}
