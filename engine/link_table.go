package engine

// maxSlotBits bounds the streams of one link: 65,536.
const maxSlotBits = 16

// linkTable gives the streams of a link their ids and finds them by those. An id
// is a slot, in its low bits, and a number that grows with each stream, so that a
// reply to a stream that has gone finds nobody. The ids of a link with wide ids
// grow, which is what a go-away relies on.
type linkTable struct {
	slots    []linkSlot
	vacant   int // the first vacant slot + 1; 0: none
	live     int
	next     uint64 // the growing number of the next id
	slotBits int
	idBits   int
}

type linkSlot struct {
	stream *linkStream // nil: vacant
	vacant int         // the next vacant slot + 1
}

// init divides ids of that width; 0: there is one stream, without an id.
func (t *linkTable) init(idBits int) {
	t.idBits, t.slotBits = idBits, min(idBits*5/8, maxSlotBits)
	t.next = 1
}

// room says whether there is an id for one more stream.
func (t *linkTable) room() bool { return t.live < t.most() }

// most is the number of streams that the link can carry at a time.
func (t *linkTable) most() int { return 1 << t.slotBits }

// add gives a stream its id. There must be room.
func (t *linkTable) add(s *linkStream) {
	at := t.vacant - 1
	if at < 0 {
		at = len(t.slots)
		t.slots = append(t.slots, linkSlot{})
	} else {
		t.vacant = t.slots[at].vacant
	}
	t.slots[at] = linkSlot{stream: s}
	t.live++
	s.slot, s.out.id = at, t.stamp()<<t.slotBits|uint64(at)
}

// stamp is the next growing number, never 0.
func (t *linkTable) stamp() uint64 {
	n := t.next
	t.next++
	if wide := t.idBits - t.slotBits; t.idBits > 0 && wide < 64 && t.next>>wide != 0 {
		t.next = 1
	}
	return n
}

// find returns the stream with the id; nil: it has gone, or never was.
func (t *linkTable) find(id uint64) *linkStream {
	at := int(id & (1<<t.slotBits - 1))
	if at >= len(t.slots) {
		return nil
	}
	if s := t.slots[at].stream; s != nil && (s.out.id == id || t.idBits == 0) {
		return s
	}
	return nil
}

// free takes a stream out, if it is in.
func (t *linkTable) free(s *linkStream) {
	if s.slot >= len(t.slots) || t.slots[s.slot].stream != s {
		return
	}
	t.slots[s.slot] = linkSlot{vacant: t.vacant}
	t.vacant = s.slot + 1
	t.live--
}

// each calls fn for every stream; fn may free any of them.
func (t *linkTable) each(fn func(*linkStream)) {
	for i := 0; i < len(t.slots); i++ {
		if s := t.slots[i].stream; s != nil {
			fn(s)
		}
	}
}
