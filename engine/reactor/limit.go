package reactor

import "sync/atomic"

// Limit bounds the number of accepted connections of the process, exactly: listeners share it. All
// methods: any goroutine.
type Limit struct {
	count atomic.Int64
	max   int64
}

// NewLimit makes a limit of max connections; 0 means none, and then it only counts.
func NewLimit(max int) *Limit { return &Limit{max: int64(max)} }

// Count is the number of connections now.
func (m *Limit) Count() int { return int(m.count.Load()) }

// acquire takes a place if there is one.
func (m *Limit) acquire() bool {
	if m == nil {
		return true
	}
	if n := m.count.Add(1); m.max > 0 && n > m.max {
		m.count.Add(-1)
		return false
	}
	return true
}

func (m *Limit) release() {
	if m != nil {
		m.count.Add(-1)
	}
}
