package reactor

import "github.com/panjf2000/gnet/v2/pkg/netpoll"

// gnetEvent: on Linux gnet hands epoll's own bits through.
func gnetEvent(bits netpoll.IOEvent, _ netpoll.IOFlags) Event { return epollEvent(bits) }
