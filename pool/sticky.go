package pool

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
)

// Sizes of a token in bytes.
const (
	stickyID        = 8
	stickySignature = 16
	stickyText      = (stickyID + stickySignature) * 4 / 3 // in base64
)

// pins are the tokens of a Sticky service. They are made with the service, so that a request costs a lookup and no
// HMAC: whatever is not in here was not given out, or names an endpoint that is no member any more.
type pins struct {
	byID       map[uint64]*pin
	byEndpoint map[*Endpoint]*pin
}

// pin is one endpoint's token and its place among the groups.
type pin struct {
	endpoint     *Endpoint
	group, index int
	signature    [stickySignature]byte
	token        string
}

// newPins makes the tokens: an id that tells nothing without the secret, and the id signed, both by HMAC-SHA256 over the
// service and the endpoint, so that they are the same on every node and after a restart.
func newPins(service, secret string, groups []group) *pins {
	p := &pins{byID: map[uint64]*pin{}, byEndpoint: map[*Endpoint]*pin{}}
	mac := hmac.New(sha256.New, []byte(secret))
	sum := func(what, of string) []byte {
		mac.Reset()
		mac.Write([]byte(what + "\x00" + service + "\x00" + of))
		return mac.Sum(nil)
	}
	for g := range groups {
		for i := range groups[g].members {
			e := groups[g].members[i].endpoint
			id := sum("id", identityOf(e))[:stickyID]
			one := &pin{endpoint: e, group: g, index: i}
			copy(one.signature[:], sum("signature", string(id)))
			one.token = base64.RawURLEncoding.EncodeToString(append(id, one.signature[:]...))
			p.byID[binary.BigEndian.Uint64(id)], p.byEndpoint[e] = one, one
		}
	}
	return p
}

// StickyToken is what a client of a Sticky service gets to be sent to e again: 32 characters of base64url. Empty: the
// service is not Sticky, or e is no member with a weight. Any goroutine.
func (s *Service) StickyToken(e *Endpoint) string {
	if s.pins == nil || s.pins.byEndpoint[e] == nil {
		return ""
	}
	return s.pins.byEndpoint[e].token
}

// StickyEndpoint is the endpoint that a token was made for; nil if it is forged, of another service or secret, or of an
// endpoint that is no member any more. Any goroutine, without allocation.
func (s *Service) StickyEndpoint(token []byte) *Endpoint {
	var b [stickyID + stickySignature]byte
	if s.pins == nil || len(token) != stickyText {
		return nil
	}
	if n, err := base64.RawURLEncoding.Decode(b[:], token); err != nil || n != len(b) {
		return nil
	}
	p := s.pins.byID[binary.BigEndian.Uint64(b[:])]
	if p == nil || subtle.ConstantTimeCompare(p.signature[:], b[stickyID:]) != 1 {
		return nil
	}
	return p.endpoint
}

// pinned is the endpoint that the client was given before, whatever its tier, if it may be chosen.
func (c *choice) pinned() *Endpoint {
	if c.service.pins == nil {
		return nil
	}
	p := c.service.pins.byEndpoint[c.key.Sticky]
	if p == nil {
		return nil
	}
	c.group = &c.service.groups[p.group]
	if !c.allowed(p.index) {
		return nil
	}
	return p.endpoint
}
