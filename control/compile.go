package control

import (
	"context"
	"log/slog"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// Compile returns the generation that a node started with the path would serve:
// of the path itself, and of what its config.file.path names besides. Nothing is
// started. An error that is config.Problems is about the configuration.
func Compile(ctx context.Context, path string) (*snapshot.Snapshot, error) {
	files, err := filesOf(path, slog.New(slog.DiscardHandler)).Fetch(ctx)
	if err != nil {
		return nil, err
	}
	doc, err := config.Parse(files...)
	if err != nil {
		return nil, err
	}
	s, _, err := config.NewCompiler(pool.NewRegistry()).Compile(doc, nil)
	return s, err
}
