package config

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// large is a document that is kept in a file of its own.
func large(letter string) File {
	return File{Name: "large.yaml", Text: bytes.Repeat([]byte(letter), largeText)}
}

// keptIn returns the names of large documents in a folder.
func keptIn(t *testing.T, c diskCopy) []string {
	names, err := filepath.Glob(filepath.Join(c.folder, largePrefix+"*"))
	require.NoError(t, err)
	return names
}

func TestALargeDocumentIsWrittenOnce(t *testing.T) {
	c := diskCopy{folder: t.TempDir(), source: "s", written: map[string]bool{}}
	saved := func(files ...File) {
		doc := new(Document)
		doc.setFiles(files, nil)
		require.NoError(t, c.save(doc, time.Unix(1, 0)))
		got, _, err := c.load()
		require.NoError(t, err)
		assert.Equal(t, files, got)
	}
	small := func(text string) File { return File{Name: "small.yaml", Text: []byte(text)} }
	saved(small("a"), large("x"), small("b"))
	names := keptIn(t, c)
	require.Len(t, names, 1)
	before, err := os.Stat(names[0])
	require.NoError(t, err)
	copied, err := os.Stat(c.path())
	require.NoError(t, err)
	assert.Less(t, copied.Size(), int64(largeText))

	saved(small("c"), large("x"))
	after, err := os.Stat(names[0])
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "the large one was not written again")

	require.NoError(t, os.WriteFile(names[0], large("z").Text, 0o600)) // damaged while nobody looked
	c.written = map[string]bool{}                                      // the next process
	saved(small("c"), large("x"))

	saved(small("c"), large("y"))
	require.Len(t, keptIn(t, c), 1, "the former one is gone")
	saved(small("c"))
	require.Empty(t, keptIn(t, c))
}

func TestACopyNeedsItsLargeDocuments(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"gone":    os.Remove,
		"changed": func(path string) error { return os.WriteFile(path, large("z").Text, 0o600) },
		"cut":     func(path string) error { return os.Truncate(path, 7) },
	} {
		t.Run(name, func(t *testing.T) {
			c := diskCopy{folder: t.TempDir(), source: "s"}
			doc := new(Document)
			doc.setFiles([]File{large("x")}, nil)
			require.NoError(t, c.save(doc, time.Unix(1, 0)))
			require.NoError(t, damage(keptIn(t, c)[0]))
			_, _, err := c.load()
			require.Error(t, err)
		})
	}
	c := diskCopy{folder: t.TempDir(), source: "s"}
	for _, file := range []string{"../secret", "document-/../x", "other.yaml"} {
		_, err := c.loadLarge(copyPart{File: file})
		require.ErrorContains(t, err, "no file of a copy")
	}
}
