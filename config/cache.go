package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// diskCopy keeps the last good sources in one file, so that they are replaced
// whole or not at all. Its first line is a comment that holds what is known of
// them. References to secrets are kept as references.
type diskCopy struct {
	folder string
	// source is whose copy it is: another configuration that is kept in the
	// same folder must never be started in its place.
	source string
}

// copyName is the name of the copy in its folder.
const copyName = "last-good.yaml"

const copyMark = "# corelane-copy "

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
}

func (c diskCopy) path() string { return filepath.Join(c.folder, copyName) }

// save writes the sources beside the last copy, waits for the disk, and takes
// the place of the last copy.
func (c diskCopy) save(files []File, checksum string, now time.Time) error {
	head, err := encodeHead(c.source, files, checksum, now)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(c.folder, copyName+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	err = errors.Join(writeCopy(temporary, head, files), temporary.Chmod(0o600), temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), c.path()); err != nil {
		return err
	}
	return syncFolder(c.folder)
}

func encodeHead(source string, files []File, checksum string, now time.Time) ([]byte, error) {
	head := copyHead{Source: source, Checksum: checksum, SavedAt: now.UTC()}
	for _, f := range files {
		head.Files = append(head.Files, copyPart{Name: f.Name, Size: len(f.Text)})
	}
	return json.Marshal(head)
}

// writeCopy writes the texts as they are: together they may be large.
func writeCopy(w io.Writer, head []byte, files []File) error {
	if _, err := fmt.Fprintf(w, "%s%s\n", copyMark, head); err != nil {
		return err
	}
	for _, f := range files {
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
