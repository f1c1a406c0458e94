package control

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/engine/snapshot"
)

// reloadCounts counts how reloads ended.
type reloadCounts struct {
	published, unchanged, refused atomic.Uint64
}

// publish hands a generation to the loops and waits until all have taken it up.
// A loop that is late does not undo it: the generation is in force as soon as
// it is stored, only endpoints that it dropped are kept until the next time.
func (n *Node) publish(snap *snapshot.Snapshot) error {
	began := time.Now()
	n.server.Publish(snap)
	err := n.awaitGeneration(snap.Generation, publishDeadline)
	n.followEndpoints(snap)
	if err != nil {
		n.log.Warn("a generation was published, but not every loop has reported it", "generation", snap.Generation, "error", err)
		return nil
	}
	n.log.Info("all loops have taken up the generation", "generation", snap.Generation,
		"took_ms", milliseconds(time.Since(began).Nanoseconds()))
	n.server.Reclaim()
	return nil
}

// reclaim forgets, now and then until ctx ends, what generations have dropped:
// its connections may end long after the publish.
func (n *Node) reclaim(ctx context.Context) {
	every(ctx, reclaimPoll, func(time.Time) { n.server.Reclaim() })
}

// awaitGeneration waits until every loop has taken up the generation.
func (n *Node) awaitGeneration(generation uint64, deadline time.Duration) error {
	end := time.Now().Add(deadline)
	for n.server.Passed() < generation {
		if n.currentState() == stateStopped || time.Now().After(end) {
			return fmt.Errorf("loops are at generation %d, not at %d", n.server.Passed(), generation)
		}
		time.Sleep(passedPoll)
	}
	return nil
}

// Reload reads the configuration again. The error is what was refused and why;
// the last good configuration stays in force then.
func (n *Node) Reload(ctx context.Context) error {
	return politely(func() error { return n.reload(ctx) })
}

// politely runs what may take long on a thread of low priority. A panic is its
// error: nothing that a document holds may end a process that serves.
func politely(do func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("the reload failed, a fault of the program: %v\n%s", r, debug.Stack())
			}
		}()
		lowerPriority()
		done <- do()
	}()
	return <-done
}

// reloadNice is the nice value of a reload: reading and compiling can wait for
// whoever serves on the same CPUs, here and in other processes.
const reloadNice = 10

// lowerPriority is for a goroutine that ends soon: its thread ends with it, for
// a nice value cannot be taken back. It works on Linux, where that is a
// thread's; a refusal costs nothing but the politeness.
func lowerPriority() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), reloadNice)
}

func (n *Node) reload(ctx context.Context) error {
	before := n.pipeline.Status().Generation
	if err := n.pipeline.Reload(ctx); err != nil {
		n.reloads.refused.Add(1)
		return err
	}
	if n.pipeline.Status().Generation == before {
		n.reloads.unchanged.Add(1)
		return nil
	}
	n.reloads.published.Add(1)
	if err := checkSpill(n.pipeline.Document()); err != nil {
		n.log.Warn("configuration", "warning", err.Error())
	}
	return nil
}

// watchSource reloads when the source changes, until ctx ends. What is refused
// is in the log and the status.
func (n *Node) watchSource(ctx context.Context) {
	if err := n.source.Watch(ctx, func() { _ = n.Reload(ctx) }); err != nil && ctx.Err() == nil {
		n.log.Error("the configuration is not watched, SIGHUP still reloads it", "error", err)
	}
}

// hangUp asks for a reload and returns; several at once are one.
func (n *Node) hangUp() {
	n.access.Reopen()
	select {
	case n.hangUps <- struct{}{}:
	default:
	}
}

// answerHangUps reloads when asked to, so that a long reload does not keep
// other signals waiting.
func (n *Node) answerHangUps(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.hangUps:
			if n.Reload(ctx) == nil {
				n.log.Info("reloaded", "generation", n.pipeline.Status().Generation)
			}
		}
	}
}
