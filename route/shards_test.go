package route

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// item is what the tests put into shards: a key with a hash of their choice.
type item struct {
	key  int
	hash uint64
}

func lookupItem(m *shards[item, noHead], hash uint64, key int) *item {
	at := m.seek(hash)
	for s := at.next(); s != nil; s = at.next() {
		if s.item.key == key {
			return s.item
		}
	}
	return nil
}

// collidingHash maps keys to few hashes, some equal, some alike in their top or
// bottom bits only.
func collidingHash(key int) uint64 {
	k := uint64(key)
	switch key % 4 {
	case 0:
		return 7
	case 1:
		return k<<58 | occupied
	case 2:
		return k&31 | occupied
	}
	return mix(k) | occupied
}

func TestShardsAgreeWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashOf := mixOf
		if rapid.Bool().Draw(t, "colliding") {
			hashOf = collidingHash
		}
		keys := rapid.IntRange(1, 600).Draw(t, "keys")
		var m shards[item, noHead]
		want := map[int]*item{}
		for edit := uint64(1); edit <= 6; edit++ {
			before, wantBefore := m, cloneMap(want)
			for _, key := range rapid.SliceOfN(rapid.IntRange(0, keys), 0, 400).Draw(t, "changes") {
				changeItem(&m, want, edit, key, hashOf)
			}
			checkShards(t, &m, want, keys, hashOf)
			checkShards(t, &before, wantBefore, keys, hashOf)
		}
	})
}

func mixOf(key int) uint64 { return mix(uint64(key)) | occupied }

// changeItem adds a missing key; it removes or replaces one that is there.
func changeItem(m *shards[item, noHead], want map[int]*item, edit uint64, key int, hashOf func(int) uint64) {
	hash := hashOf(key)
	fresh := &item{key: key, hash: hash}
	old := want[key]
	switch {
	case old == nil:
		m.insert(edit, hash, fresh, noHead{})
		want[key] = fresh
	case key%3 == 0:
		m.replace(edit, hash, old, fresh, noHead{})
		want[key] = fresh
	default:
		m.remove(edit, hash, old)
		delete(want, key)
	}
}

func checkShards(t *rapid.T, m *shards[item, noHead], want map[int]*item, keys int, hashOf func(int) uint64) {
	assert.Equal(t, len(want), m.size)
	for key := range keys + 1 {
		assert.Same(t, want[key], lookupItem(m, hashOf(key), key))
	}
	count := 0
	for range m.all {
		count++
	}
	assert.Equal(t, len(want), count)
}

func cloneMap(m map[int]*item) map[int]*item {
	clone := make(map[int]*item, len(m))
	for key, value := range m {
		clone[key] = value
	}
	return clone
}

func TestShardsShrink(t *testing.T) {
	var m shards[item, noHead]
	items := make([]item, 20_000)
	for i := range items {
		items[i] = item{key: i, hash: mixOf(i)}
		m.insert(1, items[i].hash, &items[i], noHead{})
	}
	assert.Greater(t, len(m.directory), len(items)/shardSlots)
	assert.Less(t, len(m.directory), len(items)/minFill)
	for i := range items {
		m.remove(uint64(2+i/100), items[i].hash, &items[i])
		if left := len(items) - i - 1; left > shardSlots {
			assert.LessOrEqual(t, len(m.directory), left)
		}
	}
	assert.Equal(t, shards[item, noHead]{}, m)
}

func TestShardsOfEqualHashesDoNotGrowTheDirectory(t *testing.T) {
	var m shards[item, noHead]
	items := make([]item, 1000)
	for i := range items {
		items[i] = item{key: i, hash: 5}
		m.insert(1, 5, &items[i], noHead{})
	}
	assert.LessOrEqual(t, len(m.directory), len(items)/minFill*2)
	assert.Same(t, &items[999], lookupItem(&m, 5, 999))
	assert.Nil(t, lookupItem(&m, 5, 1000))
}

func TestAnEditCopiesOnlyTheShardsItTouches(t *testing.T) {
	var m shards[item, noHead]
	items := make([]item, 10_000)
	for i := range items {
		items[i] = item{key: i, hash: mixOf(i)}
		m.insert(1, items[i].hash, &items[i], noHead{})
	}
	next := m
	next.replace(2, items[3].hash, &items[3], &item{key: 3, hash: items[3].hash}, noHead{})
	copied := 0
	for i := range m.directory {
		if m.directory[i] != next.directory[i] {
			copied++
		}
	}
	assert.Equal(t, next.width(int(items[3].hash>>(64-next.depth))), copied)
}
