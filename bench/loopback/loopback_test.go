package loopback

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFreeAddressesDiffer(t *testing.T) {
	addresses, err := FreeAddresses(8)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, a := range addresses {
		seen[a] = true
	}
	assert.Len(t, seen, 8)
}

func TestWait(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, Wait(ctx, ln.Addr().String(), nil))
	ln.Close()

	failed := make(chan error, 1)
	failed <- errors.New("bad flag")
	assert.ErrorContains(t, Wait(ctx, ln.Addr().String(), failed), "bad flag")

	cancel()
	assert.ErrorContains(t, Wait(ctx, ln.Addr().String(), nil), "nobody listens")
}
