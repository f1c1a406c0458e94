package engine

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	_ "github.com/corelane/corelane/codec/dubbo" // whose messages are one frame each
	"github.com/corelane/corelane/route"
)

// dubbos makes both sides of a gateway speak Dubbo, with little memory.
func dubbos(endpoints ...string) *setup {
	s := noRetries(newSetup(endpoints...))
	p, _ := codec.Registered("dubbo")
	s.listener.Protocol, s.protocol = p, p
	s.options.Memory = 1 << 20
	s.more = []route.Spec{{ID: "order", Kind: route.Prefix, Space: route.Calls, Pattern: "/a.B"}}
	return s
}

// dubboFrame is a frame with a body of that length, of which not everything need
// be there.
func dubboFrame(flags, status byte, id uint64, length int, body string) string {
	b := binary.BigEndian.AppendUint64([]byte{0xda, 0xbb, flags, status}, id)
	return string(binary.BigEndian.AppendUint32(b, uint32(length))) + body
}

// dubboCall calls a.B/c without arguments.
func dubboCall(id uint64) string {
	const body = "\x052.0.2\x03a.B\x050.0.0\x01c\x00HZ"
	return dubboFrame(0xc2, 0, id, len(body), body)
}

// readDubbo reads one frame.
func (p *peer) readDubbo() (status byte, id uint64, body string) {
	p.t.Helper()
	var head [16]byte
	_, err := io.ReadFull(p.in, head[:])
	require.NoError(p.t, err)
	rest := make([]byte, binary.BigEndian.Uint32(head[12:]))
	_, err = io.ReadFull(p.in, rest)
	require.NoError(p.t, err)
	return head[3], binary.BigEndian.Uint64(head[4:]), string(rest)
}

// Frames that never become whole count into the budget for buffers: the client
// that fills it is closed, and nobody else.
func TestGatheredMessagesCount(t *testing.T) {
	o := newOrigin(t)
	g := dubbos(o.addr).start(t)
	other := g.dial().send(dubboCall(1))
	up := o.accept()
	_, id, _ := up.readDubbo()
	bad := g.dial()
	// Its writes fail as soon as it is closed.
	_, _ = io.WriteString(bad.conn, dubboFrame(0xc2, 0, 1, 7<<20, strings.Repeat("a", 6<<20)))
	_, _ = io.ReadAll(bad.in)
	require.Equal(t, uint64(1), g.stats().StreamsRefused)
	require.False(t, g.server.memory.Over())
	up.send(dubboFrame(0x02, 20, id, 2, "\x92N")) // null
	status, id, _ := other.readDubbo()
	require.Equal(t, byte(20), status)
	require.Equal(t, uint64(1), id)

	other.send(dubboFrame(0xc2, 0, 2, 200<<10, strings.Repeat("a", 100<<10)))
	require.Eventually(t, func() bool { return g.server.memory.Used() >= 100<<10 }, patience, patience/1000)
	other.close()
	require.Eventually(t, func() bool { return g.server.memory.Used() < 50<<10 }, patience, patience/1000)
}

// A client that does not read holds no more answers than there is memory for.
func TestAnswersThatNobodyReads(t *testing.T) {
	const calls = 16
	o := newOrigin(t)
	g := dubbos(o.addr).start(t)
	c := g.dial()
	for id := range uint64(calls) {
		c.send(dubboCall(id + 1))
	}
	up := o.accept()
	big := "\x91" + strings.Repeat("A\xff\xff"+strings.Repeat("b", 0xffff), 32) + "B\x00\x00" // a value: bytes
	for range calls {
		_, id, _ := up.readDubbo()
		up.send(dubboFrame(0x02, 20, id, len(big), big))
	}
	answered := map[uint64]bool{}
	refused := 0
	for range calls {
		status, id, body := c.readDubbo()
		require.False(t, answered[id])
		answered[id] = true
		if status == 20 {
			require.Equal(t, len(big), len(body))
			continue
		}
		require.Contains(t, body, "overloaded: the gateway is out of buffers")
		refused++
	}
	require.Positive(t, refused)
	c.send(dubboCall(99)) // the connection goes on
	_, id, _ := up.readDubbo()
	up.send(dubboFrame(0x02, 20, id, 2, "\x92N"))
	status, _, _ := c.readDubbo()
	require.Equal(t, byte(20), status)
}
