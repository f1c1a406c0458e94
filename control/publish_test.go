package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestPolitely(t *testing.T) {
	refused := errors.New("refused")
	require.NoError(t, politely(func() error { return nil }))
	require.ErrorIs(t, politely(func() error { return refused }), refused)
	err := politely(func() error { panic("odd document") })
	require.ErrorContains(t, err, "a fault of the program: odd document")
	require.ErrorContains(t, err, "publish_test.go", "with the stack")

	var nice int // as the kernel tells it: 20 less the nice value
	require.NoError(t, politely(func() (err error) {
		nice, err = unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
		return err
	}))
	assert.Equal(t, 20-reloadNice, nice)
}
