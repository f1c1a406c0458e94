package config

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// fakeSource hands out what a test puts in.
type fakeSource struct {
	mu      sync.Mutex
	text    string
	more    []File // further documents
	err     error
	changed chan struct{}
}

func (s *fakeSource) Name() string { return "fake" }

func (s *fakeSource) Fetch(context.Context) ([]File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]File{{Name: "gateway.yaml", Text: []byte(s.text)}}, s.more...), s.err
}

func (s *fakeSource) Watch(ctx context.Context, changed func()) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
			changed()
		}
	}
}

func (s *fakeSource) set(text string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.err = text, err
}

// rig is a pipeline with everything around it.
type rig struct {
	t         *testing.T
	source    *fakeSource
	pipeline  *Pipeline
	folder    string
	log       bytes.Buffer
	published []*snapshot.Snapshot
	refuse    error
}

func newRig(t *testing.T, text string) *rig {
	r := &rig{t: t, source: &fakeSource{text: text, changed: make(chan struct{})}, folder: filepath.Join(t.TempDir(), "cache")}
	r.restart()
	return r
}

// restart is a new process with the same source and disk.
func (r *rig) restart() {
	r.pipeline = NewPipeline(PipelineOptions{
		Source: r.source, Registry: pool.NewRegistry(), CacheDir: r.folder,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	r.pipeline.SetPublish(func(s *snapshot.Snapshot) error {
		if r.refuse == nil {
			r.published = append(r.published, s)
		}
		return r.refuse
	})
}

func (r *rig) start() *rig {
	r.t.Helper()
	doc, s, err := r.pipeline.Start(context.Background())
	require.NoError(r.t, err)
	require.Same(r.t, doc, r.pipeline.Document())
	require.Same(r.t, s, r.pipeline.Snapshot())
	return r
}

func (r *rig) reload(text string) error {
	r.source.set(text, nil)
	return r.pipeline.Reload(context.Background())
}

func TestPipelinePublishesChanges(t *testing.T) {
	r := newRig(t, base).start()
	assert.Empty(t, r.published, "the first generation is handed out by Start")
	require.NoError(t, r.reload(changed("{path: /2}", "{path: /22}")))
	require.Len(t, r.published, 1)
	st := r.pipeline.Status()
	assert.EqualValues(t, 2, st.Generation)
	assert.Equal(t, []string{"two"}, st.LastDiff.Routes.Changed)
	assert.Equal(t, "fake", st.Source)
	assert.Equal(t, r.pipeline.Document().Checksum(), st.Checksum)
	assert.Empty(t, st.LastError)
	assert.Contains(t, r.log.String(), "changes.routes_changed=two")
}

func TestPipelineSkipsWhatIsTheSame(t *testing.T) {
	r := newRig(t, base).start()
	require.NoError(t, r.reload(base))
	require.NoError(t, r.reload("# a comment\n"+base))
	assert.Empty(t, r.published)
	assert.EqualValues(t, 1, r.pipeline.Status().Generation)
	assert.Equal(t, Checksum([]File{{Name: "gateway.yaml", Text: []byte("# a comment\n" + base)}}), r.pipeline.Status().Checksum)
}

func TestPipelineRefuses(t *testing.T) {
	many := base
	for _, id := range []string{"f", "g", "h", "i", "j"} {
		many += "  - {id: " + id + ", match: {path: /" + id + "}, service: a}\n"
	}
	few := changed("  - {id: two, match: {path: /2}, service: b}\n", "")
	for name, c := range map[string]struct{ text, want string }{
		"broken":           {changed("path: /2", "path: 2"), "gateway.yaml:10:29: routes[1].match.path"},
		"not YAML":         {base + "\"", "YAML:"},
		"empty":            {"", "the document is empty"},
		"half of a file":   {many[:len(many)/2], ""},
		"shrunk":           {few, "6 of 8 routes would go at once"},
		"listener moved":   {strings.Replace(many, ":8080", ":8081", 1), "needs a restart: listeners[0].address (of web)"},
		"listener added":   {strings.Replace(many, "listeners:\n", "listeners:\n  - {name: x, address: 127.0.0.1:1}\n", 1), "listeners[0] (x is new)"},
		"listener renamed": {strings.Replace(many, "name: web", "name: x", 1), "listeners (web is gone), listeners[0] (x is new)"},
		"engine":           {many + "engine: {loops: 3}\n", "needs a restart: engine.loops"},
		"admin":            {many + "admin: {address: \"127.0.0.1:1\"}\n", "needs a restart: admin.address"},
		"several":          {many + "node: {id: x}\nlog: {level: warn}\nconfig: {file: {path: x}}\n", "node.id, log.level, config.file.path"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, many).start()
			s := r.pipeline.Snapshot()
			text := c.text
			if name == "shrunk" {
				text = few[:strings.Index(few, "  - {id: three")] + "  - {id: f, match: {path: /f}, service: a}\n"
			}
			err := r.reload(text)
			require.ErrorContains(t, err, c.want)
			assert.Same(t, s, r.pipeline.Snapshot())
			assert.Equal(t, err.Error(), r.pipeline.Status().LastError)
			assert.NotZero(t, r.pipeline.Status().LastErrorAt)
			assert.Contains(t, r.log.String(), "configuration refused")
			require.NoError(t, r.reload(many))
			assert.Empty(t, r.pipeline.Status().LastError, "good again")
			assert.Empty(t, r.published)
		})
	}
}

func TestShrinkingOnPurpose(t *testing.T) {
	r := newRig(t, base).start()
	one := "  - {id: two, match: {path: /2}, service: b}\n  - {id: three, match: {path: /3}, service: a}\n"
	require.ErrorContains(t, r.reload(changed(one, "")), "2 of 3 routes")
	require.NoError(t, r.reload(changed(one, "")+"config: {shrink_guard: 0}\n"))
	assert.Equal(t, 1, r.pipeline.Snapshot().Routes.Len())
}

func TestASourceThatFails(t *testing.T) {
	r := newRig(t, base).start()
	r.source.set("", errors.New("out of reach"))
	require.ErrorContains(t, r.pipeline.Reload(context.Background()), "out of reach")
	assert.EqualValues(t, 1, r.pipeline.Status().Generation)
}

func TestPublishThatFails(t *testing.T) {
	r := newRig(t, base).start()
	endpoint := r.pipeline.Snapshot().Services["a"].Pool.Members[0].Endpoint
	r.refuse = errors.New("no loop answers")
	next := changed("- {name: a,", "- {name: a, pool: {max_connections: 3},")
	require.ErrorContains(t, r.reload(next), "no loop answers")
	assert.EqualValues(t, 20, endpoint.Limit())
	assert.EqualValues(t, 1, r.pipeline.Status().Generation)
	r.refuse = nil
	require.NoError(t, r.reload(next))
	assert.EqualValues(t, 3, endpoint.Limit())
}

func TestBeforeStart(t *testing.T) {
	r := newRig(t, base)
	require.Error(t, r.pipeline.Reload(context.Background()))
	require.Error(t, r.pipeline.Apply(context.Background(), nil, nil))
	assert.Nil(t, r.pipeline.Document())
}

func TestStartFromTheCopy(t *testing.T) {
	for name, breakIt := range map[string]func(*fakeSource){
		"broken":  func(s *fakeSource) { s.set("routes: [", nil) },
		"empty":   func(s *fakeSource) { s.set("", nil) },
		"missing": func(s *fakeSource) { s.set("", os.ErrNotExist) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, base).start()
			breakIt(r.source)
			r.restart()
			r.start()
			assert.Equal(t, 3, r.pipeline.Snapshot().Routes.Len())
			st := r.pipeline.Status()
			assert.True(t, st.FromCache)
			assert.NotEmpty(t, st.LastError)
			assert.Equal(t, filepath.Join(r.folder, copyName), st.Source)
			require.NotEmpty(t, st.Warnings)
			assert.Contains(t, st.Warnings[0], "started from the last good copy of 2026-01-02T03:04:05Z")
			assert.Contains(t, r.log.String(), "STARTED FROM THE LAST GOOD COPY")

			require.NoError(t, r.reload(base), "the source is good again")
			assert.False(t, r.pipeline.Status().FromCache)
			assert.Equal(t, "fake", r.pipeline.Status().Source)
		})
	}
}

func TestStartWithoutACopy(t *testing.T) {
	r := newRig(t, "routes: [")
	_, _, err := r.pipeline.Start(context.Background())
	require.ErrorContains(t, err, "no good copy to start from")
	var problems Problems
	require.ErrorAs(t, err, &problems)
	assert.Equal(t, 1, problems[0].Line)
}

func TestTheCopyMustBeWhole(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"changed": func(b []byte) []byte { return bytes.Replace(b, []byte("/2"), []byte("/9"), 1) },
		"foreign": func([]byte) []byte { return []byte("routes: []\n") },
		"empty":   func([]byte) []byte { return nil },
		"invalid": func([]byte) []byte {
			c := diskCopy{folder: t.TempDir(), source: sourceOf(t)}
			doc := new(Document)
			doc.setFiles([]File{{Name: "x", Text: []byte("routes: 1")}}, nil)
			require.NoError(t, c.save(doc, time.Time{}))
			b, err := os.ReadFile(c.path())
			require.NoError(t, err)
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, base).start()
			path := filepath.Join(r.folder, copyName)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, damage(text), 0o600))
			r.source.set("", nil)
			r.restart()
			_, _, err = r.pipeline.Start(context.Background())
			require.Error(t, err)
		})
	}
}

// sourceOf is what a copy says of the rig's source.
func sourceOf(t *testing.T) string {
	t.Helper()
	whole, err := filepath.Abs("fake")
	require.NoError(t, err)
	return whole
}

func TestTheCopyOfAnotherConfigurationIsRefused(t *testing.T) {
	r := newRig(t, base).start()
	path := filepath.Join(r.folder, copyName)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), sourceOf(t))
	other := bytes.Replace(text, []byte(sourceOf(t)), []byte("/etc/other.yaml"), 1)
	require.NoError(t, os.WriteFile(path, other, 0o600))
	r.source.set("routes: [", nil)
	r.restart()
	_, _, err = r.pipeline.Start(context.Background())
	require.ErrorContains(t, err, "is a copy of another configuration, /etc/other.yaml")
}

func TestTheCopyOnDisk(t *testing.T) {
	t.Setenv("TEST_TOKEN", "s3cr3t-value")
	text := changed("id: two,", "id: two, metadata: {t: \"${env:TEST_TOKEN}\"},") + "admin: {token: \"${env:TEST_TOKEN}\"}\n"
	r := newRig(t, text).start()
	path := filepath.Join(r.folder, copyName)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	saved, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(saved), "s3cr3t-value")
	assert.Contains(t, string(saved), "${env:TEST_TOKEN}")
	_, err = Parse(File{Name: "copy", Text: saved})
	require.NoError(t, err, "the copy is YAML")
	entries, err := os.ReadDir(r.folder)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing temporary stays")
	_, two, _ := r.pipeline.Snapshot().Routes.Get("two")
	assert.Equal(t, "s3cr3t-value", two.Info.Metadata["t"], "expanded in the model")
	assert.NotContains(t, r.log.String(), "s3cr3t-value")
}

func TestANewSecretInTheSameWords(t *testing.T) {
	t.Setenv("TEST_TOKEN", "first-value")
	text := changed("id: two,", "id: two, metadata: {t: \"${env:TEST_TOKEN}\"},")
	r := newRig(t, text).start()
	require.NoError(t, r.reload(text))
	assert.Empty(t, r.published)
	t.Setenv("TEST_TOKEN", "second-value")
	require.NoError(t, r.reload(text))
	require.Len(t, r.published, 1)
	assert.Equal(t, []string{"two"}, r.pipeline.Status().LastDiff.Routes.Changed)
}

func TestACopyThatCannotBeWritten(t *testing.T) {
	r := newRig(t, base)
	require.NoError(t, os.WriteFile(r.folder, nil, 0o600))
	r.start()
	assert.Contains(t, r.log.String(), "could not be written")
}

func TestApply(t *testing.T) {
	r := newRig(t, base).start()
	ctx := context.Background()
	routes, err := ParseRoutes(r.pipeline.Document(), File{Name: "delta", Text: []byte("routes:\n  - {id: two, match: {path: /2x}, service: a}\n  - {id: four, match: {path: /4}, service: b}\n")})
	require.NoError(t, err)
	require.NoError(t, r.pipeline.Apply(ctx, routes, []string{"three"}))
	require.Len(t, r.published, 1)
	ids := make([]string, 0, 3)
	for _, route := range r.pipeline.Document().Routes {
		ids = append(ids, route.ID)
	}
	assert.Equal(t, []string{"one", "two", "four"}, ids)
	require.NoError(t, r.pipeline.Apply(ctx, routes, nil), "nothing to change")
	assert.Len(t, r.published, 1)
	require.Error(t, r.pipeline.Apply(ctx, nil, []string{"nobody"}))
	require.NoError(t, r.reload(base), "the source decides again")
	assert.Equal(t, []string{"three"}, r.pipeline.Status().LastDiff.Routes.Added)
}

func TestRun(t *testing.T) {
	r := newRig(t, base).start()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.pipeline.Run(ctx) }()
	r.source.set(changed("{path: /2}", "{path: /22}"), nil)
	r.source.changed <- struct{}{}
	cancel()
	require.NoError(t, <-done)
	assert.EqualValues(t, 2, r.pipeline.Status().Generation)
}
