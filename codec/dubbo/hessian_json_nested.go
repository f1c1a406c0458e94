package dubbo

import (
	"strings"

	"github.com/corelane/corelane/codec"
)

// container writes a list, a map, an object or what a reference refers to.
func (w *jsonWriter) container(depth int) bool {
	tag := w.b[w.at]
	w.at++
	for tag == tagClass {
		if !w.define() {
			return false
		}
		var ok bool
		if tag, ok = w.peek(); !ok {
			return false
		}
		if tag != tagClass && tag != tagObject && (tag < 0x60 || tag > 0x6f) {
			return w.value(depth) // a definition that nothing follows which needs it
		}
		w.at++
	}
	if tag == tagReference {
		return w.copy(depth)
	}
	ref, above := len(w.made), w.lowest
	w.refs++
	w.made = append(w.made, made{from: len(w.out)})
	w.lowest = depth
	var ok bool
	switch {
	case tag == tagObject || tag >= 0x60 && tag <= 0x6f:
		ok = w.object(tag, depth)
	case tag == tagMap || tag == tagTypedMap:
		ok = w.mapping(tag, depth)
	default:
		ok = w.list(tag, depth)
	}
	w.made[ref].to, w.made[ref].height = len(w.out), w.lowest-depth
	w.lowest = max(w.lowest, above)
	return ok
}

// copy writes what a reference refers to. Within itself it is null: JSON has no
// circles.
func (w *jsonWriter) copy(depth int) bool {
	n, ok := w.reference()
	if !ok {
		return false
	}
	m := w.made[n]
	switch {
	case m.to == 0:
		w.out = append(w.out, "null"...)
		return true
	case depth+m.height >= maxDepth:
		return w.fail(faultDepth)
	case len(w.out)+m.to-m.from > w.most:
		return w.fail(faultTooLarge)
	}
	w.lowest = max(w.lowest, depth+m.height)
	w.out = append(w.out, w.out[m.from:m.to]...)
	return true
}

// define reads a class definition behind its tag.
func (w *jsonWriter) define() bool {
	from := w.at
	if !w.class() { // holds all limits
		return false
	}
	w.at = from
	name, _ := w.name()
	n, _ := w.integer()
	d := definition{name: name, fields: make([]string, n)}
	for i := range d.fields {
		d.fields[i], _ = w.name()
	}
	w.defs = append(w.defs, d)
	return true
}

func (w *jsonWriter) object(tag byte, depth int) bool {
	class, ok := w.classOf(tag)
	if !ok {
		return false
	}
	d := &w.defs[class]
	if len(d.fields) > w.left() {
		return w.fail(faultLength)
	}
	if depth == 1 {
		w.thrown.class = d.name
	}
	w.out = appendQuoted(append(w.out, `{"class":`...), d.name)
	for _, field := range d.fields {
		w.out = appendQuoted(append(w.out, ','), field)
		w.out = append(w.out, ':')
		from := len(w.out)
		if !w.value(depth + 1) {
			return false
		}
		w.says(depth, field, from)
	}
	w.out = append(w.out, '}')
	return true
}

// says remembers the message of an exception.
func (w *jsonWriter) says(depth int, field string, from int) {
	if depth == 1 && (field == "detailMessage" || field == "message" && w.thrown.message.Len() == 0) {
		w.thrown.message = codec.Span{From: uint32(from), To: uint32(len(w.out))}
	}
}

// mapping writes a map; the type is told unless it says only that it is a map.
func (w *jsonWriter) mapping(tag byte, depth int) bool {
	w.out = append(w.out, '{')
	empty := true
	if tag == tagTypedMap {
		name, ok := w.typeOf()
		if !ok {
			return false
		}
		if name != "" && !strings.HasPrefix(name, "java.util.") {
			w.out, empty = appendQuoted(append(w.out, `"class":`...), name), false
			if depth == 1 {
				w.thrown.class = name
			}
		}
	}
	for {
		more, ok := w.more()
		if !ok {
			return false
		}
		if !more {
			w.out = append(w.out, '}')
			return true
		}
		if !empty {
			w.out = append(w.out, ',')
		}
		empty = false
		from := len(w.out)
		if !w.key(depth + 1) {
			return false
		}
		field := string(w.out[from:])
		w.out = append(w.out, ':')
		from = len(w.out)
		if !w.value(depth + 1) {
			return false
		}
		w.says(depth, strings.Trim(field, `"`), from)
	}
}

// more says whether a member follows, and takes the end otherwise.
func (w *jsonWriter) more() (more, ok bool) {
	tag, ok := w.peek()
	if ok && tag == tagEnd {
		w.at++
		return false, true
	}
	return ok, ok
}

// key writes the key of a map as text.
func (w *jsonWriter) key(depth int) bool {
	tag, ok := w.peek()
	if !ok {
		return false
	}
	if tags[tag].kind == kindContainer {
		return w.fail(faultKey)
	}
	from := len(w.out)
	if !w.value(depth) {
		return false
	}
	if w.out[from] != '"' {
		w.out = append(w.out, 0, '"')
		copy(w.out[from+1:len(w.out)-1], w.out[from:])
		w.out[from] = '"'
	}
	return true
}

func (w *jsonWriter) list(tag byte, depth int) bool {
	n, open := int(tag&7), tag == tagOpen || tag == tagOpenTyped
	if tag == tagOpenTyped || tag == tagTyped || tag >= 0x70 && tag <= 0x77 {
		if _, ok := w.typeOf(); !ok {
			return false
		}
	}
	if tag == tagTyped || tag == tagList {
		var ok bool
		if n, ok = w.integer(); !ok {
			return false
		}
	}
	if !open && (n < 0 || n > w.left()) {
		return w.fail(faultLength)
	}
	w.out = append(w.out, '[')
	for i := 0; open || i < n; i++ {
		if open {
			if more, ok := w.more(); !ok || !more {
				w.out = append(w.out, ']')
				return ok
			}
		}
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if !w.value(depth + 1) {
			return false
		}
	}
	w.out = append(w.out, ']')
	return true
}

// typeOf reads the type of a list or a map.
func (w *jsonWriter) typeOf() (string, bool) {
	tag, ok := w.peek()
	if !ok {
		return "", false
	}
	if tags[tag].kind == kindString {
		name, ok := w.name()
		w.types++
		w.names = append(w.names, name)
		return name, ok
	}
	n, ok := w.integer()
	if ok && (n < 0 || n >= len(w.names)) {
		return "", w.fail(faultReference)
	}
	if !ok {
		return "", false
	}
	return w.names[n], true
}
