package source

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watching is a running Watch whose timers the test fires by hand.
type watching struct {
	t       *testing.T
	timers  chan chan time.Time
	waits   chan time.Duration
	changed chan struct{}
}

func startWatch(t *testing.T, path string) *watching {
	w := &watching{t: t, timers: make(chan chan time.Time), waits: make(chan time.Duration, 100), changed: make(chan struct{})}
	f := NewFile(path, nil)
	assert.Equal(t, path, f.Name())
	ctx, cancel := context.WithCancel(context.Background())
	f.after = func(d time.Duration) <-chan time.Time {
		fire := make(chan time.Time, 1)
		w.waits <- d
		select {
		case w.timers <- fire:
		case <-ctx.Done():
		}
		return fire
	}
	done := make(chan error, 1)
	go func() {
		done <- f.Watch(ctx, func() {
			select {
			case w.changed <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	w.expectChange() // what happened before the watch began
	return w
}

// expectChange waits for a timer, fires it and waits for the call.
func (w *watching) expectChange() {
	w.t.Helper()
	(<-w.timers) <- time.Time{}
	<-w.changed
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestWatchOneFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "gateway.yaml")
	write(t, path, "a")
	w := startWatch(t, path)

	write(t, path, "b")
	w.expectChange()

	// An editor writes beside the file and renames; a neighbour means nothing.
	write(t, filepath.Join(folder, "other.yaml"), "x")
	write(t, filepath.Join(folder, ".gateway.yaml.swp"), "c")
	require.NoError(t, os.Rename(filepath.Join(folder, ".gateway.yaml.swp"), path))
	w.expectChange()

	// The new file is watched as well.
	write(t, path, "d")
	w.expectChange()

	require.NoError(t, os.Remove(path))
	w.expectChange()
	write(t, path, "e")
	w.expectChange()
}

func TestWatchAMountedVolume(t *testing.T) {
	folder := t.TempDir()
	for _, version := range []string{"..one", "..two"} {
		require.NoError(t, os.Mkdir(filepath.Join(folder, version), 0o700))
		write(t, filepath.Join(folder, version, "gateway.yaml"), version)
	}
	require.NoError(t, os.Symlink("..one", filepath.Join(folder, "..data")))
	path := filepath.Join(folder, "gateway.yaml")
	require.NoError(t, os.Symlink("..data/gateway.yaml", path))
	w := startWatch(t, path)

	require.NoError(t, os.Symlink("..two", filepath.Join(folder, "..new")))
	require.NoError(t, os.Rename(filepath.Join(folder, "..new"), filepath.Join(folder, "..data")))
	w.expectChange()
	files, err := NewFile(path, nil).Fetch(context.Background())
	require.NoError(t, err)
	assert.Equal(t, "..two", string(files[0].Text))
}

func TestWatchALinkToAnotherFolder(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "real.yaml")
	write(t, target, "a")
	path := filepath.Join(folder, "gateway.yaml")
	require.NoError(t, os.Symlink(target, path))
	w := startWatch(t, path)
	write(t, target, "b")
	w.expectChange()
}

func TestWatchAFolder(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.yaml"), "a")
	w := startWatch(t, folder)

	write(t, filepath.Join(folder, "notes.txt"), "x")
	write(t, filepath.Join(folder, "b.yml"), "b")
	w.expectChange()
	require.NoError(t, os.Remove(filepath.Join(folder, "a.yaml")))
	w.expectChange()
	files, err := NewFile(folder, nil).Fetch(context.Background())
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, filepath.Join(folder, "b.yml"), files[0].Name)
}

func TestWatchWhatIsNotThereYet(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "gateway.yaml")
	w := startWatch(t, path)
	write(t, path, "a")
	w.expectChange()
}

func TestWatchAFolderThatGoes(t *testing.T) {
	parent := t.TempDir()
	folder := filepath.Join(parent, "conf")
	require.NoError(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "gateway.yaml")
	write(t, path, "a")
	w := startWatch(t, path)
	<-w.waits
	require.NoError(t, os.RemoveAll(folder))
	for range 10 {
		w.expectChange()
		if <-w.waits == retry {
			break
		}
	}
	require.NoError(t, os.Mkdir(folder, 0o700))
	write(t, path, "b")
	w.expectChange() // the retry finds the folder
	write(t, path, "c")
	w.expectChange()
}

func TestWatchNowhere(t *testing.T) {
	f := NewFile(filepath.Join(t.TempDir(), "no", "gateway.yaml"), nil)
	require.Error(t, f.Watch(context.Background(), func() {}))
}
