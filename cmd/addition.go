package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// productModule is the module of this program.
const productModule = "github.com/corelane/corelane"

// addition is one module whose filters are compiled in.
type addition struct {
	// path is what is imported: the module, or a package of it.
	path string
	// version is what to fetch; empty: the newest.
	version string
	// folder is the source that is taken instead; module is what its go.mod says.
	folder, module string
}

// importPath is what Go takes for the path of something that can be fetched: a
// host name with a dot, and elements of letters, digits and -._~.
var importPath = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)+(/[0-9A-Za-z_~-][0-9A-Za-z_.~-]*)*$`)

// parseAddition reads MODULE[@VERSION][=PATH].
func parseAddition(text string) (addition, error) {
	var a addition
	name, folder, replaced := strings.Cut(text, "=")
	a.path, a.version, _ = strings.Cut(name, "@")
	if !importPath.MatchString(a.path) {
		return a, fmt.Errorf("--with %s: %q is not a module path such as example.com/filter", text, a.path)
	}
	if !replaced {
		return a, nil
	}
	var err error
	if a.module, err = moduleOf(folder); err != nil {
		return a, fmt.Errorf("--with %s: %w", text, err)
	}
	if a.path != a.module && !strings.HasPrefix(a.path, a.module+"/") {
		return a, fmt.Errorf("--with %s: the module in %s is %s", text, folder, a.module)
	}
	a.folder, err = filepath.Abs(folder)
	return a, err
}

// owns tells whether a package belongs to the addition.
func (a *addition) owns(pkg string) bool {
	root := a.path
	if a.module != "" {
		root = a.module
	}
	return pkg == root || strings.HasPrefix(pkg, root+"/")
}

// moduleOf returns the path of the module in a folder.
func moduleOf(folder string) (string, error) {
	f, err := os.Open(filepath.Join(folder, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no go.mod in %s", folder)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "module "); ok {
			name, _, _ = strings.Cut(name, "//")
			return strings.Trim(strings.TrimSpace(name), "\"`"), nil
		}
	}
	return "", errors.Join(fmt.Errorf("%s/go.mod names no module", folder), lines.Err())
}

// majorSuffix is how a module path names its major version, from 2 on.
var majorSuffix = regexp.MustCompile(`[/.]v([0-9]+)$`)

// placeholder is a version that a module of that path may have. It stands in
// go.mod beside the folder that replaces the module.
func placeholder(module string) string {
	if m := majorSuffix.FindStringSubmatch(module); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return fmt.Sprintf("v%d.0.0", n)
		}
	}
	return "v0.0.0"
}

// sourceTree returns the folder at or above another one that holds the source of
// the product; empty if there is none.
func sourceTree(from string) string {
	folder, err := filepath.Abs(from)
	if err != nil {
		return ""
	}
	for {
		if module, err := moduleOf(folder); err == nil && module == productModule {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}
