package frame

import (
	"log/slog"
	"time"
)

// Limits bound what peers can make grow. Zero values mean the defaults.
type Limits struct {
	// Metadata is the most metadata of a message in bytes, 64 KiB by default;
	// Fields the most fields, 200.
	Metadata, Fields int
	// Live is the most calls under way on a connection, 4,096. A server answers
	// what comes over it with 503; a client returns an error of kind Overloaded.
	Live int
	// Message is the longest body in bytes that is gathered whole, 16 MiB. What is
	// read or written piece by piece has no limit.
	Message int
	// Decompressed is the longest body in bytes that a compressed one may become,
	// 16 MiB, gathered or not.
	Decompressed int
	// Buffered is how many bytes of bodies a connection may hold that nobody has
	// read, 64 MiB. What comes over it is cancelled.
	Buffered int
	// Unread is how many bytes may wait for a peer to read them, 16 MiB. A peer
	// that lets it come to more is disconnected. Writers are held back at 1 MiB, so
	// that it takes many answers without a writer to come there.
	Unread int
}

// Options are common to servers and clients. Zero values mean the defaults.
type Options struct {
	Limits Limits
	// Heartbeat is how long a connection may be silent before the peer is asked for
	// a sign of life, 15 s; after three questions without any answer the connection
	// is given up. Negative: peers are never asked.
	Heartbeat time.Duration
	// WriteTimeout is how long a write may wait for the peer to read, 30 s; then
	// the connection is given up.
	WriteTimeout time.Duration
	// Zstd: a server compresses responses of 1 KiB and more for clients that accept
	// it; a client says that it accepts it. Both take compressed bodies in any case.
	Zstd bool
	// Logger is told of peers that break the protocol, of panics and of errors
	// that handlers return; slog.Default() by default.
	Logger *slog.Logger
}

const (
	// writersWait is how many bytes wait for the peer before writers do.
	writersWait = 1 << 20
	// flushAt is how many bytes are gathered before they are written although more
	// may come in the same turn.
	flushAt = 64 << 10
	// piece is the most body of one frame of a message of several, so that others
	// get their turn.
	piece = 64 << 10
	// minZstd is the shortest body that is worth compressing.
	minZstd = 1 << 10
	// heartbeatsMissed is how many may stay without any sign of life.
	heartbeatsMissed = 3
	// linger is how long a peer that broke the protocol is given to read why.
	linger = time.Second
)

func orDefault[T int | time.Duration](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}

// withDefaults fills in what was left zero.
func (o Options) withDefaults() *Options {
	orDefault(&o.Limits.Metadata, 64<<10)
	orDefault(&o.Limits.Fields, 200)
	orDefault(&o.Limits.Live, 4096)
	orDefault(&o.Limits.Message, 16<<20)
	orDefault(&o.Limits.Decompressed, 16<<20)
	orDefault(&o.Limits.Buffered, 64<<20)
	orDefault(&o.Limits.Unread, 16<<20)
	orDefault(&o.Heartbeat, 15*time.Second)
	orDefault(&o.WriteTimeout, 30*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &o
}
