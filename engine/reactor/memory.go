package reactor

import "sync/atomic"

// Memory is the process-wide budget that all loops share. It counts; acting on Over is up to those
// who use memory. All methods: any goroutine.
type Memory struct {
	used  atomic.Int64
	limit int64
}

// NewMemory makes a budget of limit bytes; 0 means no limit.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Used is the number of bytes in use now.
func (m *Memory) Used() int64 { return m.used.Load() }

// Limit is the budget in bytes; 0 means none.
func (m *Memory) Limit() int64 { return m.limit }

// Add counts n more bytes as used, or fewer if n is negative.
func (m *Memory) Add(n int64) { m.used.Add(n) }

// Over reports whether more is used than the budget allows.
func (m *Memory) Over() bool { return m.limit > 0 && m.used.Load() > m.limit }
