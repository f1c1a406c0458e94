package dubbo

import "github.com/corelane/corelane/codec"

// A note of a head says where the attachments begin, in which way of counting
// they were read and, in a response, which status byte it came with.
const (
	noteKnown  = 0
	noteWide   = 1
	noteStatus = 8
	noteAt     = 16
)

func (s *scanner) note(at int, status byte) uint64 {
	wide := uint64(0)
	if s.wide == 2 {
		wide = 1
	}
	return uint64(at)<<noteAt | uint64(status)<<noteStatus | wide<<noteWide | 1<<noteKnown
}

// noted returns a scanner that stands where the note says.
func noted(n uint64, body []byte) scanner {
	return scanner{b: body, at: int(n >> noteAt), wide: 1 + int(n>>noteWide&1)}
}

// response fills the head of a response. A body that makes no sense has no
// fields, and is what the service wanted to say nevertheless.
func (d *decoder) response(h *header, body []byte, head *codec.Head) *fault {
	if f := h.serialization(); f != nil {
		head.SetStatus(codec.UpstreamBadResponse.Status())
		return f
	}
	head.SetStatus(httpStatus(h.status, body))
	at := 0
	if h.status == statusOK && d.scan.findAttachments(body) {
		at = d.scan.at
		t := told{plain: true}
		if f := d.fields(head, &t); f != nil {
			return f
		}
		if !t.plain {
			at = 0
		}
	}
	head.SetNote(d.scan.note(at, h.status))
	return nil
}

// findAttachments goes to where the attachments of a response begin; false if
// there are none that can be read.
func (s *scanner) findAttachments(body []byte) bool {
	flag := resultFlag(body)
	if flag < withAttachments {
		return false
	}
	for wide := 1; ; wide++ {
		s.reset(body, wide)
		s.at = 1
		if (flag == flagNull+withAttachments || s.value(1)) && s.readable() {
			return true
		}
		if !s.sawWide || wide == 2 {
			return false
		}
	}
}
