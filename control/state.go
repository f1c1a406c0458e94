package control

// nodeState is where a node is in its life.
type nodeState uint32

const (
	stateStarting nodeState = iota // listeners may be bound, loops may not have a generation yet
	stateReady                     // clients are served
	stateDraining                  // nobody new is served, running exchanges end
	stateStopped                   // the loops have ended or are about to
)

var stateNames = [...]string{"starting", "ready", "draining", "stopped"}

// String is the name used in the API.
func (s nodeState) String() string { return stateNames[s] }

// setState moves on; a node never goes back.
func (n *Node) setState(next nodeState) {
	for {
		now := n.state.Load()
		if uint32(next) <= now || n.state.CompareAndSwap(now, uint32(next)) {
			return
		}
	}
}

func (n *Node) currentState() nodeState { return nodeState(n.state.Load()) }
