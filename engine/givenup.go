package engine

import (
	"strconv"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
)

// maxGivenUp bounds what one access record tells of tries that were given up.
const maxGivenUp = 8

// cause is why a try was given up while the exchange went on: a status code, or
// one of the constants.
type cause uint16

const (
	// causeConnect: no connection came about.
	causeConnect cause = iota
	// causeReset: the connection died before the response head.
	causeReset
	// causeStale: the same, of a reused connection that was replaced for free.
	causeStale
	// causePerTry: the response head did not come within per_try.
	causePerTry
	// causeTimeout: it did not come within first_byte.
	causeTimeout
	// causeBadResponse: what came was no response.
	causeBadResponse
	// causePool: there was no connection to be had.
	causePool
	// causeHedgeWon: the hedge answered first; this is the first try.
	causeHedgeWon
	// causeHedgeLost: this is the hedge, which was not needed.
	causeHedgeLost
)

var causeNames = [...]string{
	"connect", "reset", "stale", "per_try", "timeout", "bad_response", "pool", "hedge_won", "hedge_lost",
}

// causeOf is what the log says of a failed try.
func causeOf(f fault) cause {
	switch f.kind {
	case faultConnect:
		return causeConnect
	case faultReset:
		return causeReset
	case faultTry:
		return causePerTry
	case faultTimeout:
		return causeTimeout
	}
	if f.reason == codec.UpstreamBadResponse {
		return causeBadResponse
	}
	return causePool
}

// givenUp is one try that was given up while the exchange went on.
type givenUp struct {
	endpoint *pool.Endpoint
	why      cause
}

// giveUp notes for the log that the exchange goes on without the try.
func (x *Exchange) giveUp(t *try, why cause) {
	if x.givenUps < maxGivenUp {
		x.gaveUp[x.givenUps] = givenUp{t.endpoint, why}
		x.givenUps++
	}
}

// appendGivenUp appends a list such as ["reset 10.1.2.3:8080"].
func appendGivenUp(b []byte, list []givenUp) []byte {
	for i, g := range list {
		sep := byte(',')
		if i == 0 {
			sep = '['
		}
		b = append(b, sep, '"')
		if int(g.why) < len(causeNames) {
			b = append(b, causeNames[g.why]...)
		} else {
			b = strconv.AppendUint(b, uint64(g.why), 10)
		}
		b = append(b, ' ')
		// The rest of the string, escaped, without its opening quote.
		n := len(b)
		b = appendJSON(b, g.endpoint.Address(), maxLoggedHost)
		b = append(b[:n], b[n+1:]...)
	}
	return append(b, ']')
}
