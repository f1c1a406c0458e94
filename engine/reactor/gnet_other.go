//go:build unix && !linux

package reactor

import (
	"github.com/panjf2000/gnet/v2/pkg/netpoll"
	"golang.org/x/sys/unix"
)

// gnetEvent: kqueue reports the end of the peer's data on the read filter, and on the write filter
// that nothing written would be read any more; the latter is checked like an error.
func gnetEvent(filter netpoll.IOEvent, flags netpoll.IOFlags) Event {
	var ev Event
	switch {
	case netpoll.IsReadEvent(filter):
		ev = Readable
		if flags&unix.EV_EOF != 0 {
			ev |= HangUp
		}
	case netpoll.IsWriteEvent(filter):
		ev = Writable
		if flags&unix.EV_EOF != 0 {
			ev |= HangUp | Failed
		}
	}
	if flags&unix.EV_ERROR != 0 {
		ev |= Failed
	}
	return ev
}
