// Package reactor runs pinned event loops over non-blocking sockets.
//
// A Loop is one OS thread with its poller, connections, timers, mailbox and memory. Everything that
// belongs to a loop is touched by its thread alone, so nothing here takes a lock; the mailbox
// (Loop.Post) is the only door from other goroutines. A loop works in turns: events, due timers,
// tasks, deferred work, and at the very end the close(2) calls, so that no descriptor number is
// reused while a batch of events still names it.
//
// Sockets are registered once, edge-triggered, for everything. A Conn remembers what it was told:
// pausing is not reading, resuming reads on. Reads share one buffer of the loop, writes of one
// callback are gathered and leave in one system call, and only what the kernel refuses is copied
// into the off-heap blocks of a write queue.
//
// How a byte leaves:
//
//	Stage/Commit ─► scratch ─┐
//	Write ─► reference ──────┴► gather list ─► small: the lot ─► end of the batch ─┐
//	                                        └► else: end of the callback ──────────┴► sendto
//	                                                                                  │ what the kernel refuses
//	                                                       next writable edge: writev ◄── blocks of the queue
//
// and how one comes: recvfrom ─► the loop's read buffer ─► OnData; what that does not consume is kept
// in blocks and offered again, in front of newer bytes, after Resume.
//
// The package knows no protocol: a Handler gets bytes and says how many it consumed.
package reactor
