package process

import (
	"context"
	"fmt"
	"os/exec"
)

// Build compiles a package, named as for `go build`, into the file program.
func Build(ctx context.Context, program, pkg string) error {
	text, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return nil
}
