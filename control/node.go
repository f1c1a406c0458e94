package control

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/pool/health"
)

// Options are what the program was started with.
type Options struct {
	// Path is the configuration: a file or a folder of *.yaml.
	Path string
	// Cache is the folder of the last good copy; empty: what the document says.
	Cache string
	// Version is the program's, for the status.
	Version string
	// Stderr takes the program's own log, one JSON object a line.
	Stderr io.Writer
	// Stdout takes the access log if the configuration says so.
	Stdout io.Writer
}

// Node is one running gateway. Its methods may be called from any goroutine
// unless they say otherwise.
type Node struct {
	// Immutable after Start.
	options  Options
	name     string
	started  time.Time
	log      *slog.Logger
	source   config.Source
	pipeline *config.Pipeline
	doc      *config.Document // the first: what needs a restart is read from it
	place    placement
	server   *engine.Server
	access   *AccessLog
	counters *counters
	watchdog *watchdog
	checker  *health.Checker
	admin    *admin
	hangUps  chan struct{} // at most one waits; it stands for all
	// stopWithin is how long the loops may take to end.
	stopWithin time.Duration

	// Atomic, or with a lock of their own.
	state     atomic.Uint32
	reloads   reloadCounts
	routes    routeIndex
	overrides overrides
	opened    atomic.Bool // the first generation has its connections open

	// Goroutines: background ends before the loops do, logging after them.
	background, logging group
}

// group is a set of goroutines that end together.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// run starts a goroutine of the group.
func (g *group) run(duty func(context.Context)) {
	if g.cancel == nil {
		g.ctx, g.cancel = context.WithCancel(context.Background())
	}
	g.done.Go(func() { duty(g.ctx) })
}

// end waits for all of them.
func (g *group) end() {
	if g.cancel != nil {
		g.cancel()
		g.done.Wait()
	}
}

// endWithin is end for goroutines that may hang in a write that nobody reads:
// after the limit they are left behind.
func (g *group) endWithin(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		g.end()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// Start loads the configuration, binds the listeners and runs the loops. It
// returns when clients are served, or with the reason why not; then nothing
// runs any more. ctx bounds the loading only.
func Start(ctx context.Context, o Options) (*Node, error) {
	n := &Node{options: o, started: time.Now(), hangUps: make(chan struct{}, 1), stopWithin: stopDeadline}
	level, registry := new(slog.LevelVar), pool.NewRegistry()
	n.log = slog.New(slog.NewJSONHandler(o.Stderr, &slog.HandlerOptions{Level: level}))
	n.source = filesOf(o.Path, n.log)
	n.pipeline = config.NewPipeline(config.PipelineOptions{
		Source: n.source, Path: o.Path, Registry: registry, Log: n.log, CacheDir: o.Cache,
	})
	doc, snap, err := n.pipeline.Start(ctx)
	if err != nil {
		return nil, err
	}
	n.doc, n.name = doc, doc.Node.Name()
	_ = level.UnmarshalText([]byte(doc.Log.Level)) // validated with the document
	n.log = n.log.With("node", n.name)
	if err := checkSpill(doc); err != nil {
		return nil, err
	}
	if err := n.build(registry, snap); err != nil {
		n.abandon()
		return nil, err
	}
	if err := n.begin(); err != nil {
		n.Stop()
		return nil, err
	}
	return n, nil
}

// build makes all parts and binds the sockets; nothing runs yet.
func (n *Node) build(registry *pool.Registry, snap *snapshot.Snapshot) error {
	var err error
	if n.place, err = place(&n.doc.Engine, thisMachine()); err != nil {
		return err
	}
	if n.server, err = engine.New(serverOptions(n.doc, n.name, n.place, memoryLimit()), registry); err != nil {
		return err
	}
	n.counters, n.watchdog = newCounters(n.server, n.log), newWatchdog(n.server.Loops, n.log)
	n.checker = health.New(health.Options{OnChange: n.onHealth})
	n.access, err = OpenAccessLog(n.doc.Log.Access.Path, n.options.Stdout, n.server.Rings(), n.log)
	if err != nil {
		return err
	}
	if n.admin, err = listenAdmin(n.doc.Admin.Address, n.adminToken(), n.log); err != nil {
		return err
	}
	n.register(n.admin)
	n.server.Publish(snap)
	n.followEndpoints(snap)
	runtime.GC() // what the start leaves behind is not collected during the first requests
	if err := n.server.Listen(); err != nil {
		return err
	}
	return n.place.apply()
}

// adminToken is the configured token. Without one it is drawn and told to
// whoever started the program: to them alone, so it is no line of the log.
func (n *Node) adminToken() string {
	if n.doc.Admin.Token != "" || !isLoopbackHost(n.doc.Admin.Address) {
		return n.doc.Admin.Token
	}
	token := newToken()
	fmt.Fprintf(n.options.Stderr, "corelane: admin token of this run, for calls that change something: %s\n", token)
	return token
}

// serverOptions are the parts of a document that the server is made with.
func serverOptions(doc *config.Document, name string, p placement, memory int64) engine.Options {
	e := &doc.Engine
	o := engine.Options{
		Node: name, Loops: p.loops, CPUs: p.cpus, Poller: e.Poller, Accept: e.Accept, BusyPoll: e.BusyPoll,
		MaxConnections: e.MaxConnections, High: int(e.Buffers.High), Low: int(e.Buffers.Low),
		Memory: e.Buffers.Total.Of(memory), FilterBudget: e.FilterBudget, SpillDir: e.SpillDir,
		AccessLog: doc.Log.Access.Path != "none", AccessSample: doc.Log.Access.Sample,
	}
	for _, l := range doc.Listeners {
		o.Listeners = append(o.Listeners, engine.ListenerOptions{Name: l.Name, Address: l.Address})
	}
	return o
}

// begin runs the loops and everything around them.
func (n *Node) begin() error {
	n.logging.run(n.access.Run)
	events := newEventLog(n.server.TakeEvents, n.log)
	events.ejected = n.onEjected
	n.logging.run(events.run)
	n.background.run(n.admin.run)
	if err := n.server.Start(); err != nil {
		return err
	}
	if err := n.awaitGeneration(n.server.Current().Generation, startDeadline); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	n.pipeline.SetPublish(n.publish)
	n.background.run(n.watchdog.run)
	n.background.run(n.counters.run)
	n.background.run(n.checker.Run)
	n.background.run(n.watchPanics)
	n.background.run(n.watchSource)
	n.background.run(n.answerHangUps)
	n.background.run(n.reclaim)
	if n.server.Opening() == nil {
		n.opened.Store(true)
	} else {
		n.background.run(n.awaitOpened)
	}
	n.setState(stateReady)
	n.log.Info("serving", "version", n.options.Version, "listeners", n.server.Addresses(), "admin", n.admin.address(),
		"loops", n.place.loops, "cpus", n.place.cpus, "exclusive", n.place.exclusive, "poller", n.server.Options().Poller,
		"generation", n.server.Current().Generation, "routes", n.server.Current().Routes.Len())
	return nil
}

// Addresses returns where the listeners can be reached, in the order of the
// configuration.
func (n *Node) Addresses() []string { return n.server.Addresses() }

// AdminAddress returns where the admin server can be reached.
func (n *Node) AdminAddress() string { return n.admin.address() }

// Stop cuts what still runs, flushes the logs and ends all goroutines.
func (n *Node) Stop() {
	n.setState(stateStopped)
	n.background.end()
	stopped := make(chan error, 1)
	go func() { stopped <- n.server.Stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			n.log.Error("a loop ended badly", "error", err)
		}
	case <-time.After(n.stopWithin):
		n.log.Error("a loop does not end, it is left behind")
	}
	n.logging.endWithin(n.stopWithin)
}

// abandon undoes a build that failed halfway.
func (n *Node) abandon() {
	if n.admin != nil {
		n.admin.listener.Close()
	}
	if n.access != nil {
		n.access.close()
	}
	if n.server != nil {
		n.server.BeginDrain() // closes what was bound
	}
}
