package route

import (
	"regexp"
	"slices"
	"strings"
)

// reference is a matcher that is slow and plain: it looks at every route and
// shares no code with the table.
type reference map[string]*Spec

// answer is what table and reference must agree on.
type answer struct {
	outcome Outcome
	id      string
	allow   string
	params  string // "name=value," in order
}

func (ref reference) lookup(r *Request) answer {
	ref = ref.of(r.Space)
	host, ok := ref.resolve(string(r.Host))
	if !ok {
		return answer{}
	}
	var best string
	var candidates []*Spec
	for _, spec := range ref {
		if !namesHost(spec, host) {
			continue
		}
		rank, covers := coverage(spec, string(r.Path))
		if !covers || rank < best {
			continue
		}
		if rank > best {
			best, candidates = rank, nil
		}
		candidates = append(candidates, spec)
	}
	slices.SortFunc(candidates, compareSpecs)
	return decide(candidates, r)
}

// of returns the routes of a space.
func (ref reference) of(space Space) reference {
	own := reference{}
	for id, spec := range ref {
		if spec.Space == space {
			own[id] = spec
		}
	}
	return own
}

func (ref reference) resolve(name string) (string, bool) {
	best, found := "", false
	for _, spec := range ref {
		if len(spec.Hosts) == 0 {
			found = true
		}
	}
	for _, spec := range ref {
		for _, host := range spec.Hosts {
			if host == name {
				return host, true
			}
			suffix, wild := strings.CutPrefix(host, "*")
			if wild && strings.HasSuffix(name, suffix) && len(name) > len(suffix) && len(host) > len(best) {
				best, found = host, true
			}
		}
	}
	return best, found
}

func namesHost(spec *Spec, host string) bool {
	if host == "" {
		return len(spec.Hosts) == 0
	}
	return slices.Contains(spec.Hosts, host)
}

// coverage ranks how specifically a spec covers a path, as a text that sorts:
// a letter for each segment, and one for the end.
func coverage(spec *Spec, path string) (string, bool) {
	const (
		whole   = "z" // exact
		end     = "y" // of a template
		literal = "x"
		param   = "w"
		under   = "v" // prefix with a final slash
		prefix  = "u"
	)
	switch spec.Kind {
	case Exact:
		return whole, path == spec.Pattern
	case Prefix:
		cut, slash := strings.CutSuffix(spec.Pattern, "/")
		rank := strings.Repeat(literal, strings.Count(cut, "/"))
		if slash {
			return rank + under, strings.HasPrefix(path, spec.Pattern)
		}
		return rank + prefix, path == cut || strings.HasPrefix(path, cut+"/")
	}
	want, have := strings.Split(spec.Pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return "", false
	}
	rank := ""
	for i := range want[1:] {
		switch w, h := want[i+1], have[i+1]; {
		case strings.HasPrefix(w, "{") && h != "":
			rank += param
		case w == h:
			rank += literal
		default:
			return "", false
		}
	}
	return rank + end, true
}

func compareSpecs(a, b *Spec) int {
	if a.Priority != b.Priority {
		return b.Priority - a.Priority
	}
	weight := func(s *Spec) int {
		n := len(s.Headers) + len(s.Query) + len(s.Cookies)
		for _, has := range []bool{len(s.Methods) > 0, s.Regex != ""} {
			if has {
				n++
			}
		}
		return n
	}
	if weight(a) != weight(b) {
		return weight(b) - weight(a)
	}
	return strings.Compare(a.ID, b.ID)
}

func decide(candidates []*Spec, r *Request) answer {
	var allowed []string
	for _, spec := range candidates {
		if spec.Disabled || !holds(spec, r) {
			continue
		}
		if len(spec.Methods) == 0 || slices.Contains(spec.Methods, string(r.Method)) {
			return answer{outcome: Found, id: spec.ID, params: paramsOf(spec, string(r.Path))}
		}
		allowed = append(allowed, spec.Methods...)
	}
	if allowed == nil {
		return answer{}
	}
	slices.Sort(allowed)
	return answer{outcome: MethodNotAllowed, allow: strings.Join(slices.Compact(allowed), ", ")}
}

func holds(spec *Spec, r *Request) bool {
	for _, c := range spec.Headers {
		if !r.Attributes.HasHeader(c.Name, c.Values) {
			return false
		}
	}
	for _, c := range spec.Query {
		if !r.Attributes.HasQuery(c.Name, c.Values) {
			return false
		}
	}
	for _, c := range spec.Cookies {
		if !r.Attributes.HasCookie(c.Name, c.Values) {
			return false
		}
	}
	return spec.Regex == "" || regexp.MustCompile(spec.Regex).Match(r.Path)
}

func paramsOf(spec *Spec, path string) string {
	if spec.Kind != Template {
		return ""
	}
	have, params := strings.Split(path, "/"), ""
	for i, segment := range strings.Split(spec.Pattern, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params += strings.TrimSuffix(name, "}") + "=" + have[i] + ","
		}
	}
	return params
}
