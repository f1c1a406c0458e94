package frame

import (
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is the most memory that a compressed stream may ask for, the
// least that every decoder must support (RFC 8878 §3.1.1.1.2).
const maxZstdWindow = 8 << 20

// encoders compress whole bodies; EncodeAll of one may be used by many.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are wrong
	}
	return e
})

// unzip decompresses a whole body to at most limit bytes.
func unzip(s *stream, body []byte, limit int) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	plain, err := d.DecodeAll(body, nil)
	return plain, s.unzipError(err)
}

// unzipper decompresses piece by piece, to at most left bytes.
type unzipper struct {
	s    *stream
	d    *zstd.Decoder
	left int
}

func newUnzipper(s *stream, from io.Reader, limit int) (*unzipper, error) {
	d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, s.unzipError(err)
	}
	return &unzipper{s, d, limit}, nil
}

func (u *unzipper) Read(p []byte) (int, error) {
	// One byte over the limit tells a body that is longer from one that is not.
	n, err := u.d.Read(p[:min(len(p), u.left+1)])
	if u.left -= n; u.left < 0 {
		return 0, u.s.unzipError(zstd.ErrDecoderSizeExceeded)
	}
	return n, u.s.unzipError(err)
}

func (s *stream) unzipError(err error) error {
	var ours *Error
	switch {
	case err == nil, err == io.EOF, errors.As(err, &ours):
		return err
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return s.tooLarge("the body would be too large decompressed")
	}
	return &Error{Kind: Malformed, Peer: s.l.peer, Text: "the body is no valid zstd stream", Err: err}
}
