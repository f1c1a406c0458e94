package control

import (
	"net/http"
	"time"

	"github.com/corelane/corelane/config"
)

// statusAnswer is what the node tells of itself.
type statusAnswer struct {
	Node          string            `json:"node"`
	Version       string            `json:"version"`
	Coordinates   map[string]string `json:"coordinates,omitempty"`
	StartedAt     time.Time         `json:"started_at"`
	UptimeSeconds int64             `json:"uptime_seconds"`
	State         string            `json:"state"`
	Draining      bool              `json:"draining"`
	Ready         readiness         `json:"ready"`
	// Generation is the published one; LoopsGeneration the one that every loop
	// has taken up.
	Generation      uint64           `json:"generation"`
	LoopsGeneration uint64           `json:"loops_generation"`
	Loops           int              `json:"loops"`
	Poller          string           `json:"poller"`
	Routes          int              `json:"routes"`
	Services        int              `json:"services"`
	Listeners       []listenerAnswer `json:"listeners"`
	Connections     connectionAnswer `json:"connections"`
	Memory          memoryAnswer     `json:"memory"`
	AccessLog       accessLogAnswer  `json:"access_log"`
	Config          configAnswer     `json:"config"`
}

// listenerAnswer is where clients connect; a limit of 0 is none.
type listenerAnswer struct {
	Name     string `json:"name"`
	Address  string `json:"address"`
	Protocol string `json:"protocol"`
	Clients  int    `json:"clients"`
	Limit    int    `json:"limit"`
	Refused  uint64 `json:"refused"`
}

// connectionAnswer counts clients; a limit of 0 is none.
type connectionAnswer struct {
	Clients int `json:"clients"`
	Limit   int `json:"limit"`
}

// memoryAnswer is in bytes; a limit of 0 is none.
type memoryAnswer struct {
	BuffersUsed  int64 `json:"buffers_used"`
	BuffersLimit int64 `json:"buffers_limit"`
}

// accessLogAnswer says whether records reach the log.
type accessLogAnswer struct {
	Path        string `json:"path"`
	WriteErrors uint64 `json:"write_errors"`
	LostBytes   uint64 `json:"lost_bytes"`
}

// configAnswer is the state of the configuration. LastError is the whole report
// of the last refusal, with lines and columns; empty while all is well.
type configAnswer struct {
	Source      string     `json:"source"`
	Checksum    string     `json:"checksum"`
	LoadedAt    time.Time  `json:"loaded_at"`
	FromCache   bool       `json:"from_cache"`
	LastError   string     `json:"last_error"`
	LastErrorAt *time.Time `json:"last_error_at"`
	Warnings    []string   `json:"warnings"`
}

func (n *Node) getStatus(w http.ResponseWriter, _ *http.Request) {
	snap, state, s := n.server.Current(), n.currentState(), n.pipeline.Status()
	used, limit := n.server.Memory()
	answer := statusAnswer{
		Node: n.name, Version: n.options.Version, Coordinates: n.doc.Node.Coordinates,
		StartedAt: n.started.UTC(), UptimeSeconds: int64(time.Since(n.started).Seconds()),
		State: state.String(), Draining: n.server.Draining(), Ready: n.readiness(),
		Generation: snap.Generation, LoopsGeneration: n.server.Passed(),
		Loops: n.place.loops, Poller: n.server.Options().Poller, Routes: snap.Routes.Len(), Services: len(snap.Services),
		Listeners:   n.listeners(),
		Connections: connectionAnswer{Clients: n.server.Connections(), Limit: n.server.Options().MaxConnections},
		Memory:      memoryAnswer{BuffersUsed: used, BuffersLimit: limit},
		AccessLog:   accessLogAnswer{Path: n.doc.Log.Access.Path, WriteErrors: n.access.Failed(), LostBytes: n.access.Lost()},
		Config:      newConfigAnswer(&s),
	}
	writeJSON(w, http.StatusOK, answer)
}

func (n *Node) listeners() []listenerAnswer {
	all, policies := n.server.Listeners(), n.server.Current().Listeners
	out := make([]listenerAnswer, len(all))
	for i, l := range all {
		out[i] = listenerAnswer{Name: l.Name, Address: l.Address, Protocol: policies[l.Name].Speaks(), Clients: l.Connections, Limit: l.Limit, Refused: l.Refused}
	}
	return out
}

func newConfigAnswer(s *config.Status) configAnswer {
	a := configAnswer{
		Source: s.Source, Checksum: s.Checksum, LoadedAt: s.LoadedAt.UTC(), FromCache: s.FromCache,
		LastError: s.LastError, Warnings: append([]string{}, s.Warnings...),
	}
	if !s.LastErrorAt.IsZero() {
		at := s.LastErrorAt.UTC()
		a.LastErrorAt = &at
	}
	return a
}
