package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/corelane/corelane/config/tree"
)

// Load reads and parses a file or a folder; see ReadPath and Parse.
func Load(path string) (*Document, error) {
	files, err := ReadPath(path)
	if err != nil {
		return nil, err
	}
	return Parse(files...)
}

// ReadPath reads a file, or all *.yaml and *.yml of a folder in the order of
// their names; names that begin with a dot are left out. With an error, which
// tells of the first file that cannot be read, it returns the others.
func ReadPath(path string) ([]File, error) { return new(Reader).Read(path) }

// restTime is how long a file must have rested to be known by its time: clocks
// of file systems are coarse, and a second write may leave the time as it was.
const restTime = 2 * time.Second

// Reader reads like ReadPath and does not read again what has not changed since
// its last call, as its size, time and inode say. It is for one goroutine at a
// time.
type Reader struct {
	known map[string]knownFile
}

// knownFile is a file that was read.
type knownFile struct {
	file File
	info os.FileInfo
}

// Read reads a file or a folder.
func (r *Reader) Read(path string) ([]File, error) {
	before := r.known
	r.known = make(map[string]knownFile, len(before))
	return r.read(path, before)
}

func (r *Reader) read(path string, before map[string]knownFile) ([]File, error) {
	if path == "" {
		return nil, errors.New("no configuration file is named")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if !info.IsDir() {
		f, err := r.readFile(path, before)
		if err != nil {
			return nil, err
		}
		return []File{f}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	var files []File
	var unread error
	for _, e := range entries {
		if !IsDocument(e.Name()) {
			continue
		}
		f, err := r.readFile(filepath.Join(path, e.Name()), before)
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		if files = append(files, f); len(files) > maxFiles {
			return nil, fmt.Errorf("configuration: %s holds more than %d documents", path, maxFiles)
		}
	}
	if unread == nil && len(files) == 0 {
		return nil, fmt.Errorf("configuration: the folder %s holds no *.yaml", path)
	}
	return files, unread
}

// IsDocument tells whether a file of a folder belongs to the configuration.
func IsDocument(name string) bool {
	ext := filepath.Ext(name)
	return !strings.HasPrefix(name, ".") && (ext == ".yaml" || ext == ".yml")
}

func (r *Reader) readFile(path string, before map[string]knownFile) (File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return File{}, fmt.Errorf("configuration: %w", err)
	case !info.Mode().IsRegular():
		return File{}, fmt.Errorf("configuration: %s is not a regular file", path)
	case info.Size() > tree.MaxText:
		return File{}, fmt.Errorf("configuration: %s has more than %d bytes", path, tree.MaxText)
	}
	if k, ok := before[path]; ok && os.SameFile(k.info, info) && k.info.Size() == info.Size() && k.info.ModTime().Equal(info.ModTime()) {
		r.known[path] = k
		return k.file, nil
	}
	rested := time.Since(info.ModTime()) > restTime
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("configuration: %w", err)
	}
	f := File{Name: path, Text: text}
	if rested {
		r.known[path] = knownFile{file: f, info: info}
	}
	return f, nil
}
