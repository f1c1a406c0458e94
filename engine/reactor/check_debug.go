//go:build debug && linux

package reactor

import "golang.org/x/sys/unix"

// debugBuild turns on the thread check and the poisoning of free blocks.
const debugBuild = true

// threadID names the calling thread.
func threadID() int { return unix.Gettid() }

// assertLoop panics when the caller is not on the loop's thread.
func (l *Loop) assertLoop() {
	if l.thread != 0 && l.thread != threadID() {
		panic("reactor: a function of a loop was called from another thread")
	}
}
