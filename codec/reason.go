package codec

// Reason says why the gateway answered, cut or refused an exchange by itself.
// It appears in the log, the metrics and the body of local answers.
type Reason uint8

// The reasons, grouped by the status they answer with.
const (
	ReasonNone Reason = iota

	BadRequest    // the head breaks the grammar
	BadFraming    // the extent of the body is not certain
	AmbiguousPath // the path has more than one reading

	Unauthenticated
	BadSignature
	Replayed
	ExpiredToken

	Forbidden
	IPDenied

	RouteNotFound
	MethodNotAllowed

	RequestTimeout
	BodyTooLarge
	URITooLong
	ExpectationFailed
	HeadersTooLarge
	RateLimited

	InternalError
	NotImplemented
	VersionNotSupported

	UpstreamRefused
	UpstreamReset
	UpstreamBadResponse
	UpstreamTLS

	NoEndpoint
	PoolExhausted
	CircuitOpen
	Overloaded
	Draining
	Degraded
	Maintenance
	FilterUnavailable

	ConnectTimeout
	UpstreamTimeout
	TotalTimeout

	ClientAborted // the client left; log only

	reasonCount
)

// StatusClientAborted stands in the log for an exchange whose client left. It
// is never sent.
const StatusClientAborted = 499

var reasons = [reasonCount]struct {
	token  string
	status int
}{
	BadRequest:          {"bad_request", 400},
	BadFraming:          {"bad_framing", 400},
	AmbiguousPath:       {"ambiguous_path", 400},
	Unauthenticated:     {"unauthenticated", 401},
	BadSignature:        {"bad_signature", 401},
	Replayed:            {"replayed", 401},
	ExpiredToken:        {"expired_token", 401},
	Forbidden:           {"forbidden", 403},
	IPDenied:            {"ip_denied", 403},
	RouteNotFound:       {"route_not_found", 404},
	MethodNotAllowed:    {"method_not_allowed", 405},
	RequestTimeout:      {"request_timeout", 408},
	BodyTooLarge:        {"body_too_large", 413},
	URITooLong:          {"uri_too_long", 414},
	ExpectationFailed:   {"expectation_failed", 417},
	HeadersTooLarge:     {"headers_too_large", 431},
	RateLimited:         {"rate_limited", 429},
	InternalError:       {"internal_error", 500},
	NotImplemented:      {"not_implemented", 501},
	VersionNotSupported: {"version_not_supported", 505},
	UpstreamRefused:     {"upstream_refused", 502},
	UpstreamReset:       {"upstream_reset", 502},
	UpstreamBadResponse: {"upstream_bad_response", 502},
	UpstreamTLS:         {"upstream_tls", 502},
	NoEndpoint:          {"no_endpoint", 503},
	PoolExhausted:       {"pool_exhausted", 503},
	CircuitOpen:         {"circuit_open", 503},
	Overloaded:          {"overloaded", 503},
	Draining:            {"draining", 503},
	Degraded:            {"degraded", 503},
	Maintenance:         {"maintenance", 503},
	FilterUnavailable:   {"filter_unavailable", 503},
	ConnectTimeout:      {"connect_timeout", 504},
	UpstreamTimeout:     {"upstream_timeout", 504},
	TotalTimeout:        {"total_timeout", 504},
	ClientAborted:       {"client_aborted", StatusClientAborted},
}

// String returns the token, such as "route_not_found"; empty for ReasonNone
// and for values out of range. Any goroutine may call it.
func (r Reason) String() string {
	if r >= reasonCount {
		return ""
	}
	return reasons[r].token
}

// Status returns the HTTP status of a local answer with this reason, 0 for
// ReasonNone and for values out of range. Any goroutine may call it.
func (r Reason) Status() int {
	if r >= reasonCount {
		return 0
	}
	return reasons[r].status
}

// Reasons lists all reasons but ReasonNone in their order, for registering
// metrics. It allocates; any goroutine may call it.
func Reasons() []Reason {
	all := make([]Reason, 0, reasonCount-1)
	for r := ReasonNone + 1; r < reasonCount; r++ {
		all = append(all, r)
	}
	return all
}

// Error is what a decoder reports. All values are static, so that refusing a
// message costs nothing; compare the Reason, show the Detail.
type Error struct {
	// Reason decides status and token of the answer.
	Reason Reason
	// Detail is one lower-case clause for people, without received bytes.
	Detail string
}

// Error returns the token and the detail.
func (e *Error) Error() string {
	return e.Reason.String() + ": " + e.Detail
}
