package reactor

// slots gives each registered descriptor a number. A number is used again after its descriptor was
// closed, with a new generation, so that an event left over from before finds nobody.
type slots struct {
	all  []slot
	free []uint32
}

type slot struct {
	conn     *Conn
	acceptor *acceptor
	gen      uint32
}

func (s *slots) take() (number uint32, token uint64) {
	if n := len(s.free); n > 0 {
		number = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		number = uint32(len(s.all))
		s.all = append(s.all, slot{})
	}
	return number, uint64(s.all[number].gen)<<32 | uint64(number)
}

func (s *slots) give(number uint32) {
	e := &s.all[number]
	// The last generation would make a token that could equal tokenWake.
	gen := (e.gen + 1) & 0x7fffffff
	*e = slot{gen: gen}
	s.free = append(s.free, number)
}

// find returns the slot that token was made for, or nil if it has passed on.
func (s *slots) find(token uint64) *slot {
	number := uint32(token)
	if int(number) >= len(s.all) {
		return nil
	}
	e := &s.all[number]
	if e.gen != uint32(token>>32) || (e.conn == nil && e.acceptor == nil) {
		return nil
	}
	return e
}

// conns lists the connections.
func (s *slots) conns() []*Conn {
	var list []*Conn
	for i := range s.all {
		if c := s.all[i].conn; c != nil {
			list = append(list, c)
		}
	}
	return list
}
