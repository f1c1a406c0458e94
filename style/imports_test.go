package style_test

import (
	"path"
	"strings"
	"testing"
)

// An area is a package, or with a trailing slash all packages below a folder.
// may names the areas it may import; what those may import, it may as well.
// tests names what its test files may import on top. A package takes the rules
// of the longest area that holds it; a package without an area is an error, so
// that a new folder is a decision.
type area struct {
	may   []string
	tests []string
}

const everything = "*"

var areas = map[string]area{
	"engine/reactor":  {},
	"engine/reactor/": {may: []string{"engine/reactor"}},
	"codec":           {},
	"codec/":          {may: []string{"codec", "codec/"}, tests: []string{"codec/codectest"}},
	// For the tests of protocols, built-in or not; no program links it.
	"codec/codectest": {may: []string{"codec"}},
	"route":           {},
	"pool":            {may: []string{"engine/reactor"}},
	"pool/health":     {may: []string{"pool"}},
	"filters":         {may: []string{"codec", "pool"}, tests: []string{"filters/filtertest"}},
	"filters/":        {may: []string{"filters"}, tests: []string{"filters/filtertest"}},
	// A host for the tests of filters, built-in or not; no program links it.
	"filters/filtertest": {may: []string{"filters", "codec/"}},
	"engine/snapshot":    {may: []string{"route", "pool", "filters"}, tests: []string{"codec/"}},
	"engine/sketch":      {},
	"engine":             {may: []string{"engine/reactor", "codec", "codec/", "engine/snapshot", "engine/sketch"}},
	"engine/explain":     {may: []string{"engine"}},
	"engine/":            {may: []string{"engine"}},
	"config/tree":        {},
	"config":             {may: []string{"engine/snapshot", "codec", "codec/", "config/tree"}, tests: []string{"filters/"}},
	"config/":            {may: []string{"config"}},
	"control":            {may: []string{"engine", "engine/explain", "config", "config/", "pool/health"}, tests: []string{"filters/"}},
	"control/":           {may: []string{"control", "control/"}},
	// The program as a package, so that another main may be built around it.
	"cmd":  {may: []string{everything}},
	"cmd/": {may: []string{"cmd"}},
	"sdk":  {may: []string{"codec", "codec/"}},
	"sdk/": {may: []string{"sdk"}},
	// A plugin; its tests may run it in a whole gateway.
	"examples/": {may: []string{"filters", "sdk", "sdk/"}, tests: []string{"filters/filtertest", "codec/codectest", "control"}},
	"bench/":    {may: []string{"bench/"}},
	// Its tests speak to the program as services and clients do.
	"e2e":   {tests: []string{"sdk/", "codec/"}},
	"docs":  {tests: []string{"config", "control", "filters/"}},
	"style": {},
}

// forbiddenFolders are names that say nothing about what is inside.
var forbiddenFolders = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true,
	"internal": true, "pkg": true, "misc": true, "base": true, "shared": true,
}

// foreign lists imports from outside the module that belong to some areas only.
var foreign = []struct {
	path   string   // with everything below it
	banned []string // areas
	why    string
}{
	{
		"github.com/goccy/go-yaml",
		[]string{"engine", "engine/", "codec", "codec/", "route", "pool", "filters"},
		"YAML is known to config alone",
	},
	{
		"net/http",
		[]string{"engine", "engine/", "codec", "codec/", "route", "pool", "filters"},
		"the engine speaks its own HTTP",
	},
	{
		"github.com/prometheus/client_golang",
		[]string{"engine", "engine/", "codec", "codec/", "route", "pool", "filters"},
		"metrics are rendered by control",
	},
	{
		"github.com/cloudwego/netpoll",
		[]string{"engine", "engine/", "codec", "codec/", "route", "pool", "pool/", "filters", "filters/", "config", "config/", "control", "control/", "cmd", "cmd/"},
		"the engine has loops of its own; netpoll is for services (sdk) and yardsticks (bench)",
	},
	{
		"github.com/klauspost/compress",
		[]string{"engine", "engine/", "codec", "codec/", "route", "pool"},
		"bodies pass through the engine as they are",
	},
}

func TestImports(t *testing.T) {
	apply(t, checkImports)
}

func TestFolderNames(t *testing.T) {
	apply(t, checkFolder)
}

func checkFolder(f *sourceFile) []string {
	for _, part := range strings.Split(f.dir, "/") {
		if forbiddenFolders[part] {
			return []string{f.at(f.syntax.Package, "folder %q says nothing about its contents", part)}
		}
	}
	if forbiddenFolders[f.syntax.Name.Name] {
		return []string{f.at(f.syntax.Package, "package %q says nothing about its contents", f.syntax.Name.Name)}
	}
	return nil
}

func checkImports(f *sourceFile) []string {
	if f.dir == "." {
		return nil
	}
	home, ok := areaOf(f.dir)
	if !ok {
		return []string{f.at(f.syntax.Package, "%s has no place in the layout (style/imports_test.go)", f.dir)}
	}
	allowed := reachable(home, f.isTest())
	var findings []string
	for _, spec := range f.syntax.Imports {
		target := strings.Trim(spec.Path.Value, `"`)
		if why := foreignBan(home, target); why != "" && !f.isTest() {
			findings = append(findings, f.at(spec.Pos(), "%s may not import %s: %s", f.dir, target, why))
		}
		ours, ok := strings.CutPrefix(target, module+"/")
		if !ok || ours == f.dir || allowed[everything] {
			continue
		}
		if to, ok := areaOf(ours); !ok || !allowed[to] {
			findings = append(findings, f.at(spec.Pos(), "%s may not import %s", f.dir, ours))
		}
	}
	return findings
}

// areaOf finds the area with the rules of a package.
func areaOf(dir string) (string, bool) {
	if _, ok := areas[dir]; ok {
		return dir, true
	}
	for dir = path.Dir(dir); dir != "."; dir = path.Dir(dir) {
		if _, ok := areas[dir+"/"]; ok {
			return dir + "/", true
		}
	}
	return "", false
}

// reachable is the set of areas that an area may import, through others too.
func reachable(home string, test bool) map[string]bool {
	allowed := map[string]bool{}
	var add func(names []string)
	add = func(names []string) {
		for _, name := range names {
			if !allowed[name] {
				allowed[name] = true
				add(areas[name].may)
			}
		}
	}
	add(areas[home].may)
	if test {
		add(areas[home].tests)
		if !strings.HasSuffix(home, "/") {
			allowed[home] = true
		}
	}
	return allowed
}

func foreignBan(home, target string) string {
	for _, rule := range foreign {
		if target != rule.path && !strings.HasPrefix(target, rule.path+"/") {
			continue
		}
		for _, name := range rule.banned {
			if name == home || strings.HasSuffix(name, "/") && strings.HasPrefix(home, name) {
				return rule.why
			}
		}
	}
	return ""
}
