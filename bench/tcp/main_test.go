package main

import (
	"bytes"
	"os"
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
	results := t.TempDir()
	require.NoError(t, command([]string{"-gateway", gateway, "-rivals", "corelane,corelane-copying", "-rounds", "1", "-slice", "100ms", "-connections", "2", "-out", results}, &out))
	require.Equal(t, 4, strings.Count(out.String(), "\n| corelane | "), out.String())
	require.Equal(t, 4, strings.Count(out.String(), "\n| corelane-copying | "), out.String())
	files, err := os.ReadDir(results)
	require.NoError(t, err)
	require.Len(t, files, 2)
}

func TestOptions(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-slice", "0s"}, {"-connections", "-1"}, {"-lanes", "none"}, {"-message", "0"}, {"-nobody"}} {
		_, err := parse(args)
		require.Error(t, err, args)
	}
	_, err := rivalNamed("nobody")
	require.ErrorContains(t, err, "not a rival")
}

// A proxy that passes nothing on is an error and not a figure.
func TestNothingPasses(t *testing.T) {
	l, err := newService()
	require.NoError(t, err)
	address := l.address()
	l.stop()
	one := lane{want: wantBytes, connections: 1}
	_, err = one.measure(t.Context(), &process.Process{Address: address}, 1)
	require.ErrorContains(t, err, "refused")
}
