package config

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// Source is where documents come from.
type Source interface {
	// Name says what it is, for people.
	Name() string
	// Fetch returns all documents as they are now; with an error, those that could
	// be read.
	Fetch(ctx context.Context) ([]File, error)
	// Watch calls changed after the documents may have changed, until ctx ends.
	// It returns nil then, and an error if it cannot watch at all.
	Watch(ctx context.Context, changed func()) error
}

// PipelineOptions are what a Pipeline works with.
type PipelineOptions struct {
	Source   Source
	Registry *pool.Registry
	// Path is what the last good copy is a copy of; empty: the source's name. A
	// source may be named by more than the program was started with, which a
	// broken document cannot tell.
	Path string
	// CacheDir is the folder of the last good copy; empty: the document's
	// config.cache.
	CacheDir string
	// Publish hands a generation to the loops and tells the registry. An error
	// leaves the last generation in place.
	Publish func(*snapshot.Snapshot) error
	// Log takes what happens; nil: nowhere.
	Log *slog.Logger
	// Now is the wall clock; nil: time.Now.
	Now func() time.Time
}

// Status is what the pipeline tells of itself.
type Status struct {
	// Generation is the published one, from 1.
	Generation uint64
	// Checksum is that of the published sources.
	Checksum string
	// LoadedAt is when they were accepted.
	LoadedAt time.Time
	// Source names where they came from.
	Source string
	// FromCache tells that the process started from the last good copy on disk
	// because the source was missing or broken.
	FromCache bool
	// LastError is the whole report of the last refusal; empty once the source
	// is good again.
	LastError   string
	LastErrorAt time.Time
	// Warnings belong to the published document.
	Warnings []string
	// LastDiff is what the last generation changed; nil for the first.
	LastDiff *Diff
}

// Pipeline brings documents from a source to the loops: fetch, skip what has
// not changed, parse, validate, compile, keep on disk, publish. What is broken,
// empty or suspiciously smaller is refused, and the last good stays. All methods
// may be called from any goroutine but a loop's.
type Pipeline struct {
	o        PipelineOptions
	compiler *Compiler
	publish  func(*snapshot.Snapshot) error

	// work keeps one change at a time; state guards what readers see.
	work  sync.Mutex
	state sync.RWMutex

	doc      *Document
	snapshot *snapshot.Snapshot
	status   Status
	// changedByHand tells that routes were changed by Apply since the source was
	// read.
	changedByHand bool
	// written is diskCopy's, under work.
	written map[string]bool
}

// NewPipeline returns a pipeline that has loaded nothing yet.
func NewPipeline(o PipelineOptions) *Pipeline {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Pipeline{o: o, compiler: NewCompiler(o.Registry), publish: o.Publish, written: make(map[string]bool)}
}

// SetPublish sets what Publish does, for programs whose server is built from
// what Start returns. Call it before Run and Reload.
func (p *Pipeline) SetPublish(publish func(*snapshot.Snapshot) error) {
	p.work.Lock()
	defer p.work.Unlock()
	p.publish = publish
}

// Status returns the state of the pipeline.
func (p *Pipeline) Status() Status {
	p.state.RLock()
	defer p.state.RUnlock()
	return p.status
}

// Document returns the published document; nil before Start.
func (p *Pipeline) Document() *Document {
	p.state.RLock()
	defer p.state.RUnlock()
	return p.doc
}

// Snapshot returns the published generation; nil before Start.
func (p *Pipeline) Snapshot() *snapshot.Snapshot {
	p.state.RLock()
	defer p.state.RUnlock()
	return p.snapshot
}

// Run reloads when the source changes, until ctx ends. Refused documents are
// logged and kept in the status.
func (p *Pipeline) Run(ctx context.Context) error {
	return p.o.Source.Watch(ctx, func() { _ = p.Reload(ctx) })
}

// Reload looks at the source now. The error is what was refused and why.
func (p *Pipeline) Reload(ctx context.Context) error {
	p.work.Lock()
	defer p.work.Unlock()
	if p.doc == nil {
		return errors.New("nothing has been loaded yet")
	}
	err := p.reload(ctx)
	p.remember(err)
	return err
}

func (p *Pipeline) reload(ctx context.Context) error {
	files, err := p.o.Source.Fetch(ctx)
	if err != nil {
		return err
	}
	// A document with references may mean something new in the same words.
	if sameFiles(files, p.doc.files) && !p.doc.references && !p.changedByHand && !p.status.FromCache {
		return nil
	}
	if changed, removed, ok := p.smallChange(files); ok {
		return p.applySmall(files, changed, removed)
	}
	doc, err := parse(files, p.doc)
	if err != nil {
		return err
	}
	if err := p.guard(doc); err != nil {
		return err
	}
	next, diff, err := p.compiler.Compile(doc, p.snapshot)
	if err != nil {
		return err
	}
	p.keep(doc)
	if diff.Empty() {
		p.accept(doc, p.snapshot, p.Status().LastDiff)
		return nil
	}
	return p.release(doc, next, diff)
}

// guard refuses documents that are valid but cannot follow the published one.
func (p *Pipeline) guard(doc *Document) error {
	if keys := needsRestart(p.doc, doc); len(keys) > 0 {
		return fmt.Errorf("refused, nothing was changed: needs a restart: %s", strings.Join(keys, ", "))
	}
	limit, before := float64(doc.Config.ShrinkGuard), len(p.doc.Routes)
	if limit == 0 || before == 0 {
		return nil
	}
	here := make(map[string]bool, len(doc.Routes))
	for _, r := range doc.Routes {
		here[r.ID] = true
	}
	lost := 0
	for _, r := range p.doc.Routes {
		if !here[r.ID] {
			lost++
		}
	}
	if share := float64(lost) * 100 / float64(before); share > limit {
		return fmt.Errorf("refused: %d of %d routes would go at once, more than config.shrink_guard (%g %%) allows; set it to 0 to do so on purpose", lost, before, limit)
	}
	return nil
}

// release publishes a generation.
func (p *Pipeline) release(doc *Document, next *snapshot.Snapshot, diff *Diff) error {
	if p.publish != nil {
		if err := p.publish(next); err != nil {
			reactivate(p.snapshot)
			return fmt.Errorf("publish: %w", err)
		}
	}
	p.accept(doc, next, diff)
	p.o.Log.Info("configuration published", "generation", next.Generation, "routes", next.Routes.Len(), "changes", diff)
	return nil
}

// Apply publishes a change of routes that came from ParseRoutes. It is not
// written to the source: the next reload goes back to what the source says.
func (p *Pipeline) Apply(_ context.Context, changed []*Route, removed []string) error {
	p.work.Lock()
	defer p.work.Unlock()
	if p.doc == nil {
		return errors.New("nothing has been loaded yet")
	}
	next, diff, err := p.compiler.CompileDelta(p.doc, p.snapshot, changed, removed)
	if err != nil || diff.Empty() {
		return err
	}
	doc, err := p.doc.withRoutes(changed, removed)
	if err != nil {
		return err
	}
	if err := p.release(doc, next, diff); err != nil {
		return err
	}
	p.changedByHand = true
	return nil
}

func (p *Pipeline) accept(doc *Document, s *snapshot.Snapshot, diff *Diff) {
	doc.routePlaces() // so that the first small change need not
	p.state.Lock()
	defer p.state.Unlock()
	p.doc, p.snapshot, p.changedByHand = doc, s, false
	p.status.Generation, p.status.Checksum = s.Generation, doc.Checksum()
	p.status.LoadedAt, p.status.Source = p.o.Now(), p.o.Source.Name()
	p.status.FromCache = false
	p.status.Warnings, p.status.LastDiff = doc.Warnings(), diff
	for _, warning := range doc.Warnings() {
		p.o.Log.Warn("configuration", "warning", warning)
	}
}

// remember keeps a refusal for the status, or forgets the last one.
func (p *Pipeline) remember(err error) {
	p.state.Lock()
	defer p.state.Unlock()
	if err == nil {
		p.status.LastError, p.status.LastErrorAt = "", time.Time{}
		return
	}
	p.status.LastError, p.status.LastErrorAt = err.Error(), p.o.Now()
	p.logRefusal(err)
}

// maxLoggedProblems bounds the lines that one refusal writes to the log.
const maxLoggedProblems = 20

func (p *Pipeline) logRefusal(err error) {
	var problems Problems
	if !errors.As(err, &problems) {
		p.o.Log.Error("configuration refused, the last good one stays", "error", err)
		return
	}
	p.o.Log.Error("configuration refused, the last good one stays", "problems", len(problems))
	for _, one := range problems[:min(len(problems), maxLoggedProblems)] {
		p.o.Log.Error("configuration", "problem", one.String())
	}
}
