package engine

import "github.com/corelane/corelane/engine/reactor"

// client is a client's connection, whatever it speaks.
type client interface {
	reactor.Handler
	// announceDrain tells a client that can be told that the gateway is going to
	// end.
	announceDrain()
	// drain closes it if it is idle; a busy one ends with its answers.
	drain()
	// cutRest ends what still runs, because the loop does.
	cutRest()
}

// clientNode is a client's place in its worker's book.
type clientNode struct {
	owner client
	prev  *clientNode
	next  *clientNode
}

// newClient takes a fresh connection of a listener. It speaks what the listener
// does, which stays the same while the process runs.
func newClient(w *worker, c *reactor.Conn, listener string) client {
	switch lis := w.server.current.Load().Listeners[listener]; {
	case lis == nil:
	case lis.Protocol != nil:
		return newMuxSession(w, c, listener, lis.Protocol)
	case lis.Passage != nil:
		return newTCPSession(w, c, lis)
	}
	return newSession(w, c, listener)
}

func (w *worker) addClient(n *clientNode, owner client) {
	w.clientN++
	n.owner, n.next = owner, w.clients
	if n.next != nil {
		n.next.prev = n
	}
	w.clients = n
}

func (w *worker) removeClient(n *clientNode) {
	w.clientN--
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		w.clients = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}
