package pool

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// subset splits members into the subsetSize that this node uses and the others. A member's rank is a hash of the node
// and the endpoint (rendezvous hashing): nodes differ in what they use, and a member that comes or goes changes at most
// one place of a node. Both parts keep the order of the members.
func subset(node string, members []weighted) (chosen, left []weighted) {
	type ranked struct {
		rank uint64
		at   int
	}
	order := make([]ranked, len(members))
	for i := range members {
		order[i] = ranked{xxhash.Sum64String(node + "\x00" + identityOf(members[i].endpoint)), i}
	}
	slices.SortFunc(order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), compareIdentity(members[a.at].endpoint, members[b.at].endpoint))
	})
	in := make([]bool, len(members))
	for _, r := range order[:subsetSize] {
		in[r.at] = true
	}
	for i, m := range members {
		if in[i] {
			chosen = append(chosen, m)
		} else {
			left = append(left, m)
		}
	}
	return chosen, left
}

// identityOf names an endpoint of a service in the same way on every node.
func identityOf(e *Endpoint) string { return e.addr.String() + "\x00" + e.identity }
