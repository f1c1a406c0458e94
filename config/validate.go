package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/engine/reactor"
)

// maxName bounds names and ids in bytes: they stand in every line of the log.
const maxName = 256

// validate checks what the decoder cannot see: references, addresses and
// relations between values.
func (d *draft) validate() {
	d.validateEngine()
	d.validateAdmin()
	d.validateLog()
	d.validateListeners()
	known := d.validateServices()
	d.validateCalls(known)
	d.validateRoutes(known)
	for _, name := range slices.Sorted(maps.Keys(d.sets)) {
		if problem := nameProblem(name); problem != "" {
			d.complain(d.sets[name], "", problem)
		}
	}
}

func (d *draft) validateEngine() {
	at, e := d.section("engine"), &d.doc.Engine
	if e.Buffers.Low >= e.Buffers.High {
		d.complain(at, "buffers.low", "the low mark must be less than the high mark")
	}
	if cpus := e.Pin.CPUs(); len(cpus) > 0 && e.Loops > 0 && len(cpus) != int(e.Loops) {
		d.complain(at, "pin", fmt.Sprintf("%d CPUs are listed for %d loops: one each is needed", len(cpus), e.Loops))
	}
	if e.BusyPoll > 0 && e.Poller != reactor.PollerEpoll {
		d.complain(at, "busy_poll", "the poller "+e.Poller+" cannot: only epoll polls without sleeping")
	}
	if len(e.Pin.CPUs()) > maxLoops {
		d.complain(at, "pin", "more than "+strconv.Itoa(maxLoops)+" CPUs are listed")
	}
}

// validateAdmin keeps the server for operators off the network unless callers
// must show a token.
func (d *draft) validateAdmin() {
	at, a := d.section("admin"), &d.doc.Admin
	loopback, err := adminAddress(a.Address)
	switch {
	case err != nil:
		d.complain(at, "address", err.Error())
	case !loopback && a.Token == "":
		d.complain(at, "address", "an address that is not loopback needs a token: set admin.token")
	}
	if strings.ContainsFunc(a.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		d.complain(at, "token", "a token has visible ASCII characters only")
	}
}

func adminAddress(address string) (loopback bool, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false, fmt.Errorf("%q is not a host and a port such as 127.0.0.1:9900", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false, fmt.Errorf("%q: the port must be a number up to 65535", address)
	}
	if host == "" || host == "localhost" {
		return host != "", nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false, fmt.Errorf("%q: the host must be an IP address or localhost", address)
	}
	return ip.IsLoopback(), nil
}

func (d *draft) validateLog() {
	if d.doc.Log.Access.Path == "" {
		d.complain(d.section("log"), "access.path", "expected stdout, none or a file")
	}
	if d.doc.Config.Cache == "" {
		d.complain(d.section("config"), "cache", "a folder is needed")
	}
}

// addressProblem checks an IP address with a port, or unix:/path.
func addressProblem(address string, leastPort uint16) string {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return unixPathProblem(path)
	}
	if address == "" {
		return "an address is needed, such as 10.1.2.3:8080"
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil || ap.Addr().Zone() != "" {
		return fmt.Sprintf("%q is not an IP address and a port such as 10.1.2.3:8080 or [::1]:8080, nor unix:/path", address)
	}
	if ap.Port() < leastPort {
		return fmt.Sprintf("%q: the port must be at least %d", address, leastPort)
	}
	return ""
}

// validateAddress reports a bad address.
func (d *draft) validateAddress(at place, path, address string, leastPort uint16) bool {
	problem := addressProblem(address, leastPort)
	if address == "" {
		d.missing(at, path, problem)
	} else if problem != "" {
		d.complain(at, path, problem)
	}
	return problem == ""
}

// unixPathProblem checks the path of a unix socket. What is there is looked at
// when the socket is made.
func unixPathProblem(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return fmt.Sprintf("%q: the path of a unix socket begins with /", "unix:"+path)
	case len(path) > reactor.MaxUnixPath:
		return fmt.Sprintf("the path of a unix socket has %d bytes, %d fit: %s", len(path), reactor.MaxUnixPath, path)
	case hasControl(path):
		return fmt.Sprintf("%q: the path of a unix socket has control characters", "unix:"+path)
	}
	return ""
}

func nameProblem(name string) string {
	switch {
	case name == "":
		return "a name is needed"
	case len(name) > maxName:
		return "longer than " + strconv.Itoa(maxName) + " bytes"
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '"' || r == '\\' }):
		return "must not hold spaces, quotes, backslashes or control characters"
	}
	return ""
}

// names checks that items have names and no two the same.
type names struct {
	draft *draft
	key   string
	seen  map[string]place
}

func (n *names) check(at place, name string) {
	if name == "" {
		n.draft.missing(at, n.key, nameProblem(name))
		return
	}
	if problem := nameProblem(name); problem != "" {
		n.draft.complain(at, n.key, problem)
		return
	}
	if first, twice := n.seen[name]; twice {
		n.draft.complain(at, n.key, fmt.Sprintf("%q stands already in %s", name, n.draft.where(first)))
		return
	}
	n.seen[name] = at
}

func (d *draft) newNames(key string) *names {
	return &names{draft: d, key: key, seen: make(map[string]place)}
}

func unknownName(what, name string, known []string) string {
	return fmt.Sprintf("unknown %s %q%s", what, name, tree.Suggest(name, known))
}
