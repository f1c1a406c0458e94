package reactor

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// Handler is told what happens on a Conn, on its loop. Calls are never nested: nothing that a handler
// does to a Conn calls a handler before the callback has returned.
type Handler interface {
	// OnData delivers bytes, valid only until it returns or this loop reads again. It returns how many
	// it consumed; the rest is kept, the Conn pauses itself, and Resume delivers the rest again in front
	// of newer bytes.
	OnData(c *Conn, b []byte) (consumed int)
	// OnEOF says that the peer sends no more, once everything before was consumed. Once. Writing goes on.
	OnEOF(c *Conn)
	// OnDrain says that the write queue fell to Options.Low after it had been above Options.High, or that
	// it is empty after NotifyEmpty.
	OnDrain(c *Conn)
	// OnClose says that the connection failed and is closed. Once, and never after the handler itself
	// called Close, Abort or Linger.
	OnClose(c *Conn, err error)
}

// ConnectHandler is the Handler of a connection that was dialled.
type ConnectHandler interface {
	Handler
	// OnConnect says that the connection is established. If it fails, OnClose comes instead.
	OnConnect(c *Conn)
}

// phase is what a Conn is doing.
type phase uint8

const (
	phaseConnecting phase = iota // SYN sent; what is written is queued
	phaseOpen                    // everything works
	phaseFinishing               // Close or Linger was called; the queue is being sent, the handler hears nothing more
	phaseLingering               // FIN sent; input is discarded until the peer's FIN
	phaseDoomed                  // close(2) follows at the end of the turn
)

// Conn is one stream socket on a loop. All methods are for code on that loop.
type Conn struct {
	// immutable
	loop     *Loop
	listener *Listener
	limit    *Limit
	remote   netip.AddrPort
	dialled  Addr
	accepted int64
	slot     uint32
	fd       int

	// what the handler wants
	handler   Handler
	transport Transport
	plain     bool // transport is Plain
	readSize  int
	paused    bool
	notify    bool // OnDrain when the queue is empty
	lingerFor int64

	// what is known of the socket
	phase    phase
	readable bool
	writable bool
	sticky   bool // a hang-up or an error was announced: a short read proves nothing any more
	eof      bool // the peer's FIN was read
	eofTold  bool // and OnEOF called
	over     bool // the queue was over High and has not been at Low since
	fin      finState
	fault    error // the socket is broken; what can still be read is read first

	// input and output
	kept         chain  // delivered but not consumed
	out          chain  // to be sent
	parked       []byte // to be sent before that, when the batch of events is over
	gathers      bool   // more may join what is parked
	relay        *relay // where what c receives goes, instead of to the handler
	relayed      *relay // what c gets that way
	writeTimeout int64
	timer        Timer
	bytesIn      uint64
	bytesOut     uint64

	// this turn
	turn  uint64
	spent int

	inList bool // in Loop.ready or Loop.later
	next   *Conn
	local  netip.AddrPort
}

// finState is how far the sending side is closed.
type finState uint8

const (
	finNone   finState = iota
	finWanted          // CloseWrite was called; the queue goes first
	finSent
)

func (l *Loop) newConn(fd int, p phase) *Conn {
	c := &Conn{
		loop: l, fd: fd, phase: p,
		transport: Plain,
		plain:     true,
		readSize:  defaultReadSize,
		writable:  p == phaseOpen,
	}
	c.timer.Init((*connAlarm)(c), 0)
	return c
}

// register gives c a slot and makes its events come.
func (l *Loop) register(c *Conn) error {
	number, token := l.slots.take()
	if err := l.poller.Add(c.fd, token); err != nil {
		l.slots.give(number)
		return err
	}
	c.slot = number
	l.slots.all[number].conn = c
	return nil
}

// Loop is the loop that c belongs to.
func (c *Conn) Loop() *Loop { return c.loop }

// FD is the socket's descriptor, for socket options. It must not be read, written or closed.
func (c *Conn) FD() int { return c.fd }

// Remote is the peer's address; invalid for unix sockets.
func (c *Conn) Remote() netip.AddrPort { return c.remote }

// Local is the own address; invalid for unix sockets. The first call asks the kernel.
func (c *Conn) Local() netip.AddrPort {
	if !c.local.IsValid() && c.phase != phaseDoomed {
		if sa, err := unix.Getsockname(c.fd); err == nil {
			c.local = addrPortOf(sa)
		}
	}
	return c.local
}

// Handler is who is told about c.
func (c *Conn) Handler() Handler { return c.handler }

// SetHandler changes it, from the next callback on.
func (c *Conn) SetHandler(h Handler) { c.handler = h }

// SetTransport puts t between c and its socket. Bytes that were delivered but not consumed are not given
// to it.
func (c *Conn) SetTransport(t Transport) {
	c.transport = t
	c.plain = t == Plain
}

// Accepted is when the connection was accepted, or dialled, in monotonic nanoseconds. A hand-off does
// not change it.
func (c *Conn) Accepted() int64 { return c.accepted }

// Listener is where the connection was accepted; nil if it was dialled.
func (c *Conn) Listener() *Listener { return c.listener }

// SetReadSize sets the most bytes that one delivery holds, 16 KiB by default, at most ReadBuffer.
func (c *Conn) SetReadSize(n int) { c.readSize = min(max(n, 1), ReadBuffer) }

// Kept is the number of bytes that were delivered but not consumed.
func (c *Conn) Kept() int { return c.kept.size }

// EOF reports whether OnEOF was called.
func (c *Conn) EOF() bool { return c.eofTold }

// BytesIn is the number of bytes read from the socket.
func (c *Conn) BytesIn() uint64 { return c.bytesIn }

// BytesOut is the number of bytes that the kernel took.
func (c *Conn) BytesOut() uint64 { return c.bytesOut }

// onEvent is the entry of the poller's events.
func (c *Conn) onEvent(ev Event) {
	if ev&(Readable|HangUp|Failed) != 0 {
		c.readable = true
	}
	if ev&(HangUp|Failed) != 0 {
		c.sticky = true
	}
	if c.phase == phaseConnecting {
		c.onConnectEvent(ev)
		return
	}
	if ev&Writable != 0 {
		c.writable = true
		c.sendQueue()
		if c.relayed != nil && c.relayed.waits && c.out.size == 0 {
			c.relayed.goOn()
		}
	}
	c.readAvailable()
	if ev&(Failed|Gone) != 0 && !c.reading() {
		c.checkFault(ev)
	}
}

// reading reports whether a failure of the socket will be seen by reading it.
func (c *Conn) reading() bool {
	return c.phase == phaseLingering || (c.phase == phaseOpen && !c.paused && !c.eof && !c.stuck())
}

// checkFault asks the socket for an error that nobody would read: a peer that resets while it is paused
// must be noticed.
func (c *Conn) checkFault(ev Event) {
	if c.phase == phaseDoomed {
		return
	}
	switch errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR); {
	case err != nil:
		c.broken(err)
	case errno != 0:
		c.broken(unix.Errno(errno))
	case ev&Gone != 0 && c.fin != finSent && c.listener != nil:
		// Both directions are down and it was not us who closed ours: nobody is left to answer. For a
		// dialled connection it may be the regular end of what is still to be read.
		c.broken(unix.ECONNRESET)
	}
}

// broken notes that the socket can do no more. The handler hears of it after the current callback.
func (c *Conn) broken(err error) {
	if c.fault == nil {
		c.fault = err
	}
	c.parked = nil
	c.out.clear(c.loop)
	c.loop.Disarm(&c.timer)
	if c.phase > phaseOpen {
		c.doom()
		return
	}
	c.loop.ready.push(c)
}

// serve is called for what is on the ready list.
func (c *Conn) serve() {
	if c.phase == phaseDoomed {
		return
	}
	if c.phase == phaseConnecting {
		if c.fault != nil {
			c.fail(c.fault)
		} else if c.writable {
			c.connected()
		}
		return
	}
	if c.fault != nil && c.hopeless() {
		c.fail(c.fault)
		return
	}
	c.tellEmpty()
	c.readAvailable()
}

// hopeless reports whether nothing more is to be had from a broken socket. A client that is gone waits
// for nothing, but what an upstream sent before it broke is an answer: it is delivered first.
func (c *Conn) hopeless() bool {
	if c.listener != nil || c.eof || c.phase != phaseOpen {
		return true
	}
	c.readable, c.sticky = true, true
	return c.paused && !c.stuck() && c.kept.size == 0 && sysUnread(c.fd) == 0
}

// connList is a queue of connections through Conn.next; a Conn stands in one at most.
type connList struct {
	head, tail *Conn
}

func (q *connList) push(c *Conn) {
	if c.inList {
		return
	}
	c.inList = true
	c.next = nil
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
}

func (q *connList) pop() *Conn {
	c := q.head
	if c == nil {
		return nil
	}
	q.head = c.next
	if q.head == nil {
		q.tail = nil
	}
	c.next = nil
	c.inList = false
	return c
}

// moveTo appends everything to dst.
func (q *connList) moveTo(dst *connList) {
	if q.head == nil {
		return
	}
	if dst.tail == nil {
		dst.head = q.head
	} else {
		dst.tail.next = q.head
	}
	dst.tail = q.tail
	q.head, q.tail = nil, nil
}
