package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/corelane/corelane/pool"
)

// FuzzParse holds that no text makes the parser panic, that every problem has a
// place inside the text, that what is accepted compiles, and that its layouts can
// be drawn.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(seeds, "../examples/quickstart.yaml", "../examples/full.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := Parse(File{Name: "fuzz.yaml", Text: text})
		var problems Problems
		if err != nil {
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("an error without problems: %v", err)
			}
			_ = problems.Error()
			return
		}
		if _, _, err := NewCompiler(pool.NewRegistry()).Compile(doc, nil); err != nil {
			t.Fatalf("valid, but does not compile: %v", err)
		}
		drawLayouts(io.Discard, doc)
	})
}
