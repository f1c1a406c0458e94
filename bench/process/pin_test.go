package process

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestPinSelf(t *testing.T) {
	var before, now unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &before))
	require.NoError(t, PinSelf(-1))
	require.NoError(t, unix.SchedGetaffinity(0, &now))
	require.Equal(t, before, now)
	require.Error(t, PinSelf(1023))
}
