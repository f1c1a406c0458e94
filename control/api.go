package control

import "net/http"

// register gives the admin server what it answers. The fields of the answers
// are documented in docs/operations.md and do not change within a version.
func (n *Node) register(a *admin) {
	a.get("/healthz", n.getHealth)
	a.get("/readyz", n.getReady)
	a.get("/metrics", n.metricsHandler().ServeHTTP)
	a.get("/api/v1/status", n.getStatus)
	a.get("/api/v1/routes", n.getRoutes)
	a.get("/api/v1/services", n.getServices)
	a.get("/api/v1/services/{service}/endpoints/{endpoint}", n.getEndpoint)
	a.change("/api/v1/services/{service}/endpoints/{endpoint}/drain", n.postDrain)
	a.change("/api/v1/services/{service}/endpoints/{endpoint}/undrain", n.postUndrain)
	a.get("/api/v1/overrides", n.getOverrides)
	a.get("/api/v1/loops", n.getLoops)
	a.get("/api/v1/unknown-paths", n.getUnknownPaths)
	a.ask("/api/v1/explain", n.postExplain)
	a.change("/api/v1/reload", n.postReload)
}

// getHealth answers as long as the process can answer at all.
func (n *Node) getHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// getReady answers 200 only to those who may send clients here.
func (n *Node) getReady(w http.ResponseWriter, _ *http.Request) {
	r := n.readiness()
	status := http.StatusOK
	if !r.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, r)
}

// reloadAnswer is the answer of a reload that was not refused.
type reloadAnswer struct {
	// Published tells that there is a new generation; what has not changed is
	// none.
	Published  bool   `json:"published"`
	Generation uint64 `json:"generation"`
	Checksum   string `json:"checksum"`
}

// postReload does what SIGHUP does to the configuration.
func (n *Node) postReload(w http.ResponseWriter, r *http.Request) {
	before := n.pipeline.Status().Generation
	if err := n.Reload(r.Context()); err != nil {
		(&apiError{status: http.StatusUnprocessableEntity, Error: "configuration_refused", Message: err.Error()}).write(w)
		return
	}
	s := n.pipeline.Status()
	writeJSON(w, http.StatusOK, reloadAnswer{Published: s.Generation != before, Generation: s.Generation, Checksum: s.Checksum})
}
