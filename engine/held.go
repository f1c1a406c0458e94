package engine

import "github.com/corelane/corelane/engine/reactor"

// heldBody keeps the body that has been forwarded, for another try. It gives
// up, and so rules out a retry, when the body outgrows the high mark: what the
// gateway may hold of one exchange anyway.
type heldBody struct {
	blocks []*reactor.Block
	used   int // bytes in the last block
	total  int64
	lost   bool
}

// add keeps a piece; total is the length of the body including it, limit the
// most that is kept.
func (h *heldBody) add(l *reactor.Loop, b []byte, total, limit int64) {
	if h.lost || h.total+int64(len(b)) != total || total > limit {
		h.lost = true
		h.free(l)
		return
	}
	h.total = total
	for len(b) > 0 {
		if len(h.blocks) == 0 || h.used == reactor.BlockSize {
			h.blocks = append(h.blocks, l.GetBlock())
			h.used = 0
		}
		n := copy(h.blocks[len(h.blocks)-1].Bytes()[h.used:], b)
		h.used += n
		b = b[n:]
	}
}

// whole says that the first n body bytes, all there were, are kept.
func (h *heldBody) whole(n int64) bool { return !h.lost && h.total == n }

// replay sends what is kept.
func (h *heldBody) replay(up upstream) {
	for i, b := range h.blocks {
		n := reactor.BlockSize
		if i == len(h.blocks)-1 {
			n = h.used
		}
		up.sendData(b.Bytes()[:n])
	}
}

func (h *heldBody) free(l *reactor.Loop) {
	for i, b := range h.blocks {
		l.PutBlock(b)
		h.blocks[i] = nil
	}
	h.blocks, h.used, h.total = h.blocks[:0], 0, 0
}

// release forgets everything. The blocks may still be referenced by a gather
// list, so the caller's stream must have been flushed or cancelled.
func (h *heldBody) release(l *reactor.Loop) {
	h.free(l)
	h.lost = false
}
