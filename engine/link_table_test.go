package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// No two streams of a link have the same id at a time, all ids fit, and a reply to one
// that has gone finds nobody for as long as there are numbers.
func TestLinkTable(t *testing.T) {
	for _, bits := range []int{8, 16, 24, 32, 64} {
		rapid.Check(t, func(t *rapid.T) {
			var table linkTable
			table.init(bits)
			if table.most() != 1<<min(bits*5/8, maxSlotBits) {
				t.Fatal("room for", table.most())
			}
			live := map[uint64]*linkStream{}
			var order []*linkStream
			last := uint64(0)
			t.Repeat(map[string]func(*rapid.T){
				"add": func(t *rapid.T) {
					if !table.room() {
						t.Skip("full")
					}
					s := new(linkStream)
					table.add(s)
					id := s.out.id
					switch {
					case live[id] != nil || id == 0:
						t.Fatal("the id is not its own:", id)
					case bits < 64 && id>>bits != 0:
						t.Fatal("the id does not fit:", id)
					case bits == 64 && id <= last:
						t.Fatal("wide ids grow")
					}
					last = id
					live[id] = s
					order = append(order, s)
				},
				"free": func(t *rapid.T) {
					if len(order) == 0 {
						t.Skip("empty")
					}
					i := rapid.IntRange(0, len(order)-1).Draw(t, "which")
					s := order[i]
					order = append(order[:i], order[i+1:]...)
					delete(live, s.out.id)
					table.free(s)
					table.free(s) // once more changes nothing
					if table.find(s.out.id) != nil {
						t.Fatal("found although it has gone")
					}
				},
				"": func(t *rapid.T) {
					n := 0
					table.each(func(s *linkStream) {
						n++
						if table.find(s.out.id) != s || live[s.out.id] != s {
							t.Fatal("finds another")
						}
					})
					if n != len(live) || table.live != n {
						t.Fatal(n, "of", len(live))
					}
				},
			})
		})
	}
}

func TestNumbersOfNarrowIDsBeginAgain(t *testing.T) {
	var table linkTable
	table.init(8)
	seen := map[uint64]int{}
	for range 70 {
		s := new(linkStream)
		table.add(s)
		seen[s.out.id]++
		table.free(s)
	}
	require.Len(t, seen, 7) // 3 bits without 0, for the one slot that is used
	require.Nil(t, table.find(1<<63))
}

func TestLinkTableWithoutIDs(t *testing.T) {
	var table linkTable
	table.init(0)
	s := new(linkStream)
	table.add(s)
	require.False(t, table.room())
	require.Same(t, s, table.find(12345), "there is one, whatever the peer says")
	table.free(s)
	require.Nil(t, table.find(0))
}
