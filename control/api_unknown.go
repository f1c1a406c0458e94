package control

import (
	"net/http"
	"time"

	"github.com/corelane/corelane/engine/sketch"
)

// unknownPathsAnswer is what was asked for without there being a route, the most
// probed first. Hits counts all of it since the start, Tracked the paths that are
// told apart, Floor the most that any other path can have been asked for.
type unknownPathsAnswer struct {
	Hits    uint64              `json:"hits"`
	Tracked int                 `json:"tracked"`
	Floor   uint64              `json:"floor"`
	Missing []int               `json:"missing_loops"`
	Paths   []unknownPathAnswer `json:"paths"`
}

// unknownPathAnswer is one host and path, without a query, asked for at most
// Count and at least Count − Error times. Cut tells that they were longer.
type unknownPathAnswer struct {
	Host     string    `json:"host"`
	Path     string    `json:"path"`
	Cut      bool      `json:"cut"`
	Count    uint64    `json:"count"`
	Error    uint64    `json:"error"`
	LastSeen time.Time `json:"last_seen"`
	// Client is who asked last.
	Client string `json:"client"`
}

// getUnknownPaths answers ?limit= paths.
func (n *Node) getUnknownPaths(w http.ResponseWriter, r *http.Request) {
	limit, refused := pageSize(r.URL.Query().Get("limit"))
	if refused != nil {
		refused.write(w)
		return
	}
	sum, missing := n.unknownPaths()
	answer := unknownPathsAnswer{
		Hits: sum.Hits, Tracked: len(sum.Paths), Floor: sum.Floor,
		Missing: append([]int{}, missing...), Paths: []unknownPathAnswer{},
	}
	for i := range sum.Paths[:min(limit, len(sum.Paths))] {
		answer.Paths = append(answer.Paths, newUnknownPathAnswer(&sum.Paths[i]))
	}
	writeJSON(w, http.StatusOK, answer)
}

func newUnknownPathAnswer(p *sketch.Path) unknownPathAnswer {
	a := unknownPathAnswer{
		Host: string(p.Host), Path: string(p.Path), Cut: p.Cut, Count: p.Count, Error: p.Error,
		LastSeen: time.Unix(0, p.Seen).UTC(),
	}
	if p.Client.IsValid() {
		a.Client = p.Client.String()
	}
	return a
}

// unknownPaths merges what the loops have seen. Loops that do not answer in time
// are left out and named.
func (n *Node) unknownPaths() (sum *sketch.Copy, missing []int) {
	q := n.server.AskUnknownPaths()
	end := time.Now().Add(scrapeDeadline)
	for !q.Complete() && time.Now().Before(end) {
		time.Sleep(passedPoll)
	}
	return q.Merge()
}
