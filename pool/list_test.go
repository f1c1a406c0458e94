package pool

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type entry struct {
	k link[entry]
	v int
}

func (q *list[T]) items() []*T {
	var all []*T
	for k := q.head; k != nil; k = k.next {
		all = append(all, k.item)
	}
	return all
}

func TestListBehavesAsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q list[entry]
		var model []*entry
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 3).Draw(t, "op"); {
			case op == 0:
				e := &entry{v: i}
				q.pushBack(&e.k, e)
				model = append(model, e)
			case op == 1:
				e := &entry{v: i}
				q.pushFront(&e.k, e)
				model = slices.Insert(model, 0, e)
			case len(model) > 0:
				at := rapid.IntRange(0, len(model)-1).Draw(t, "at")
				e := model[at]
				require.True(t, e.k.listed())
				e.k.unlink()
				e.k.unlink() // once more does nothing
				require.False(t, e.k.listed())
				model = slices.Delete(model, at, at+1)
			}
			require.Equal(t, len(model), q.n)
			require.Equal(t, len(model) == 0, q.empty())
			require.True(t, slices.Equal(model, q.items()))
			if len(model) == 0 {
				require.Nil(t, q.front())
				require.Nil(t, q.back())
			} else {
				require.Same(t, model[0], q.front())
				require.Same(t, model[len(model)-1], q.back())
			}
		}
	})
}
