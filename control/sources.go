package control

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/config/source"
)

// filesOf returns the source of the configuration that the program was started
// with: the path itself, and what its config.file.path names besides. That key
// needs a restart, so it is looked at once.
func filesOf(path string, log *slog.Logger) config.Source {
	base := source.NewFile(path, log)
	more := config.FurtherPath(path)
	if more == "" {
		return base
	}
	return &twoFiles{base: base, more: source.NewFile(more, log)}
}

// twoFiles is a source of two paths, read as one configuration. Any goroutine
// may call its methods.
type twoFiles struct{ base, more *source.File }

var _ config.Source = (*twoFiles)(nil)

// Name implements config.Source.
func (s *twoFiles) Name() string { return s.base.Name() + " and " + s.more.Name() }

// Fetch implements config.Source.
func (s *twoFiles) Fetch(ctx context.Context) ([]config.File, error) {
	base, err := s.base.Fetch(ctx)
	more, errMore := s.more.Fetch(ctx)
	return config.Join(base, more), cmp.Or(err, errMore)
}

// Watch implements config.Source.
func (s *twoFiles) Watch(ctx context.Context, changed func()) error {
	var both sync.WaitGroup
	var errs [2]error
	for i, one := range []*source.File{s.base, s.more} {
		both.Go(func() { errs[i] = one.Watch(ctx, changed) })
	}
	both.Wait()
	return errors.Join(errs[:]...)
}
