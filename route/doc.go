// Package route finds the route of a request.
//
// A [Table] maps specs to payloads it knows nothing about. It is immutable and
// persistent: [Table.Apply] returns a new table that shares everything the
// changes did not touch, so one changed route among 50,000 costs microseconds
// and a table may be read by any number of threads without a lock.
//
// A lookup goes in three steps, and none of them ever turns back. The host
// resolves to the most specific registered pattern (exact, then the longest
// "*." suffix, then any). In that host the path resolves to its most specific
// place: an exact path by one hash and probe, else a walk over a segment trie
// that prefers a literal to a {name} and a {name} to a prefix, deepest first.
// Among the routes of that place the first whose predicates hold wins, by
// priority, number of predicates and id. When none holds the answer is "not
// found" or "method not allowed", never a wider path or host: a request that
// nobody registered goes nowhere.
//
// Requests that name a remote call or a key instead of a path have a [Space] of
// their own, with hosts of its own: no pattern of another space takes them.
//
// [Normalize] gives the one form of a path that is both matched and forwarded.
package route
