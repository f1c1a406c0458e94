package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"
)

// Bounds of the admin server.
const (
	adminHeadTimeout = 5 * time.Second
	adminReadTimeout = 10 * time.Second
	// adminWriteTimeout bounds an answer, and adminProfileTimeout one that runs
	// for as long as it was asked to.
	adminWriteTimeout   = 10 * time.Second
	adminProfileTimeout = 10 * time.Minute
	adminIdleTimeout    = time.Minute
	maxAdminHead        = 16 << 10
	maxAdminBody        = 64 << 10
)

// call is what the admin server does at a path.
type call struct {
	// method is GET, which covers HEAD, or POST.
	method string
	// changes tells that it changes the node and so always needs the token.
	changes bool
	// slow tells that it may run for as long as it was asked to.
	slow  bool
	serve http.HandlerFunc
}

// admin is the server for operators.
type admin struct {
	guard    guard
	calls    map[string]call
	below    map[string]call // by the beginning of the path
	patterns []pattern
	listener net.Listener
	server   *http.Server
}

// listenAdmin binds the address; nothing is answered yet.
func listenAdmin(address, token string, log *slog.Logger) (*admin, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("admin server: listen on %s: %w", address, err)
	}
	a := &admin{
		guard: newGuard(ln.Addr(), token), listener: ln,
		calls: make(map[string]call), below: make(map[string]call),
	}
	if !a.guard.loopback && token == "" {
		ln.Close()
		return nil, fmt.Errorf("admin server: %s is not a loopback address, so admin.token must be set", address)
	}
	a.server = &http.Server{
		Handler: a, ReadHeaderTimeout: adminHeadTimeout, ReadTimeout: adminReadTimeout, IdleTimeout: adminIdleTimeout,
		WriteTimeout: adminProfileTimeout, MaxHeaderBytes: maxAdminHead,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	a.addProfiles()
	return a, nil
}

// addProfiles registers what Go tells of a running program.
func (a *admin) addProfiles() {
	a.below["/debug/pprof/"] = call{method: http.MethodGet, serve: pprof.Index}
	for path, serve := range map[string]http.HandlerFunc{
		"cmdline": pprof.Cmdline, "symbol": pprof.Symbol, "profile": pprof.Profile, "trace": pprof.Trace,
	} {
		a.calls["/debug/pprof/"+path] = call{method: http.MethodGet, slow: true, serve: serve}
	}
}

// get registers a call that only reads.
func (a *admin) get(path string, serve http.HandlerFunc) {
	a.add(path, call{method: http.MethodGet, serve: serve})
}

// ask registers a call that only reads, but needs a body to say what.
func (a *admin) ask(path string, serve http.HandlerFunc) {
	a.calls[path] = call{method: http.MethodPost, serve: serve}
}

// change registers a call that changes the node.
func (a *admin) change(path string, serve http.HandlerFunc) {
	a.add(path, call{method: http.MethodPost, changes: true, serve: serve})
}

func (a *admin) add(path string, c call) {
	if strings.Contains(path, "{") {
		a.patterns = append(a.patterns, pattern{path: path, call: c})
		return
	}
	a.calls[path] = c
}

// run answers until ctx ends; calls that run then may end.
func (a *admin) run(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), adminShutdown)
		defer cancel()
		if a.server.Shutdown(end) != nil {
			a.server.Close()
		}
	}()
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		a.server.ErrorLog.Printf("the admin server has ended: %v", err)
	}
	<-done
}

// address is where it listens.
func (a *admin) address() string { return a.listener.Addr().String() }

// ServeHTTP lets in who may come in, and answers everything that is not to be
// had in JSON.
func (a *admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	c, known := a.find(r)
	if refused := a.guard.check(r, known && c.changes); refused != nil {
		refused.write(w)
		return
	}
	if !known {
		(&apiError{status: http.StatusNotFound, Error: "not_found", Message: "there is nothing at this path"}).write(w)
		return
	}
	if r.Method != c.method && (r.Method != http.MethodHead || c.method != http.MethodGet) {
		w.Header().Set("Allow", c.allow())
		(&apiError{status: http.StatusMethodNotAllowed, Error: "method_not_allowed", Message: "this path takes " + c.allow()}).write(w)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxAdminBody)
	if !c.slow {
		// Only a recorder in a test has no deadlines.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(adminWriteTimeout))
	}
	c.serve(w, r)
}

func (a *admin) find(r *http.Request) (call, bool) {
	path := r.URL.Path
	if c, ok := a.calls[path]; ok {
		return c, true
	}
	for i := range a.patterns {
		if a.patterns[i].match(r) {
			return a.patterns[i].call, true
		}
	}
	for prefix, c := range a.below {
		if strings.HasPrefix(path, prefix) {
			return c, true
		}
	}
	return call{}, false
}

func (c *call) allow() string {
	if c.method == http.MethodGet {
		return "GET, HEAD"
	}
	return c.method
}
