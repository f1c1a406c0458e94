package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// A table of streams behaves like a map, and can be walked while it changes.
func TestMuxTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table muxTable
		model := map[uint64]*muxStream{}
		ids := rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Map(rapid.Uint64Range(0, 50), func(n uint64) uint64 { return n << 40 }))
		take := func(id uint64) {
			table.free(model[id])
			delete(model, id)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				if model[id] == nil {
					model[id] = &muxStream{id: id}
					table.add(model[id])
				}
			},
			"free": func(t *rapid.T) {
				if id := ids.Draw(t, "id"); model[id] != nil {
					take(id)
				}
			},
			"free another that is not in": func(t *rapid.T) {
				if len(table.chains) > 0 {
					table.free(&muxStream{id: ids.Draw(t, "id")})
				}
			},
			"each frees any": func(t *rapid.T) {
				seen := map[*muxStream]bool{}
				doomed := rapid.SliceOfN(ids, 0, 20).Draw(t, "doomed")
				before := len(model)
				gone := map[*muxStream]bool{}
				table.each(func(s *muxStream) {
					if gone[s] {
						t.Fatal("one that has gone")
					}
					seen[s] = true
					for range 2 {
						if len(doomed) > 0 {
							id := doomed[0]
							doomed = doomed[1:]
							if model[id] != nil {
								gone[model[id]] = true
								take(id)
							}
						}
					}
				})
				for s := range gone {
					seen[s] = true
				}
				if len(seen) != before {
					t.Fatal("not all were seen", len(seen), before)
				}
			},
			"": func(t *rapid.T) {
				if table.live != len(model) {
					t.Fatal("live", table.live, "of", len(model))
				}
				for id := range uint64(51) {
					for _, id := range []uint64{id, id << 40} {
						if table.find(id) != model[id] {
							t.Fatal("finds another for", id)
						}
					}
				}
			},
		})
	})
}
