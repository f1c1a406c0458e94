package reactor

import "runtime/debug"

// rescue is deferred around every callback. A panic costs the connection whose callback it was and
// nothing else.
func (l *Loop) rescue() {
	v := recover()
	if v == nil {
		return
	}
	c := l.current
	l.current = nil
	l.report(v)
	if c != nil {
		l.closePanicked(c)
	}
}

func (l *Loop) report(v any) {
	l.stats.Panics++
	if l.opt.OnPanic != nil {
		l.opt.OnPanic(l.opt.ID, v, debug.Stack())
	}
}

// closePanicked resets c and tells its handler, which may be in no state to hear it.
func (l *Loop) closePanicked(c *Conn) {
	defer func() {
		if v := recover(); v != nil {
			l.report(v)
		}
	}()
	c.resetOnClose()
	c.fail(ErrPanic)
}

// expel closes c because the loop ends.
func (l *Loop) expel(c *Conn) {
	defer l.rescue()
	l.current = c
	c.fail(ErrLoopStopped)
	l.current = nil
}
