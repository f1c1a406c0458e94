package style_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRules shows each rule a file and expects what it finds: "line: text" for
// every finding, nothing for a file that is as it should be.
func TestRules(t *testing.T) {
	tests := []struct {
		name string
		rule rule
		file string
		src  string
		want []string
	}{
		{"arrow up", checkImports, "pool/a.go", ours("pool", "engine"), []string{"2: pool may not import engine"}},
		{"arrow down through layers", checkImports, "control/a.go", ours("control", "engine/reactor"), nil},
		{"engine below config", checkImports, "engine/a.go", ours("engine", "config"), []string{"2: engine may not import config"}},
		{"engine and codec", checkImports, "engine/a.go", ours("engine", "codec/http1"), nil},
		{"built-in filter", checkImports, "engine/a.go", ours("engine", "filters/headers"), []string{"2: engine may not import filters/headers"}},
		{"one filter by another", checkImports, "filters/cors/a.go", ours("cors", "filters/headers"), []string{"2: filters/cors may not import filters/headers"}},
		{"a filter's own test", checkImports, "filters/cors/a_test.go", ours("cors_test", "filters/cors"), nil},
		{"built-in filters by the program", checkImports, "cmd/a.go", ours("cmd", "filters/headers"), nil},
		{"built-in filters beside the program", checkImports, "cmd/corelane/a.go", ours("main", "filters/headers"), nil},
		{"test against the arrow", checkImports, "route/a_test.go", ours("route", "engine"), []string{"2: route may not import engine"}},
		{"unknown folder", checkImports, "thing/a.go", "package thing\n", []string{"1: thing has no place in the layout (style/imports_test.go)"}},
		{
			"foreign", checkImports, "engine/reactor/a.go", "package reactor\nimport \"net/http\"\n",
			[]string{"2: engine/reactor may not import net/http: the engine speaks its own HTTP"},
		},
		{"folder name", checkFolder, "engine/util/a.go", "package util\n", []string{`1: folder "util" says nothing about its contents`}},
		{"package name", checkFolder, "engine/a.go", "package common\n", []string{`1: package "common" says nothing about its contents`}},

		{"clock", checkHot, "pool/a.go", "package pool\nimport \"time\"\nvar t = time.Now()\n", []string{"3: time.Now in a hot package"}},
		{"renamed import", checkHot, "pool/a.go", "package pool\nimport x \"time\"\nvar t = x.Since\n", []string{"3: time.Now in a hot package"}},
		{"cold package", checkHot, "control/a.go", "package control\nimport \"time\"\nvar t = time.Now()\n", nil},
		{"test file", checkHot, "pool/a_test.go", "package pool\nimport \"time\"\nvar t = time.Now()\n", nil},
		{"lock", checkHot, "route/a.go", "package route\nimport \"sync\"\nvar m sync.RWMutex\n", []string{"3: mutex in a hot package"}},
		{"channel", checkHot, "engine/a.go", "package engine\nvar c chan int\n", []string{"2: channel in a hot package"}},
		{"send, receive, go", checkHot, "engine/a.go", "package engine\nfunc f() {\n\tc <- 1\n\t<-c\n\tgo f()\n}\n", []string{
			"3: channel in a hot package", "4: channel in a hot package", "5: go statement in a hot package",
		}},
		{"logger", checkHot, "filters/a.go", "package filters\nimport \"log/slog\"\n", []string{"2: logger in a hot package"}},
		{"format", checkHot, "codec/a.go", "package codec\nimport \"fmt\"\nvar s = fmt.Sprintf(\"\")\n", []string{"3: fmt.Sprintf in a hot package"}},
		{"allowed", checkHot, "engine/a.go", "package engine\n\n// style: channel and go statement allowed: it runs off the loops\n\nvar c chan int\nfunc f() { go f() }\n", nil},
		{"allowed for nothing", checkHot, "engine/a.go", "package engine\n\n// style: mutex allowed: who knows\n", []string{`1: exception "mutex" is not needed`}},
		{"no reason", checkHot, "engine/a.go", "package engine\n\n// style: mutex allowed:\n", []string{"3: want `// style: <what> allowed: <reason>`"}},
		{"unknown word", checkHot, "engine/a.go", "package engine\n\n// style: speed allowed: fun\n", []string{`3: unknown exception "speed"`}},
		{
			"not in the head", checkHot, "engine/a.go", "package engine\nvar c chan int\n// style: channel allowed: late\n",
			[]string{"3: an exception stands at the head of its file", "2: channel in a hot package"},
		},

		{"long file", checkFileLength, "route/a.go", "package route\n" + strings.Repeat("\n", maxFile), []string{"1: 501 lines, more than 500"}},
		{"full file", checkFileLength, "route/a.go", "package route\n" + strings.Repeat("\n", maxFile-1), nil},
		{"long function", checkFuncLength, "route/a.go", "package route\nfunc f() {\n" + strings.Repeat("\n", 69) + "}\n", []string{"2: f has 71 lines, more than 70"}},
		{"full function", checkFuncLength, "route/a.go", "package route\nfunc f() {\n" + strings.Repeat("\n", 68) + "}\n", nil},
		{"table in a test", checkFuncLength, "route/a_test.go", "package route\nfunc f() {\n\t_ = []int{\n" + strings.Repeat("\n", 99) + "\t}\n}\n", nil},
		{
			"table in the code", checkFuncLength, "route/a.go", "package route\nfunc f() {\n\t_ = []int{\n" + strings.Repeat("\n", 99) + "\t}\n}\n",
			[]string{"2: f has 103 lines, more than 70"},
		},
		{"sleep", checkSleep, "route/a_test.go", "package route\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", []string{"3: time.Sleep in a test"}},

		{"no docs", checkDocs, "route/a.go", "package route\ntype A int\nfunc (a *A) B() {}\nconst C = 1\nfunc D() {}\n", []string{
			"2: A has no doc comment", "3: B has no doc comment", "4: C has no doc comment", "5: D has no doc comment",
		}},
		{"docs", checkDocs, "route/a.go", "package route\n// A is.\ntype A[T any] struct{}\n// B does.\nfunc (a *A[T]) B() {}\nconst (\n\tC = 1 // one\n)\nfunc (a b) D() {}\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parseSource(tt.file, []byte(tt.src))
			require.NoError(t, err)
			var got []string
			for _, finding := range tt.rule(f) {
				got = append(got, strings.TrimPrefix(finding, tt.file+":"))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestExceptionRules(t *testing.T) {
	f, err := parseSource("engine/a.go", []byte("package engine\n\n// style: mutex, go allowed: start only\n"))
	require.NoError(t, err)
	assert.Empty(t, compareExceptions(f, []string{wantGo, wantMutex}))
	assert.Equal(t, []string{
		`engine/a.go:1: exception "mutex" is not listed in style/exceptions_test.go`,
		`engine/a.go:1: exception "channel" is listed, but the file does not declare it`,
	}, compareExceptions(f, []string{wantGo, wantChannel}))
}

// ours is the source of a package that imports one other of the module.
func ours(pkg, target string) string {
	return "package " + pkg + "\nimport _ \"" + module + "/" + target + "\"\n"
}
