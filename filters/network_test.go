package filters

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "192.0.2.7": "192.0.2.7/32", "2001:db8::/32": "2001:db8::/32", "::1": "::1/128",
		"::ffff:192.0.2.7": "192.0.2.7/32", "::ffff:10.0.0.0/104": "10.0.0.0/8",
	} {
		p, err := ParseNetwork(text)
		require.NoError(t, err, text)
		require.Equal(t, want, p.String())
	}
	for text, want := range map[string]string{
		"10.0.0.1/8": `"10.0.0.1/8" has bits outside its mask: write 10.0.0.0/8`,
		"fe80::1%lo": "is not a network", "ten": "is not a network", "": "is not a network", "10.0.0.0/33": "is not a network",
	} {
		_, err := ParseNetwork(text)
		require.ErrorContains(t, err, want)
	}
}
