package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
// their names; names that begin with a dot are left out.
func ReadPath(path string) ([]File, error) {
	if path == "" {
		return nil, errors.New("no configuration file is named")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if !info.IsDir() {
		f, err := readFile(path)
		return []File{f}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	var files []File
	for _, e := range entries {
		if !IsDocument(e.Name()) {
			continue
		}
		f, err := readFile(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		if files = append(files, f); len(files) > maxFiles {
			return nil, fmt.Errorf("configuration: %s holds more than %d documents", path, maxFiles)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("configuration: the folder %s holds no *.yaml", path)
	}
	return files, nil
}

// IsDocument tells whether a file of a folder belongs to the configuration.
func IsDocument(name string) bool {
	ext := filepath.Ext(name)
	return !strings.HasPrefix(name, ".") && (ext == ".yaml" || ext == ".yml")
}

func readFile(path string) (File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return File{}, fmt.Errorf("configuration: %w", err)
	case !info.Mode().IsRegular():
		return File{}, fmt.Errorf("configuration: %s is not a regular file", path)
	case info.Size() > tree.MaxText:
		return File{}, fmt.Errorf("configuration: %s has more than %d bytes", path, tree.MaxText)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("configuration: %w", err)
	}
	return File{Name: path, Text: text}, nil
}
