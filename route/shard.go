package route

import "math/bits"

// shard holds up to shardSlots items in no order. A tag a slot, a byte of its
// hash, tells with a few instructions and no unpredictable branch which slots
// to look at: nearly always the right one alone. Tags and slots are one piece of
// memory, so that a lookup waits for memory as seldom as can be.
type shard[E, H any] struct {
	tags     [shardTags]uint64 // eight a word, the first in the lowest byte
	overflow *shard[E, H]      // more items of hashes that cannot be told apart
	edit     uint64            // owner of the shard and all its overflow
	used     uint8             // shardSlots if there is overflow
	depth    uint8             // top bits that all its hashes share
	slots    [shardSlots]slot[E, H]
}

type slot[E, H any] struct {
	hash uint64 // 0: free
	head H
	item *E
}

const (
	everyByte = 0x0101010101010101
	everyTop  = 0x8080808080808080
)

// tagged returns a bit for each slot with the tag of a hash, and seldom for
// another one: bit 8*byte + word for the tag in that byte of that word.
func (s *shard[E, H]) tagged(hash uint64) uint64 {
	wanted := uint64(uint8(hash)) * everyByte
	return zeroBytes(s.tags[0]^wanted)>>7 | zeroBytes(s.tags[1]^wanted)>>6 |
		zeroBytes(s.tags[2]^wanted)>>5 | zeroBytes(s.tags[3]^wanted)>>4
}

// zeroBytes returns the top bit of every byte that is 0, and seldom of another.
func zeroBytes(word uint64) uint64 { return (word - everyByte) &^ word & everyTop }

// cursor yields the slots of one hash.
type cursor[E, H any] struct {
	shard   *shard[E, H]
	hash    uint64
	matches uint64 // not looked at yet
}

// next returns nil after the last slot.
func (c *cursor[E, H]) next() *slot[E, H] {
	for c.shard != nil {
		for c.matches != 0 {
			bit := bits.TrailingZeros64(c.matches)
			c.matches &= c.matches - 1
			if s := &c.shard.slots[(bit&7*8+bit>>3)%shardSlots]; s.hash == c.hash {
				return s
			}
		}
		if c.shard = c.shard.overflow; c.shard != nil {
			c.matches = c.shard.tagged(c.hash)
		}
	}
	return nil
}

func (s *shard[E, H]) clone(edit uint64) *shard[E, H] {
	own := *s
	own.edit = edit
	if s.overflow != nil {
		own.overflow = s.overflow.clone(edit)
	}
	return &own
}

// set fills a slot.
func (s *shard[E, H]) set(at int, with slot[E, H]) {
	shift := at % 8 * 8
	s.tags[at/8] &^= 0xff << shift
	s.tags[at/8] |= uint64(uint8(with.hash)) << shift
	s.slots[at] = with
}

func (s *shard[E, H]) add(with slot[E, H]) {
	for s.used == shardSlots {
		if s.overflow == nil {
			s.overflow = &shard[E, H]{edit: s.edit}
		}
		s = s.overflow
	}
	s.set(int(s.used), with)
	s.used++
}

// find returns where an item stands that is there.
func (s *shard[E, H]) find(item *E) (*shard[E, H], int) {
	for ; ; s = s.overflow {
		for at := range int(s.used) {
			if s.slots[at].item == item {
				return s, at
			}
		}
	}
}

// remove fills the gap that it leaves with the last slot.
func (s *shard[E, H]) remove(item *E) {
	with, at := s.find(item)
	if last := s.pop(); last.item != item {
		with.set(at, last)
	}
}

// pop takes out the last slot.
func (s *shard[E, H]) pop() slot[E, H] {
	if s.overflow != nil {
		last := s.overflow.pop()
		if s.overflow.used == 0 {
			s.overflow = nil
		}
		return last
	}
	s.used--
	last := s.slots[s.used]
	s.set(int(s.used), slot[E, H]{})
	return last
}

// halves divides the items by the first bit that they need not share.
func (s *shard[E, H]) halves(edit uint64) (low, high *shard[E, H]) {
	bit := uint64(1) << (63 - s.depth)
	low = &shard[E, H]{edit: edit, depth: s.depth + 1}
	high = &shard[E, H]{edit: edit, depth: s.depth + 1}
	for ; s != nil; s = s.overflow {
		for _, have := range s.slots[:s.used] {
			if have.hash&bit == 0 {
				low.add(have)
			} else {
				high.add(have)
			}
		}
	}
	return low, high
}
