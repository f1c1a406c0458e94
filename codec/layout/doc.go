// Package layout makes a codec.Protocol of a description: of a private protocol
// whose frames have a header of a fixed size with a length in it.
//
// A Layout says where the length stands and what it counts, and perhaps where
// magic, id, kind and route key stand and how an error reply is built. What a
// frame holds besides means nothing here: the header's bytes travel in the head
// (codec.Head.Raw) and the body as it is, so a message that leaves in the layout
// it came in differs from what was received in its id alone.
//
// Problems finds everything that is impossible in a description; New refuses one
// that has any, so the decoder and the encoder need not look again.
package layout

// Limits of descriptions and of what is held.
const (
	// MaxHeader bounds the header in bytes.
	MaxHeader = 1024
	// MaxKeyAt bounds the place of the route key in bytes.
	MaxKeyAt = 1 << 16
	// MaxFrame bounds what a description may allow for a frame in bytes.
	MaxFrame = 1 << 30
	// maxKey bounds a route key in bytes.
	maxKey = 4096
	// maxValues bounds the values of all kinds together.
	maxValues = 64
	// keepBytes: a larger buffer of a decoder is given back after its frame.
	keepBytes = 64 << 10
)
