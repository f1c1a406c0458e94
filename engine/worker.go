package engine

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/sketch"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// maxFreeExchanges bounds the exchanges that one loop keeps for reuse.
const maxFreeExchanges = 4096

// worker is one loop's share of the engine. Everything but the fields marked
// atomic is used on its loop only.
type worker struct {
	// Immutable.
	server   *Server
	loop     *reactor.Loop
	local    *pool.Local
	id       int
	ring     *Ring
	nodeJSON []byte
	sample   uint64 // a record is written if a random number is not above it

	// Owned by the loop.
	stats       *Stats
	free        *Exchange
	freeCount   int
	hedges      *hedgeTry // second tries that nobody has borrowed
	hedgeCount  int
	calls       *call // calls to be used again
	callCount   int
	links       []*link // by endpoint slot
	linkStreams *linkStream
	linkStreamN int
	muxStreams  *muxStream
	muxStreamN  int
	joined      []byte // bodies of messages that came in pieces
	translated  []byte // and of messages in other words
	brokenTold  int64  // when the last peer that broke its protocol was told of
	keeper      keeper
	oldest      *Exchange // live exchanges in the order they began
	newest      *Exchange
	live        int
	clients     *clientNode
	clientN     int
	services    []serviceLoad
	random      *rand.ChaCha8
	draining    bool
	announced   bool          // of the drain: clients were told to go
	idleClock   reactor.Timer // of a drain: the end of idleGrace
	dateText    []byte
	dateSec     int64
	stamp       []byte // a log timestamp of the second stampSec
	stampSec    int64
	resolver    *snapshot.Resolver
	unknown     *sketch.Sketch // of paths without a route
	scratch     []byte
	record      []byte
	proxyTold   int64      // when the last refused PROXY header was told of
	goOn        codec.Head // 100 (Continue)

	// Atomic.
	passed atomic.Uint64 // the last generation that the loop has taken up
}

// serviceLoad is what the retry budget compares, by the service's slot.
type serviceLoad struct{ live, retrying int }

func newWorker(s *Server, id int, loop *reactor.Loop, seed [32]byte) *worker {
	w := &worker{
		server: s, loop: loop, id: id, ring: NewRing(), stats: new(Stats),
		random:   rand.NewChaCha8(seed),
		nodeJSON: appendJSON(nil, s.options.Node, maxLoggedHost),
		scratch:  make([]byte, 0, 4<<10),
		resolver: snapshot.NewResolver(),
		unknown:  sketch.New(),
		record:   make([]byte, 0, 4<<10),
		dateText: make([]byte, 0, 32),
		dateSec:  -1,
		goOn:     newGoOn(),
	}
	w.sample = sampleBound(s.options.AccessLog, s.options.AccessSample)
	w.local = pool.NewLocal(pool.Options{
		Loop: loop, LoopID: id, Loops: s.options.Loops, Seed: s.seed, Post: s.postWake,
		Ejected: func(e *pool.Endpoint) { s.onEjected(id, e, loop.Now()) },
	})
	w.keeper.init(w)
	w.idleClock.Init((*idleAlarm)(w), 0)
	return w
}

// sampleBound turns a share into the bound for random numbers.
func sampleBound(on bool, share float64) uint64 {
	switch {
	case !on || share <= 0:
		return 0
	case share >= 1:
		return ^uint64(0)
	}
	return uint64(share * (1 << 63) * 2)
}

func (w *worker) rand() uint64 { return w.random.Uint64() }

// wall turns monotonic nanoseconds into unix nanoseconds.
func (w *worker) wall(now int64) int64 { return w.loop.Wall() - w.loop.Now() + now }

// takeExchange returns an exchange that is not running yet.
func (w *worker) takeExchange() *Exchange {
	x := w.free
	if x == nil {
		return newExchange(w)
	}
	w.free, x.next = x.next, nil
	w.freeCount--
	return x
}

// giveBack takes an exchange that never ran, or that has been unlinked.
func (w *worker) giveBack(x *Exchange) {
	x.reset()
	if w.freeCount >= maxFreeExchanges {
		w.loop.Forget(&x.upClock)
		x.first.forget()
		w.loop.Forget(&x.allClock)
		x.held.bytes.discard(w.loop)
		return
	}
	x.next, w.free = w.free, x
	w.freeCount++
}

// enlist puts an exchange behind those that began before it.
func (w *worker) enlist(x *Exchange) {
	w.live++
	x.prev, x.next = w.newest, nil
	if w.newest != nil {
		w.newest.next = x
	} else {
		w.oldest = x
	}
	w.newest = x
}

// recycle ends the life of a running exchange.
func (w *worker) recycle(x *Exchange) {
	w.live--
	if x.prev != nil {
		x.prev.next = x.next
	} else {
		w.oldest = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	} else {
		w.newest = x.prev
	}
	x.prev, x.next = nil, nil
	w.giveBack(x)
}

// admit says whether there is memory for one more exchange.
func (w *worker) admit() (fault, bool) {
	if w.loop.Memory().Over() {
		return faultOverloaded, false
	}
	return fault{}, true
}

// service returns the load of a service on this loop.
func (w *worker) service(svc *snapshot.Service) *serviceLoad {
	slot := svc.Pool.State.Slot()
	for slot >= len(w.services) {
		w.services = append(w.services, serviceLoad{})
	}
	return &w.services[slot]
}

func (w *worker) enterService(svc *snapshot.Service) { w.service(svc).live++ }

func (w *worker) leaveService(svc *snapshot.Service, retrying bool) {
	load := w.service(svc)
	load.live--
	if retrying {
		load.retrying--
		w.server.retrying.Add(-1)
	}
}

// endRetry says that an exchange goes on without being a retry.
func (w *worker) endRetry(svc *snapshot.Service) {
	w.service(svc).retrying--
	w.server.retrying.Add(-1)
}

// takeRetry allows a retry within the budget: as many in flight as are a share of
// the exchanges of the service on this loop that are none, so that the service
// gets at most that share more requests than without retries; or a few for the
// whole process.
func (w *worker) takeRetry(svc *snapshot.Service, percent float64) bool {
	load := w.service(svc)
	n := w.server.retrying.Add(1) // first, so that loops cannot share a place
	after := load.retrying + 1
	if percent > 0 && float64(after) > float64(load.live-after)*percent/100 && n > minRetries {
		w.server.retrying.Add(-1)
		return false
	}
	load.retrying = after
	return true
}

// log writes the access record of a finished exchange.
func (w *worker) log(x *Exchange, now int64) {
	if w.sample == 0 || w.sample != ^uint64(0) && w.rand() > w.sample {
		return
	}
	w.record = x.logRecord(w.record[:0], now)
	if !w.ring.Put(w.record) {
		w.stats.LogDropped++
	}
}

// date returns the value of a Date field (RFC 9110 §5.6.7), made once a second.
func (w *worker) date() []byte {
	sec := w.loop.Wall() / 1e9
	if sec == w.dateSec {
		return w.dateText
	}
	w.dateSec = sec
	w.dateText = appendHTTPDate(w.dateText[:0], sec)
	return w.dateText
}

const (
	dayNames   = "ThuFriSatSunMonTueWed" // 1 January 1970 was a Thursday
	monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"
)

// appendHTTPDate appends unix seconds as an IMF-fixdate.
func appendHTTPDate(b []byte, sec int64) []byte {
	days, rest := sec/86400, int(sec%86400)
	y, m, d := civil(days)
	wd := int(days%7) * 3
	b = append(b, dayNames[wd:wd+3]...)
	b = append(b, ", "...)
	b = appendPadded(b, d, 2)
	b = append(b, ' ')
	b = append(b, monthNames[(m-1)*3:m*3]...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(y), 10)
	b = append(b, ' ')
	b = appendPadded(b, rest/3600, 2)
	b = append(b, ':')
	b = appendPadded(b, rest/60%60, 2)
	b = append(b, ':')
	b = appendPadded(b, rest%60, 2)
	return append(b, " GMT"...)
}

// takeUp is posted with each generation.
func (w *worker) takeUp(generation uint64, kept []keptEndpoint) {
	if w.passed.Load() == 0 {
		w.warm()
	}
	w.keeper.takeUp(kept)
	w.local.CloseRetired(w.loop.Now())
	w.retireAll()
	if generation > w.passed.Load() {
		w.passed.Store(generation)
	}
}

// handOver exchanges the filled counters for an empty block.
func (w *worker) handOver(empty *Stats) *Stats {
	filled := w.stats
	w.stats = empty
	filled.Reactor = *w.loop.Stats()
	filled.Pool = *w.local.Stats()
	filled.LiveExchanges, filled.LiveSessions = w.live, w.clientN
	filled.OldestExchange = 0
	if w.oldest != nil {
		filled.OldestExchange = w.loop.Now() - w.oldest.AcceptedAt
	}
	filled.CPUNanos = w.loop.CPUTime().Nanoseconds()
	filled.LiveConnections = w.loop.Live()
	filled.Generation = w.passed.Load()
	return filled
}
