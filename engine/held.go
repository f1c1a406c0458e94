package engine

import "github.com/corelane/corelane/engine/reactor"

// heldBody keeps the body that has been forwarded, for another try. It gives
// up, and so rules out a retry, when the body outgrows the high mark: what the
// gateway may hold of one exchange anyway.
type heldBody struct {
	bytes byteQueue
	lost  bool
}

// add keeps a piece; total is the length of the body including it, limit the
// most that is kept.
func (h *heldBody) add(l *reactor.Loop, b []byte, total, limit int64) {
	if h.lost || int64(h.bytes.size+len(b)) != total || total > limit {
		h.lost = true
		h.bytes.release(l)
		return
	}
	h.bytes.add(l, b)
}

// whole says that the first n body bytes, all there were, are kept.
func (h *heldBody) whole(n int64) bool { return !h.lost && int64(h.bytes.size) == n }

// replay sends what is kept.
func (h *heldBody) replay(up upstream) {
	if h.bytes.size > 0 {
		h.bytes.each(up.sendData)
	}
}

// release forgets everything. It may still be referenced by a gather list, so the
// caller's stream must have been flushed or cancelled.
func (h *heldBody) release(l *reactor.Loop) {
	if h.bytes.size > 0 {
		h.bytes.release(l)
	}
	h.lost = false
}
