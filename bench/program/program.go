// Package program is what the commands of a benchmark have in common: flags,
// signals and the exit code.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command with the arguments of the process. An error is printed
// after the name and ends the process with 1.
func Main(name string, command func(args []string, out io.Writer) error) {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Run parses the arguments and runs the program until SIGINT or SIGTERM ends its
// context. Who asks for help gets nothing else.
func Run[O any](args []string, parse func([]string) (O, error), run func(context.Context, O) error) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, o)
}
