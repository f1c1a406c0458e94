package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// Paces of a keeper, in nanoseconds, and bounds of one round.
const (
	// openPace is the time between two rounds while endpoints are being opened,
	// keepPace that afterwards.
	openPace = int64(10 * time.Millisecond)
	keepPace = int64(time.Second)
	// dialsPerRound bounds the dials of a round: each costs the loop a few system
	// calls.
	dialsPerRound = 64
	// openAttempts is how often a loop tries to open an endpoint before traffic
	// comes to it all the same.
	openAttempts = 2
	// maxKeepPause is the longest pause after dials in a row that have failed.
	maxKeepPause = 30 * keepPace
	// openTimeout stands in for timeouts.connect where that is off.
	openTimeout = 3 * time.Second
)

// keptEndpoint is an endpoint whose service has pool.min_idle.
type keptEndpoint struct {
	svc *snapshot.Service
	ep  *pool.Endpoint
}

// keptEndpoints lists them for a generation, in order of their services.
func keptEndpoints(snap *snapshot.Snapshot) []keptEndpoint {
	var all []keptEndpoint
	for _, svc := range snap.Services {
		if svc.Pool.Limits.MinIdle == 0 || svc.ProxyProtocol != snapshot.ProxyNone || svc.Opaque {
			continue
		}
		for _, m := range svc.Pool.Members {
			if m.Weight > 0 {
				all = append(all, keptEndpoint{svc, m.Endpoint})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b keptEndpoint) int { return cmp.Compare(a.svc.Name, b.svc.Name) })
	return all
}

// announceOpening tells the registry who opens connections to what is new in a
// generation, which is about to be published. The list of a generation that
// changes nothing here is the one before.
func (s *Server) announceOpening(snap *snapshot.Snapshot) {
	kept := keptEndpoints(snap)
	if slices.Equal(kept, s.kept) {
		return
	}
	s.kept = kept
	for _, k := range kept {
		loops := min(len(s.workers), k.svc.Pool.Limits.MinIdle)
		s.registry.Open(k.ep, ^uint64(0)>>(64-loops))
	}
}

// Opening returns an endpoint of the published generation that some loop has yet
// to open pool.min_idle connections to; nil if there is none. It is bounded: an
// endpoint that does not answer counts as opened after two attempts.
func (s *Server) Opening() *pool.Endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		if k.ep.Opening() {
			return k.ep
		}
	}
	return nil
}

// keeper opens a loop's share of pool.min_idle and keeps it open. What closes is
// replaced slowly: no request waits for it.
type keeper struct {
	w     *worker
	list  []keptEndpoint // as published
	all   []*kept        // this loop's, in the same order
	first int            // where the next round begins, so that all get their turn
	clock reactor.Timer
}

// kept is one endpoint of a keeper.
type kept struct {
	keeper   *keeper
	svc      *snapshot.Service
	ep       *pool.Endpoint
	share    int
	dialling int
	attempts int   // that have failed in a row
	failed   bool  // a dial of this attempt has
	opened   bool  // the pool was told
	pause    int64 // no dial before
}

func (k *keeper) init(w *worker) {
	k.w = w
	k.clock.Init(k, 0)
}

// takeUp makes the endpoints of a generation those that are kept.
func (k *keeper) takeUp(list []keptEndpoint) {
	if len(list) == len(k.list) && (len(list) == 0 || &list[0] == &k.list[0]) {
		return
	}
	k.list = list
	old := make(map[*pool.Endpoint]*kept, len(k.all))
	for _, c := range k.all {
		old[c.ep] = c
	}
	k.all, k.first = nil, 0
	for _, e := range list {
		limits := e.svc.Pool.Limits
		share := pool.LoopShare(limits.MinIdle, len(k.w.server.workers), k.w.id)
		if share == 0 {
			continue
		}
		c := old[e.ep]
		if c == nil {
			c = &kept{keeper: k, ep: e.ep}
		}
		delete(old, e.ep)
		c.svc, c.share = e.svc, share
		k.w.local.SetFloor(e.ep, share, limits)
		k.all = append(k.all, c)
	}
	for ep := range old {
		k.w.local.SetFloor(ep, 0, pool.Limits{})
		k.w.local.Opened(ep)
	}
	k.round()
}

// OnTimer implements reactor.Alarm.
func (k *keeper) OnTimer(uint8, int64) { k.round() }

// round opens what is lacking, within its budget, and plans the next.
func (k *keeper) round() {
	if len(k.all) == 0 || k.w.draining {
		k.w.loop.Disarm(&k.clock)
		return
	}
	budget, next := dialsPerRound, keepPace
	for i := range k.all {
		at := (k.first + i) % len(k.all)
		if budget == 0 {
			k.first = at
			break
		}
		budget -= k.all[at].open(budget)
	}
	for _, c := range k.all {
		if !c.opened {
			next = openPace
			break
		}
	}
	k.w.loop.Arm(&k.clock, k.w.loop.Now()+next)
}

// open dials what the endpoint lacks, at most n, and returns how many it dialled.
// Once it is opened, one connection a round is enough.
func (c *kept) open(n int) (dialled int) {
	w := c.keeper.w
	now := w.loop.Now()
	lack := c.share - w.local.Open(c.ep)
	if lack <= 0 {
		c.report(c.dialling == 0)
		return 0
	}
	if c.ep.Retired() || !c.svc.Pool.Usable(c.ep, now) {
		c.report(true)
		return 0
	}
	if now < c.pause {
		return 0
	}
	if c.opened {
		n = 1
	}
	for ; dialled < min(lack, n); dialled++ {
		if !w.local.Reserve(c.ep) {
			c.report(true) // others have taken the whole limit
			break
		}
		if !c.dial() {
			return dialled + 1
		}
	}
	return dialled
}

// report tells the pool, once, that the endpoint need not be waited for.
func (c *kept) report(done bool) {
	if done && !c.opened {
		c.opened = true
		c.keeper.w.local.Opened(c.ep)
	}
}

// dial begins one connection; its place is reserved. False: it failed at once.
func (c *kept) dial() bool {
	w := c.keeper.w
	if err := c.begin(); err != nil {
		w.local.DialFailed(c.ep)
		c.failed = true
		c.settle()
		return false
	}
	c.dialling++
	return true
}

// begin dials what the service speaks.
func (c *kept) begin() error {
	if c.svc.Protocol != nil {
		return openAhead(c)
	}
	o := &opener{kept: c, u: newUpstreamConn(c.keeper.w, c.svc, c.ep)}
	return o.dial()
}

// ended takes the end of one dial.
func (c *kept) ended(ok bool) {
	c.dialling--
	c.failed = c.failed || !ok
	c.settle()
}

// settle judges an attempt when the last of its dials has ended.
func (c *kept) settle() {
	if c.dialling > 0 {
		return
	}
	if !c.failed {
		c.attempts = 0
		if c.share <= c.keeper.w.local.Open(c.ep) {
			c.report(true)
		}
		return
	}
	c.failed = false
	c.attempts++
	c.report(c.attempts >= openAttempts)
	if c.opened {
		c.pause = c.keeper.w.loop.Now() + min(keepPace<<min(c.attempts, 5), maxKeepPause)
	}
}
