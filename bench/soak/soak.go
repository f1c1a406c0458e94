package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

const (
	endpointCount = 3
	// changeEvery and deathEvery are the pace of trouble, shortened for runs that
	// would see none otherwise.
	changeEvery = 2 * time.Second
	deathEvery  = 5 * time.Second
	// readings is how many times the gateway is looked at in a run.
	readings = 100
	// settleTime bounds the wait for the gateway to let go of everything.
	settleTime = 30 * time.Second
	// maxFaults bounds the faults that a result describes.
	maxFaults = 20
)

// tally is what became of one kind.
type tally struct{ runs, answers, excused int }

// run is a soak in progress.
type run struct {
	o       options
	origins *origins
	gateway *gateway
	mu      sync.Mutex
	tallies map[string]*tally
	faults  []string
	faulty  int
}

// soak does it all and returns what it saw. An error means that the soak itself
// could not be done.
func soak(ctx context.Context, o options) (*result, error) {
	folder, err := os.MkdirTemp("", "corelane-soak-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	s := &run{o: o, tallies: map[string]*tally{}}
	if s.origins, err = startOrigins(endpointCount); err != nil {
		return nil, err
	}
	defer s.origins.stop()
	var endpoints []string
	for _, origin := range s.origins.list {
		endpoints = append(endpoints, origin.address)
	}
	if s.gateway, err = startGateway(ctx, o.gateway, folder, endpoints); err != nil {
		return nil, err
	}
	defer s.gateway.Stop()
	r := &result{}
	if r.before, err = s.gateway.read(0); err != nil {
		return nil, err
	}
	if r.readings, err = s.traffic(ctx); err != nil {
		return nil, errors.Join(err, s.gateway.Alive())
	}
	if r.after, err = s.settle(ctx, r.before); err != nil {
		return nil, errors.Join(err, s.gateway.Alive())
	}
	r.tallies, r.faults, r.faulty = s.tallies, s.faults, s.faulty
	r.reloads, r.deaths = s.gateway.reloads, s.origins.deaths
	return r, nil
}

// traffic runs the mix with its trouble for the duration, reading meanwhile.
func (s *run) traffic(ctx context.Context) ([]reading, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.duration)
	defer cancel()
	var all sync.WaitGroup
	trouble := make(chan error, 2)
	all.Go(func() { trouble <- s.gateway.change(ctx, min(changeEvery, s.o.duration/8)) })
	all.Go(func() { trouble <- s.origins.rotate(ctx, min(deathEvery, s.o.duration/6)) })
	for i := range s.o.workers {
		all.Go(func() { s.work(ctx, i) })
	}
	seen, err := s.watch(ctx)
	all.Wait()
	return seen, errors.Join(err, <-trouble, <-trouble)
}

func (s *run) watch(ctx context.Context) ([]reading, error) {
	began := time.Now()
	var seen []reading
	for pause(ctx, s.o.duration/readings) {
		r, err := s.gateway.read(time.Since(began))
		if err != nil {
			return seen, err
		}
		seen = append(seen, r)
	}
	return seen, nil
}

// work is one client after the other, each of a kind drawn by its share.
func (s *run) work(ctx context.Context, worker int) {
	random := rand.New(rand.NewPCG(s.o.seed, uint64(worker)))
	for ctx.Err() == nil {
		k := draw(random)
		v := &visitor{address: s.gateway.Address, random: random}
		began := time.Now()
		s.book(k, v, began, k.run(v))
	}
}

func draw(random *rand.Rand) *kind {
	sum := 0
	for i := range kinds {
		sum += kinds[i].share
	}
	at := random.IntN(sum)
	for i := range kinds {
		if at -= kinds[i].share; at < 0 {
			return &kinds[i]
		}
	}
	panic("unreachable")
}

// book counts a visit. What failed while an endpoint was dying is excused where
// nothing could have saved it, but never a wrong byte or a stranger's answer.
func (s *run) book(k *kind, v *visitor, began time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tallies[k.name]
	if t == nil {
		t = new(tally)
		s.tallies[k.name] = t
	}
	t.runs++
	t.answers += v.answered
	switch {
	case err == nil:
	case k.name == "aborts" && !errors.Is(err, errWrongByte):
		t.excused++
	case s.excuses(k, err) && s.origins.disturbed(began):
		t.excused++
	default:
		s.faulty++
		if len(s.faults) < maxFaults {
			s.faults = append(s.faults, fmt.Sprintf("%s: %v", k.name, err))
		}
	}
}

// excuses says whether an error of the kind can be the death of an endpoint. A
// GET with a small answer can only be cut in the middle of it.
func (s *run) excuses(k *kind, err error) bool {
	var f *failure
	switch {
	case errors.Is(err, errWrongByte) || errors.Is(err, errNotMine):
		return false
	case errors.As(err, &f):
		return k.fragile && f.status >= 502 && f.status <= 504
	}
	return true
}

// settle waits until the gateway holds no more than before.
func (s *run) settle(ctx context.Context, before reading) (reading, error) {
	end := time.Now().Add(settleTime)
	for {
		r, err := s.gateway.read(s.o.duration)
		if err != nil || r.leaks(before) == nil || time.Now().After(end) {
			return r, err
		}
		if !pause(ctx, 200*time.Millisecond) {
			return r, ctx.Err()
		}
	}
}
