package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReasonsHaveTokensAndStatuses(t *testing.T) {
	tokens := map[string]bool{}
	for _, r := range Reasons() {
		assert.Regexp(t, "^[a-z]+(_[a-z]+)*$", r.String())
		assert.False(t, tokens[r.String()], "%s twice", r)
		tokens[r.String()] = true
		assert.GreaterOrEqual(t, r.Status(), 400)
		if r != ClientAborted {
			assert.NotEmpty(t, StatusText(r.Status()), r.String())
		}
	}
	assert.Len(t, tokens, int(reasonCount)-1)
	for r, want := range map[Reason]int{
		BadFraming: 400, Replayed: 401, IPDenied: 403, RouteNotFound: 404, MethodNotAllowed: 405, RequestTimeout: 408,
		BodyTooLarge: 413, URITooLong: 414, ExpectationFailed: 417, RateLimited: 429, HeadersTooLarge: 431,
		InternalError: 500, NotImplemented: 501, UpstreamBadResponse: 502, NoEndpoint: 503, TotalTimeout: 504,
		VersionNotSupported: 505, ClientAborted: 499, ReasonNone: 0, reasonCount: 0,
	} {
		assert.Equal(t, want, r.Status(), r.String())
	}
	assert.Equal(t, "route_not_found", RouteNotFound.String())
	assert.Empty(t, ReasonNone.String())
	assert.Empty(t, Reason(255).String())
}

func TestErrorText(t *testing.T) {
	err := &Error{Reason: BadFraming, Detail: "two lengths"}
	assert.EqualError(t, err, "bad_framing: two lengths")
}

func TestStatusText(t *testing.T) {
	assert.Equal(t, "Not Found", StatusText(404))
	for _, code := range []int{-1, 0, 299, 512, 9999} {
		assert.Empty(t, StatusText(code))
	}
}
