package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/process"
)

// The lanes run against the program itself, briefly.
func TestLanes(t *testing.T) {
	gateway := t.TempDir() + "/corelane"
	build := exec.Command("go", "build", "-o", gateway, "../../cmd/corelane")
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	var out bytes.Buffer
	require.NoError(t, command([]string{"-gateway", gateway, "-rivals", "corelane", "-rounds", "1", "-slice", "50ms", "-connections", "2", "-load-cpu", "0"}, &out))
	require.Equal(t, 2, strings.Count(out.String(), "\n| corelane | "), out.String())
}

func TestOptions(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-slice", "0s"}, {"-connections", "-1"}, {"-nobody"}} {
		_, err := parse(args)
		require.Error(t, err, args)
	}
	_, err := start(t.Context(), options{}, "nobody", "", t.TempDir())
	require.ErrorContains(t, err, "not a rival")
}

// A proxy that passes nothing on is an error and not a figure.
func TestNothingPasses(t *testing.T) {
	l, err := newService()
	require.NoError(t, err)
	address := l.address()
	l.stop()
	one := lane{"bulk", bulk, 1}
	_, err = one.measure(t.Context(), &process.Process{Address: address}, 1)
	require.ErrorContains(t, err, "refused")
}
