package route

// edit builds the next table from one that others may be reading. It changes
// in place only what bears its number, that is, what it made itself.
type edit[T any] struct {
	table  *Table[T]
	number uint64
	steps  []step // scratch
}

// put adds the route or replaces the one with its ID. The new one goes in
// before the old one leaves, so that a host they share is not dropped between.
func (e *edit[T]) put(route *entry[T]) {
	t := e.table
	hash := saltedString(route.spec.ID, t.seed)
	old := t.byID(route.spec.ID)
	e.place(route)
	if old == nil {
		t.ids.insert(e.number, hash, route, noHead{})
		return
	}
	e.displace(old)
	t.ids.replace(e.number, hash, old, route, noHead{})
}

// drop removes a route; one that is not there is no error.
func (e *edit[T]) drop(id string) {
	old := e.table.byID(id)
	if old == nil {
		return
	}
	e.displace(old)
	e.table.ids.remove(e.number, saltedString(id, e.table.seed), old)
}

// anyHost stands for a spec without hosts.
var anyHost = []string{""}

func hostsOf(spec *Spec) []string {
	if len(spec.Hosts) == 0 {
		return anyHost
	}
	return spec.Hosts
}

// place lets the route stand in each of its hosts.
func (e *edit[T]) place(route *entry[T]) {
	for _, name := range hostsOf(&route.spec) {
		h := e.ownHost(route.spec.Space, name)
		h.routes++
		if route.spec.Kind == Exact {
			h.exact++
			e.addExact(h, route)
			continue
		}
		e.steps = appendSteps(e.steps[:0], route.spec.Kind, route.spec.Pattern)
		h.root = e.plant(h.root, "", e.steps, route)
	}
}

// displace takes the route out of each of its hosts, and hosts that no route
// names any more out of the table.
func (e *edit[T]) displace(route *entry[T]) {
	for _, name := range hostsOf(&route.spec) {
		h := e.ownHost(route.spec.Space, name)
		h.routes--
		if route.spec.Kind == Exact {
			h.exact--
			e.removeExact(h, route)
		} else {
			e.steps = appendSteps(e.steps[:0], route.spec.Kind, route.spec.Pattern)
			h.root = e.uproot(h.root, e.steps, route)
		}
		if h.routes == 0 {
			e.dropHost(h)
		}
	}
}

func (e *edit[T]) addExact(h *host[T], route *entry[T]) {
	t := e.table
	path := route.spec.Pattern
	hash := saltedString(path, h.salt)
	slot := t.exactSlot(h, []byte(path))
	if slot == nil {
		p := newPlace(e.number, h.id, path, route)
		t.exact.insert(e.number, hash, p, newExactHead(p))
		return
	}
	p := slot.item.with(e.number, route)
	t.exact.replace(e.number, hash, slot.item, p, newExactHead(p))
}

func (e *edit[T]) removeExact(h *host[T], route *entry[T]) {
	t := e.table
	path := route.spec.Pattern
	hash := saltedString(path, h.salt)
	old := t.exactSlot(h, []byte(path)).item
	if left := old.without(e.number, route); left != nil {
		t.exact.replace(e.number, hash, old, left, newExactHead(left))
		return
	}
	t.exact.remove(e.number, hash, old)
}

// plant lets the route stand at the end of its steps, from a node on, which is
// nil if nothing stands there yet. It returns the node to be used instead.
func (e *edit[T]) plant(n *node[T], segment string, steps []step, route *entry[T]) *node[T] {
	n = e.ownNode(n, segment)
	if len(steps) == 0 {
		end := n.end(&route.spec)
		*end = (*end).with(e.number, route)
		return n
	}
	if steps[0].param {
		n.param = e.plant(n.param, "", steps[1:], route)
		return n
	}
	old := n.children.find([]byte(steps[0].literal), e.table.seed)
	if child := e.plant(old, steps[0].literal, steps[1:], route); child != old {
		n.children.set(e.number, e.table.seed, old, child)
	}
	return n
}

// uproot removes the route at the end of its steps and returns the node to be
// used instead, or nil if nothing is left of it.
func (e *edit[T]) uproot(n *node[T], steps []step, route *entry[T]) *node[T] {
	n = e.ownNode(n, "")
	switch {
	case len(steps) == 0:
		end := n.end(&route.spec)
		*end = (*end).without(e.number, route)
	case steps[0].param:
		n.param = e.uproot(n.param, steps[1:], route)
	default:
		old := n.children.find([]byte(steps[0].literal), e.table.seed)
		child := e.uproot(old, steps[1:], route)
		if child == nil {
			n.children.drop(e.number, e.table.seed, old)
		} else if child != old {
			n.children.set(e.number, e.table.seed, old, child)
		}
	}
	if n.empty() {
		return nil
	}
	return n
}

// ownNode returns a node that this edit may change: a new one for nil.
func (e *edit[T]) ownNode(n *node[T], segment string) *node[T] {
	if n == nil {
		return &node[T]{edit: e.number, segment: segment}
	}
	if n.edit == e.number {
		return n
	}
	own := *n
	own.edit = e.number
	return &own
}

// ownHost returns the host of a pattern, made if it is not there, as one that
// this edit may change.
func (e *edit[T]) ownHost(space Space, name string) *host[T] {
	t := e.table
	hosts := &t.hosts[space]
	if name == "" {
		hosts.any = e.copyHost(hosts.any, space, name)
		return hosts.any
	}
	probe := host[T]{name: name}
	in := hosts.registry(&probe)
	old := findHost(in, []byte(probe.key()), t.seed)
	own := e.copyHost(old, space, name)
	switch hash := saltedString(own.key(), t.seed); {
	case old == nil:
		in.insert(e.number, hash, own, noHead{})
	case old != own:
		in.replace(e.number, hash, old, own, noHead{})
	}
	return own
}

func (e *edit[T]) copyHost(old *host[T], space Space, name string) *host[T] {
	if old != nil && old.edit == e.number {
		return old
	}
	if old != nil {
		own := *old
		own.edit = e.number
		return &own
	}
	t := e.table
	id := t.nextHost
	t.nextHost++
	return &host[T]{edit: e.number, id: id, space: space, salt: t.seed + uint64(id)*golden, name: name}
}

func (e *edit[T]) dropHost(h *host[T]) {
	t := e.table
	hosts := &t.hosts[h.space]
	if h.name == "" {
		hosts.any = nil
		return
	}
	hosts.registry(h).remove(e.number, saltedString(h.key(), t.seed), h)
}

// registry returns the map that a host stands in; any host stands in none.
func (h *hosts[T]) registry(of *host[T]) *shards[host[T], noHead] {
	if of.wild() {
		return &h.wild
	}
	return &h.exact
}
