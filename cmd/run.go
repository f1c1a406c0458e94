package cmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/corelane/corelane/control"
)

func newRun() *cobra.Command {
	var path, cache string
	var withDemo bool
	cmd := &cobra.Command{
		Use:   "run -c FILE",
		Short: "Serve until SIGTERM",
		Long: "Serve until SIGTERM or SIGINT, which drain; a second one stops at once.\n" +
			"SIGHUP reads the configuration again and reopens the access log.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return run(path, cache, withDemo) },
	}
	configFlag(cmd, &path)
	cmd.Flags().StringVar(&cache, "cache", "", "folder of the last good copy, instead of config.cache; it is found even if the file cannot be read")
	cmd.Flags().BoolVar(&withDemo, "demo", false, "also start a service to try things with, on "+demoAddress)
	return cmd
}

// run is the life of the gateway.
func run(path, cache string, withDemo bool) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, control.Signals...)
	signal.Ignore(syscall.SIGPIPE) // a log reader that went away must not end the gateway
	raiseDescriptors()
	if withDemo {
		d, err := startDemo(demoAddress)
		if err != nil {
			return failed(err)
		}
		defer d.stop()
	}
	node, err := control.Start(context.Background(), control.Options{
		Path: path, Cache: cache, Version: version, Stderr: os.Stderr, Stdout: os.Stdout,
	})
	if err != nil {
		return failed(err)
	}
	if withDemo {
		printDemo(os.Stderr)
	}
	node.Serve(context.Background(), signals)
	return nil
}

func failed(err error) error {
	fmt.Fprintf(os.Stderr, "corelane: %v\n", err)
	return exit(exitFailed)
}

// raiseDescriptors allows as many open files as the system lets the process
// have: two for each proxied connection. A failure shows later, as a refused
// accept with a message of its own.
func raiseDescriptors() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur < limit.Max {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
}
