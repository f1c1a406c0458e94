package frame

import (
	"strconv"
	"strings"
	"time"

	wire "github.com/corelane/corelane/codec/frame"
)

// Field is a name and a value of metadata. Names are compared without regard to
// case.
type Field struct{ Name, Value string }

// Metadata are the fields of a message in order. A name may occur more than once.
type Metadata []Field

// Get returns the first value of a name, or nothing.
func (m Metadata) Get(name string) string {
	for i := range m {
		if len(m[i].Name) == len(name) && strings.EqualFold(m[i].Name, name) {
			return m[i].Value
		}
	}
	return ""
}

// Add appends a field.
func (m *Metadata) Add(name, value string) { *m = append(*m, Field{name, value}) }

// Set replaces all fields of a name by one.
func (m *Metadata) Set(name, value string) {
	m.Del(name)
	m.Add(name, value)
}

// Del removes all fields of a name.
func (m *Metadata) Del(name string) {
	kept := (*m)[:0]
	for _, f := range *m {
		if !strings.EqualFold(f.Name, name) {
			kept = append(kept, f)
		}
	}
	*m = kept
}

// acceptsZstd says that the requester takes compressed responses.
func (m Metadata) acceptsZstd() bool {
	for _, f := range m {
		if !strings.EqualFold(f.Name, "accept-encoding") {
			continue
		}
		for coding := range strings.SplitSeq(f.Value, ",") {
			name, weight, _ := strings.Cut(coding, ";")
			if strings.EqualFold(strings.TrimSpace(name), "zstd") && positive(weight) {
				return true
			}
		}
	}
	return false
}

// positive says that a weight is not 0 (RFC 9110 §12.4.2).
func positive(weight string) bool {
	q, ok := strings.CutPrefix(strings.TrimSpace(weight), "q=")
	if !ok {
		return true
	}
	value, err := strconv.ParseFloat(q, 64)
	return err == nil && value > 0
}

func (m Metadata) append(dst []byte) []byte {
	for i := range m {
		dst = wire.AppendPair(dst, m[i].Name, m[i].Value)
	}
	return dst
}

// check says whether a peer would take what the caller wants to send. It is run
// by the same code that reads it there.
func check(metadata []byte, request bool, l *Limits) error {
	pairs := wire.FieldPairs(metadata)
	if request {
		pairs = wire.RequestPairs(metadata)
	}
	count := 0
	for pairs.Next() {
		count++
	}
	if err := pairs.Err(); err != nil {
		return err
	}
	if len(metadata) > l.Metadata || count > l.Fields {
		return errTooMuchMetadata
	}
	return nil
}

// sized says whether nothing of m would be cut when it is written.
func (m Metadata) sized() bool {
	for i := range m {
		if len(m[i].Name) > wire.MaxName || len(m[i].Value) > wire.MaxValue {
			return false
		}
	}
	return true
}

// readFields reads metadata without pseudo names.
func readFields(metadata []byte, l *Limits) (Metadata, error) {
	if len(metadata) == 0 {
		return nil, nil
	}
	if len(metadata) > l.Metadata {
		return nil, errTooMuchMetadata
	}
	var m Metadata
	text, pairs := string(metadata), wire.FieldPairs(metadata)
	for pairs.Next() {
		if len(m) == l.Fields {
			return nil, errTooMuchMetadata
		}
		m = append(m, field(text, &pairs))
	}
	return m, pairs.Err()
}

// field is the current pair as views of text, a copy of the whole metadata, so
// that many fields are one allocation.
func field(text string, p *wire.Pairs) Field {
	end := len(text) - p.Left()
	at := end - len(p.Value)
	return Field{text[at-len(p.Name) : at], text[at:end]}
}

// readRequest reads the metadata of a request into r.
func readRequest(r *Request, metadata []byte, l *Limits) error {
	if len(metadata) > l.Metadata {
		return errTooMuchMetadata
	}
	text, pairs := string(metadata), wire.RequestPairs(metadata)
	r.Metadata = r.few[:0]
	for pairs.Next() {
		f := field(text, &pairs)
		switch {
		case pairs.Pseudo == wire.PseudoTimeout:
			ms, err := strconv.ParseInt(f.Value, 10, 64)
			if err != nil {
				return err // the walk has checked it
			}
			r.Deadline = time.Now().Add(time.Duration(ms) * time.Millisecond)
		case pairs.Pseudo != wire.NoPseudo:
			r.Call.set(pairs.Pseudo, f.Value)
		case len(r.Metadata) == l.Fields:
			return errTooMuchMetadata
		default:
			r.Metadata = append(r.Metadata, f)
		}
	}
	return pairs.Err()
}
