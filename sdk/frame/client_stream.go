package frame

import "context"

// Stream is a call whose body is written and whose response is read piece by
// piece. One goroutine may write while another reads; Close may be called by any.
type Stream struct {
	x   *call
	ctx context.Context
}

// Write sends more of the request's body, in frames of at most 64 KiB. It waits
// while the service does not take more. When the response is complete it fails
// with an *Error of kind Cancelled: the service wants no more.
func (s *Stream) Write(p []byte) (int, error) {
	if err := s.x.sendMore(s.ctx, p, false, nil); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite ends the request's body, with fields behind it if there are any.
func (s *Stream) CloseWrite(trailers ...Field) error {
	return s.x.sendMore(s.ctx, nil, true, trailers)
}

// Response waits for the head of the response; its Body and Trailers are empty.
func (s *Stream) Response() (*Response, error) {
	if err := s.x.awaitHead(s.ctx); err != nil {
		return nil, err
	}
	return &s.x.response, nil
}

// Read waits for the head and reads the response's body. It ends with io.EOF.
func (s *Stream) Read(p []byte) (int, error) {
	if err := s.x.awaitHead(s.ctx); err != nil {
		return 0, err
	}
	return s.x.body.Read(p)
}

// Trailers are the fields behind the response's body, known when it was read.
func (s *Stream) Trailers() Metadata { return s.x.body.Trailers() }

// Close gives up what is left of the call. It is the end of every stream.
func (s *Stream) Close() error {
	var why error = &Error{Kind: Closed}
	s.x.close(why)
	return nil
}
