package route

import "github.com/cespare/xxhash/v2"

// golden spreads small numbers over 64 bits.
const golden = 0x9e3779b97f4a7c15

// occupied is set in every hash, since 0 marks a free slot. It lies between the
// bits that choose the shard and those of the tag.
const occupied = 1 << 32

// salted hashes a key so that its place in a map depends on the salt: the
// table's seed and, for exact paths, the host.
func salted(key []byte, salt uint64) uint64 { return mix(xxhash.Sum64(key)^salt) | occupied }

func saltedString(key string, salt uint64) uint64 {
	return mix(xxhash.Sum64String(key)^salt) | occupied
}

// mix is a bijection in which every bit of the input reaches the top and the
// bottom bits of the result.
func mix(h uint64) uint64 {
	h *= golden
	h ^= h >> 32
	h *= golden
	return h ^ h>>32
}
