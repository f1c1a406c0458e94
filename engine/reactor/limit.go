package reactor

import "sync/atomic"

// Limit bounds a number of accepted connections in the process, exactly: all loops share it. All methods:
// any goroutine.
type Limit struct {
	count   atomic.Int64
	max     atomic.Int64
	refused atomic.Uint64
}

// NewLimit makes a limit of max connections; 0 means none, and then it only counts.
func NewLimit(max int) *Limit {
	m := new(Limit)
	m.SetMax(max)
	return m
}

// SetMax changes the limit for connections to come; those above it stay. 0 means none.
func (m *Limit) SetMax(max int) { m.max.Store(int64(max)) }

// Max is the limit; 0 means none.
func (m *Limit) Max() int { return int(m.max.Load()) }

// Count is the number of connections now.
func (m *Limit) Count() int { return int(m.count.Load()) }

// Refused is the number of connections that found no place.
func (m *Limit) Refused() uint64 { return m.refused.Load() }

// acquire takes a place if there is one.
func (m *Limit) acquire() bool {
	if m == nil {
		return true
	}
	if n, most := m.count.Add(1), m.max.Load(); most > 0 && n > most {
		m.count.Add(-1)
		m.refused.Add(1)
		return false
	}
	return true
}

func (m *Limit) release() {
	if m != nil {
		m.count.Add(-1)
	}
}
