package pool

// Key is what a request contributes to the choice of its endpoint. The zero value contributes nothing.
type Key struct {
	// Hash stands for the part of the request that a Hash service goes by. It must be the same on every node.
	Hash uint64
	// Has says that the request has that part.
	Has bool
	// Sticky is the endpoint that the client was given before; nil: none. See Service.StickyEndpoint.
	Sticky *Endpoint
}

// point is a number between 0 and 2⁶⁴ that is the same for the same key, and random without one.
func (c *choice) point() uint64 {
	if c.key.Has {
		return c.key.Hash
	}
	return c.local.random.Uint64()
}
