package requestid

import (
	crypto "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"github.com/corelane/corelane/filters"
)

const (
	idBytes  = 16
	idDigits = 2 * idBytes
	seedSize = 32
)

// generators serve all places of use, since a cell belongs to a loop and not to
// a route: 50,000 routes with this filter hold the generators once.
var generators = filters.NewPerLoopFunc(func(_ int, g *generator) {
	var seed [seedSize]byte
	crypto.Read(seed[:]) // never fails: it ends the program instead
	g.source.Seed(seed)
})

// generator makes identifiers for one loop.
type generator struct {
	source rand.ChaCha8
	id     [idDigits]byte
}

// next returns an identifier that is valid until the next call.
func (g *generator) next() []byte {
	var raw [idBytes]byte
	binary.BigEndian.PutUint64(raw[:], g.source.Uint64())
	binary.BigEndian.PutUint64(raw[8:], g.source.Uint64())
	hex.Encode(g.id[:], raw[:])
	return g.id[:]
}
