package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLookupFindsEveryNameInAnyCase(t *testing.T) {
	for k := Unknown + 1; k < knownCount; k++ {
		name := k.String()
		require.NotEmpty(t, name, "name %d", k)
		assert.LessOrEqual(t, len(name), longestName)
		for _, s := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			assert.Equal(t, k, Lookup([]byte(s)), s)
		}
	}
}

func TestLookupRefusesNeighbours(t *testing.T) {
	for k := Unknown + 1; k < knownCount; k++ {
		name := []byte(k.String())
		for i := range name {
			for bit := range 8 {
				other := append([]byte(nil), name...)
				other[i] ^= 1 << bit
				want := Unknown
				if EqualFold(other, k.String()) {
					want = k
				} else if strings.EqualFold(string(other), "Host") {
					want = Host
				}
				assert.Equal(t, want, Lookup(other), "%q", other)
			}
		}
		assert.Equal(t, Unknown, Lookup(append(name, 's')))
	}
	assert.Equal(t, Unknown, Lookup(nil))
	assert.Equal(t, Unknown, Lookup([]byte(strings.Repeat("x", 40))))
	assert.Equal(t, Unknown, Lookup([]byte("X-Forwarded-Fo")))
	assert.Equal(t, Unknown, Lookup([]byte("Content_Length")))
}

func TestKnownSets(t *testing.T) {
	var hop []string
	for k := Unknown; k < knownCount; k++ {
		if k.HopByHop() {
			hop = append(hop, k.String())
			assert.LessOrEqual(t, k, lastHopByHop)
			assert.False(t, k.Trailing())
		}
	}
	assert.Equal(t, []string{
		"Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade", "HTTP2-Settings",
	}, hop)
	assert.True(t, Unknown.Trailing())
	assert.True(t, ETag.Trailing())
	for _, k := range []Known{Host, ContentLength, Authorization, XForwardedFor, Trailer, SetCookie} {
		assert.False(t, k.Trailing(), k.String())
		assert.True(t, NotTrailing().Has(k))
	}
	assert.Less(t, int(knownCount), 64, "a KnownSet is one word")
	assert.Empty(t, Unknown.String())
	assert.Empty(t, knownCount.String())
}

func BenchmarkLookup(b *testing.B) {
	names := [][]byte{[]byte("Host"), []byte("content-length"), []byte("X-Forwarded-For"), []byte("X-Something")}
	for b.Loop() {
		for _, n := range names {
			Lookup(n)
		}
	}
}
