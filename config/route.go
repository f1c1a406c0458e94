package config

import (
	"time"

	"github.com/corelane/corelane/route"
)

// Route says which requests go where.
type Route struct {
	// ID identifies the route in logs, metrics and changes.
	ID string `yaml:"id"`
	// Status is enabled or disabled. A disabled route answers 404 and still
	// covers its path.
	Status string `yaml:"status" default:"enabled" enum:"enabled|disabled"`
	// UpdatedAt is when the route was written last (RFC 3339). Of two routes
	// with one id the newer wins; without it the second is refused.
	UpdatedAt Instant `yaml:"updated_at"`
	// Metadata are free pairs of text, such as group, owner and description.
	Metadata map[string]string `yaml:"metadata"`
	// Match says which requests the route takes.
	Match Match `yaml:"match"`
	// Priority is compared among routes of one path: the higher is tried first.
	Priority int `yaml:"priority" default:"0"`
	// Strip is the number of leading path segments removed before forwarding.
	Strip int `yaml:"strip" default:"0" min:"0" max:"32"`
	// Rewrite changes what is forwarded.
	Rewrite Rewrite `yaml:"rewrite"`
	// Service gets the requests; not needed where a filter answers.
	Service string `yaml:"service"`
	// Timeouts go over the service's.
	Timeouts *RouteTimeouts `yaml:"timeouts"`
	// Retries go over the service's, key by key.
	Retries *RouteRetries `yaml:"retries"`
	// Body says how the body of a request is taken.
	Body Body `yaml:"body"`
	// Use names filter sets that run before the route's own filters.
	Use []string `yaml:"use"`
	// Filters run in the order written; the response passes them backwards.
	Filters []*Filter `yaml:"filters"`

	// digest is of the text, zero if the text alone does not decide: then it
	// holds a reference, or stood in a document with anchors.
	digest digest
	// spec is made by validation and never changes.
	spec *route.Spec
}

// Match says which requests a route takes: exactly one of path, template, prefix
// and rpc, and conditions that must all hold.
type Match struct {
	// Hosts are names such as api.example.com or *.internal.example.com; none:
	// any host. A request belongs to the most specific host that any route
	// names and never falls back to a wider one.
	Hosts []string `yaml:"hosts"`
	// Path is the whole path.
	Path string `yaml:"path"`
	// Template is a path in which {name} stands for one segment.
	Template string `yaml:"template"`
	// Prefix covers a path and all below it, on segment boundaries: /api covers
	// /api and /api/x but not /apix.
	Prefix string `yaml:"prefix"`
	// RPC names a remote call, for clients that say what they want by interface and
	// method or by a key, and not by a path, as those of frame and dubbo do. Of the
	// conditions only hosts and headers may stand beside it. See docs/protocols.md.
	RPC RPC `yaml:"rpc"`
	// Methods are the methods taken; none: all. Others answer 405.
	Methods []string `yaml:"methods"`
	// Headers are fields with the values they may have; no value: the field is
	// there.
	Headers map[string][]string `yaml:"headers"`
	// Query are parameters with the values they may have.
	Query map[string][]string `yaml:"query"`
	// Cookies are cookies with the values they may have.
	Cookies map[string][]string `yaml:"cookies"`
	// Regex is an expression (RE2) on the path, tried last on the routes left.
	Regex string `yaml:"regex"`
}

// Rewrite changes what is forwarded.
type Rewrite struct {
	// Path replaces the path, after strip; {id} takes a segment of a template.
	Path string `yaml:"path"`
	// Host replaces the field Host.
	Host string `yaml:"host"`
}

// RouteTimeouts go over the service's and the listener's; 0 is off, an absent
// key inherits.
type RouteTimeouts struct {
	// FirstByte is the time from the request's last byte to the response's
	// first.
	FirstByte *time.Duration `yaml:"first_byte"`
	// Idle is the time between two pieces of a response's body.
	Idle *time.Duration `yaml:"idle"`
	// Total is the time from the request's head to the last byte (504
	// total_timeout); off if absent. It does not apply to tunnels.
	Total *time.Duration `yaml:"total"`
	// PerTry bounds one try from its start to the response's head.
	PerTry *time.Duration `yaml:"per_try"`
	// TunnelIdle is the time without a byte in either direction of a tunnel.
	TunnelIdle *time.Duration `yaml:"tunnel_idle"`
}

// RouteRetries go over the service's, key by key; an absent key inherits.
type RouteRetries struct {
	// Attempts is the number of extra tries.
	Attempts *int `yaml:"attempts" min:"0" max:"8"`
	// On lists what is repeated: connect, reset and 5xx codes.
	On []string `yaml:"on"`
	// PerTry bounds one try from its start to the response's head.
	PerTry *time.Duration `yaml:"per_try"`
	// Budget is the number of retries and hedges that may run at one time for
	// each hundred other exchanges of the service.
	Budget *Percent `yaml:"budget"`
	// Hedge is the time without a response's head after which a second try
	// begins at another endpoint.
	Hedge *time.Duration `yaml:"hedge"`
}

// Body says how the body of a request is taken.
type Body struct {
	// Mode is stream (bytes go on as they come) or buffer: the body is received
	// whole before an endpoint is chosen, so that a slow client holds no
	// connection of the service and every try gets the whole body.
	Mode string `yaml:"mode" default:"stream" enum:"stream|buffer"`
	// Memory is what is kept of one held body in memory; a larger one goes to a
	// file in engine.spill_dir. 0 is no limit but that of engine.buffers.total.
	Memory Size `yaml:"memory" default:"10MiB"`
	// Max bounds the body (413 body_too_large); 0: the listener's limit.
	Max Size `yaml:"max" default:"0"`
}

// Enabled tells whether the route takes requests.
func (r *Route) Enabled() bool { return r.Status != "disabled" }
