package control

import (
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/route"
)

// routesAnswer is a page of routes in the order of their ids. Next is what
// `after` must be for the page behind it; empty on the last.
type routesAnswer struct {
	Generation uint64        `json:"generation"`
	Total      int           `json:"total"`
	Routes     []routeAnswer `json:"routes"`
	Next       string        `json:"next"`
}

// routeAnswer is one route as it is compiled.
type routeAnswer struct {
	ID          string            `json:"id"`
	Status      string            `json:"status"`
	Match       matchAnswer       `json:"match"`
	Priority    int               `json:"priority"`
	Strip       int               `json:"strip,omitempty"`
	RewritePath string            `json:"rewrite_path,omitempty"`
	RewriteHost string            `json:"rewrite_host,omitempty"`
	Service     string            `json:"service"`
	Filters     []string          `json:"filters"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	// Hits is the number of finished exchanges since the start; null where it is
	// not known, because more routes were hit than have counters of their own.
	Hits *uint64 `json:"hits"`
}

// matchAnswer is what a route matches; Pattern is of the kind Kind: exact,
// template or prefix. What it is a pattern of says Of: path, call (then it is
// /interface/method, or the prefix /interface) or key.
type matchAnswer struct {
	Hosts   []string            `json:"hosts"`
	Of      string              `json:"of"`
	Kind    string              `json:"kind"`
	Pattern string              `json:"pattern"`
	Methods []string            `json:"methods"`
	Headers map[string][]string `json:"headers,omitempty"`
	Query   map[string][]string `json:"query,omitempty"`
	Cookies map[string][]string `json:"cookies,omitempty"`
	Regex   string              `json:"regex,omitempty"`
}

// routeIndex keeps the ids of one generation in order, so that a walk over many
// pages does not sort them again for each.
type routeIndex struct {
	mu  sync.Mutex
	of  *snapshot.Snapshot
	ids []string
}

// sorted returns the ids of a generation; the slice must not be changed.
func (x *routeIndex) sorted(s *snapshot.Snapshot) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of != s {
		x.of, x.ids = s, make([]string, 0, s.Routes.Len())
		for spec := range s.Routes.All() {
			x.ids = append(x.ids, spec.ID)
		}
		slices.Sort(x.ids)
	}
	return x.ids
}

// getRoutes answers ?id= with one route, or ?limit=&after= with a page.
func (n *Node) getRoutes(w http.ResponseWriter, r *http.Request) {
	snap := n.server.Current()
	hits, full := n.counters.hits()
	answer := routesAnswer{Generation: snap.Generation, Total: snap.Routes.Len(), Routes: []routeAnswer{}}
	query := r.URL.Query()
	if id := query.Get("id"); id != "" {
		spec, compiled, ok := snap.Routes.Get(id)
		if !ok {
			(&apiError{status: http.StatusNotFound, Error: "not_found", Message: "there is no route of that id"}).write(w)
			return
		}
		answer.Routes = append(answer.Routes, newRouteAnswer(&spec, compiled, hits, full))
		writeJSON(w, http.StatusOK, answer)
		return
	}
	limit, err := pageSize(query.Get("limit"))
	if err != nil {
		err.write(w)
		return
	}
	ids := n.routes.sorted(snap)
	page, next := pageOf(ids, query.Get("after"), limit)
	for _, id := range page {
		spec, compiled, _ := snap.Routes.Get(id)
		answer.Routes = append(answer.Routes, newRouteAnswer(&spec, compiled, hits, full))
	}
	answer.Next = next
	writeJSON(w, http.StatusOK, answer)
}

// pageSize reads a limit from 1 to maxPage.
func pageSize(text string) (int, *apiError) {
	if text == "" {
		return defaultPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxPage {
		return 0, &apiError{
			status: http.StatusBadRequest, Error: "bad_request",
			Message: "limit must be a number from 1 to " + strconv.Itoa(maxPage),
		}
	}
	return limit, nil
}

// pageOf returns the ids behind after, and the last one if there are more.
func pageOf(ids []string, after string, limit int) (page []string, next string) {
	at, found := slices.BinarySearch(ids, after)
	if found {
		at++
	}
	page = ids[at:min(at+limit, len(ids))]
	if at+limit < len(ids) {
		next = page[len(page)-1]
	}
	return page, next
}

func newRouteAnswer(spec *route.Spec, r *snapshot.Route, hits map[string]uint64, full bool) routeAnswer {
	a := routeAnswer{
		ID: spec.ID, Status: "enabled", Priority: spec.Priority,
		Match: matchAnswer{
			Hosts: list(spec.Hosts), Of: spec.Space.String(), Kind: spec.Kind.String(), Pattern: spec.Pattern, Methods: list(spec.Methods),
			Headers: conditions(spec.Headers), Query: conditions(spec.Query), Cookies: conditions(spec.Cookies),
			Regex: spec.Regex,
		},
		Strip: r.Strip, RewritePath: r.RewritePath, RewriteHost: r.RewriteHost,
		Filters: filterNames(r.Chain), Metadata: r.Info.Metadata,
	}
	if spec.Disabled {
		a.Status = "disabled"
	}
	if r.Service != nil {
		a.Service = r.Service.Name
	}
	if count, counted := hits[spec.ID]; counted || !full && spec.ID != otherSeries {
		a.Hits = &count
	}
	return a
}

// list makes an absent list an empty one, so that readers need not tell them
// apart.
func list(names []string) []string { return append([]string{}, names...) }

func conditions(all []route.Condition) map[string][]string {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string][]string, len(all))
	for _, c := range all {
		out[c.Name] = list(c.Values)
	}
	return out
}

func filterNames(c *filters.Chain) []string {
	names := []string{}
	if c != nil {
		for _, e := range c.Entries() {
			names = append(names, e.Name())
		}
	}
	return names
}
