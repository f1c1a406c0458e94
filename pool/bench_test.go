package pool

import (
	"strconv"
	"testing"
	"time"
)

func BenchmarkPick(b *testing.B) {
	for _, balance := range everyBalance {
		for _, n := range []int{2, 50} {
			for _, kind := range []string{"equal", "weighted"} {
				b.Run(balance.String()+"/"+kind+"/"+strconv.Itoa(n), func(b *testing.B) {
					w := newWorld(b, 1)
					weights := make([]int, n)
					for i := range weights {
						weights[i] = 1
						if kind == "weighted" {
							weights[i] += i
						}
					}
					s := w.service(ServiceConfig{Balance: balance, Passive: five}, weights...)
					k := Key{}
					switch balance {
					case Hash:
						k.Has = true
					case Sticky:
						k.Sticky = s.Members[0].Endpoint
					}
					for b.Loop() {
						k.Hash += 0x9e3779b97f4a7c15
						_, _ = w.locals[0].Pick(s, k, nil, w.now)
					}
				})
			}
		}
	}
}

// BenchmarkExchange is what one request costs the pool: choice, connection, outcome, return.
func BenchmarkExchange(b *testing.B) {
	w := newWorld(b, 1)
	s := w.service(ServiceConfig{
		Passive: five, Limits: Limits{MaxConnections: 20, MaxWaiting: 1000, Wait: time.Second, Idle: time.Minute},
	}, 1, 1, 1)
	l, c := w.locals[0], w.client(0, s)
	for _, m := range s.Members {
		w.put(w.must(Dial, 0, s, m.Endpoint))
	}
	for b.Loop() {
		e, _ := l.Pick(s, Key{}, nil, w.now)
		l.Start(s, e)
		conn, _ := l.Get(s, e, &c.waiter, w.now)
		l.Done(s, e, Success, w.now)
		l.Put(conn, s, w.now)
	}
}

func BenchmarkStickyEndpoint(b *testing.B) {
	w := newWorld(b, 1)
	s := w.service(ServiceConfig{Balance: Sticky}, 1, 1, 1)
	token := []byte(s.StickyToken(s.Members[1].Endpoint))
	for b.Loop() {
		_ = s.StickyEndpoint(token)
	}
}

// BenchmarkSpill is a choice for which the shares of two tiers with 50 members each are counted anew.
func BenchmarkSpill(b *testing.B) {
	w := newWorld(b, 1)
	s := w.tiers(ServiceConfig{}, 50, 50)
	for b.Loop() {
		w.now += spillAge
		_, _ = w.locals[0].Pick(s, Key{}, nil, w.now)
	}
}

func BenchmarkMaglevTable(b *testing.B) {
	w := newWorld(b, 1)
	s := w.service(ServiceConfig{Balance: Hash, Members: w.members(50, Member{Weight: 1})})
	for b.Loop() {
		newMaglev(s.groups[0].members)
	}
}
