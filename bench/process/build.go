package process

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
)

// Build compiles a package, named as for `go build`, into the file program, with
// further flags for the compiler.
func Build(ctx context.Context, program, pkg string, flags ...string) error {
	args := slices.Concat([]string{"build", "-buildvcs=false"}, flags, []string{"-o", program, pkg})
	text, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return nil
}
