package frame

import (
	"context"

	wire "github.com/corelane/corelane/codec/frame"
)

// head is what the first frame of a message says besides its body.
type head struct {
	flags    wire.Flags
	status   int
	call     *Call // of a request
	timeout  string
	metadata Metadata
	accept   bool // say that zstd is accepted
}

func (h *head) append(dst []byte) []byte {
	if h.call != nil {
		dst = h.call.append(dst)
	}
	if h.timeout != "" {
		dst = wire.AppendPair(dst, wire.PseudoTimeout.String(), h.timeout)
	}
	dst = h.metadata.append(dst)
	if h.accept {
		dst = wire.AppendPair(dst, "accept-encoding", "zstd")
	}
	return dst
}

// invalid says why a head cannot be sent.
func (s *stream) invalid(err error) *Error {
	return &Error{Kind: Invalid, Peer: s.l.peer, Err: err}
}

// appendFirst appends the first frame with as much of the body as may be sent
// without waiting, and returns what is left of the body. The caller holds the
// output; after an error dst is as it was.
func (s *stream) appendFirst(dst []byte, h *head, body []byte, last bool) ([]byte, []byte, *Error) {
	if !h.metadata.sized() || h.call != nil && !h.call.sized() {
		return dst, nil, s.invalid(errTooMuchMetadata)
	}
	at := len(dst)
	dst = wire.AppendHeader(dst, &wire.Header{})
	dst = h.append(dst)
	metadata := dst[at+wire.HeaderSize:]
	if len(metadata) > 0 {
		if err := check(metadata, h.call != nil, &s.l.o.Limits); err != nil {
			return dst[:at], nil, s.invalid(err)
		}
	}
	most := len(body)
	if most > wire.Window {
		most = piece
	}
	n := s.out.tryTake(most)
	header := wire.Header{
		Kind: s.kind, Flags: h.flags, Status: uint16(h.status), ID: s.id,
		Metadata: uint32(len(metadata)), Body: uint32(n),
	}
	if n < len(body) || !last {
		header.Flags |= wire.More
	}
	wire.AppendHeader(dst[at:at], &header)
	return append(dst, body[:n]...), body[n:], nil
}

// appendMore appends one more frame.
func (s *stream) appendMore(dst, body []byte, last bool, trailers Metadata) []byte {
	h := wire.Header{Kind: s.kind, Flags: wire.Continues, ID: s.id, Body: uint32(len(body))}
	at := len(dst)
	dst = wire.AppendHeader(dst, &h)
	if last {
		dst = trailers.append(dst)
		h.Metadata = uint32(len(dst) - at - wire.HeaderSize)
	} else {
		h.Flags |= wire.More
	}
	wire.AppendHeader(dst[at:at], &h)
	return append(dst, body...)
}

// sendMore sends more of the body in frames that may alternate with those of
// others. It waits for credit and for the peer to read.
func (s *stream) sendMore(ctx context.Context, body []byte, last bool, trailers Metadata) error {
	if last && len(trailers) > 0 {
		if !trailers.sized() {
			return s.invalid(errTooMuchMetadata)
		}
		if err := check(trailers.append(nil), false, &s.l.o.Limits); err != nil {
			return s.invalid(err)
		}
	}
	for len(body) > 0 || last {
		n, err := 0, error(nil)
		if len(body) > 0 {
			if n, err = s.out.take(ctx, s, min(len(body), piece)); err != nil {
				return err
			}
		}
		if err := s.l.waitRoom(ctx, s); err != nil {
			return err
		}
		ends := last && n == len(body)
		if err := s.emitMore(body[:n], ends, trailers); err != nil || ends {
			return err
		}
		body = body[n:]
	}
	return nil
}

// emitMore appends one frame if the stream still lives. A response is over with
// its last frame.
func (s *stream) emitMore(body []byte, last bool, trailers Metadata) error {
	out := s.l.begin()
	if s.l.live[s.id] != s {
		s.l.commit(out)
		return s.gone()
	}
	if last && s.kind == wire.Response {
		s.l.drop(s)
	}
	s.l.commit(s.appendMore(out, body, last, trailers))
	return nil
}

// gone is why the stream is not on its link any more.
func (s *stream) gone() *Error {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if s.out.err != nil {
		return s.out.err
	}
	return &Error{Kind: Cancelled, Peer: s.l.peer, Text: "the message is over"}
}

// waitRoom waits until few enough bytes wait for the peer.
func (l *link) waitRoom(ctx context.Context, s *stream) error {
	for {
		l.mu.Lock()
		if l.err != nil {
			l.mu.Unlock()
			return l.err
		}
		if len(l.out) < writersWait {
			l.mu.Unlock()
			return nil
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return s.expired(ctx)
		}
	}
}
