package filters

// Entry is one filter at one place of use.
type Entry struct {
	name         string
	filter       any
	request      RequestFilter
	requestBody  RequestBodyFilter
	response     ResponseFilter
	responseBody ResponseBodyFilter
	log          LogFilter
	whole        WholeBodyFilter
	connection   ConnectionFilter
}

// NewEntry wraps a provisioned filter. The name is the one in configuration.
// Which phases the filter has is found once, here, and not for each request.
func NewEntry(name string, filter any) *Entry {
	e := &Entry{name: name, filter: filter}
	e.request, _ = filter.(RequestFilter)
	e.requestBody, _ = filter.(RequestBodyFilter)
	e.response, _ = filter.(ResponseFilter)
	e.responseBody, _ = filter.(ResponseBodyFilter)
	e.log, _ = filter.(LogFilter)
	e.whole, _ = filter.(WholeBodyFilter)
	e.connection, _ = filter.(ConnectionFilter)
	return e
}

// Name returns the filter's name in configuration. Any goroutine may call it.
func (e *Entry) Name() string { return e.name }

// Filter returns the filter itself. Any goroutine may call it.
func (e *Entry) Filter() any { return e.filter }

// Answers tells whether the filter answers every request it sees, so that the
// route needs no service. Any goroutine may call it.
func (e *Entry) Answers() bool {
	a, ok := e.filter.(Answerer)
	return ok && a.Answers()
}

// Chain is the filters of a listener or a route in written order. It is
// immutable and shared by all loops.
type Chain struct {
	entries         []*Entry
	hasRequestBody  bool
	hasResponseBody bool
}

// NewChain makes a chain and takes over the slice; nil entries are not allowed.
func NewChain(entries []*Entry) *Chain {
	c := &Chain{entries: entries}
	for _, e := range entries {
		c.hasRequestBody = c.hasRequestBody || e.requestBody != nil
		c.hasResponseBody = c.hasResponseBody || e.responseBody != nil
	}
	return c
}

// Len returns the number of filters; 0 for a nil chain.
func (c *Chain) Len() int {
	if c == nil {
		return 0
	}
	return len(c.entries)
}

// Entries returns the filters in written order; the slice must not be changed.
func (c *Chain) Entries() []*Entry {
	if c == nil {
		return nil
	}
	return c.entries
}

// HasRequestBody tells whether any filter looks at request bodies.
func (c *Chain) HasRequestBody() bool { return c != nil && c.hasRequestBody }

// HasResponseBody tells whether any filter looks at response bodies.
func (c *Chain) HasResponseBody() bool { return c != nil && c.hasResponseBody }

// Request runs the request heads from filter `from` on and returns the verdict
// and the index of the filter that gave it, or Len and Continue. That index is
// how far the request came: the `from` of Response and the `reached` of Log.
// After a Wait, Resume speaks for the filter that waited and, if that says
// Continue, Request goes on from the next index.
func (c *Chain) Request(ctx *Context, from int) (int, Verdict) {
	for i := from; i < c.Len(); i++ {
		e := c.entries[i]
		if e.request == nil {
			continue
		}
		if v := e.call(ctx, phaseRequest, nil, false); v != Continue {
			return i, v
		}
	}
	return c.Len(), Continue
}

// Connection shows a connection to the filters of connections and returns the
// verdict and the index of the filter that gave it, or Len and Continue.
func (c *Chain) Connection(ctx *Context) (int, Verdict) {
	for i := range c.Len() {
		e := c.entries[i]
		if e.connection == nil {
			continue
		}
		if v := e.call(ctx, phaseConnection, nil, false); v != Continue {
			return i, v
		}
	}
	return c.Len(), Continue
}

// Response runs the response heads in reverse from filter `from` down to the
// first, also for local answers, and returns the verdict and the index of the
// filter that gave it, or -1 and Continue. The filter that answered is the first
// to see its answer. After Respond the engine takes the new answer and goes on
// below that index, so that no filter sees two heads.
func (c *Chain) Response(ctx *Context, from int) (int, Verdict) {
	for i := min(from, c.Len()-1); i >= 0; i-- {
		e := c.entries[i]
		if e.response == nil {
			continue
		}
		if v := e.call(ctx, phaseResponse, nil, false); v != Continue {
			return i, v
		}
	}
	return -1, Continue
}

// Resume calls the filter that waited, after Host.Wake, and returns the verdict
// that takes the place of Wait; it may be Wait again.
func (c *Chain) Resume(ctx *Context, at int) Verdict {
	return c.entries[at].call(ctx, phaseResume, nil, false)
}

// RequestBody shows a piece to every filter in written order, each what the one
// before made of it, and returns Continue, with the result in Context.Piece, or
// Respond when one ends the exchange. Filters behind one that swallowed the piece
// are not called unless it is the last.
func (c *Chain) RequestBody(ctx *Context, piece []byte, last bool) Verdict {
	ctx.body.piece = piece
	for _, e := range c.entries {
		if e.requestBody == nil {
			continue
		}
		if len(ctx.body.piece) == 0 && !last {
			break
		}
		if v := e.pass(ctx, phaseRequestBody, last, ctx.body.request); v != Continue {
			return v
		}
	}
	return Continue
}

// ResponseBody is the same for the response, from filter `from` down to the
// first. A filter has no verdict here: Respond means that one broke, and the
// engine resets the exchange.
func (c *Chain) ResponseBody(ctx *Context, from int, piece []byte, last bool) Verdict {
	ctx.body.piece = piece
	for i := min(from, c.Len()-1); i >= 0; i-- {
		e := c.entries[i]
		if e.responseBody == nil {
			continue
		}
		if len(ctx.body.piece) == 0 && !last {
			break
		}
		if v := e.pass(ctx, phaseResponseBody, last, ctx.body.response); v != Continue {
			return v
		}
	}
	return Continue
}

// Log tells the filters up to `reached` that the exchange has ended. A filter
// that panics here is counted and the rest are still told.
func (c *Chain) Log(ctx *Context, reached int) {
	for i := 0; i < c.Len() && i <= reached; i++ {
		if e := c.entries[i]; e.log != nil {
			e.call(ctx, phaseLog, nil, false)
		}
	}
}
