package source

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/corelane/corelane/config"
)

// Times of the watch.
const (
	// settle is how long a change rests before it is read: editors and
	// deployments write in several steps.
	settle = 100 * time.Millisecond
	// retry is the pause after a folder could not be watched.
	retry = time.Second
)

// File is configuration in a file or a folder of *.yaml. Any goroutine may call
// its methods.
type File struct {
	path string
	log  *slog.Logger
	// reader is used under reading: who fetches may be any goroutine.
	reading sync.Mutex
	reader  config.Reader
	// after starts a timer; tests put their own in its place.
	after func(time.Duration) <-chan time.Time
}

var _ config.Source = (*File)(nil)

// NewFile returns the source of a path. Nothing is read yet. A nil log is
// nowhere.
func NewFile(path string, log *slog.Logger) *File {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &File{path: path, log: log, after: time.After}
}

// Name returns the path.
func (f *File) Name() string { return f.path }

// Fetch reads the file, or all documents of the folder.
func (f *File) Fetch(context.Context) ([]config.File, error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.reader.Read(f.path)
}

// Watch calls changed some time after the file or a document of the folder has
// changed, until ctx ends. It watches folders rather than files, so that it
// sees a file that is replaced by rename and a link that is turned elsewhere.
func (f *File) Watch(ctx context.Context, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	w := watch{file: f, watcher: watcher}
	if err := w.refresh(); err != nil {
		return err
	}
	// What changed between the first Fetch and here sent no event.
	w.pending = f.after(settle)
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-watcher.Events:
			if !ok {
				return errors.New("the watch of " + f.path + " has ended")
			}
			if w.concerns(event) && w.pending == nil {
				w.pending = f.after(settle)
			}
		case err := <-watcher.Errors:
			// An overflow loses events: look again.
			f.log.Warn("watch", "path", f.path, "error", err)
			if w.pending == nil {
				w.pending = f.after(settle)
			}
		case <-w.pending:
			w.pending = nil
			err := w.refresh()
			changed()
			if err != nil {
				f.log.Warn("watch", "path", f.path, "error", err)
				w.pending = f.after(retry)
			}
		}
	}
}

// watch is one run of Watch, on one goroutine.
type watch struct {
	file    *File
	watcher *fsnotify.Watcher
	pending <-chan time.Time
	// names are the files whose events count, with those that links lead to.
	names map[string]bool
	// folders are watched.
	folders map[string]bool
}

// refresh follows links and watches every folder on the way.
func (w *watch) refresh() error {
	w.names, w.folders = make(map[string]bool), make(map[string]bool)
	info, err := os.Stat(w.file.path)
	isFolder := err == nil && info.IsDir()
	path := filepath.Clean(w.file.path)
	for range maxLinks {
		w.names[path] = true
		w.folders[filepath.Dir(path)] = true
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if isFolder {
		w.folders[path] = true
	} else if real, err := filepath.EvalSymlinks(path); err == nil {
		// A folder on the way may be a link itself.
		w.names[real] = true
		w.folders[filepath.Dir(real)] = true
	}
	return w.add()
}

// maxLinks bounds a chain of links.
const maxLinks = 16

func (w *watch) add() error {
	var errs []error
	for _, old := range w.watcher.WatchList() {
		if !w.folders[old] {
			_ = w.watcher.Remove(old) // gone already is as good
		}
	}
	for folder := range w.folders {
		errs = append(errs, w.watcher.Add(folder))
	}
	return errors.Join(errs...)
}

// concerns tells whether an event may mean another configuration. A name that
// begins with two dots is what a mounted volume turns to change all files at
// once.
func (w *watch) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	name := filepath.Clean(e.Name)
	base := filepath.Base(name)
	return w.names[name] || w.folders[name] || strings.HasPrefix(base, "..") ||
		w.folders[filepath.Dir(name)] && w.isFolder(filepath.Dir(name)) && config.IsDocument(base)
}

// isFolder tells whether the folder itself is the configuration.
func (w *watch) isFolder(path string) bool {
	return path == filepath.Clean(w.file.path) || w.names[path]
}
