package codec

// DropHopByHop removes what is meant for this connection only (RFC 9110
// §7.6.1): the hop-by-hop fields, and the fields that Connection names. A name
// in Connection never removes Host, the framing, or a field that the gateway
// sets; the caller drops first and sets afterwards.
//
// With keepUpgrade the offer of Upgrade stays and is sent on, in words of the
// gateway's own; otherwise Upgrade is nil from now on.
func (h *Head) DropHopByHop(keepUpgrade bool) {
	for i := h.First(Connection); i >= 0; i = h.find(Connection, nil, i+1) {
		h.dropOptions(h.Value(i))
	}
	for k := Unknown + 1; k <= lastHopByHop; k++ {
		if k.HopByHop() {
			h.DelKnown(k)
		}
	}
	if !keepUpgrade {
		h.upgrade = Span{}
	}
}

// lastHopByHop ends the scan of the names early; the test holds it.
const lastHopByHop = HTTP2Settings

func (h *Head) dropOptions(list []byte) {
	var option []byte
	for len(list) > 0 {
		option, list = NextOption(list)
		k := Lookup(option)
		switch {
		case len(option) == 0, notByOption.Has(k), k.HopByHop():
		case k != Unknown:
			h.DelKnown(k)
		default:
			h.delUnknown(option)
		}
	}
}

// DropNamedBy removes from a trailer section what the Connection fields of its
// head name, removed ones included (RFC 9110 §7.6.1).
func (h *Head) DropNamedBy(head *Head) {
	if h.Len() == 0 {
		return
	}
	for i := range head.fields {
		if head.fields[i].Known == Connection {
			h.dropOptions(head.Value(i))
		}
	}
}
