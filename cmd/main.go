// Package cmd is the program: `corelane run -c FILE` serves, `corelane check -c
// FILE` tells what is wrong with a configuration. The built-in filters are
// compiled in here. A program with others imports their packages beside this one
// and calls Main, which is what `corelane build` writes.
package cmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	_ "github.com/corelane/corelane/codec/dubbo"
	_ "github.com/corelane/corelane/codec/frame"
	_ "github.com/corelane/corelane/filters/headers"
	_ "github.com/corelane/corelane/filters/iplist"
	_ "github.com/corelane/corelane/filters/maintenance"
	_ "github.com/corelane/corelane/filters/redirect"
	_ "github.com/corelane/corelane/filters/requestid"
	_ "github.com/corelane/corelane/filters/respond"
)

// version is what Main was called with.
var version = "devel"

// Exit codes of the program.
const (
	exitClean  = 0
	exitFailed = 1 // could not start, or the configuration is wrong
	exitUsage  = 2 // the command line is wrong
)

// exit is an error that carries an exit code; what went wrong has been said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs the command line of the process and ends it. The version is what the
// program calls itself, such as v1.2.3. Call it once, from main.
func Main(v string) {
	version = v
	os.Exit(execute(os.Args[1:]))
}

// execute runs one command line and returns the exit code. Whatever a command
// returns that is no exit is a mistake in the command line.
func execute(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	var code exit
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(os.Stderr, "corelane: %v\nRun 'corelane --help' for the commands.\n", err)
	return exitUsage
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "corelane",
		Short:         "An API gateway with one pinned event loop per core",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newRun(), newCheck(), newExplain(), newFilters(), newProtocols(), newSchema(), newDiff(), newBuild(), newVersion())
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version) },
	}
}
