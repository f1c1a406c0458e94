package config

import (
	"errors"
	"fmt"
	"io"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// Check parses, validates and compiles a file or a folder, with what its
// config.file.path names besides, without publishing it, writes every problem with an excerpt, or what deserves a look and one line
// of what was read, and returns the exit code of `corelane check`: 0 or 1.
func Check(w io.Writer, path string) int { return check(w, path, false) }

// CheckStrict is Check for which a warning is as bad as a problem.
func CheckStrict(w io.Writer, path string) int { return check(w, path, true) }

func check(w io.Writer, path string, strict bool) int {
	files, err := readWhole(path)
	if err != nil {
		fmt.Fprintln(w, err)
		return 1
	}
	d := newDraft(files, nil)
	doc, err := d.parse()
	var compiled *snapshot.Snapshot
	if err == nil {
		compiled, _, err = NewCompiler(pool.NewRegistry()).Compile(doc, nil)
	}
	var problems Problems
	switch {
	case errors.As(err, &problems):
		problems.write(w)
		fmt.Fprintf(w, "%s: %s\n", path, count(len(problems), "problem"))
		return 1
	case err != nil:
		fmt.Fprintln(w, err)
		return 1
	}
	warnings := d.review(compiled.Routes)
	for _, one := range d.located(warnings) {
		fmt.Fprintf(w, "warning: %s\n", one)
	}
	if more := len(warnings) - maxProblems; more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	if strict && len(warnings) > 0 {
		fmt.Fprintf(w, "%s: %s\n", path, count(len(warnings), "warning"))
		return 1
	}
	drawLayouts(w, doc)
	fmt.Fprintf(w, "ok: %s, %s, %s, %s\n", count(len(doc.Listeners), "listener"), count(len(doc.Services), "service"),
		count(len(doc.FilterSets), "filter set"), count(len(doc.Routes), "route"))
	return 0
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
