package style_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hotPackages run once a request or oftener: they take no lock, cross no
// goroutine, read no clock and format no strings.
var hotPackages = map[string]bool{
	"engine": true, "engine/reactor": true, "engine/snapshot": true, "engine/sketch": true,
	"codec": true, "codec/frame": true, "codec/dubbo": true, "codec/http1": true, "codec/layout": true, "codec/proxyproto": true, "codec/tlshello": true,
	"route": true, "pool": true, "filters": true,
}

// What a file may ask an exception for, as it is written in its head:
//
//	// style: mutex allowed: the registry is written at start only
const (
	wantSprintf = "fmt.Sprintf"
	wantNow     = "time.Now"
	wantMutex   = "mutex"
	wantChannel = "channel"
	wantGo      = "go statement"
	wantLogger  = "logger"
)

// spellings are the words accepted in an exception's line.
var spellings = map[string]string{
	"fmt.sprintf": wantSprintf, "sprintf": wantSprintf,
	"time.now": wantNow, "clock": wantNow,
	"mutex": wantMutex, "sync.mutex": wantMutex, "sync.rwmutex": wantMutex,
	"channel": wantChannel, "channels": wantChannel, "chan": wantChannel,
	"go statement": wantGo, "go statements": wantGo, "go": wantGo, "goroutine": wantGo, "goroutines": wantGo,
	"logger": wantLogger, "log": wantLogger, "log/slog": wantLogger, "slog": wantLogger,
}

// loggers are the packages that count as one.
var loggers = []string{"log", "log/slog", "go.uber.org/zap"}

func TestHotPackages(t *testing.T) {
	apply(t, checkHot)
}

// TestExceptionsAreListed makes every exception a line in exceptions_test.go,
// and every line there a file that still asks for it.
func TestExceptionsAreListed(t *testing.T) {
	apply(t, func(f *sourceFile) []string {
		return compareExceptions(f, exceptions[f.name])
	})
	for name := range exceptions {
		if _, err := os.Stat(filepath.Join("..", filepath.Dir(name))); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join("..", name)); err != nil {
			t.Errorf("exceptions_test.go lists %s, which does not exist", name)
		}
	}
}

// compareExceptions tells the difference between what a file declares and what is listed for it.
func compareExceptions(f *sourceFile, listed []string) []string {
	if !isHot(f) {
		return nil
	}
	declared, _ := declaredExceptions(f)
	var findings []string
	for _, what := range sortedKeys(declared) {
		if !slices.Contains(listed, what) {
			findings = append(findings, f.at(f.syntax.Package, "exception %q is not listed in style/exceptions_test.go", what))
		}
	}
	for _, what := range listed {
		if !declared[what] {
			findings = append(findings, f.at(f.syntax.Package, "exception %q is listed, but the file does not declare it", what))
		}
	}
	return findings
}

func isHot(f *sourceFile) bool {
	return hotPackages[f.dir] && !f.isTest()
}

// checkHot finds what hot packages must not use, and exceptions that nothing needs.
func checkHot(f *sourceFile) []string {
	if !isHot(f) {
		return nil
	}
	declared, findings := declaredExceptions(f)
	used := map[string]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		what := forbidden(f, n)
		if what == "" {
			return true
		}
		used[what] = true
		if !declared[what] {
			findings = append(findings, f.at(n.Pos(), "%s in a hot package", what))
		}
		return true
	})
	for _, what := range sortedKeys(declared) {
		if !used[what] {
			findings = append(findings, f.at(f.syntax.Package, "exception %q is not needed", what))
		}
	}
	return findings
}

// forbidden names the rule that a node breaks, or is empty.
func forbidden(f *sourceFile, n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return wantGo
	case *ast.ChanType, *ast.SendStmt:
		return wantChannel
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return wantChannel
		}
	case *ast.ImportSpec:
		if slices.Contains(loggers, strings.Trim(n.Path.Value, `"`)) {
			return wantLogger
		}
	case *ast.SelectorExpr:
		return forbiddenMember(f, n)
	}
	return ""
}

func forbiddenMember(f *sourceFile, n *ast.SelectorExpr) string {
	members := []struct{ pkg, name, what string }{
		{"fmt", "Sprintf", wantSprintf},
		{"fmt", "Sprint", wantSprintf},
		{"fmt", "Sprintln", wantSprintf},
		{"time", "Now", wantNow},
		{"time", "Since", wantNow},
		{"time", "Until", wantNow},
		{"sync", "Mutex", wantMutex},
		{"sync", "RWMutex", wantMutex},
	}
	for _, m := range members {
		if f.uses(n, m.pkg, m.name) {
			return m.what
		}
	}
	return ""
}

// declaredExceptions reads the `// style:` lines above the first declaration
// that is not an import. Findings are lines that cannot be understood.
func declaredExceptions(f *sourceFile) (map[string]bool, []string) {
	declared, findings := map[string]bool{}, []string(nil)
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			text, ok := strings.CutPrefix(c.Text, "// style:")
			if !ok {
				continue
			}
			what, reason, ok := strings.Cut(text, " allowed:")
			if !ok || strings.TrimSpace(reason) == "" {
				findings = append(findings, f.at(c.Pos(), "want `// style: <what> allowed: <reason>`"))
				continue
			}
			if c.Pos() > headEnd(f) {
				findings = append(findings, f.at(c.Pos(), "an exception stands at the head of its file"))
				continue
			}
			for _, word := range splitWords(what) {
				if spellings[word] == "" {
					findings = append(findings, f.at(c.Pos(), "unknown exception %q", word))
					continue
				}
				declared[spellings[word]] = true
			}
		}
	}
	return declared, findings
}

// headEnd is the place of the first declaration that is not an import.
func headEnd(f *sourceFile) token.Pos {
	for _, d := range f.syntax.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
			return d.Pos()
		}
	}
	return f.syntax.FileEnd
}

// splitWords takes "mutex, channel and go statement" apart.
func splitWords(s string) []string {
	s = strings.NewReplacer(" and ", ",", "`", "").Replace(strings.ToLower(s))
	var words []string
	for _, word := range strings.Split(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func sortedKeys(set map[string]bool) []string {
	var keys []string
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
