//go:build race

package e2e_test

// Under the race detector the program is built with it as well, and everything
// takes its time.
func init() {
	buildFlags = append(buildFlags, "-race")
	stormRequests /= 2
}
