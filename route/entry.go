package route

import "regexp"

// entry is a compiled route. What a lookup reads of a plain route stands first,
// in one cache line. It never changes.
type entry[T any] struct {
	payload     T
	disabled    bool
	conditional bool // has conditions or a regex
	anyMethod   bool
	methods     methodSet
	names       []string // of a template
	regex       *regexp.Regexp
	predicates  int
	spec        Spec
}

func compile[T any](spec *Spec, payload T) (*entry[T], error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	regex, err := compileRegex(spec.Regex)
	if err != nil {
		return nil, err
	}
	e := &entry[T]{
		payload:    payload,
		disabled:   spec.Disabled,
		methods:    makeMethodSet(spec.Methods),
		regex:      regex,
		predicates: spec.predicates(),
		spec:       *spec,
	}
	e.anyMethod = e.methods.empty()
	e.conditional = regex != nil || len(spec.Headers)+len(spec.Query)+len(spec.Cookies) > 0
	if spec.Kind == Template {
		e.names = paramNames(spec.Pattern)
	}
	return e, nil
}

// outranks orders the candidates of one place.
func (e *entry[T]) outranks(other *entry[T]) bool {
	return outranks(&e.spec, e.predicates, &other.spec, other.predicates)
}

// judge returns Matched, or the first predicate that fails and its name.
func (e *entry[T]) judge(r *Request) (why Verdict, condition string) {
	if e.disabled {
		return Disabled, ""
	}
	if !e.anyMethod && !e.methods.has(r.Method) {
		return Method, ""
	}
	if !e.conditional {
		return Matched, ""
	}
	return e.judgeConditions(r)
}

// judgeConditions tries what is cheap first: the expression comes last.
func (e *entry[T]) judgeConditions(r *Request) (why Verdict, condition string) {
	for i := range e.spec.Headers {
		c := &e.spec.Headers[i]
		if r.Attributes == nil || !r.Attributes.HasHeader(c.Name, c.Values) {
			return Header, c.Name
		}
	}
	for i := range e.spec.Query {
		c := &e.spec.Query[i]
		if r.Attributes == nil || !r.Attributes.HasQuery(c.Name, c.Values) {
			return Query, c.Name
		}
	}
	for i := range e.spec.Cookies {
		c := &e.spec.Cookies[i]
		if r.Attributes == nil || !r.Attributes.HasCookie(c.Name, c.Values) {
			return Cookie, c.Name
		}
	}
	if e.regex != nil && !e.regex.Match(r.Path) {
		return Regex, e.spec.Regex
	}
	return Matched, ""
}
