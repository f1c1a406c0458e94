package explain

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/route"
)

// Bounds of the values of a request that an explanation shows.
const (
	maxShown       = 256 // bytes of one value
	maxShownValues = 8
)

// candidate tells what one route missed.
func (b *builder) candidate(c *snapshot.Candidate) Candidate {
	out := Candidate{ID: c.Spec.ID, Priority: c.Spec.Priority, Verdict: c.Why.String()}
	switch c.Why {
	case route.Method:
		out.Failed = newPredicate("", c.Spec.Methods, []string{string(b.head.Method())})
	case route.Header:
		out.Failed = newPredicate(c.Condition, wanted(c.Spec.Headers, c.Condition), headerValues(b.head, c.Condition))
	case route.Query:
		out.Failed = newPredicate(c.Condition, wanted(c.Spec.Query, c.Condition), queryValues(b.head.Query(), c.Condition))
	case route.Cookie:
		out.Failed = newPredicate(c.Condition, nil, nil)
	case route.Regex:
		out.Failed = newPredicate("", []string{c.Condition}, []string{b.record.Matched})
	}
	return out
}

// newPredicate bounds what is shown, and hides what may be a secret.
func newPredicate(name string, want, got []string) *Predicate {
	p := &Predicate{Name: name, Wanted: append([]string{}, want...), Got: []string{}}
	for _, v := range got[:min(len(got), maxShownValues)] {
		p.Got = append(p.Got, strings.ToValidUTF8(v[:min(len(v), maxShown)], "\ufffd"))
	}
	if isSecret(name) {
		hide(p.Wanted)
		hide(p.Got)
	}
	return p
}

func hide(values []string) {
	for i := range values {
		values[i] = redacted
	}
}

// wanted returns the values of the condition on a name. Where a name has two
// conditions, the one shown may be the one that holds.
func wanted(all []route.Condition, name string) []string {
	for _, c := range all {
		if c.Name == name {
			return c.Values
		}
	}
	return nil
}

func headerValues(h *codec.Head, name string) []string {
	var values []string
	for i := range h.Len() {
		if !h.Removed(i) && strings.EqualFold(string(h.Name(i)), name) {
			values = append(values, string(h.Value(i)))
		}
	}
	return values
}

func queryValues(query []byte, name string) []string {
	var values []string
	for _, pair := range bytes.Split(query, []byte("&")) {
		k, v, _ := strings.Cut(string(pair), "=")
		if plainQuery(k) == name && len(pair) > 0 {
			values = append(values, plainQuery(v))
		}
	}
	return values
}

// plainQuery decodes a name or value; a broken escape stands for itself.
func plainQuery(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}
