package program

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// CommandLine tells how to repeat a run of a benchmark, without folders of this
// machine.
func CommandLine(name string, flags *flag.FlagSet) string {
	words := []string{"go run ./bench/" + name}
	flags.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		if filepath.IsAbs(value) {
			value = filepath.Base(value)
		}
		if f.Name != "out" {
			words = append(words, fmt.Sprintf("-%s=%s", f.Name, value))
		}
	})
	return strings.Join(words, " ")
}

// Path makes a path of a flag absolute, from the module's root.
func Path(root, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(root, p)
}

// Render writes a file, a text/template, with its values.
func Render(source, target string, values any) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return RenderText(string(text), target, values)
}

// RenderText is Render for a template at hand.
func RenderText(text, target string, values any) error {
	parsed, err := template.New(filepath.Base(target)).Parse(text)
	if err != nil {
		return err
	}
	file, err := os.Create(target)
	if err != nil {
		return err
	}
	return errors.Join(parsed.Execute(file, values), file.Close())
}
