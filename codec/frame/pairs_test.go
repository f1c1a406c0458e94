package frame

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// metadata writes pairs: name, value, name, value.
func metadata(words ...string) []byte {
	var b []byte
	for i := 0; i < len(words); i += 2 {
		b = AppendPair(b, words[i], words[i+1])
	}
	return b
}

// walk lists the pairs as "name=value".
func walk(p Pairs) ([]string, error) {
	all := []string{}
	for p.Next() {
		all = append(all, string(p.Name)+"="+string(p.Value))
	}
	return all, p.Err()
}

func TestPairs(t *testing.T) {
	b := unhex(t, "0005 0002 3a70617468 2f61  0001 0000 61  0001 0001 61 09")
	require.Equal(t, metadata(":path", "/a", "a", "", "a", "\t"), b)
	all, err := walk(RequestPairs(b))
	require.NoError(t, err)
	require.Equal(t, []string{":path=/a", "a=", "a=\t"}, all)

	p := RequestPairs(metadata(":Timeout", "5", ":KEY", "k\xff", "content-TYPE", "x"))
	require.True(t, p.Next())
	require.Equal(t, PseudoTimeout, p.Pseudo)
	require.Equal(t, ":timeout", p.Pseudo.String())
	require.False(t, p.Has(PseudoKey))
	require.True(t, p.Next())
	require.True(t, p.Has(PseudoKey))
	require.Equal(t, pairSize+len("content-type")+1, p.Left())
	require.True(t, p.Next())
	require.Equal(t, NoPseudo, p.Pseudo)
	require.Empty(t, p.Pseudo.String())
	require.Equal(t, codec.ContentType, p.Known)
	require.False(t, p.Next())
	require.NoError(t, p.Err())
	require.Empty(t, pseudoCount.String())
}

func TestCallsInMetadata(t *testing.T) {
	for name, b := range map[string][]byte{
		"path":            metadata(":path", "/"),
		"path and query":  metadata(":verb", "GET", ":path", "/a/%zz?b=c&d", ":authority", "a.example:80", ":timeout", "2147483647"),
		"asterisk":        metadata(":path", "*", ":verb", "OPTIONS"),
		"method":          metadata(":interface", "a.B", ":method", "c"),
		"method in group": metadata(":method", "c", ":interface", "a.B", ":group", "g", ":version", "1", ":authority", "[::1]"),
		"key":             metadata(":authority", "a", ":key", "any \xff value"),
	} {
		_, err := walk(RequestPairs(b))
		require.NoError(t, err, name)
	}
}

func TestMetadataThatIsRefused(t *testing.T) {
	const path = "\x00\x05\x00\x01:path/"
	tests := []struct {
		name string
		b    string
		// at is how many pairs come before the fault.
		at  int
		err string
	}{
		{"half a length", path + "\x00", 1, "bad_request: a pair of the metadata runs beyond its end"},
		{"no name", path + "\x00\x01\x00\x00", 1, "bad_request: a pair of the metadata runs beyond its end"},
		{"half a value", path + "\x00\x01\x00\x02ab", 1, "bad_request: a pair of the metadata runs beyond its end"},
		{"longest lie", path + "\xff\xff\xff\xffab", 1, "bad_request: a pair of the metadata runs beyond its end"},
		{"empty name", path + "\x00\x00\x00\x01a", 1, "bad_request: a name in the metadata is not a token of 1 to 255 bytes"},
		{"long name", path + "\x01\x00\x00\x00" + strings.Repeat("a", 256), 1, "bad_request: a name in the metadata is not a token of 1 to 255 bytes"},
		{"name with a space", path + string(metadata("a b", "")), 1, "bad_request: a name in the metadata is not a token of 1 to 255 bytes"},
		{"name with a line end", path + string(metadata("a\r\n", "")), 1, "bad_request: a name in the metadata is not a token of 1 to 255 bytes"},
		{"value with a line end", path + string(metadata("a", "b\nc")), 1, "bad_request: a value in the metadata has control characters"},
		{"value with NUL", path + string(metadata("a", "\x00")), 1, "bad_request: a value in the metadata has control characters"},
		{"value with DEL", path + string(metadata("a", "\x7f")), 1, "bad_request: a value in the metadata has control characters"},
		{"key with a control", string(metadata(":key", "\x01")), 0, "bad_request: a value in the metadata has control characters"},
		{"unknown pseudo name", path + string(metadata(":scheme", "http")), 1, "bad_request: a pseudo name is not known, or not allowed here"},
		{"colon alone", path + string(metadata(":", "http")), 1, "bad_request: a pseudo name is not known, or not allowed here"},
		{"late pseudo name", path + string(metadata("a", "b", ":verb", "GET")), 2, "bad_request: a pseudo name stands behind a field"},
		{"path twice", path + string(metadata(":PATH", "/")), 1, "bad_request: a pseudo name stands twice"},
		{"Host", path + string(metadata("host", "a")), 1, "bad_request: the metadata has Host, Content-Length or Transfer-Encoding"},
		{"Content-Length", path + string(metadata("Content-Length", "1")), 1, "bad_request: the metadata has Host, Content-Length or Transfer-Encoding"},
		{"Transfer-Encoding", path + string(metadata("transfer-encoding", "x")), 1, "bad_request: the metadata has Host, Content-Length or Transfer-Encoding"},
		{"timeout as a field", path + string(metadata("x-corelane-timeout-ms", "1")), 1, "bad_request: the metadata has a field that a pseudo name stands for"},
		{"group as a field", path + string(metadata("x-rpc-group", "1")), 1, "bad_request: the metadata has a field that a pseudo name stands for"},
		{"nothing", "", 0, "bad_request: a request has no :path, no :interface with :method and no :key"},
		{"authority alone", string(metadata(":authority", "a")), 1, "bad_request: a request has no :path, no :interface with :method and no :key"},
		{"verb alone", string(metadata(":verb", "GET")), 1, "bad_request: a request has no :path, no :interface with :method and no :key"},
		{"interface alone", string(metadata(":interface", "a", ":group", "g")), 2, "bad_request: a request has no :path, no :interface with :method and no :key"},
		{"method alone", string(metadata(":method", "a")), 1, "bad_request: a request has no :path, no :interface with :method and no :key"},
		{"path and key", path + string(metadata(":key", "a")), 2, "bad_request: a request names what it wants in more than one way"},
		{"path and group", path + string(metadata(":group", "a")), 2, "bad_request: a request names what it wants in more than one way"},
		{"method and verb", string(metadata(":interface", "a", ":method", "b", ":verb", "GET")), 3, "bad_request: a request names what it wants in more than one way"},
		{"method and key", string(metadata(":interface", "a", ":method", "b", ":key", "c")), 3, "bad_request: a request names what it wants in more than one way"},
		{"empty path", string(metadata(":path", "")), 0, "bad_request: the path does not begin with / or has bytes that may not stand in it"},
		{"relative path", string(metadata(":path", "a")), 0, "bad_request: the path does not begin with / or has bytes that may not stand in it"},
		{"path with a space", string(metadata(":path", "/a b")), 0, "bad_request: the path does not begin with / or has bytes that may not stand in it"},
		{"path with a fragment", string(metadata(":path", "/a#b")), 0, "bad_request: the path does not begin with / or has bytes that may not stand in it"},
		{"path beyond ASCII", string(metadata(":path", "/\xc3\xa4")), 0, "bad_request: the path does not begin with / or has bytes that may not stand in it"},
		{"absolute form", string(metadata(":path", "http://a/")), 0, "bad_request: the path does not begin with / or has bytes that may not stand in it"},
		{"asterisk of POST", string(metadata(":path", "*")), 1, "bad_request: the path does not begin with / or has bytes that may not stand in it"},
		{"empty verb", path + string(metadata(":verb", "")), 1, "bad_request: the verb is not a token of 1 to 32 bytes"},
		{"long verb", path + string(metadata(":verb", strings.Repeat("A", 33))), 1, "bad_request: the verb is not a token of 1 to 32 bytes"},
		{"CONNECT", path + string(metadata(":verb", "CONNECT")), 1, "not_implemented: CONNECT is not served"},
		{"empty authority", path + string(metadata(":authority", "")), 1, "bad_request: the authority is invalid"},
		{"authority with a user", path + string(metadata(":authority", "a@b")), 1, "bad_request: the authority is invalid"},
		{"timeout 0", path + string(metadata(":timeout", "0")), 1, "bad_request: the timeout is not a number from 1 to 2147483647"},
		{"no timeout", path + string(metadata(":timeout", "")), 1, "bad_request: the timeout is not a number from 1 to 2147483647"},
		{"timeout with a unit", path + string(metadata(":timeout", "1s")), 1, "bad_request: the timeout is not a number from 1 to 2147483647"},
		{"long timeout", path + string(metadata(":timeout", "2147483648")), 1, "bad_request: the timeout is not a number from 1 to 2147483647"},
		{"longer timeout", path + string(metadata(":timeout", "10000000000")), 1, "bad_request: the timeout is not a number from 1 to 2147483647"},
		{"many pairs", path + strings.Repeat("\x00\x01\x00\x00a", MaxPairs), MaxPairs, "headers_too_large: the metadata has more pairs than allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := RequestPairs([]byte(tt.b))
			n := 0
			for p.Next() {
				n++
			}
			require.EqualError(t, p.Err(), tt.err)
			require.Equal(t, tt.at, n)
			require.False(t, p.Next(), "an error is final")
		})
	}
}

func TestFieldPairsHaveNoPseudoNames(t *testing.T) {
	all, err := walk(FieldPairs(metadata("a", "b", "x-rpc-group", "g")))
	require.NoError(t, err)
	require.Equal(t, []string{"a=b", "x-rpc-group=g"}, all)
	_, err = walk(FieldPairs(metadata(":path", "/")))
	require.EqualError(t, err, "bad_request: a pseudo name is not known, or not allowed here")
	_, err = walk(FieldPairs(nil))
	require.NoError(t, err)
}

func TestLongPairsAreCut(t *testing.T) {
	b := AppendPair(nil, strings.Repeat("n", 300), strings.Repeat("v", 70000))
	require.Len(t, b, pairSize+MaxName+MaxValue)
	require.EqualValues(t, MaxValue, binary.BigEndian.Uint16(b[2:]))
}
