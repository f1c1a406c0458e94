//go:build debug && linux

package reactor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoopFunctionsKnowTheirThread(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, _ := pair(t, l, s, nil)
	for name, call := range map[string]func(){
		"Now":    func() { l.Now() },
		"Arm":    func() { l.Arm(&Timer{}, 1) },
		"Defer":  func() { l.Defer(&Deferred{}) },
		"Get":    func() { l.GetBlock() },
		"Write":  func() { c.Write([]byte("x")) },
		"Resume": c.Resume,
		"Close":  c.Close,
	} {
		require.Panics(t, call, name)
	}
	do(t, l, func() { l.Now(); c.Resume() })
}

func TestFreeBlocksArePoisoned(t *testing.T) {
	l := idleLoop(t, Options{CPU: -1})
	b := l.GetBlock()
	l.PutBlock(b)
	require.Equal(t, byte(poison), b.mem[100])
	b.mem[100] = 1
	require.Panics(t, func() { l.GetBlock() }, "written to while free")
	b.mem[100] = poison
	b.free = true
}

func TestBlockOfAnotherLoop(t *testing.T) {
	a, b := idleLoop(t, Options{CPU: -1}), idleLoop(t, Options{CPU: -1})
	block := a.GetBlock()
	require.Panics(t, func() { b.PutBlock(block) })
	a.PutBlock(block)
}
