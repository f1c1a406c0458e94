package tlshello

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// helloOf is what Go's own client sends first.
func helloOf(t testing.TB, c *tls.Config) []byte {
	t.Helper()
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		_ = tls.Client(near, c).Handshake() // it fails: nobody answers
		_ = near.Close()
	}()
	var head [5]byte
	_, err := io.ReadFull(far, head[:])
	require.NoError(t, err)
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	_, err = io.ReadFull(far, body)
	require.NoError(t, err)
	return append(head[:], body...)
}

// decode reads b in pieces of at most n bytes.
func decode(b []byte, n int) (name string, done bool, err error) {
	var d Decoder
	for len(b) > 0 && !done && err == nil {
		k := min(n, len(b))
		done, err = d.Read(b[:k])
		b = b[k:]
	}
	return string(d.Name()), done, err
}

// records puts a message into records of at most n bytes.
func records(message string, n int) []byte {
	var out []byte
	for len(message) > 0 {
		k := min(n, len(message))
		out = append(append(out, recordHandshake, 3, 1, byte(k>>8), byte(k)), message[:k]...)
		message = message[k:]
	}
	return out
}

// sized puts a length of so many bytes in front.
func sized(width int, s string) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(len(s)))
	return string(b[8-width:]) + s
}

func ext(kind uint16, body string) string {
	return string([]byte{byte(kind >> 8), byte(kind)}) + sized(2, body)
}

func serverName(names ...string) string {
	list := ""
	for _, n := range names {
		list += "\x00" + sized(2, n)
	}
	return ext(extServerName, sized(2, list))
}

// hello is a message with these extensions; "none" has not even their length.
func hello(extensions ...string) string {
	body := "\x03\x03" + strings.Repeat("r", 32) + sized(1, "session") + sized(2, "\x13\x01\x0a\x0a") + sized(1, "\x00")
	if len(extensions) != 1 || extensions[0] != "none" {
		body += sized(2, strings.Join(extensions, ""))
	}
	return "\x01" + sized(3, body)
}

// grease is an extension that servers must ignore (RFC 8701).
var grease = ext(0x0a0a, "") + ext(0xfafa, "\x00")

func TestNameOfRealClients(t *testing.T) {
	for name, c := range map[string]*tls.Config{
		"shop.example.com": {ServerName: "shop.example.com"},
		"old.example.com":  {ServerName: "old.example.com", MaxVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}},
		"":                 {InsecureSkipVerify: true},
	} {
		b := helloOf(t, c)
		for _, n := range []int{1, 2, 5, 7, 100, len(b)} {
			got, done, err := decode(b, n)
			require.NoError(t, err)
			require.True(t, done, n)
			require.Equal(t, name, got)
		}
		for n := range b {
			_, done, err := decode(b[:n], n+1)
			require.NoError(t, err, n)
			require.False(t, done, n)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", MaxName)
	tests := []struct{ name, message, want string }{
		{"first", hello(serverName("a.example"), grease), "a.example"},
		{"last, behind what servers ignore", hello(grease, ext(43, "\x02\x03\x04"), serverName("a.example")), "a.example"},
		{"case and the root's dot", hello(serverName("Shop.Example.COM.")), "shop.example.com"},
		{"as long as it gets", hello(serverName(long)), long},
		{"none", hello(grease), ""},
		{"no extension", hello(), ""},
		{"no length of extensions", hello("none"), ""},
		{"the outer name of an encrypted hello", hello(ext(0xfe0d, "\x00secret"), serverName("public.example")), "public.example"},
		{"a large key share", hello(ext(51, strings.Repeat("k", 2000)), serverName("a.example")), "a.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 50, maxRecord} {
				b := append(records(tt.message, size), "\x17\x03\x03more"...)
				for _, n := range []int{1, 4, 64, len(b)} {
					got, done, err := decode(b, n)
					require.NoError(t, err)
					require.True(t, done)
					require.Equal(t, tt.want, got)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	name := serverName("a.example")
	whole := hello(name)
	lie := func(at int, b byte) string { // of the message without its record
		m := []byte(whole)
		m[at] = b
		return string(m)
	}
	const exts = 4 + 34 + 8 + 6 + 2 // where the length of the extensions stands
	tests := []struct {
		name string
		wire string
		want error
	}{
		{"HTTP", "GET / HTTP/1.1\r\n", ErrNotTLS},
		{"SSH", "SSH-2.0-x\r\n", ErrNotTLS},
		{"SSL 2", "\x80\x2e\x01\x00\x02", ErrNotTLS},
		{"an alert", "\x15\x03\x01\x00\x02\x01\x00", ErrNotTLS},
		{"another major version", "\x16\x04\x01", ErrNotTLS},
		{"an empty record", "\x16\x03\x01\x00\x00", ErrMalformed},
		{"a record that is too long", "\x16\x03\x01\x40\x01", ErrMalformed},
		{"another kind of record in between", string(records(whole[:10], 10)) + "\x15\x03\x01\x00\x02\x01\x00", ErrMalformed},
		{"another message", string(records("\x02"+whole[1:], 999)), ErrMalformed},
		{"a message that is too long", string(records("\x01\xff\xff\xff", 999)), ErrTooLong},
		{"a message too short for its start", string(records("\x01\x00\x00\x02", 999)), ErrMalformed},
		{"a session id beyond the message", string(records(lie(38, 0xff), 999)), ErrMalformed},
		{"suites beyond the message", string(records(lie(46, 0xff), 999)), ErrMalformed},
		{"extensions beyond the message", string(records(lie(exts, 0xff), 999)), ErrMalformed},
		{"extensions that end early", string(records(lie(exts+1, 1), 999)), ErrMalformed},
		{"an extension beyond its list", string(records(hello("\x00\x2b\x00\x09\x00"), 999)), ErrMalformed},
		{"half an extension", string(records(hello("\x00"), 999)), ErrMalformed},
		{"an empty server name extension", string(records(hello(ext(0, "")), 999)), ErrMalformed},
		{"an empty list of names", string(records(hello(ext(0, "\x00\x00")), 999)), ErrMalformed},
		{"a list longer than its extension", string(records(hello(ext(0, "\x00\x09\x00")), 999)), ErrMalformed},
		{"a name longer than its list", string(records(hello(ext(0, sized(2, "\x00\x00\x09a"))), 999)), ErrMalformed},
		{"half a name entry", string(records(hello(ext(0, sized(2, "\x00\x00"))), 999)), ErrMalformed},
		{"an empty name", string(records(hello(serverName("")), 999)), ErrName},
		{"a name that is too long", string(records(hello(serverName(strings.Repeat("a", MaxName+1))), 999)), ErrName},
		{"two names", string(records(hello(serverName("a.example", "b.example")), 999)), ErrName},
		{"two extensions with names", string(records(hello(name, name), 999)), ErrName},
		{"another kind of name", string(records(hello(ext(0, sized(2, "\x01\x00\x01a"))), 999)), ErrName},
		{"a name with a line break", string(records(hello(serverName("a\nb")), 999)), ErrName},
		{"a name that is not ASCII", string(records(hello(serverName("\xff")), 999)), ErrName},
		{"records in small change", string(records(hello(ext(21, strings.Repeat("p", 5000))), 1)), ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{1, 3, len(tt.wire)} {
				_, done, err := decode([]byte(tt.wire), n)
				require.ErrorIs(t, err, tt.want)
				require.Equal(t, tt.want == ErrName && done, done)
			}
		})
	}
}

func TestAlertIsOneForClients(t *testing.T) {
	near, far := net.Pipe()
	go func() {
		_, _ = io.ReadAtLeast(far, make([]byte, Max), 6)
		_, _ = far.Write(UnrecognizedName)
		_ = far.Close()
	}()
	err := tls.Client(near, &tls.Config{ServerName: "a.example"}).Handshake()
	require.ErrorContains(t, err, "unrecognized name")
	require.NoError(t, near.Close())
}

func TestReadDoesNotAllocate(t *testing.T) {
	b := helloOf(t, &tls.Config{ServerName: "shop.example.com"})
	var d Decoder
	require.Zero(t, testing.AllocsPerRun(100, func() {
		d = Decoder{}
		_, _ = d.Read(b)
	}))
}
