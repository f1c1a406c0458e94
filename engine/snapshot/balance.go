package snapshot

// KeySource is the part of a request that a service's balancer hashes.
type KeySource uint8

const (
	// KeyNone: the balancer hashes nothing.
	KeyNone KeySource = iota
	// KeyHeader: the first field of a name.
	KeyHeader
	// KeyCookie: the first cookie of a name.
	KeyCookie
	// KeyQuery: the first query parameter of a name, decoded.
	KeyQuery
	// KeyIP: the client's address.
	KeyIP
)

// Balance is what the engine needs to know of a service's balancer.
type Balance struct {
	// Key and Name say what is hashed.
	Key  KeySource
	Name string
	// Cookie is the name of the cookie that remembers the endpoint; empty: none does.
	Cookie string
}
