package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRawBytesStayUntilReset(t *testing.T) {
	var h Head
	h.Reset()
	require.Empty(t, h.Raw())

	h.SetRaw([]byte("\xda\xbb\x00\x01"))
	h.SetKeyCall([]byte("orders"))
	h.AddString("X-Trace", "1")
	require.Equal(t, "\xda\xbb\x00\x01", string(h.Raw()))
	require.Equal(t, "orders", string(h.Key()))
	require.Equal(t, 1, h.Len(), "they are no field")

	h.Reset()
	require.Empty(t, h.Raw())
}
