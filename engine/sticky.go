package engine

import "github.com/corelane/corelane/codec"

// rememberEndpoint sets the service's cookie, which brings the client back to the
// endpoint that has answered, unless it came with it. Response filters see it. A
// hedge that was faster leaves the client where it was: that endpoint is only slow.
func (x *Exchange) rememberEndpoint() {
	name, e := x.svc.Balance.Cookie, x.lead.endpoint
	if e == x.key.Sticky || x.lead.hedging && x.key.Sticky != nil {
		return
	}
	token := x.svc.Pool.StickyToken(e)
	if token == "" {
		return
	}
	b := append(append(append(x.w.scratch[:0], name...), '='), token...)
	b = append(b, "; Path=/; HttpOnly; SameSite=Lax"...)
	if x.Scheme == "https" {
		b = append(b, "; Secure"...)
	}
	x.resp.AddKnown(codec.SetCookie, b)
	x.w.scratch = b
}
