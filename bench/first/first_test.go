package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/process"
)

func TestFirst(t *testing.T) {
	program := filepath.Join(t.TempDir(), "corelane")
	require.NoError(t, process.Build(t.Context(), program, "../../cmd/corelane"))
	for _, idle := range []string{"0", "2"} {
		var out bytes.Buffer
		require.NoError(t, command([]string{
			"-gateway", program, "-starts", "2", "-first", "20", "-next", "30", "-connections", "2",
			"-min-idle", idle, "-proxy-cpu", "-1", "-load-cpu", "-1", "-log",
		}, &out))
		lines := strings.Split(out.String(), "\n")
		assert.Len(t, lines, 8, out.String())
		assert.Contains(t, lines[4], "| median |")
		assert.Contains(t, lines[6], "first ÷ next: p50 ")
	}
}

func TestFigures(t *testing.T) {
	first, next := make([]time.Duration, 100), make([]time.Duration, 100)
	for i := range first {
		first[i], next[i] = time.Duration(i+1)*time.Microsecond, 2*time.Microsecond
	}
	first[6] = time.Millisecond
	s := newStart(5*time.Millisecond, first, next)
	assert.Equal(t, "| x | 5.0 | 52 | 1000 | 1000 | 7. | 2 | 2 | 2 |", s.row("x"))
	assert.Equal(t, "| median | 5.0 | 52 | 1000 | 1000 | 7. | 2 | 2 | 2 |\n\nfirst ÷ next: p50 26.00, p99 500.00, max 500.00\n", median([]start{s}))
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-starts", "0"}, {"-first", "0"}, {"-x"}} {
		_, err := parse(args)
		require.Error(t, err)
	}
	require.NoError(t, command([]string{"-h"}, &bytes.Buffer{}))
}
