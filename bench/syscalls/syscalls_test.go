package syscalls

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	table := `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.300000           3     20000        10 read
 40.00    0.200000           2     20100           write
  0.00    0.000001           1         1           futex
------ ----------- ----------- --------- --------- ----------------
100.00    0.500001           2     40101        10 total
`
	calls := parse(table)
	assert.Equal(t, map[string]int{"read": 20000, "write": 20100, "futex": 1}, calls)
	total, text := Describe(perRequest(calls, 10000))
	assert.Equal(t, "4.01", total)
	assert.Equal(t, "write 2.01, read 2.00", text)
	total, _ = Describe(nil)
	assert.Equal(t, "–", total)
}

func TestNobodyToTrace(t *testing.T) {
	never := func() (int, error) {
		t.Error("asked")
		return 0, nil
	}
	_, err := Count(t.Context(), -1, filepath.Join(t.TempDir(), "table"), never)
	require.ErrorContains(t, err, "is gone")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Count(ended, os.Getpid(), filepath.Join(t.TempDir(), "table"), never)
	require.Error(t, err)
}
