package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// pattern is an endless stream of bytes that follows from a number, so that
// both ends know every byte of a body that neither keeps.
type pattern struct {
	state uint64
	rest  [8]byte
	left  int
}

func newPattern(id uint64) *pattern { return &pattern{state: id} }

// Read implements io.Reader; it always fills p.
func (g *pattern) Read(p []byte) (int, error) {
	for i := range p {
		if g.left == 0 {
			binary.LittleEndian.PutUint64(g.rest[:], g.next())
			g.left = len(g.rest)
		}
		p[i] = g.rest[len(g.rest)-g.left]
		g.left--
	}
	return len(p), nil
}

// next is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func (g *pattern) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// body returns the first n bytes of a pattern.
func body(id uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = newPattern(id).Read(b)
	return b
}

var errWrongByte = errors.New("a byte of the body is wrong")

// check reads n bytes and compares them with the pattern.
func check(r io.Reader, id uint64, n int) error {
	var got, want [16 << 10]byte
	g := newPattern(id)
	for at := 0; at < n; {
		k, err := r.Read(got[:min(len(got), n-at)])
		_, _ = g.Read(want[:k])
		if string(got[:k]) != string(want[:k]) {
			return fmt.Errorf("%w, between %d and %d of %d", errWrongByte, at, at+k, n)
		}
		at += k
		if err != nil && at < n {
			return fmt.Errorf("the body ends after %d of %d bytes: %w", at, n, err)
		}
	}
	return nil
}
