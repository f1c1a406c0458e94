// style: mutex allowed: the server's control side publishes and collects; no loop takes the lock
// style: go allowed: this file starts the goroutines that become loops
// style: channel allowed: loops announce their end to the control side

package engine

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// ListenerOptions names an address to listen on.
type ListenerOptions struct {
	// Name is the listener's in configuration: its policy is found by it.
	Name string
	// Address is "IP:port", "[::]:port" or "unix:/path".
	Address string
}

// Options are what cannot change while the process runs.
type Options struct {
	// Node names this process in logs.
	Node string
	// Loops is the number of loops, 1 to 64.
	Loops int
	// CPUs pins loop i to CPUs[i]; empty: not pinned.
	CPUs []int
	// Poller is "epoll" or "gnet"; Accept is "handoff", "hash" or "cpu".
	Poller, Accept string
	BusyPoll       time.Duration
	// MaxConnections bounds the clients of the process; 0: no limit.
	MaxConnections int
	// High and Low are the marks of one side's queue in bytes.
	High, Low int
	// Memory is the budget of the process for buffers in bytes; 0: no limit.
	Memory int64
	// FilterBudget is the time after which a filter's call is logged; 0: off.
	FilterBudget time.Duration
	// SpillDir is the folder for request bodies that outgrow memory; empty: the
	// system's temporary folder.
	SpillDir  string
	Listeners []ListenerOptions
	// AccessLog says whether records are written, AccessSample which share.
	AccessLog    bool
	AccessSample float64
}

// Server is the proxy of one process. Its methods are for the control side and
// may be called from any goroutine.
type Server struct {
	// Immutable.
	options  Options
	registry *pool.Registry
	seed     uint64
	workers  []*worker
	files    *files
	// rateWindow is that of bodyRate, spillTime what a job on a file may take; in
	// nanoseconds.
	rateWindow, spillTime int64
	memory                *reactor.Memory
	limit                 *reactor.Limit

	// Atomic.
	current      atomic.Pointer[snapshot.Snapshot]
	draining     atomic.Bool
	retrying     atomic.Int64
	resumedTwice atomic.Uint64
	series       snapshot.SeriesBook
	events       eventStack

	mu        sync.Mutex // guards what follows
	listeners []*reactor.Listener
	stopped   chan error
	// filesStopped is the same of the loop of files, which ends before the others.
	filesStopped chan error
	kept         []keptEndpoint // of the published generation
	started      bool
}

// New makes a server that neither listens nor runs. The registry is the one
// that snapshots are compiled with.
func New(o Options, registry *pool.Registry) (*Server, error) {
	if o.Loops < 1 || o.Loops > 64 {
		return nil, fmt.Errorf("engine: %d loops, want 1 to 64", o.Loops)
	}
	if len(o.CPUs) > 0 && len(o.CPUs) != o.Loops {
		return nil, fmt.Errorf("engine: %d CPUs for %d loops", len(o.CPUs), o.Loops)
	}
	s := &Server{
		options: o, registry: registry,
		memory: reactor.NewMemory(o.Memory), limit: reactor.NewLimit(o.MaxConnections),
		rateWindow: rateWindow, spillTime: spillTime,
		stopped: make(chan error, o.Loops), filesStopped: make(chan error, 1),
	}
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("engine: no random numbers: %w", err)
	}
	s.seed = binary.LittleEndian.Uint64(seed[:])
	var err error
	if s.files, err = newFiles(o.SpillDir, o.Poller, s.onPanic); err != nil {
		return nil, err
	}
	for i := range o.Loops {
		loop, err := reactor.NewLoop(reactor.Options{
			ID: i, CPU: s.cpuOf(i), Poller: o.Poller, High: o.High, Low: o.Low,
			Memory: s.memory, BusyPoll: o.BusyPoll, OnPanic: s.onPanic,
			OnStop: func(*reactor.Loop, int64) { s.workers[i].cutRest() },
		})
		if err != nil {
			return nil, fmt.Errorf("engine: loop %d: %w", i, err)
		}
		seed[31] ^= byte(i + 1)
		s.workers = append(s.workers, newWorker(s, i, loop, seed))
	}
	return s, nil
}

func (s *Server) cpuOf(loop int) int {
	if len(s.options.CPUs) == 0 {
		return -1
	}
	return s.options.CPUs[loop]
}

// onPanic runs on a loop.
func (s *Server) onPanic(loop int, v any, stack []byte) {
	s.events.push(Event{Kind: EventPanic, Loop: loop, Value: v, Stack: stack})
}

// Listen binds every address. An error names the listener; nothing stays bound
// then.
func (s *Server) Listen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.options.Listeners {
		ln, err := reactor.Listen(reactor.ListenOptions{
			Address: o.Address, Loops: s.options.Loops, Accept: s.options.Accept,
		})
		if err != nil {
			for _, bound := range s.listeners {
				bound.StopAccepting()
			}
			s.listeners = nil
			return fmt.Errorf("listener %s: %w", o.Name, err)
		}
		s.listeners = append(s.listeners, ln)
	}
	s.setLimits()
	return nil
}

// Addresses returns where the listeners can be reached, in the order of the
// options.
func (s *Server) Addresses() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, len(s.listeners))
	for i, ln := range s.listeners {
		out[i] = ln.Address()
	}
	return out
}

// Start runs the loops and accepts clients. A snapshot must have been
// published.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.Load() == nil {
		return errors.New("engine: no configuration was published")
	}
	loops := make([]*reactor.Loop, len(s.workers))
	for i, w := range s.workers {
		loops[i] = w.loop
		go func() { s.stopped <- w.loop.Run() }()
	}
	go func() { s.filesStopped <- s.files.loop.Run() }()
	s.started = true
	for i, ln := range s.listeners {
		name := s.options.Listeners[i].Name
		ln.Serve(loops, s.limit, func(c *reactor.Conn) reactor.Handler {
			return newClient(s.workers[c.Loop().ID()], c, name)
		})
	}
	return nil
}

// Publish makes the snapshot the one that new requests see. It returns at once;
// Passed tells when every loop has taken it up.
func (s *Server) Publish(snap *snapshot.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announceOpening(snap)
	kept := s.kept
	s.registry.Publish(snap.Endpoints())
	s.current.Store(snap)
	s.setLimits()
	for _, w := range s.workers {
		w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { w.takeUp(snap.Generation, kept) }})
	}
}

// Current returns the published snapshot; nil before the first.
func (s *Server) Current() *snapshot.Snapshot { return s.current.Load() }

// Passed returns the generation that every loop has taken up.
func (s *Server) Passed() uint64 {
	passed := ^uint64(0)
	for _, w := range s.workers {
		passed = min(passed, w.passed.Load())
	}
	return passed
}

// Reclaim frees the places of endpoints that no generation uses any more and that
// have no connection. It does nothing while a loop may still use the generation
// that dropped them.
func (s *Server) Reclaim() {
	s.mu.Lock() // no generation is published meanwhile
	defer s.mu.Unlock()
	if snap := s.current.Load(); snap != nil && s.Passed() >= snap.Generation {
		s.registry.Reclaim()
	}
}

// postWake runs on a loop: another loop has waiters that may now be served.
func (s *Server) postWake(loop int, e *pool.Endpoint) {
	w := s.workers[loop]
	w.loop.Post(&reactor.Task{Run: func(l *reactor.Loop) {
		w.local.Wake(e, l.Now())
		w.makeRoom(e)
	}})
}

// BeginDrain stops accepting, closes connections that stay idle and makes every answer
// the last of its connection.
func (s *Server) BeginDrain() {
	if s.draining.Swap(true) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ln := range s.listeners {
		ln.StopAccepting()
	}
	open := new(atomic.Int64) // loops that may have sockets of listeners
	open.Store(int64(len(s.workers)))
	for _, w := range s.workers {
		w.loop.Post(&reactor.Task{Run: func(l *reactor.Loop) {
			w.beginDrain()
			l.Post(&reactor.Task{Run: func(*reactor.Loop) { // in the next turn: they are closed
				if open.Add(-1) == 0 {
					s.announceDrain()
				}
			}})
		}})
	}
}

// announceDrain tells clients to go. They come back at once, and must not find a
// socket that is about to close, which would lose what they send.
func (s *Server) announceDrain() {
	for _, w := range s.workers {
		w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { w.announceDrain() }})
	}
}

// Draining says whether BeginDrain was called.
func (s *Server) Draining() bool { return s.draining.Load() }

// Connections returns the number of client connections.
func (s *Server) Connections() int { return s.limit.Count() }

// Stop ends the loops, cutting whatever still runs, and returns their first
// error.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return nil
	}
	s.started = false
	// The files come first: what is read and written there are blocks of the others.
	s.files.loop.Stop()
	first := <-s.filesStopped
	for _, w := range s.workers {
		w.loop.Stop()
	}
	for range s.workers {
		if err := <-s.stopped; err != nil && first == nil {
			first = err
		}
	}
	return first
}
