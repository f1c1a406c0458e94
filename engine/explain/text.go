package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Write prints the explanation as a tree of plain text.
func (e *Explanation) Write(w io.Writer) error {
	var t tree
	if e.RPC != nil {
		t.line(0, "call %s", e.RPC)
	} else {
		t.line(0, "%s %s", e.Method, e.url())
	}
	t.pair(1, "generation", strconv.FormatUint(e.Generation, 10))
	t.pair(1, "listener", e.Listener+speaking(e.Protocol)+", client "+e.Client)
	t.host(&e.Host)
	t.path(&e.Path)
	t.candidates(e)
	t.filters(e.Filters)
	t.service(e.Service)
	for _, note := range e.Notes {
		t.pair(1, "note", note)
	}
	t.line(0, "%s", e.Outcome.summary(e.Service))
	_, err := io.WriteString(w, t.b.String())
	return err
}

// url is what was asked about, without the query.
func (e *Explanation) url() string {
	if e.Path.Received == "*" {
		return e.Host.Received
	}
	return e.Host.Received + e.Path.Received
}

// tree is text with two spaces for each level.
type tree struct{ b strings.Builder }

func (t *tree) line(level int, format string, args ...any) {
	line := strings.Repeat("  ", level) + plain(fmt.Sprintf(format, args...))
	t.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// plain escapes what a terminal would obey: the question may have been copied
// from an attacker's request.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}

// pair is a name with its value behind, in one column for all levels.
func (t *tree) pair(level int, name, value string) {
	t.line(level, "%-*s %s", 14-2*level, name, value)
}

func (t *tree) host(h *Host) {
	switch {
	case h.Matched == "" && !h.Known:
		return
	case !h.Known:
		t.pair(1, "host", h.Matched+", no route is registered for it")
	case h.Matched == "":
		t.pair(1, "host", "none, by the routes for any host")
	case h.Pattern == "":
		t.pair(1, "host", h.Matched+", by the routes for any host")
	default:
		t.pair(1, "host", h.Matched+", by the routes for "+h.Pattern)
	}
}

func (t *tree) path(p *Path) {
	if p.Received == "" {
		return
	}
	t.line(1, "path")
	t.pair(2, "received", p.Received)
	if p.Matched != "" {
		t.pair(2, "matched", p.Matched)
	}
	if p.Forwarded != "" {
		t.pair(2, "forwarded", p.Forwarded)
	}
}

func (t *tree) candidates(e *Explanation) {
	if !e.Host.Known {
		return
	}
	if e.Pattern == "" {
		t.pair(1, "candidates", "none: no "+e.RPC.uncovered())
		return
	}
	t.pair(1, "candidates", "all routes of "+e.RPC.pattern(e.Pattern)+", in order")
	for _, c := range e.Candidates {
		name := c.ID
		if c.Priority != 0 {
			name += " (priority " + strconv.Itoa(c.Priority) + ")"
		}
		t.pair(2, c.mark(), name+c.why())
	}
	if e.Route != "" {
		t.pair(1, "route", e.Route)
	}
}

func (c *Candidate) mark() string {
	switch c.Verdict {
	case "matched":
		return "yes"
	case "outranked":
		return "not tried"
	}
	return "no"
}

// why says what a route missed.
func (c *Candidate) why() string {
	if c.Verdict == "disabled" {
		return ": disabled"
	}
	if c.Failed == nil {
		return ""
	}
	if c.Verdict == "cookie" {
		return ": cookie " + c.Failed.Name + " does not match"
	}
	what := strings.TrimSpace(c.Verdict + " " + c.Failed.Name)
	want := "any value"
	if len(c.Failed.Wanted) > 0 {
		want = "[" + strings.Join(c.Failed.Wanted, ", ") + "]"
	}
	if len(c.Failed.Got) == 0 {
		return ": " + what + ": wanted " + want + ", got none"
	}
	got := make([]string, len(c.Failed.Got))
	for i, v := range c.Failed.Got {
		if got[i] = v; v != redacted {
			got[i] = strconv.Quote(v)
		}
	}
	return ": " + what + ": wanted " + want + ", got " + strings.Join(got, ", ")
}

func (t *tree) filters(all []Filter) {
	if len(all) == 0 {
		return
	}
	t.line(1, "filters")
	longest := 0
	for _, f := range all {
		longest = max(longest, len(f.Name))
	}
	for _, f := range all {
		from := f.From
		if f.Answers {
			from += ", answers every request"
		}
		t.pair(2, fmt.Sprintf("%-*s", longest, f.Name), from)
	}
}

func (t *tree) service(s *Service) {
	if s == nil {
		return
	}
	t.pair(1, "service", s.Name+speaking(s.Protocol)+", "+s.Balance)
	for _, e := range s.Endpoints {
		t.pair(2, s.mark(&e), e.Address+": "+e.summary())
	}
	t.pair(1, "timeouts", s.Timeouts.summary())
	t.pair(1, "retries", s.Retries.summary())
}

func (s *Service) mark(e *Endpoint) string {
	switch {
	case e.Address == s.Chosen:
		return "chosen"
	case e.Usable:
		return "usable"
	}
	return "left out"
}

// summary is why the endpoint is left out, or what it is chosen by.
func (e *Endpoint) summary() string {
	if !e.Usable {
		return e.Why
	}
	what := "weight " + strconv.Itoa(e.Weight)
	if e.Tier != 0 {
		what += ", tier " + strconv.Itoa(e.Tier)
	}
	what += fmt.Sprintf(", score %.3g", e.Score)
	if e.Why != "" {
		what += ", although " + e.Why
	}
	return what
}

// summary lists the clocks that are on.
func (t *Timeouts) summary() string {
	var on []string
	for _, c := range []struct {
		name string
		ms   float64
	}{
		{"connect", t.Connect},
		{"pool wait", t.PoolWait},
		{"first byte", t.FirstByte},
		{"idle", t.Idle},
		{"per try", t.PerTry},
		{"total", t.Total},
		{"tunnel idle", t.TunnelIdle},
	} {
		if c.ms > 0 {
			on = append(on, c.name+" "+clock(c.ms))
		}
	}
	if len(on) == 0 {
		return "none"
	}
	return strings.Join(on, ", ")
}

func clock(ms float64) string { return time.Duration(ms * float64(time.Millisecond)).String() }

func (r *Retries) summary() string {
	if r.Attempts == 0 || len(r.On) == 0 && r.Hedge == 0 {
		return "none"
	}
	out := "1 extra try"
	if r.Attempts > 1 {
		out = strconv.Itoa(r.Attempts) + " extra tries"
	}
	if len(r.On) > 0 {
		out += " on " + strings.Join(r.On, ", ")
	}
	if r.Hedge > 0 {
		out += "; one beside the first after " + clock(r.Hedge)
	}
	return fmt.Sprintf("%s; budget %g %%", out, r.Budget)
}

// summary is the last line.
func (o *Outcome) summary(s *Service) string {
	switch {
	case o.Kind == Forwarded:
		return "forwarded to " + s.Chosen
	case o.By != "":
		return "answered by " + o.By
	case o.Kind == Answered:
		return "answered " + strconv.Itoa(o.Status)
	}
	line := fmt.Sprintf("refused with %d %s: %s", o.Status, o.Reason, o.Message)
	if o.Allow != "" {
		line += "; Allow: " + o.Allow
	}
	return line
}
