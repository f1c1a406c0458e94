package config

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"time"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/engine/snapshot"
)

// Start loads the first generation from the source, or, if that is missing or
// broken, from the last good copy on disk: then Status tells so and the log is
// loud about it. It does not call Publish: the program builds its server from
// what it returns. Without a good document and a copy it is an error that wraps
// Problems.
func (p *Pipeline) Start(ctx context.Context) (*Document, *snapshot.Snapshot, error) {
	p.work.Lock()
	defer p.work.Unlock()
	files, err := p.o.Source.Fetch(ctx)
	doc, wrong := parse(files, nil) // what could be read may say where copies are kept
	if err == nil {
		err = wrong
	}
	if err == nil {
		err = p.first(doc)
	}
	if err == nil {
		p.keep(doc)
		return p.doc, p.snapshot, nil
	}
	if failed := p.startFromCopy(doc, err); failed != nil {
		return nil, nil, fmt.Errorf("%w\nand there is no good copy to start from: %w", err, failed)
	}
	return p.doc, p.snapshot, nil
}

func (p *Pipeline) first(doc *Document) error {
	s, _, err := p.compiler.Compile(doc, nil)
	if err != nil {
		return err
	}
	p.accept(doc, s, nil)
	return nil
}

// startFromCopy stands in for a source that failed with cause. The broken
// document may still say where copies are kept.
func (p *Pipeline) startFromCopy(broken *Document, cause error) error {
	if broken == nil {
		broken = tree.Defaults(reflect.TypeFor[Document]()).Interface().(*Document)
	}
	from := p.diskCopy(broken)
	files, savedAt, err := from.load()
	if err != nil {
		return err
	}
	doc, err := parse(files, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", from.path(), err)
	}
	if err := p.first(doc); err != nil {
		return fmt.Errorf("%s: %w", from.path(), err)
	}
	p.remember(cause)
	p.state.Lock()
	p.status.FromCache, p.status.Source = true, from.path()
	p.status.Warnings = append([]string{
		"started from the last good copy of " + savedAt.Format(time.RFC3339) + ", because the source is missing or broken",
	}, p.status.Warnings...)
	p.state.Unlock()
	p.o.Log.Warn("STARTED FROM THE LAST GOOD COPY, because the configuration is missing or broken",
		"copy", from.path(), "saved_at", savedAt, "source", p.o.Source.Name())
	return nil
}

func (p *Pipeline) diskCopy(doc *Document) diskCopy {
	source := cmp.Or(p.o.Path, p.o.Source.Name())
	if whole, err := filepath.Abs(source); err == nil {
		source = whole
	}
	if p.o.CacheDir != "" {
		return diskCopy{folder: p.o.CacheDir, source: source, written: p.written}
	}
	return diskCopy{folder: doc.Config.Cache, source: source, written: p.written}
}

// keep writes the copy. A disk that cannot keep it does not stop a change.
func (p *Pipeline) keep(doc *Document) {
	to := p.diskCopy(doc)
	if err := to.save(doc, p.o.Now()); err != nil {
		p.o.Log.Warn("the copy of the configuration could not be written", "copy", to.path(), "error", err)
	}
}
