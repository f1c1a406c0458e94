package reactor

import "errors"

// Errors that reach Handler.OnClose or come from a Transport. System errors are wrapped, so that
// errors.Is(err, unix.ECONNRESET) and the like hold.
var (
	// ErrWouldBlock says that the socket has nothing to read or takes nothing more now.
	ErrWouldBlock = errors.New("would block")
	// ErrWriteTimeout says that the peer took no byte of the queue for the write timeout.
	ErrWriteTimeout = errors.New("write timeout")
	// ErrPanic says that a callback of the connection panicked.
	ErrPanic = errors.New("callback panicked")
	// ErrLoopStopped says that the loop ended under the connection.
	ErrLoopStopped = errors.New("loop stopped")
)
