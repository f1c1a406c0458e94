package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/process"
)

// TestEveryScenario runs each as small as it can be: what is measured means
// nothing here, that it can be measured is the point.
func TestEveryScenario(t *testing.T) {
	program := filepath.Join(t.TempDir(), "corelane")
	require.NoError(t, process.Build(t.Context(), program, "../../cmd/corelane"))
	small := []string{"-gateway", program, "-proxy-cpu=", "-load-cpu=-1", "-rounds=1", "-slice=400ms", "-connections=2"}
	for what, c := range map[string]struct {
		args []string
		want []string
	}{
		"idle":     {[]string{"-clients=60"}, []string{"| 60 | "}},
		"slow":     {[]string{"-stopped=2"}, []string{"2 readers that stop on 1024 MiB", "median of 1 pairs"}},
		"reload":   {[]string{"-routes=20", "-changes=2"}, []string{"20 routes of", "2 changes of one route", "Resident after 2 changes"}},
		"scale":    {nil, []string{"| fixed | ", "| peak | "}},
		"inflight": {[]string{"-inflight=3000", "-rounds=2"}, []string{"3000 requests in flight", "| 2 | "}},
	} {
		t.Run(what, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "page.md")
			var out bytes.Buffer
			require.NoError(t, command(append(append([]string{what, "-page", page}, small...), c.args...), &out))
			for _, want := range c.want {
				assert.Contains(t, out.String(), want)
			}
			saved, err := os.ReadFile(page)
			require.NoError(t, err)
			assert.Equal(t, out.String(), string(saved))
		})
	}
}

func TestWrongOptions(t *testing.T) {
	for _, args := range [][]string{nil, {"odd"}, {"idle", "-rounds=0"}, {"idle", "-slice=1ms"}, {"idle", "-odd"}, {"inflight", "-inflight=60001"}} {
		require.Error(t, command(args, new(bytes.Buffer)), args)
	}
	require.NoError(t, command([]string{"idle", "-h"}, new(bytes.Buffer)))
	require.Error(t, command([]string{"idle", "-gateway=does/not/exist", "-proxy-cpu=", "-load-cpu=-1"}, new(bytes.Buffer)))
}

func TestMedian(t *testing.T) {
	assert.Zero(t, median(nil))
	assert.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	assert.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 0)
	low, high := quartiles([]float64{4, 1, 3, 2})
	assert.InDelta(t, 2, low, 0)
	assert.InDelta(t, 4, high, 0)
}
