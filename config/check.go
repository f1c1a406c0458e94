package config

import (
	"errors"
	"fmt"
	"io"

	"github.com/corelane/corelane/pool"
)

// Check parses, validates and compiles a file or a folder without publishing
// it, writes every problem with an excerpt, or one line of what was read, and
// returns the exit code of `corelane check`: 0 or 1.
func Check(w io.Writer, path string) int {
	doc, err := Load(path)
	if err == nil {
		_, _, err = NewCompiler(pool.NewRegistry()).Compile(doc, nil)
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
	for _, warning := range doc.Warnings() {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
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
