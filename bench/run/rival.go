package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/corelane/corelane/bench/program"
)

// place is what a rival's configuration and command line are made from.
type place struct {
	Dir    string // its own folder
	Listen string // address to serve on
	Origin string // address of the service
	Admin  string // another free address
	Log    bool   // write an access log
	Root   bool   // the runner is root
	Poller string // Corelane's
	Large  bool   // buffers that hold a response of 16 KiB with its head
	binary string
}

// accessLog is where a rival's access log ends up.
func (p *place) accessLog() string {
	return filepath.Join(p.Dir, "access.log")
}

// rival is a proxy that can be measured.
type rival struct {
	name    string
	program string // looked up on PATH; "./" is built from this module; "" is Corelane
	config  string // template in bench/conf
	poller  string
	large   bool
	env     []string
	args    func(p *place) []string
	version []string // arguments that make the program tell its version
	// stdoutLog: the access log goes to standard output.
	stdoutLog bool
}

// defaultRivals are compared unless -rivals says otherwise. The "large" ones
// have larger buffers than their makers' defaults.
var defaultRivals = []string{"corelane", "nginx", "haproxy", "goproxy", "reverseproxy"}

var rivals = []rival{
	{name: "corelane", config: "corelane.yaml", poller: "epoll", args: corelaneArgs, version: []string{"version"}},
	{name: "corelane-gnet", config: "corelane.yaml", poller: "gnet", args: corelaneArgs, version: []string{"version"}},
	{name: "nginx", program: "nginx", config: "nginx.conf", args: nginxArgs, version: []string{"-v"}},
	{name: "nginx-large", program: "nginx", config: "nginx.conf", large: true, args: nginxArgs, version: []string{"-v"}},
	{name: "haproxy", program: "haproxy", config: "haproxy.cfg", env: keepHeap, args: haproxyArgs, version: []string{"-v"}, stdoutLog: true},
	{name: "haproxy-large", program: "haproxy", config: "haproxy.cfg", large: true, env: keepHeap, args: haproxyArgs, version: []string{"-v"}, stdoutLog: true},
	{name: "goproxy", program: "./bench/goproxy", args: goArgs},
	{name: "reverseproxy", program: "./bench/reverseproxy", args: goArgs},
}

func corelaneArgs(p *place) []string {
	return []string{"run", "-c", filepath.Join(p.Dir, "corelane.yaml")}
}

func nginxArgs(p *place) []string {
	return []string{"-p", p.Dir, "-e", filepath.Join(p.Dir, "error.log"), "-c", filepath.Join(p.Dir, "nginx.conf")}
}

// haproxyArgs leaves -q out: it sends the access log to /dev/null.
func haproxyArgs(p *place) []string {
	return []string{"-db", "-f", filepath.Join(p.Dir, "haproxy.cfg")}
}

// keepHeap stops the C library from giving memory back that HAProxy frees and
// needs again a moment later: up to 0.2 brk a request otherwise.
var keepHeap = []string{"MALLOC_TRIM_THRESHOLD_=268435456", "MALLOC_TOP_PAD_=16777216"}

func goArgs(p *place) []string {
	args := []string{"-listen", p.Listen, "-upstream", p.Origin}
	if p.Log {
		args = append(args, "-access-log", p.accessLog())
	}
	return args
}

func rivalNames() []string {
	var names []string
	for _, r := range rivals {
		names = append(names, r.name)
	}
	return names
}

func rivalNamed(name string) *rival {
	for i := range rivals {
		if rivals[i].name == name {
			return &rivals[i]
		}
	}
	return nil
}

// prepare finds or builds the rival's program and writes its configuration.
func (r *rival) prepare(ctx context.Context, o *options, p *place) error {
	p.Poller, p.Large = r.poller, r.large
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	var err error
	if p.binary, err = r.find(ctx, o, p.Dir); err != nil {
		return err
	}
	if r.config == "" {
		return nil
	}
	return program.Render(o.path(filepath.Join("bench/conf", r.config)), filepath.Join(p.Dir, r.config), p)
}

func (r *rival) find(ctx context.Context, o *options, dir string) (string, error) {
	switch {
	case r.program == "":
		binary := o.path(o.binary)
		if _, err := os.Stat(binary); err != nil {
			return "", fmt.Errorf("%s is missing, run `make build`: %w", o.binary, err)
		}
		return binary, nil
	case strings.HasPrefix(r.program, "./"):
		return build(ctx, o, r.program, dir)
	}
	return lookPath(r.program)
}

// lookPath also finds servers that live in sbin, which is not on every PATH.
func lookPath(program string) (string, error) {
	found, err := exec.LookPath(program)
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if err == nil {
			break
		}
		found, err = exec.LookPath(filepath.Join(dir, program))
	}
	if err != nil {
		return "", fmt.Errorf("%s is not installed, run `make setup`: %w", program, err)
	}
	return found, nil
}

// build compiles a program of this module into dir.
func build(ctx context.Context, o *options, pkg, dir string) (string, error) {
	binary := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, pkg)
	cmd.Dir = o.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return binary, nil
}

// versionPattern finds "1.22.1" or "v0.1.0-3-gabcdef".
var versionPattern = regexp.MustCompile(`v?\d+\.\d+(\.\d+)?[-+.\w]*`)

// tellVersion asks a program for its version; empty if it does not know.
func (r *rival) tellVersion(ctx context.Context, binary string) string {
	if r.version == nil {
		return ""
	}
	out, _ := exec.CommandContext(ctx, binary, r.version...).CombinedOutput()
	return findVersion(string(out))
}

// findVersion takes the first version number, or the only word: a build of a
// commit without a tag is named by its hash.
func findVersion(output string) string {
	if found := versionPattern.FindString(output); found != "" {
		return found
	}
	if words := strings.Fields(output); len(words) == 1 {
		return words[0]
	}
	return ""
}
