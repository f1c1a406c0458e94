package tlshello

import (
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzRead(f *testing.F) {
	f.Add(helloOf(f, &tls.Config{ServerName: "shop.example.com"}), 3)
	f.Add(records(hello(grease, serverName("a.example")), 7), 1)
	f.Add(records(hello("none"), 99), 2)
	f.Add(records(hello(serverName("a", "b")), 99), 5)
	f.Add([]byte("GET / HTTP/1.1\r\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		name, done, err := decode(b, len(b)+1)
		split, splitDone, splitErr := decode(b, max(n, 1))
		require.Equal(t, err, splitErr)
		require.Equal(t, done, splitDone)
		if err != nil {
			return
		}
		require.Equal(t, name, split)
		require.LessOrEqual(t, len(name), MaxName)
		if done {
			require.LessOrEqual(t, 4+randomAndVersion, len(b))
		}
	})
}
