package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const (
	// pictureRow is the number of bytes in a row of a picture.
	pictureRow = 8
	// pictureCell is the width of a byte in a picture, its right border included.
	pictureCell = 8
	// pictureRows bounds the rows of one picture.
	pictureRows = 32
)

// drawLayouts writes a picture of every layout of a document.
func drawLayouts(w io.Writer, doc *Document) {
	var made []madeLayout
	var whose []string
	draw := func(who string, l *Layout) {
		if l == nil {
			return
		}
		if i := slices.IndexFunc(made, func(m madeLayout) bool { return reflect.DeepEqual(m.layout, l) }); i >= 0 {
			fmt.Fprintf(w, "layout of %s: that of %s\n\n", who, whose[i])
			return
		}
		made, whose = append(made, madeLayout{layout: l}), append(whose, who)
		fmt.Fprintf(w, "layout of %s:\n\n%s\n", who, l.picture())
	}
	for _, l := range doc.Listeners {
		draw("listener "+l.Name, l.Layout)
	}
	for _, s := range doc.Services {
		draw("service "+s.Name, s.Layout)
	}
}

// drawn is a field in a picture: its place, its name, what its first cell holds
// besides if there is room, and a line about it.
type drawn struct {
	name, value, about string
	from, to           int
}

// picture draws a valid layout: a row for each eight bytes, then a line for each
// field.
func (l *Layout) picture() string {
	fields := l.drawn()
	end := l.Length.Header + 1
	for _, f := range fields {
		if f.to <= pictureRow*pictureRows {
			end = max(end, f.to)
		}
	}
	rows := min((end+pictureRow-1)/pictureRow, pictureRows)
	var b strings.Builder
	b.WriteString("       0")
	for i := 1; i < pictureRow; i++ {
		fmt.Fprintf(&b, "%*d", pictureCell, i)
	}
	above := []int{0, pictureRow}
	for row := range rows {
		text, edges := drawRow(fields, row*pictureRow)
		fmt.Fprintf(&b, "\n      %s\n%5d %s", border(above, edges), row*pictureRow, text)
		above = edges
	}
	fmt.Fprintf(&b, "\n      %s\n\n", border(above, []int{0, pictureRow}))
	for _, f := range fields {
		if f.about != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", f.name, f.about)
		}
	}
	for _, line := range l.remarks() {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

// drawRow draws the bytes from one on and tells where its cells meet.
func drawRow(fields []drawn, from int) (text string, edges []int) {
	var b strings.Builder
	edges = append(edges, 0)
	for at := from; at < from+pictureRow; {
		f := fieldAt(fields, at)
		end := at + 1
		for end < from+pictureRow && fieldAt(fields, end) == f {
			end++
		}
		width := (end-at)*pictureCell - 1
		label := ""
		if f != nil && at > f.from {
			label = "..."
		} else if f != nil {
			label = f.name
			if long := label + " " + f.value; len(long) < width {
				label = long
			}
		}
		fmt.Fprintf(&b, "| %-*.*s", width-1, width-1, strings.TrimSpace(label))
		edges = append(edges, end-from)
		at = end
	}
	return b.String() + "|", edges
}

// fieldAt returns the first field that holds a byte; nil: none has a name.
func fieldAt(fields []drawn, at int) *drawn {
	for i := range fields {
		if f := &fields[i]; at >= f.from && at < f.to {
			return f
		}
	}
	return nil
}

// border is a line between two rows.
func border(above, below []int) string {
	var b strings.Builder
	for i := range pictureRow + 1 {
		if i > 0 {
			b.WriteString(strings.Repeat("-", pictureCell-1))
		}
		if slices.Contains(above, i) || slices.Contains(below, i) {
			b.WriteByte('+')
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

// drawn lists the fields; where two share a byte the first is seen.
func (l *Layout) drawn() []drawn {
	var all []drawn
	if size := len(l.Magic.decoded()); size > 0 {
		all = append(all, drawn{"magic", string(l.Magic), spanOf(0, size) + string(l.Magic), 0, size})
	}
	n := &l.Length
	all = append(all, drawn{"length", "", spanOf(n.At, n.Width) + n.about(), n.At, n.At + n.Width})
	if i := l.ID; i != nil {
		about := spanOf(i.At, i.Width) + orderOf(i.Width, i.Order) + "a response has that of its request"
		all = append(all, drawn{"id", "", about, i.At, i.At + i.Width})
	}
	if k := l.Kind; k != nil {
		all = append(all, drawn{"kind", "", spanOf(k.At, k.Width) + orderOf(k.Width, k.Order) + k.about(), k.At, k.At + k.Width})
	}
	if l.Key != nil {
		all = append(all, l.Key.drawn()...)
	}
	for _, c := range l.Constants {
		size := len(c.Bytes.decoded())
		all = append(all, drawn{"constant", "", spanOf(c.At, size) + string(c.Bytes) + " in headers of the gateway's own", c.At, c.At + size})
	}
	all = append(all, drawn{"body", "", "", n.Header, 1 << 30})
	slices.SortStableFunc(all[:len(all)-1], func(a, b drawn) int { return a.from - b.from })
	return all
}

// drawn is one field, or two for a string: its length and itself.
func (k *LayoutKey) drawn() []drawn {
	size := map[string]int{"string8": 1, "string16": 2, "string32": 4}[k.Kind]
	switch {
	case k.Kind == "constant":
		return []drawn{{"key", "", "in no frame: " + strconv.Quote(k.Constant), 0, 0}}
	case k.Kind == "int":
		return []drawn{{"key", "", spanOf(k.At, k.Width) + orderOf(k.Width, k.Order) + "as a decimal number", k.At, k.At + k.Width}}
	case size == 0:
		return []drawn{{"key", "", spanOf(k.At, k.Width) + "without zeros at the end", k.At, k.At + k.Width}}
	}
	at := k.At + size
	about := "bytes from " + strconv.Itoa(at) + ", as many as the " + count(size, "byte") + " before it say"
	if size > 1 {
		about += ", " + k.Order + "-endian"
	}
	return []drawn{{"size", "", "", k.At, at}, {"key", "and the rest of the body", about, at, (at/pictureRow + 1) * pictureRow}}
}

// about is a clause about a length.
func (n *LayoutLength) about() string {
	what := map[string]string{"body": "of the body", "frame": "of the whole frame", "rest": "of what follows the length"}[n.Counts]
	return orderOf(n.Width, n.Order) + what + "; a frame has at most " + n.Max.text()
}

// about is a clause about a kind.
func (k *LayoutKind) about() string {
	var parts []string
	add := func(what string, values ...Code) {
		if len(values) > 0 {
			parts = append(parts, what+" "+strings.Trim(fmt.Sprint(values), "[]"))
		}
	}
	add("request", k.Request...)
	add("one-way", k.OneWay...)
	add("response", k.Response...)
	add("heartbeat", k.Heartbeat...)
	if k.HeartbeatReply != nil {
		add("its reply", *k.HeartbeatReply)
	}
	text := strings.Join(parts, ", ")
	if k.Mask != 0 {
		text = "bits " + k.Mask.String() + ": " + text
	}
	return text
}

// remarks tell what stands in no field.
func (l *Layout) remarks() []string {
	var lines []string
	if l.ID == nil {
		lines = append(lines, "no id: a connection carries one request at a time, in order")
	}
	e := l.Error
	if e == nil {
		return append(lines, "no error: a failure closes the connection")
	}
	var parts []string
	if e.Echo {
		parts = append(parts, "the header of the request")
	} else {
		parts = append(parts, "an empty header")
	}
	if e.Kind != nil {
		parts = append(parts, "kind "+e.Kind.String())
	}
	for _, f := range e.Fields {
		what := string(f.Bytes)
		if what == "" {
			what = strings.TrimSuffix(orderOf(f.Width, f.Order), ", ") + " status"
		}
		parts = append(parts, "at "+strconv.Itoa(f.At)+" "+strings.TrimSpace(what))
	}
	return append(lines, "error     "+strings.Join(parts, ", ")+"; body "+strconv.Quote(e.Body))
}

// spanOf begins a line about a field with its place.
func spanOf(at, size int) string {
	if size == 1 {
		return fmt.Sprintf("%-13s ", "byte "+strconv.Itoa(at))
	}
	return fmt.Sprintf("%-13s ", fmt.Sprintf("bytes %d-%d", at, at+size-1))
}

// orderOf begins a clause with the order of bytes, if there are several.
func orderOf(width int, order string) string {
	if width == 1 {
		return ""
	}
	return order + "-endian, "
}
