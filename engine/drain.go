package engine

// idleGrace is how long a drain leaves idle connections open. A client that has
// just connected, or is between two requests, may have sent one that nobody has
// read yet; within this time most of them get an answer that tells them to go.
const idleGrace = int64(1e9)

// beginDrain makes every answer the last one of its connection.
func (w *worker) beginDrain() {
	w.draining = true
	w.loop.SetDraining(true)
	w.loop.Arm(&w.idleClock, w.loop.Now()+idleGrace)
}

// announceDrain tells the clients that can be told.
func (w *worker) announceDrain() {
	w.announced = true
	for n := w.clients; n != nil; n = n.next {
		n.owner.announceDrain()
	}
}

// idleAlarm keeps the timer's callback out of worker's methods.
type idleAlarm worker

// OnTimer implements reactor.Alarm: it closes the connections that are idle.
func (a *idleAlarm) OnTimer(uint8, int64) {
	for n := a.clients; n != nil; {
		next := n.next
		n.owner.drain()
		n = next
	}
}

// cutRest ends what still runs when the loop does: by an answer where none has
// begun, else by cutting it. Otherwise the order in which sockets are closed would
// decide who is said to have failed.
func (w *worker) cutRest() {
	w.draining = true
	for n := w.clients; n != nil; {
		next := n.next
		n.owner.cutRest()
		n = next
	}
}
