package reactor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPostFromManyProducers(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		const producers, each = 8, 2000
		l := start(t, o)
		var ran [producers]int // of the loop alone
		var wg, left sync.WaitGroup
		left.Add(producers * each)
		for p := range producers {
			wg.Go(func() {
				for i := range each {
					l.Post(&Task{Run: func(*Loop) {
						if ran[p] == i { // a producer's tasks keep their order
							ran[p]++
						}
						left.Done()
					}})
				}
			})
		}
		wg.Wait()
		left.Wait()
		do(t, l, func() {
			for p := range ran {
				require.Equal(t, each, ran[p])
			}
			require.LessOrEqual(t, uint64(producers*each), l.Stats().Tasks)
		})
	})
}

func TestTaskIsReused(t *testing.T) {
	l := start(t, Options{CPU: -1})
	done := make(chan struct{})
	n := 0
	task := &Task{}
	task.Run = func(l *Loop) {
		if n++; n == 5000 {
			close(done)
			return
		}
		l.Post(task)
	}
	require.True(t, l.Post(task))
	await(t, done, "the last run")
}

func TestTaskPostedTwiceRunsOnce(t *testing.T) {
	l := start(t, Options{CPU: -1})
	release := hold(t, l)
	n := 0
	task := &Task{Run: func(*Loop) { n++ }}
	require.True(t, l.Post(task))
	require.True(t, l.Post(task))
	release()
	do(t, l, func() { require.Equal(t, 1, n) })
}

// What was posted before the end runs; what comes after is refused. Nothing is lost in between.
func TestPostAcrossTheEnd(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		for range 20 {
			l, err := NewLoop(o)
			require.NoError(t, err)
			done := make(chan error, 1)
			go func() { done <- l.Run() }()
			var accepted, ran atomic.Int64
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for l.Post(&Task{Run: func(*Loop) { ran.Add(1) }}) {
						accepted.Add(1)
					}
				})
			}
			l.Stop()
			l.Stop()
			wg.Wait()
			require.NoError(t, await(t, done, "the loop to end"))
			require.Equal(t, accepted.Load(), ran.Load())
			require.False(t, l.Post(&Task{}))
		}
	})
}

func TestPostAllocatesNothing(t *testing.T) {
	l := start(t, Options{CPU: -1})
	var ran atomic.Int64
	task := &Task{Run: func(*Loop) { ran.Add(1) }}
	require.Zero(t, testing.AllocsPerRun(200, func() {
		before := ran.Load()
		l.Post(task)
		for ran.Load() == before {
			runtime.Gosched()
		}
	}))
}

func BenchmarkMailboxPush(b *testing.B) {
	var m mailbox
	tasks := make([]Task, 1024)
	for i := range b.N {
		m.push(&tasks[i%len(tasks)])
		if i%len(tasks) == len(tasks)-1 {
			m.take()
		}
	}
}

func BenchmarkPostRoundTrip(b *testing.B) {
	l := start(b, Options{CPU: -1})
	ran := make(chan struct{}, 1)
	task := &Task{Run: func(*Loop) { ran <- struct{}{} }}
	for range b.N {
		l.Post(task)
		<-ran
	}
}
