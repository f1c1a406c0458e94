package config

import "time"

// Service is a named set of endpoints that do the same job.
type Service struct {
	// Name is what routes call the service.
	Name string `yaml:"name"`
	// Protocol is what the endpoints speak: http, frame, dubbo, or another message
	// protocol that is compiled in. It need not be that of the clients. With tcp
	// they get the connections of tcp listeners, and no requests.
	Protocol string `yaml:"protocol" default:"http" enum:"http|tcp" words:"protocols" later:"h2"`
	// Layout describes the private protocol that the endpoints of a service of the
	// protocol frame speak; null: to a request from a listener with a layout they
	// speak that, to others the product's own frames. Its keys are those of a
	// listener's layout. See docs/layouts.md.
	Layout *Layout `yaml:"layout"`
	// Endpoints are the addresses; none: every request is answered 503
	// no_endpoint.
	Endpoints []Endpoint `yaml:"endpoints"`
	// Balance chooses among endpoints: weighted_random, round_robin (smooth, by
	// weight), least_requests (the less busy of two random ones), ewma (of two
	// random ones the one with less response time × requests under way), {hash:
	// header:NAME} (or cookie:NAME, query:NAME, ip: equal values go to the same
	// endpoint) or {sticky: {cookie: lane, secret: "${env:NAME}"}} (a signed
	// cookie brings a client back to its endpoint). See docs/balancing.md.
	Balance Balance `yaml:"balance" default:"weighted_random"`
	// Pool bounds the connections to endpoints.
	Pool Pool `yaml:"pool"`
	// ProxyProtocol is the PROXY header that connections to endpoints begin with,
	// to tell them the client's address: none, v1 or v2. Each request then has a
	// connection of its own.
	ProxyProtocol string `yaml:"proxy_protocol" default:"none" enum:"none|v1|v2"`
	// Source is the local IP address of connections to endpoints; empty: the
	// system chooses.
	Source string `yaml:"source"`
	// Limits bound what endpoints may send.
	Limits ServiceLimits `yaml:"limits"`
	// Timeouts are the clocks of the service's side.
	Timeouts ServiceTimeouts `yaml:"timeouts"`
	// Retries says when a request is tried again.
	Retries ServiceRetries `yaml:"retries"`
	// Health says when an endpoint is left out.
	Health Health `yaml:"health"`
	// SlowStart is the time in which the share of an endpoint that joins others,
	// or comes back after a failure or a drain, grows from 10 % to all.
	SlowStart time.Duration `yaml:"slow_start" default:"0s" max:"24h"`
	// WarmUp is the time for which such an endpoint gets nothing, unless only
	// such ones are left; slow start follows.
	WarmUp time.Duration `yaml:"warm_up" default:"0s" max:"24h"`
}

// Endpoint is one address of a service.
type Endpoint struct {
	// Address is an IP address and a port, such as 10.1.2.3:8080, or
	// unix:/run/app.sock.
	Address string `yaml:"address"`
	// Weight is the endpoint's share of the requests relative to the others; 0
	// gets none.
	Weight int `yaml:"weight" default:"1" min:"0" max:"65535"`
	// Priority is the endpoint's tier. The lowest tier gets all requests; when
	// less than 72 % of it is usable, the next tiers take over a part of them.
	Priority int `yaml:"priority" default:"0" min:"0" max:"127"`
	// Coordinates say where the endpoint stands: cluster, region, env, version.
	Coordinates map[string]string `yaml:"coordinates"`
}

// Pool bounds the connections to endpoints. All limits are for the process.
type Pool struct {
	// MaxConnections bounds the connections to one endpoint; 0 is no limit.
	MaxConnections int `yaml:"max_connections" default:"20" min:"0"`
	// MaxWaiting bounds the requests that wait for a connection; one more is
	// answered 503 pool_exhausted. 0 is no limit.
	MaxWaiting int `yaml:"max_waiting" default:"1000" min:"0"`
	// Wait is how long a request waits for a connection (503 pool_exhausted).
	Wait time.Duration `yaml:"wait" default:"1s"`
	// Idle is how long an unused connection is kept.
	Idle time.Duration `yaml:"idle" default:"60s"`
	// MinIdle is the number of connections to each endpoint that are opened ahead
	// of need and kept, used or not. They are open before the node says that it
	// is ready, and before a new endpoint gets traffic. Not with proxy_protocol.
	MinIdle int `yaml:"min_idle" default:"0" min:"0" max:"65535"`
	// MaxAge is the age at which a connection is closed after its request; 0 is
	// no limit.
	MaxAge time.Duration `yaml:"max_age" default:"0"`
}

// ServiceLimits bound what endpoints may send.
type ServiceLimits struct {
	// Head bounds the head of a response (502 upstream_bad_response); 0 is no
	// limit of its own.
	Head Size `yaml:"head" default:"64KiB" max:"1MiB"`
}

// ServiceTimeouts are the clocks of the service's side; 0 is off.
type ServiceTimeouts struct {
	// Connect is the time to establish a connection (504 connect_timeout).
	Connect time.Duration `yaml:"connect" default:"3s"`
	// FirstByte is the time from the request's last byte to the response's
	// first (504 upstream_timeout).
	FirstByte time.Duration `yaml:"first_byte" default:"30s"`
	// Idle is the time between two pieces of a response's body.
	Idle time.Duration `yaml:"idle" default:"60s"`
}

// ServiceRetries says when a request is tried again. A request is repeated only
// while nothing of a response has reached the client, its body is still held
// whole, and its method is idempotent or nothing of it was sent.
type ServiceRetries struct {
	// Attempts is the number of extra tries; 0 is one try in all.
	Attempts int `yaml:"attempts" default:"1" min:"0" max:"8"`
	// On lists what is repeated: connect (no connection came about), reset (it
	// died before the response's head), and 5xx codes.
	On []string `yaml:"on" default:"[connect, reset]"`
	// PerTry bounds one try from its start to the response's head; 0 is off.
	PerTry time.Duration `yaml:"per_try" default:"0"`
	// Budget is the number of retries and hedges that may run at one time for
	// each hundred other exchanges of the service, on each loop; three in the
	// process are always allowed. 0 is no limit.
	Budget Percent `yaml:"budget" default:"20"`
	// Hedge is the time without a response's head after which a second try
	// begins at another endpoint, beside the first; the answer that comes first
	// is taken. It counts as one of the attempts, and is for requests that may
	// be repeated whatever was sent. 0 is off.
	Hedge time.Duration `yaml:"hedge" default:"0"`
}

// Health says when an endpoint is left out.
type Health struct {
	// Passive leaves out endpoints whose requests fail.
	Passive PassiveHealth `yaml:"passive"`
	// Active asks endpoints how they are; null: nobody asks.
	Active *ActiveHealth `yaml:"active"`
	// Panic is the percentage of usable endpoints under which health and
	// ejections are ignored, since the few left would break too; 0 is off.
	Panic Percent `yaml:"panic" default:"0"`
}

// PassiveHealth leaves out endpoints whose requests fail.
type PassiveHealth struct {
	// ConsecutiveFailures is the number of failures in a row that ejects an
	// endpoint; 0 is off.
	ConsecutiveFailures int `yaml:"consecutive_failures" default:"5" min:"0"`
	// Eject is how long an endpoint stays ejected; twice as long the second time in
	// a row and so on, up to ten times. Each such time that passes quietly makes the
	// next ejection shorter again.
	Eject time.Duration `yaml:"eject" default:"30s"`
	// MaxEjected is the percentage of a service's endpoints that may be ejected
	// at one time; the only endpoint of a service never is.
	MaxEjected Percent `yaml:"max_ejected" default:"50"`
}
