package codectest

import (
	"fmt"
	"strings"

	"github.com/corelane/corelane/codec"
)

// Describe tells all that a head says, fields that were removed left out.
func Describe(h *codec.Head) string {
	var s strings.Builder
	if h.Status() > 0 {
		fmt.Fprintf(&s, "%d %q\n", h.Status(), h.ReasonPhrase())
	} else {
		fmt.Fprintf(&s, "call %d: %s %d %q %q %q %v %q\n", h.Call(), h.Method(), h.MethodID(), h.Target(), h.Path(),
			h.Query(), h.HasQuery(), h.Authority())
	}
	fmt.Fprintf(&s, "framing %d length %d\n", h.Framing(), h.ContentLength())
	s.WriteString(DescribeFields(h))
	return s.String()
}

// DescribeFields tells the fields of a head, one a line.
func DescribeFields(h *codec.Head) string {
	var s strings.Builder
	for i := range h.Len() {
		if !h.Removed(i) {
			fmt.Fprintf(&s, "%s: %q (%s)\n", h.Name(i), h.Value(i), h.Known(i))
		}
	}
	return s.String()
}
