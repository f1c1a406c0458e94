package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/process"
)

// TestSoak is a whole soak. SOAK says for how long; CI asks for a minute.
func TestSoak(t *testing.T) {
	duration := os.Getenv("SOAK")
	if duration == "" {
		duration = "5s"
	}
	program := filepath.Join(t.TempDir(), "corelane")
	require.NoError(t, process.Build(t.Context(), program, "../../cmd/corelane"))
	page := filepath.Join(t.TempDir(), "soak.md")
	var out bytes.Buffer
	err := command([]string{"-duration", duration, "-gateway", program, "-page", page}, &out)
	t.Log(out.String())
	require.NoError(t, err)
	saved, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, out.String(), string(saved))
	for _, k := range kinds {
		assert.Contains(t, out.String(), "| "+k.name+" |")
	}
}

func TestWrongOptions(t *testing.T) {
	for _, args := range [][]string{{"-duration", "10ms"}, {"-workers", "0"}, {"-odd"}} {
		require.Error(t, command(args, new(bytes.Buffer)), args)
	}
	require.NoError(t, command([]string{"-h"}, new(bytes.Buffer)))
	assert.ErrorContains(t, command([]string{"-gateway", "does/not/exist"}, new(bytes.Buffer)), "exist")
}

func TestCheckFindsEveryWrongByte(t *testing.T) {
	const n = 40_000
	right := body(7, n)
	require.NoError(t, check(bytes.NewReader(right), 7, n))
	for _, at := range []int{0, 16<<10 - 1, 16 << 10, n - 1} {
		wrong := bytes.Clone(right)
		wrong[at] ^= 1
		require.ErrorIs(t, check(bytes.NewReader(wrong), 7, n), errWrongByte, at)
	}
	require.ErrorIs(t, check(bytes.NewReader(right), 8, n), errWrongByte)
	require.ErrorContains(t, check(bytes.NewReader(right[:n-1]), 7, n), "ends after 39999 of 40000")
}

// good is a result that nothing is wrong with.
func good() *result {
	r := &result{
		before: reading{rssKiB: 10_000, descriptors: 20, goroutines: 15}, reloads: 1, deaths: 1,
		tallies: map[string]*tally{},
	}
	r.after = r.before
	for range readings {
		r.readings = append(r.readings, reading{rssKiB: 20_000, descriptors: 90, goroutines: 17})
	}
	for _, k := range kinds {
		r.tallies[k.name] = &tally{runs: 1}
	}
	return r
}

func TestJudge(t *testing.T) {
	require.NoError(t, good().judge())
	for want, spoil := range map[string]func(r *result){
		"3 visits failed":                             func(r *result) { r.faulty = 3 },
		"23 descriptors are left, 20 were open":       func(r *result) { r.after.descriptors = 23 },
		"20 goroutines are left, 15 ran":              func(r *result) { r.after.goroutines = 20 },
		"memory grew from 20000 to 39000 KiB":         func(r *result) { grow(r.readings[70:], 39_000) },
		"no change, or no death":                      func(r *result) { r.deaths = 0 },
		`nobody of the kind "` + kinds[0].name + `" `: func(r *result) { delete(r.tallies, kinds[0].name) },
	} {
		r := good()
		spoil(r)
		require.ErrorContains(t, r.judge(), want)
	}
}

func grow(part []reading, kib int) {
	for i := range part {
		part[i].rssKiB = kib
	}
}

// What the death of an endpoint excuses depends on whether the request could
// have been repeated; a wrong byte is never excused.
func TestExcuses(t *testing.T) {
	fragile, safe := &kind{name: "posts", fragile: true}, &kind{name: "short"}
	lost := errors.New("connection reset")
	for _, c := range []struct {
		kind    *kind
		err     error
		dying   bool
		excused bool
	}{
		{fragile, &failure{status: 502}, true, true},
		{fragile, &failure{status: 502}, false, false},
		{fragile, &failure{status: 500}, true, false},
		{safe, &failure{status: 502}, true, false},
		{safe, lost, true, true},
		{safe, lost, false, false},
		{fragile, errWrongByte, true, false},
		{fragile, errNotMine, true, false},
	} {
		s := &run{origins: new(origins), tallies: map[string]*tally{}}
		began := time.Now()
		if c.dying {
			s.origins.lastDeath.Store(began.UnixNano())
		}
		s.book(c.kind, &visitor{}, began, c.err)
		assert.Equal(t, c.excused, s.tallies[c.kind.name].excused == 1, "%s %v %v", c.kind.name, c.err, c.dying)
		assert.Equal(t, !c.excused, s.faulty == 1)
	}
}

func TestResultNamesFaults(t *testing.T) {
	r := good()
	r.faults = []string{"short: no answer"}
	text := r.text(options{duration: time.Hour, workers: 3, seed: 9})
	assert.True(t, strings.HasPrefix(text, "# Soak of 1h0m0s"))
	assert.Contains(t, text, "FAULT short: no answer")
	assert.Contains(t, text, "-workers 3 -seed 9")
}

func TestGauge(t *testing.T) {
	n, err := gauge("# HELP go_goroutines x\ngo_goroutines 17\n", "go_goroutines")
	require.NoError(t, err)
	assert.Equal(t, 17, n)
	_, err = gauge("go_goroutines_more 17\n", "go_goroutines")
	require.Error(t, err)
}
