package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// diskCopy keeps the last good sources in one file, so that they are replaced
// whole or not at all. Its first line is a comment that holds what is known of
// them. References to secrets are kept as references. A large document stands
// beside it in a file that is named by its content and never changes, so that a
// small change of a large configuration writes little.
type diskCopy struct {
	folder string
	// source is whose copy it is: another configuration that is kept in the
	// same folder must never be started in its place.
	source string
	// written are the large documents that this process has put there; others are
	// written again, for who knows what became of them. Nil: none is known.
	written map[string]bool
}

// copyName is the name of the copy in its folder.
const copyName = "last-good.yaml"

const copyMark = "# corelane-copy "

const (
	// largeText is the length from which a document is kept in a file of its own.
	largeText = 64 << 10
	// largePrefix begins the names of such files.
	largePrefix = "document-"
)

var copySeparator = []byte("\n---\n")

// copyHead is the first line of a copy.
type copyHead struct {
	Source   string     `json:"source"`
	Checksum string     `json:"checksum"`
	SavedAt  time.Time  `json:"saved_at"`
	Files    []copyPart `json:"files"`
}

type copyPart struct {
	Name string `json:"name"`
	Size int    `json:"size"`
	// File holds the text; empty: it stands in the copy itself.
	File string `json:"file,omitempty"`
}

func (c diskCopy) path() string { return filepath.Join(c.folder, copyName) }

// save writes the sources beside the last copy, waits for the disk, and takes
// the place of the last copy.
func (c diskCopy) save(doc *Document, now time.Time) error {
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	head := copyHead{Source: c.source, Checksum: doc.checksum, SavedAt: now.UTC()}
	large := make(map[string]bool)
	for i, f := range doc.files {
		part := copyPart{Name: f.Name, Size: len(f.Text)}
		if len(f.Text) >= largeText {
			part.File = fmt.Sprintf("%s%x.yaml", largePrefix, doc.sums[i])
			large[part.File] = true
			if err := c.keepLarge(part.File, f.Text); err != nil {
				return err
			}
		}
		head.Files = append(head.Files, part)
	}
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	err = c.replace(copyName, func(w io.Writer) error { return writeCopy(w, line, head.Files, doc.files) })
	if err == nil {
		c.dropLarge(large)
	}
	return err
}

// keepLarge writes a document that this process has not written yet.
func (c diskCopy) keepLarge(name string, text []byte) error {
	if info, err := os.Stat(filepath.Join(c.folder, name)); err == nil && c.written[name] && info.Size() == int64(len(text)) {
		return nil
	}
	err := c.replace(name, func(w io.Writer) error { _, err := w.Write(text); return err })
	if err == nil && c.written != nil {
		c.written[name] = true
	}
	return err
}

// dropLarge removes the documents that no copy needs any more.
func (c diskCopy) dropLarge(needed map[string]bool) {
	names, _ := filepath.Glob(filepath.Join(c.folder, largePrefix+"*.yaml"))
	for _, name := range names {
		if !needed[filepath.Base(name)] {
			delete(c.written, filepath.Base(name))
			_ = os.Remove(name) // it wastes room and does no other harm
		}
	}
}

// replace writes a file beside the one of its name, waits for the disk, and takes
// its place.
func (c diskCopy) replace(name string, write func(io.Writer) error) error {
	temporary, err := os.CreateTemp(c.folder, name+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	err = errors.Join(write(temporary), temporary.Chmod(0o600), temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), filepath.Join(c.folder, name)); err != nil {
		return err
	}
	return syncFolder(c.folder)
}

// writeCopy writes the texts that have no file of their own.
func writeCopy(w io.Writer, head []byte, parts []copyPart, files []File) error {
	if _, err := fmt.Fprintf(w, "%s%s\n", copyMark, head); err != nil {
		return err
	}
	for i, f := range files {
		if parts[i].File != "" {
			continue
		}
		if _, err := w.Write(f.Text); err != nil {
			return err
		}
		if _, err := w.Write(copySeparator); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// load returns the sources of the copy; an error tells that there is none or
// that it is damaged.
func (c diskCopy) load() ([]File, time.Time, error) {
	text, err := os.ReadFile(c.path())
	if err != nil {
		return nil, time.Time{}, err
	}
	line, body, _ := bytes.Cut(text, []byte("\n"))
	line, ok := bytes.CutPrefix(line, []byte(copyMark))
	var head copyHead
	if !ok || json.Unmarshal(line, &head) != nil {
		return nil, time.Time{}, fmt.Errorf("%s is not a copy of a configuration", c.path())
	}
	if head.Source != c.source {
		return nil, time.Time{}, fmt.Errorf("%s is a copy of another configuration, %s", c.path(), head.Source)
	}
	var files []File
	for _, part := range head.Files {
		if part.File != "" {
			text, err := c.loadLarge(part)
			if err != nil {
				return nil, time.Time{}, err
			}
			files = append(files, File{Name: part.Name, Text: text})
			continue
		}
		if part.Size < 0 || part.Size+len(copySeparator) > len(body) {
			return nil, time.Time{}, fmt.Errorf("%s is cut short", c.path())
		}
		files = append(files, File{Name: part.Name, Text: body[:part.Size:part.Size]})
		body = body[part.Size+len(copySeparator):]
	}
	if Checksum(files) != head.Checksum {
		return nil, time.Time{}, fmt.Errorf("%s is damaged: its checksum is another", c.path())
	}
	return files, head.SavedAt, nil
}

// loadLarge reads a document's own file. Whether it is the right text tells the
// checksum of all.
func (c diskCopy) loadLarge(part copyPart) ([]byte, error) {
	if filepath.Base(part.File) != part.File || !strings.HasPrefix(part.File, largePrefix) {
		return nil, fmt.Errorf("%s names %q, which is no file of a copy", c.path(), part.File)
	}
	return os.ReadFile(filepath.Join(c.folder, part.File))
}
