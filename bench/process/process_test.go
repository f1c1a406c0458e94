package process

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/loopback"
)

func TestParseStat(t *testing.T) {
	stat, err := parseStat([]byte("12 (a (b) c) S 7 12 12 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1"))
	require.NoError(t, err)
	assert.Equal(t, Stat{Parent: 7, CPU: 2 * time.Second}, stat)
	_, err = parseStat([]byte("12 short"))
	assert.Error(t, err)
}

func TestOwnFamily(t *testing.T) {
	members, err := Family(os.Getpid())
	require.NoError(t, err)
	assert.Contains(t, members, os.Getpid())
	peak, err := PeakMemory(os.Getpid())
	require.NoError(t, err)
	assert.Positive(t, peak)
	_, err = Family(-1)
	assert.Error(t, err)
}

func TestPeakBeginsAgain(t *testing.T) {
	touched := bytes.Repeat([]byte("x"), 64<<20)
	before, err := PeakMemory(os.Getpid())
	require.NoError(t, err)
	require.GreaterOrEqual(t, before, len(touched)>>10)
	touched = nil
	debug.FreeOSMemory()
	require.NoError(t, ResetPeak(os.Getpid()))
	after, err := PeakMemory(os.Getpid())
	require.NoError(t, err)
	assert.Less(t, after, before-32<<10)
	require.Error(t, ResetPeak(-1))
}

func TestSockets(t *testing.T) {
	before, err := Sockets(os.Getpid())
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	now, err := Sockets(os.Getpid())
	require.NoError(t, err)
	assert.Equal(t, 1, now-before)
	_, err = Sockets(-1)
	require.Error(t, err)
}

func TestProcessThatEndsAtOnce(t *testing.T) {
	free, err := loopback.FreeAddresses(1)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo port taken; exit 3")
	_, err = Start(t.Context(), "odd", cmd, free[0], filepath.Join(t.TempDir(), "log"))
	assert.ErrorContains(t, err, "exit status 3")
	assert.ErrorContains(t, err, "port taken")
}

func TestProcessThatDoesNotEnd(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	// It ends at the signal but leaves a child, which the process group catches.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 600 & wait")
	p, err := Start(t.Context(), "odd", cmd, ln.Addr().String(), filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	require.NoError(t, p.Alive())
	members, err := Family(p.PID())
	require.NoError(t, err)
	p.Stop()
	for pid := range members {
		assert.Eventually(t, func() bool { return gone(pid) }, 5*time.Second, 10*time.Millisecond, "process %d", pid)
	}
}

// gone tells whether a process has ended, or waits only to be collected.
func gone(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || bytes.Contains(b, []byte(") Z "))
}
