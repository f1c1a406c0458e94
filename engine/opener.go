package engine

import "github.com/corelane/corelane/engine/reactor"

// opener is an upstream connection on its way, which no exchange waits for.
type opener struct {
	kept  *kept
	u     *upstreamConn
	clock reactor.Timer
}

var _ reactor.ConnectHandler = (*opener)(nil)

// dial begins the handshake; its place in the pool is reserved.
func (o *opener) dial() error {
	u, loop := o.u, o.u.w.loop
	conn, err := loop.Dial(u.ep.Addr(), u.source, o)
	if err != nil {
		return err
	}
	u.conn = conn
	conn.SetReadSize(bodyReadSize)
	u.w.local.Attach(u, u.svc.Pool, u.ep, loop.Now())
	timeout := u.svc.ConnectTimeout
	if timeout <= 0 {
		timeout = openTimeout
	}
	o.clock.Init(o, 0)
	loop.Arm(&o.clock, loop.Now()+timeout.Nanoseconds())
	return nil
}

// OnConnect implements reactor.ConnectHandler: from here on the connection is one
// like others, idle.
func (o *opener) OnConnect(c *reactor.Conn) {
	u := o.u
	u.w.loop.Forget(&o.clock)
	c.SetHandler(u)
	u.state = idle
	o.kept.ended(true)
	u.w.local.Put(u, o.kept.svc.Pool, u.w.loop.Now())
}

// OnClose implements reactor.Handler: nobody listens there.
func (o *opener) OnClose(*reactor.Conn, error) {
	o.u.w.loop.Forget(&o.clock)
	o.u.retire()
	o.kept.ended(false)
}

// OnTimer implements reactor.Alarm: nobody answers there.
func (o *opener) OnTimer(uint8, int64) {
	o.u.conn.Abort()
	o.u.retire()
	o.kept.ended(false)
}

// OnData implements reactor.Handler; like the two below it is not called before
// OnConnect.
func (o *opener) OnData(_ *reactor.Conn, b []byte) int { return len(b) }

// OnEOF implements reactor.Handler.
func (o *opener) OnEOF(*reactor.Conn) {}

// OnDrain implements reactor.Handler.
func (o *opener) OnDrain(*reactor.Conn) {}
