package route

// Limits of one spec. They bound what a lookup can cost and what a [Match] holds.
const (
	MaxParams     = 16   // {name} segments of one template
	MaxSegments   = 64   // segments of a template or prefix: the depth of the walk
	MaxPattern    = 4096 // bytes of a pattern; at most 65,535
	MaxRegex      = 1024 // bytes of a regular expression
	MaxHost       = 253  // bytes of a host name, RFC 1035 §2.3.4 without the final dot
	MaxHosts      = 1024 // host patterns of one route
	MaxMethods    = 32   // methods of one route
	MaxConditions = 32   // header, query and cookie conditions of one route together
)

// Sizes of the persistent map. They trade the copy that a change makes against
// the length of the directory that every change copies too.
const (
	shardTags   = 4             // words of eight tags, see shard.tagged
	shardSlots  = 8 * shardTags // items of a shard before it is split
	minFill     = 8             // mean items of a shard before the directory may double
	shrinkFill  = 4             // mean items of a shard under which the map is rebuilt
	maxDepth    = 24            // directory of 2^24 shards at most
	maxChildren = 8             // children of a trie node kept in a sorted array
)
