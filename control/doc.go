// Package control is the control side of a node: everything around the engine
// that may block. It loads the configuration, places the loops on CPUs, builds
// the server, publishes generations, writes the logs, answers the operators and
// ends the process in good order.
//
// A Node is the assembly. Start builds it and returns when clients are served;
// Serve waits for signals, reloads on SIGHUP and drains on SIGTERM. Each file
// beside node.go is one duty with its own goroutine: the access log, the log of
// the loops' events, the watchdog, the metrics, the admin server. They read the
// engine through its few control-side methods and never stand in a loop's way.
package control
