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
					for b.Loop() {
						_, _ = w.locals[0].Pick(s, nil, w.now)
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
		e, _ := l.Pick(s, nil, w.now)
		l.Start(s, e)
		conn, _ := l.Get(s, e, &c.waiter, w.now)
		l.Done(s, e, Success, w.now)
		l.Put(conn, s, w.now)
	}
}
