// Package frame is for services that speak the frame protocol (docs/protocol.md)
// and for their clients, on cloudwego/netpoll. It stands by itself: nothing of
// the gateway is in it.
//
//	s := &frame.Server{Handler: frame.HandlerFunc(
//		func(ctx context.Context, r *frame.Request, w *frame.Responder) error {
//			return w.Reply([]byte("hello"))
//		})}
//	err := s.ListenAndServe("tcp", "127.0.0.1:7000")
//
// A connection carries many calls at once, in both directions in frames that may
// alternate. One goroutine at a time reads a connection and never waits; what
// handlers answer meanwhile leaves in one write when what was read is done. Whoever
// writes afterwards takes along what others have to say.
//
// Everything that a peer can make grow is bounded by Limits, and every failure is
// an *Error that names the peer.
package frame
