package config

import (
	"path/filepath"
	"regexp"
	"slices"
)

// mentionsFile spares documents that cannot hold the key a second reading.
var mentionsFile = regexp.MustCompile(`\bfile\s*:`)

// FurtherPath returns what config.file.path of a file or a folder names besides
// it; empty if that is nothing or the same path. A document with mistakes may
// still tell it, since what it lacks may stand in the other files; what cannot
// be read at all is reported by whoever loads it.
func FurtherPath(path string) string {
	files, _ := ReadPath(path)
	return furtherPath(path, files)
}

func furtherPath(path string, files []File) string {
	if !slices.ContainsFunc(files, func(f File) bool { return mentionsFile.Match(f.Text) }) {
		return ""
	}
	doc, _ := Parse(files...)
	if doc == nil || doc.Config.File.Path == "" || absolute(doc.Config.File.Path) == absolute(path) {
		return ""
	}
	return doc.Config.File.Path
}

// Join returns the files of a path and those of its FurtherPath as one
// configuration. A file that belongs to both is there once.
func Join(base, further []File) []File {
	known := make(map[string]bool, len(base))
	for _, f := range base {
		known[absolute(f.Name)] = true
	}
	all := slices.Clone(base)
	for _, f := range further {
		if !known[absolute(f.Name)] {
			all = append(all, f)
		}
	}
	return all
}

// readWhole reads a path and its FurtherPath: what a node that is started with
// the path reads.
func readWhole(path string) ([]File, error) {
	base, err := ReadPath(path)
	if err != nil {
		return nil, err
	}
	more := furtherPath(path, base)
	if more == "" {
		return base, nil
	}
	further, err := ReadPath(more)
	if err != nil {
		return nil, err
	}
	return Join(base, further), nil
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return filepath.Clean(path)
}
