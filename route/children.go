package route

import "sort"

// children holds the literal children of a trie node: a few in an array
// sorted by segment, more in a map.
type children[T any] struct {
	few  []*node[T]
	many shards[node[T], noHead] // in use when it is not empty
}

func (c *children[T]) len() int { return len(c.few) + c.many.size }

func (c *children[T]) find(segment []byte, seed uint64) *node[T] {
	for _, child := range c.few {
		if child.segment == string(segment) {
			return child
		}
	}
	if c.many.size == 0 {
		return nil
	}
	at := c.many.seek(salted(segment, seed))
	for s := at.next(); s != nil; s = at.next() {
		if s.item.segment == string(segment) {
			return s.item
		}
	}
	return nil
}

// all calls yield for every child until it returns false.
func (c *children[T]) all(yield func(*node[T]) bool) {
	for _, child := range c.few {
		if !yield(child) {
			return
		}
	}
	c.many.all(yield)
}

// set puts a child in the place of the old one, which is nil for a new segment.
func (c *children[T]) set(edit, seed uint64, old, child *node[T]) {
	if c.many.size > 0 {
		hash := saltedString(child.segment, seed)
		if old == nil {
			c.many.insert(edit, hash, child, noHead{})
		} else {
			c.many.replace(edit, hash, old, child, noHead{})
		}
		return
	}
	at := sort.Search(len(c.few), func(i int) bool { return c.few[i].segment >= child.segment })
	few := make([]*node[T], 0, len(c.few)+1)
	few = append(few, c.few[:at]...)
	few = append(few, child)
	if old != nil {
		at++
	}
	c.few = append(few, c.few[at:]...)
	if len(c.few) > maxChildren {
		c.spread(edit, seed)
	}
}

// drop takes out a child that is there.
func (c *children[T]) drop(edit, seed uint64, old *node[T]) {
	if c.many.size == 0 {
		few := make([]*node[T], 0, len(c.few))
		for _, child := range c.few {
			if child != old {
				few = append(few, child)
			}
		}
		c.few = few
		return
	}
	c.many.remove(edit, saltedString(old.segment, seed), old)
	if c.many.size <= maxChildren {
		c.gather()
	}
}

// spread moves the children to the map.
func (c *children[T]) spread(edit, seed uint64) {
	for _, child := range c.few {
		c.many.insert(edit, saltedString(child.segment, seed), child, noHead{})
	}
	c.few = nil
}

// gather moves the children back to the array.
func (c *children[T]) gather() {
	few := make([]*node[T], 0, c.many.size)
	for child := range c.many.all {
		few = append(few, child)
	}
	sort.Slice(few, func(i, j int) bool { return few[i].segment < few[j].segment })
	c.few, c.many = few, shards[node[T], noHead]{}
}
