// Package e2e_test runs the real program: it builds cmd/corelane once, starts it
// on free loopback ports with an origin of its own behind it, and looks at it
// from outside: sockets, signals, exit codes, logs and the admin API.
//
// program_test.go is the harness; each other file is one side of the program's
// life. The HTTP/1.1 conformance cases run too where they are found: in the
// folder that CORELANE_CONFORMANCE names, or in ../shared/conformance beside
// the checkout.
package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the program under test.
var binary string

// buildFlags are those of `go build`.
var buildFlags = []string{"-ldflags", "-X main.version=v-e2e"}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "corelane-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "corelane")
	arguments := append([]string{"build", "-o", binary}, buildFlags...)
	build := exec.Command("go", append(arguments, "../cmd/corelane")...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 1
	}
	return m.Run()
}
