package control

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard decides who may call the admin server.
type guard struct {
	// loopback tells that only this machine can reach the server.
	loopback bool
	token    [sha256.Size]byte
}

// newGuard makes the guard of a server that is bound to addr.
func newGuard(addr net.Addr, token string) guard {
	return guard{loopback: isLoopbackHost(addr.String()), token: sha256.Sum256([]byte(token))}
}

// newToken draws a token.
func newToken() string { return rand.Text() }

// check returns why the request is refused, or nil. Calls that change the node
// need the token, and on an address that others can reach all calls do.
func (g *guard) check(r *http.Request, changes bool) *apiError {
	// A name that leads to 127.0.0.1 lets any web page talk to the server from
	// the operator's browser: only names that mean this machine are answered.
	if g.loopback && !isLoopbackHost(r.Host) {
		return &apiError{status: http.StatusMisdirectedRequest, Error: "foreign_host", Message: "Host must be localhost or a loopback address"}
	}
	if (changes || !g.loopback) && !g.knows(r.Header.Get("Authorization")) {
		return &apiError{status: http.StatusUnauthorized, Error: "unauthenticated", Message: "this call needs Authorization: Bearer with the admin token"}
	}
	return nil
}

// knows compares the token in a time that does not depend on it.
func (g *guard) knows(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		return false
	}
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(got[:], g.token[:]) == 1
}

// isLoopbackHost tells whether a host, with or without a port, means this
// machine.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
