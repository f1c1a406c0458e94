package http1

import "github.com/corelane/corelane/codec"

var trailerLimits = Limits{Headers: maxTrailerBytes, HeaderCount: maxTrailerFields}

// trailerSection reads trailer fields (RFC 9112 §7.1.2) with the scanner of
// heads. What may not stand in trailers is removed from h at the end.
func (d *Decoder) trailerSection(h *codec.Head, b []byte) (consumed int, done bool, err *codec.Error) {
	if d.stage == stageStart {
		h.Reset()
		d.stage, d.trailing = stageLine, true
	}
	consumed, done = d.feed(h, b, &trailerLimits)
	if d.failed {
		if d.err == &errFieldBytes.request || d.err == &errFieldCount.request {
			return 0, false, &errTrailerLarge.request
		}
		return 0, false, d.err
	}
	return consumed, done, nil
}

// dropForbidden removes the fields that are decided before the content.
func dropForbidden(h *codec.Head) {
	for i := range h.Len() {
		if !h.Known(i).Trailing() {
			h.DelAt(i)
		}
	}
}
