package http1

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/codec"
)

// TestScannersStopWhereTheTablesDo puts every byte at every place of a word.
func TestScannersStopWhereTheTablesDo(t *testing.T) {
	for c := range 256 {
		for at := range 24 {
			w := []byte("/abcdefghijklmnopqrstuvwxyz0123")
			w[at] = byte(c)
			want := len(w)
			if !codec.IsTargetByte(byte(c)) {
				want = at
			}
			assert.Equal(t, want, skipTarget(w, 0), "target: %q at %d", c, at)

			want = len(w) &^ 7
			if c == '\t' || !codec.IsValueByte(byte(c)) {
				want = at
			}
			assert.Equal(t, want, skipVisible(w, 0), "value: %q at %d", c, at)
			w[at+1] = 0xff
			if want != at {
				want = len(w) &^ 7
			}
			assert.Equal(t, want, skipVisible(w, 0), "value: %q at %d before obs-text", c, at)
		}
	}
}
