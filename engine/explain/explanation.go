package explain

// What becomes of a request.
const (
	// Forwarded: to an endpoint of the service.
	Forwarded = "forwarded"
	// Answered: by a filter, or by the gateway without an error.
	Answered = "answered"
	// Refused: by the gateway, with the reason.
	Refused = "refused"
)

// Explanation is the answer. Lists are empty where the request does not come so
// far.
type Explanation struct {
	// Generation is that of the configuration.
	Generation uint64 `json:"generation"`
	Listener   string `json:"listener"`
	// Protocol is what the listener's clients speak.
	Protocol string `json:"protocol"`
	Method   string `json:"method"`
	// RPC is the call that is asked about; nil of a request by path.
	RPC *Call `json:"rpc"`
	// Client is the client's address after the forwarding fields of trusted
	// proxies.
	Client string `json:"client"`
	Host   Host   `json:"host"`
	Path   Path   `json:"path"`
	// Pattern is that of the candidates, /interface/method or /interface of a call
	// and the key of one by key, and Candidates are all its routes in
	// order of rank. No pattern: none covers the path.
	Pattern    string      `json:"pattern"`
	Candidates []Candidate `json:"candidates"`
	// Route is the id of the route that takes the request; empty if none does.
	Route string `json:"route"`
	// Filters are those that see the request head, in order.
	Filters []Filter `json:"filters"`
	// Service gets the request; nil if it is answered before.
	Service *Service `json:"service"`
	Outcome Outcome  `json:"outcome"`
	// Notes tell what the explanation cannot see.
	Notes []string `json:"notes"`
}

// Host is the host of a request in its forms.
type Host struct {
	// Received is host and port as they came, Matched what is looked up.
	Received string `json:"received"`
	Matched  string `json:"matched"`
	// Known tells that routes are registered for it, by Pattern; the pattern of
	// routes for any host is empty.
	Known   bool   `json:"known"`
	Pattern string `json:"pattern"`
	// Forwarded is what the service gets.
	Forwarded string `json:"forwarded"`
}

// Path is the path of a request in its forms, without the query; empty where
// the request does not come so far.
type Path struct {
	Received  string `json:"received"`
	Matched   string `json:"matched"`
	Forwarded string `json:"forwarded"`
}

// Candidate is one route that stands at the pattern.
type Candidate struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"`
	// Verdict is matched, disabled, method, header, query, cookie, regex or
	// outranked (one before it matched).
	Verdict string `json:"verdict"`
	// Failed is the predicate that failed; nil for other verdicts.
	Failed *Predicate `json:"failed"`
}

// Predicate is a condition that does not hold.
type Predicate struct {
	// Name is that of the header, parameter or cookie; empty for others.
	Name string `json:"name"`
	// Wanted are the values it may have, none: any; Got those it has, none: it is
	// absent. Secrets are written as (redacted), and of cookies there is no value.
	Wanted []string `json:"wanted"`
	Got    []string `json:"got"`
}

// Filter is one filter at one place of use.
type Filter struct {
	Name string `json:"name"`
	// From is where it is used: "listener NAME", "set NAME" or "route ID".
	From string `json:"from"`
	// Answers tells that it answers every request, so that nothing follows it.
	Answers bool `json:"answers"`
}

// Service is the target of a request with the settings that apply.
type Service struct {
	Name string `json:"name"`
	// Protocol is what the endpoints speak.
	Protocol  string     `json:"protocol"`
	Balance   string     `json:"balance"`
	Endpoints []Endpoint `json:"endpoints"`
	// Chosen is the address that a loop without history would take; empty if
	// none can be used.
	Chosen   string   `json:"chosen"`
	Timeouts Timeouts `json:"timeouts"`
	Retries  Retries  `json:"retries"`
}

// Endpoint is one endpoint of the service.
type Endpoint struct {
	Address string `json:"address"`
	Usable  bool   `json:"usable"`
	// Why is the reason why it is left out, or what would be one but does not count.
	Why    string `json:"why"`
	Tier   int    `json:"tier"`
	Weight int    `json:"weight"`
	// Score is what the balancer compares.
	Score float64 `json:"score"`
}

// Timeouts are in milliseconds; 0 is off.
type Timeouts struct {
	Connect    float64 `json:"connect_ms"`
	PoolWait   float64 `json:"pool_wait_ms"`
	FirstByte  float64 `json:"first_byte_ms"`
	Idle       float64 `json:"idle_ms"`
	PerTry     float64 `json:"per_try_ms"`
	Total      float64 `json:"total_ms"`
	TunnelIdle float64 `json:"tunnel_idle_ms"`
}

// Retries says when a try would be repeated.
type Retries struct {
	// Attempts is the number of extra tries.
	Attempts int `json:"attempts"`
	// On lists connect, reset and status codes.
	On []string `json:"on"`
	// Budget is in percent of the service's live exchanges.
	Budget float64 `json:"budget"`
	// Hedge is the time in milliseconds after which a second try begins beside the
	// first; 0 is off.
	Hedge float64 `json:"hedge_ms"`
}

// Outcome is what the client would see.
type Outcome struct {
	// Kind is forwarded, answered or refused.
	Kind string `json:"kind"`
	// By is who answers: a filter by name and place, else empty.
	By string `json:"by"`
	// Status is that of a refusal, or of an answer if it is known; else 0.
	Status  int    `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Allow is that of a 405.
	Allow string `json:"allow"`
}
