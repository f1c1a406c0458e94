package http1

import "github.com/corelane/corelane/codec"

// Body finds the extent of a message body in received bytes and takes the
// chunks apart. The zero value is a body that is done. It belongs to one
// message at a time and is not safe for concurrent use.
type Body struct {
	framing codec.Framing
	state   bodyState
	left    int64 // bytes of data left: of the body, or of the chunk
	err     *codec.Error

	digits   int // of the chunk size
	ext      int // bytes of extensions on this line
	quoted   bool
	escaped  bool
	overhead int64

	trailers Decoder
	scratch  *codec.Head // takes trailers that nobody wants
}

// bodyState is what the next byte of a body is.
type bodyState uint8

const (
	bodyDone     bodyState = iota
	bodyData               // data
	bodySize               // a digit of a chunk size, or what ends it
	bodyBWS                // white space between a chunk size and ';'
	bodyExt                // in a chunk extension
	bodySizeLF             // the LF of a chunk-size line
	bodyDataCR             // the CR behind the data of a chunk
	bodyDataLF             // the LF behind it
	bodyTrailers           // in the trailer section, or its empty line
)

// Start begins a body with that framing. n is the length in bytes for
// FramingLength and is ignored otherwise. A body without data is done at once.
func (d *Body) Start(f codec.Framing, n int64) {
	*d = Body{framing: f, scratch: d.scratch}
	switch f {
	case codec.FramingLength:
		if d.left = max(n, 0); d.left > 0 {
			d.state = bodyData
		}
	case codec.FramingChunked:
		d.state = bodySize
	case codec.FramingClose:
		d.state = bodyData
	}
}

// Done says that the body has ended, or that none was started.
func (d *Body) Done() bool { return d.state == bodyDone }

// Remaining returns the bytes of data that are still to come, -1 if that is
// not known.
func (d *Body) Remaining() int64 {
	switch {
	case d.Done():
		return 0
	case d.framing == codec.FramingLength:
		return d.left
	}
	return -1
}

// EOF is called when the connection ends. It returns nil if the body is
// complete with that, otherwise a static *codec.Error.
func (d *Body) EOF() error {
	if d.framing == codec.FramingClose && d.err == nil {
		d.state = bodyDone
	}
	if d.Done() {
		return nil
	}
	return &errBodyCut.request
}

// Next continues with b. data is a view into b with the next bytes of the body,
// if there are any; consumed counts the bytes of b that were read, data
// included; done says that the body has ended, and what follows in b is not part
// of it. One call returns at most one span of data: call again with b[consumed:]
// until everything is consumed or the body is done.
//
// Fields of a trailer section are added to trailers, which is reset when the
// section begins, except those that may not stand there (RFC 9110 §6.5.1).
// With nil they are checked and forgotten. An err is a static *codec.Error with
// reason bad_framing, or another of class 400, and stays until Start.
func (d *Body) Next(b []byte, trailers *codec.Head) (data []byte, consumed int, done bool, err error) {
	if d.err != nil {
		return nil, 0, false, d.err
	}
	for consumed < len(b) && d.state != bodyDone {
		if d.state == bodyData {
			data = d.take(b[consumed:])
			return data, consumed + len(data), d.state == bodyDone, nil
		}
		if d.state == bodyTrailers {
			consumed += d.trailer(b[consumed:], trailers)
		} else {
			consumed += d.line(b[consumed:])
		}
		if d.err != nil {
			return nil, 0, false, d.err
		}
	}
	return nil, consumed, d.state == bodyDone, nil
}

// take returns the data that b begins with.
func (d *Body) take(b []byte) []byte {
	if d.framing == codec.FramingClose {
		return b
	}
	n := min(int64(len(b)), d.left)
	if d.left -= n; d.left == 0 {
		d.state = bodyDone
		if d.framing == codec.FramingChunked {
			d.state = bodyDataCR
		}
	}
	return b[:n:n]
}

// trailer reads trailer fields with the decoder of heads.
func (d *Body) trailer(b []byte, trailers *codec.Head) int {
	if trailers == nil {
		if d.scratch == nil {
			d.scratch = new(codec.Head)
			d.scratch.Reset()
		}
		trailers = d.scratch
	}
	n, done, err := d.trailers.trailerSection(trailers, b)
	if err != nil {
		d.err = err
		return 0
	}
	if done {
		d.state = bodyDone
	}
	return n
}

func (d *Body) fail(f *fault) { d.err = &f.request }
