package reactor

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// present counts the pages of an aligned piece of memory that are there.
func present(t *testing.T, b []byte) (n int) {
	t.Helper()
	seen := make([]byte, len(b)/pageSize)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&seen[0])))
	require.Zero(t, errno)
	for _, s := range seen {
		n += int(s & 1)
	}
	return n
}

func TestTouchMakesPagesPresent(t *testing.T) {
	mem, err := unix.Mmap(-1, 0, regionSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(mem)) }()
	require.Zero(t, present(t, mem))
	Touch(mem[:regionSize/2])
	require.Equal(t, regionSize/2/pageSize, present(t, mem))
	Touch(nil)
}

func TestWarmLoopHasItsBlocks(t *testing.T) {
	l := idleLoop(t, Options{CPU: -1})
	l.Warm()
	require.Zero(t, l.Memory().Used())
	require.Zero(t, l.stats.BlocksHeld)
	for range warmBlocks {
		b := l.GetBlock()
		defer l.PutBlock(b)
		require.Equal(t, BlockSize/pageSize, present(t, b.Bytes()))
	}
}
