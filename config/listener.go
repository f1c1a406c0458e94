package config

import "time"

// Listener is an address that clients connect to.
type Listener struct {
	// Name identifies the listener in logs and metrics.
	Name string `yaml:"name"`
	// Address is host and port, such as 0.0.0.0:8080 or [::]:8080 (IPv4 too), or
	// unix:/run/corelane.sock.
	Address string `yaml:"address"`
	// Protocol is what clients speak: http, frame, dubbo, another message
	// protocol that is compiled in (`corelane protocols` lists them), or tcp:
	// connections are passed through unread. A change needs a restart. See
	// docs/protocols.md.
	Protocol string `yaml:"protocol" default:"http" enum:"http|tcp" words:"protocols"`
	// Service gets the connections of a tcp listener that no name of sni takes;
	// empty: these are refused. See docs/tcp.md.
	Service string `yaml:"service"`
	// SNI sends connections of TLS on by the server name that the client asks for,
	// such as {"*.example.com": blog}. They are not decrypted.
	SNI map[string]string `yaml:"sni"`
	// Layout describes the private protocol that clients speak instead of the
	// product's own frames; null: these. A change needs a restart. See
	// docs/layouts.md.
	Layout *Layout `yaml:"layout"`
	// TrustedProxies are the networks (CIDR) of peers whose X-Forwarded-* and
	// identity fields are believed; unix stands for peers on a unix socket.
	TrustedProxies []string `yaml:"trusted_proxies"`
	// ProxyProtocol says that every connection begins with a PROXY header (version 1
	// or 2), whose source is the peer from then on; without one it is closed.
	// Whoever can connect can claim any address: let balancers only connect.
	ProxyProtocol bool `yaml:"proxy_protocol" default:"false"`
	// Paths says what becomes of paths that servers read in different ways.
	Paths Paths `yaml:"paths"`
	// Limits bound what one client may send.
	Limits ListenerLimits `yaml:"limits"`
	// Timeouts are the clocks of the client's side.
	Timeouts ListenerTimeouts `yaml:"timeouts"`
	// Filters run before routing, for every request of this listener.
	Filters []*Filter `yaml:"filters"`
}

// Paths says what becomes of paths that servers read in different ways.
type Paths struct {
	// Dangerous is for paths with %2f, %5c, %00 or a semicolon: reject (400
	// ambiguous_path) or keep.
	Dangerous string `yaml:"dangerous" default:"reject" enum:"reject|keep"`
	// Slashes is for paths with //: keep or merge.
	Slashes string `yaml:"slashes" default:"keep" enum:"keep|merge"`
}

// ListenerLimits bound what one client may send; 0 is no limit.
type ListenerLimits struct {
	// RequestLine bounds the first line of a request (414).
	RequestLine Size `yaml:"request_line" default:"8KiB" max:"1MiB"`
	// Headers bounds all field lines of a request together (431).
	Headers Size `yaml:"headers" default:"64KiB" max:"1MiB"`
	// HeaderCount bounds the number of fields of a request (431).
	HeaderCount int `yaml:"header_count" default:"200" min:"0" max:"10000"`
	// Body bounds the body of a request (413).
	Body Size `yaml:"body" default:"0"`
	// KeepaliveRequests bounds the requests of one connection, which is closed
	// after the last.
	KeepaliveRequests int `yaml:"keepalive_requests" default:"0" min:"0"`
	// Connections bounds the listener's clients, in the whole process; over it
	// connections are accepted, closed and counted.
	Connections int `yaml:"connections" default:"0" min:"0"`
}

// ListenerTimeouts are the clocks of the client's side; 0 is off.
type ListenerTimeouts struct {
	// Head is the time for a request's head, from accept or the first byte of a
	// next request (408).
	Head time.Duration `yaml:"head" default:"10s"`
	// ReadIdle is the time between two pieces of a request's body (408).
	ReadIdle time.Duration `yaml:"read_idle" default:"60s"`
	// WriteIdle is the time in which the client must take something of what
	// waits for it, or is reset. The endpoints of a tcp listener have it too.
	WriteIdle time.Duration `yaml:"write_idle" default:"30s"`
	// Keepalive is the time between a response and the next request.
	Keepalive time.Duration `yaml:"keepalive" default:"300s"`
	// TunnelIdle is the time without a byte in either direction of a tunnel,
	// such as a WebSocket.
	TunnelIdle time.Duration `yaml:"tunnel_idle" default:"1h"`
	// MinBodyRate is the least rate of a request's body in bytes per second, such
	// as 1KiB, on average over each 5 s in which the gateway reads it (408).
	MinBodyRate Size `yaml:"min_body_rate" default:"0"`
}
