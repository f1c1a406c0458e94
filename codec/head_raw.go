package codec

// SetRaw keeps what the head of a message of a private protocol looked like:
// bytes that nobody else understands, and that are sent again when the message
// leaves in the protocol it came in. They are no field: no filter, log or other
// protocol sees them.
func (h *Head) SetRaw(b []byte) { h.raw = h.put(b) }

// Raw returns what SetRaw was given; empty if there was nothing.
func (h *Head) Raw() []byte { return h.raw.In(h.buf) }
