package frame

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cloudwego/netpoll"

	wire "github.com/corelane/corelane/codec/frame"
)

// side is what a server and a client do differently with a connection. All but
// ended are called by the reader.
type side interface {
	// begin takes the first frame of a message. A nil stream: nobody wants it. An
	// error is the connection's end.
	begin(h *wire.Header, metadata []byte) (*stream, error)
	// complete is called when a message has come to its end. Its last piece of body,
	// if it came whole, is whole, valid until the return.
	complete(s *stream, whole []byte)
	// goneAway is told that the peer takes nothing above last.
	goneAway(last uint64, why *Error)
	// ended is called once when the connection is of no use any more, by anybody;
	// closed when it is closed.
	ended(why *Error)
	closed()
}

// link is one connection of either side: its output, the streams that live on
// it, its heartbeats and its end.
type link struct {
	// Immutable.
	nc   netpoll.Connection
	fd   int
	peer string
	o    *Options
	side side

	in reader // the reader's own

	heard    atomic.Bool  // something came since the last beat
	buffered atomic.Int64 // bytes of bodies that nobody has read

	fdMu   sync.Mutex // held while the descriptor is used
	fdGone bool

	mu      sync.Mutex
	live    map[uint64]*stream
	out     []byte        // frames that wait to be written
	spare   []byte        // a buffer to use again
	turn    bool          // the reader is at work and writes at its end
	writing bool          // somebody writes, and looks at out before it ends
	stalled bool          // the kernel takes no more for now
	room    chan struct{} // closed when out is short again; nil: nobody waits
	idle    chan struct{} // closed when live is empty and all is written; nil: nobody waits
	err     *Error        // why the link has ended; nil: it has not
	leaving bool          // nothing above last is taken any more
	last    uint64        // the highest id that was taken, or given
	beat    *time.Timer
	missed  int
}

// descriptor is what a connection of netpoll is besides.
type descriptor interface{ Fd() int }

func newLink(nc netpoll.Connection, o *Options, s side) *link {
	l := &link{nc: nc, o: o, side: s, live: map[uint64]*stream{}, fd: -1}
	if d, ok := nc.(descriptor); ok {
		l.fd = d.Fd()
	}
	if addr := nc.RemoteAddr(); addr != nil {
		l.peer = addr.String()
	}
	if l.peer == "" || l.peer == "@" {
		l.peer = nc.LocalAddr().String()
	}
	// What a peer does not read is given up; netpoll knows when.
	_ = nc.SetWriteTimeout(o.WriteTimeout)
	// Ours runs before netpoll's own, which closes the descriptor.
	_ = nc.AddCloseCallback(func(netpoll.Connection) error {
		l.closed()
		return nil
	})
	if o.Heartbeat > 0 {
		l.mu.Lock()
		l.beat = time.AfterFunc(o.Heartbeat, l.onBeat)
		l.mu.Unlock()
	}
	return l
}

// closed is called when the connection is closed, before its descriptor is.
func (l *link) closed() {
	l.end(l.disconnected())
	l.fdMu.Lock()
	l.fdGone = true
	l.fdMu.Unlock()
	l.side.closed()
}

// fail ends the link and everything on it. Any goroutine may call it; the first
// reason stays.
func (l *link) fail(why *Error) {
	if l.end(why) {
		l.shut(syscall.SHUT_RDWR)
	}
}

// shut has the kernel end the connection, in one direction or both, which makes
// netpoll's poller close it. Its Close is not called: when the peer ends the
// connection at that moment, the poller takes a descriptor off its list that is
// closed by then, and may be another connection's.
func (l *link) shut(how int) {
	l.fdMu.Lock()
	defer l.fdMu.Unlock()
	if !l.fdGone {
		_ = syscall.Shutdown(l.fd, how)
	}
}

// end is fail without the connection's end.
func (l *link) end(why *Error) bool {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return false
	}
	l.err = why
	live := l.live
	l.live = map[uint64]*stream{}
	l.out, l.spare = nil, nil
	if l.beat != nil {
		l.beat.Stop()
	}
	l.wake()
	l.mu.Unlock()
	l.side.ended(why) // before those who may call again hear of it
	for _, s := range live {
		s.fail(why)
	}
	return true
}

// abort tells the peer what it did wrong and ends the link. The reader calls it.
func (l *link) abort(status int, reason, text string) {
	l.o.Logger.Warn("frame: the peer breaks the protocol", "peer", l.peer, "reason", text)
	l.mu.Lock()
	if l.err == nil {
		l.out = wire.AppendDetail(l.out, wire.GoAway, wire.LastIDUnknown, status, reason, text)
	}
	last, busy := l.out, l.writing
	l.writing = true
	l.mu.Unlock()
	why := &Error{Kind: Malformed, Peer: l.peer, Text: text}
	if busy {
		l.fail(why) // others write, or nobody reads: no order could be kept
		return
	}
	if l.end(why) {
		_, _ = l.writeNow(last)
		// What it sends is still read: to close now would reset the connection and
		// lose what it has not read.
		l.shut(syscall.SHUT_WR)
		time.AfterFunc(linger, func() { l.shut(syscall.SHUT_RDWR) })
	}
}

// begin locks the output and returns it for appending frames. It ends in commit.
func (l *link) begin() []byte {
	l.mu.Lock()
	return l.out
}

// commit unlocks the output and sees to it that it is written: at the end of the
// reader's turn, by whoever writes already, or at once.
func (l *link) commit(out []byte) {
	if l.err != nil {
		l.out = nil
		l.mu.Unlock()
		return
	}
	l.out = out
	if len(out) > l.o.Limits.Unread {
		l.mu.Unlock()
		l.fail(l.unresponsive("it does not read what it is sent"))
		return
	}
	start := !l.writing && len(out) > 0 && (!l.turn || len(out) >= flushAt)
	l.writing = l.writing || start
	crowd := start && !l.turn && len(l.live) > 1
	l.mu.Unlock()
	if !start {
		return
	}
	if crowd {
		runtime.Gosched() // others may be about to answer: one write for all
	}
	l.write()
}

// write writes until nothing is left. Only who has set l.writing calls it.
func (l *link) write() {
	for {
		out, ok := l.takeOut()
		if !ok {
			return
		}
		n, err := l.writeNow(out)
		if err != nil {
			l.lose(err)
			return
		}
		if n < len(out) {
			l.mu.Lock()
			l.stalled = true
			l.mu.Unlock()
			go l.drain(out[n:])
			return
		}
		l.giveBack(out)
	}
}

// lose is called when nothing can be written any more. What the peer said before it
// closed is still read, since it may have said which calls it has not looked at;
// then netpoll tells of the end. l.writing stays, so that nobody tries again.
func (l *link) lose(err error) {
	time.AfterFunc(linger, func() { l.fail(&Error{Kind: Disconnected, Peer: l.peer, Err: err}) })
}

// takeOut takes what is to be written. Without anything the writing is over.
func (l *link) takeOut() ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.out
	if len(out) == 0 || l.err != nil {
		l.writing, l.stalled = false, false
		l.wake()
		return nil, false
	}
	l.out, l.spare = l.spare, nil
	l.wake()
	return out, true
}

// wake tells those who wait for room or for an idle link.
func (l *link) wake() {
	if l.room != nil && (l.err != nil || len(l.out) < writersWait) {
		close(l.room)
		l.room = nil
	}
	if l.idle != nil && (l.err != nil || l.isIdle()) {
		close(l.idle)
		l.idle = nil
	}
}

func (l *link) isIdle() bool {
	return len(l.live) == 0 && len(l.out) == 0 && !l.writing && !l.turn
}

func (l *link) giveBack(out []byte) {
	if cap(out) > 4*flushAt {
		return // a burst's; not worth keeping
	}
	l.mu.Lock()
	if l.spare == nil {
		l.spare = out[:0]
	}
	l.mu.Unlock()
}

// writeNow writes what the kernel takes at once. It is not netpoll's Flush,
// which waits for the peer: the reader, which may be the caller, must not.
func (l *link) writeNow(b []byte) (int, error) {
	l.fdMu.Lock()
	defer l.fdMu.Unlock()
	done := 0
	for done < len(b) {
		if l.fdGone {
			return done, syscall.EPIPE
		}
		n, err := syscall.Write(l.fd, b[done:])
		switch err {
		case nil:
			done += n
		case syscall.EINTR:
		case syscall.EAGAIN:
			return done, nil
		default:
			return done, err
		}
	}
	return done, nil
}

// drain writes what the kernel did not take, waiting for the peer.
func (l *link) drain(rest []byte) {
	for ok := true; ok; rest, ok = l.takeOut() {
		if _, err := l.nc.Write(rest); err != nil {
			why := l.unresponsive("it does not read what it is sent")
			why.Err = err
			l.fail(why)
			return
		}
	}
}

func (l *link) disconnected() *Error {
	return &Error{Kind: Disconnected, Peer: l.peer, Text: "the connection has ended"}
}

func (l *link) unresponsive(text string) *Error {
	return &Error{Kind: Unresponsive, Peer: l.peer, Text: text}
}

// beginTurn and endTurn enclose the reader's work on what it has read.
func (l *link) beginTurn() {
	l.heard.Store(true)
	l.mu.Lock()
	l.turn = true
	l.mu.Unlock()
}

func (l *link) endTurn() {
	l.mu.Lock()
	l.turn = false
	l.wake()
	l.mu.Unlock()
	l.flush()
}

// flush writes what waits, unless somebody does it already.
func (l *link) flush() {
	l.mu.Lock()
	start := !l.writing && len(l.out) > 0
	l.writing = l.writing || start
	l.mu.Unlock()
	if start {
		l.write()
	}
}

// lookup returns the stream with that id, nil if there is none.
func (l *link) lookup(id uint64) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live[id]
}

// forget takes a stream off the link; false: it was not on it any more.
func (l *link) forget(s *stream) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drop(s)
}

// drop is forget for who holds the lock.
func (l *link) drop(s *stream) bool {
	if l.live[s.id] != s {
		return false
	}
	delete(l.live, s.id)
	l.wake()
	return true
}

// onBeat asks a peer that is silent for a sign of life, and gives it up when it
// was asked often enough.
func (l *link) onBeat() {
	heard := l.heard.Swap(false)
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	if heard {
		l.missed = 0
		l.beat.Reset(l.o.Heartbeat)
		l.mu.Unlock()
		return
	}
	if l.missed == heartbeatsMissed {
		l.mu.Unlock()
		l.fail(l.unresponsive(fmt.Sprintf("%d heartbeats were not answered", heartbeatsMissed)))
		return
	}
	l.missed++
	id := uint64(l.missed)
	l.beat.Reset(l.o.Heartbeat)
	l.commit(wire.AppendHeader(l.out, &wire.Header{Kind: wire.Heartbeat, ID: id}))
}

// sendCancel tells the peer that a message is given up.
func (l *link) sendCancel(id uint64, status int, reason, text string) {
	l.commit(wire.AppendDetail(l.begin(), wire.Cancel, id, status, reason, text))
}

// sendCredit lets the peer send n more bytes of a message.
func (l *link) sendCredit(id uint64, n int) {
	l.commit(wire.AppendCredit(l.begin(), id, uint32(min(n, math.MaxInt32))))
}
