package control

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine"
)

// failingWriter takes n bytes and fails then, until it is healed.
type failingWriter struct {
	bytes.Buffer
	room   int
	healed bool
}

var errFull = errors.New("no space left")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.healed || len(b) <= w.room {
		w.room -= len(b)
		return w.Buffer.Write(b)
	}
	n, _ := w.Buffer.Write(b[:w.room])
	w.room = 0
	return n, errFull
}

func put(t *testing.T, r *engine.Ring, records ...string) {
	t.Helper()
	for _, record := range records {
		require.True(t, r.Put([]byte(record)))
	}
}

func TestAccessLogTakesAllRings(t *testing.T) {
	var out bytes.Buffer
	a, b := engine.NewRing(), engine.NewRing()
	log, err := OpenAccessLog("stdout", &out, []*engine.Ring{a, b}, quiet())
	require.NoError(t, err)
	put(t, a, "a1\n", "a2\n")
	put(t, b, "b1\n")
	log.flush(time.Unix(0, 0))
	log.flush(time.Unix(0, 0))
	assert.Equal(t, "a1\na2\nb1\n", out.String())
}

// A ring that nobody empties takes no more than it has room for; what it took
// is written whole, also around its end.
func TestAccessLogFullRing(t *testing.T) {
	var out bytes.Buffer
	ring := engine.NewRing()
	log, err := OpenAccessLog("stdout", &out, []*engine.Ring{ring}, quiet())
	require.NoError(t, err)
	record := strings.Repeat("x", 999) + "\n"
	total := 0
	for range 3 {
		for ring.Put([]byte(record)) {
			total++
		}
		log.flush(time.Unix(0, 0))
	}
	assert.Equal(t, total, strings.Count(out.String(), record))
	assert.Len(t, out.String(), total*len(record))
}

func TestAccessLogFlushesAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	ring := engine.NewRing()
	log, err := OpenAccessLog(path, nil, []*engine.Ring{ring}, quiet())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	put(t, ring, "last\n")
	log.Run(ctx)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "last\n", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o007, "others may not read who called what")
}

func TestAccessLogErrors(t *testing.T) {
	var lines lockedBuffer
	out := &failingWriter{room: 5}
	ring := engine.NewRing()
	log := &AccessLog{rings: []*engine.Ring{ring}, out: out, log: slog.New(slog.NewTextHandler(&lines, nil))}
	at := time.Unix(1000, 0)
	put(t, ring, "one\n", "two\n")
	log.flush(at)
	put(t, ring, "three\n")
	log.flush(at.Add(time.Second))
	assert.Equal(t, uint64(2), log.Failed())
	assert.Equal(t, uint64(len("wo\n")+len("three\n")), log.Lost())
	assert.Equal(t, 1, strings.Count(lines.String(), "records are lost"), "at most one line a minute")

	out.healed = true
	put(t, ring, "four\n")
	log.flush(at.Add(2 * time.Second))
	assert.Equal(t, "one\nt\nfour\n", out.String(), "a record that was cut ends before the next one")

	out.healed, out.room = false, 0
	put(t, ring, "five\n")
	log.flush(at.Add(2 * time.Minute))
	assert.Equal(t, 2, strings.Count(lines.String(), "records are lost"))
	assert.Contains(t, lines.String(), "failures=2")
}

func TestAccessLogKeepsItsFileIfItCannotReopen(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs")
	require.NoError(t, os.Mkdir(folder, 0o755))
	path := filepath.Join(folder, "access.log")
	ring := engine.NewRing()
	log, err := OpenAccessLog(path, nil, []*engine.Ring{ring}, quiet())
	require.NoError(t, err)
	defer log.close()
	require.NoError(t, os.Rename(folder, folder+".old"))
	log.Reopen()
	put(t, ring, "kept\n")
	log.flush(time.Unix(1000, 0))
	assert.Equal(t, 1, lines(filepath.Join(folder+".old", "access.log")))
	assert.Equal(t, uint64(1), log.Failed())
}

func TestNoAccessLog(t *testing.T) {
	log, err := OpenAccessLog("none", nil, nil, quiet())
	require.NoError(t, err)
	require.Nil(t, log)
	log.Reopen()
	log.Run(t.Context())
	assert.Zero(t, log.Failed()+log.Lost())
}
