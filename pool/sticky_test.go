package pool

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sticky(s *Service, member int) Key { return Key{Sticky: s.Members[member].Endpoint} }

func TestATokenNamesItsEndpoint(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: Sticky}, 1, 2, 0)
	for _, m := range s.Members[:2] {
		token := s.StickyToken(m.Endpoint)
		assert.Len(t, token, stickyText)
		assert.Same(t, m.Endpoint, s.StickyEndpoint([]byte(token)))
		plain, err := base64.RawURLEncoding.DecodeString(token)
		require.NoError(t, err)
		assert.NotContains(t, string(plain), "127.0.0.1")
	}
	assert.Empty(t, s.StickyToken(s.Members[2].Endpoint), "no weight, no clients")
	assert.Empty(t, s.StickyToken(&Endpoint{}))
}

func TestTokensAreTheSameInEveryProcess(t *testing.T) {
	w, other := newWorld(t, 1), newWorld(t, 1)
	a, b := w.service(ServiceConfig{Balance: Sticky}, 1, 1), other.service(ServiceConfig{Balance: Sticky}, 5, 0, 1)
	assert.Equal(t, a.StickyToken(a.Members[0].Endpoint), b.StickyToken(b.Members[0].Endpoint))
	assert.Equal(t, "ehaYaJXcz3sqKYbhduSI6-1y4CYJKUtZ", a.StickyToken(a.Members[0].Endpoint), "and in the next version")
	again := w.service(ServiceConfig{Balance: Sticky}, 1, 1)
	assert.Same(t, a.Members[1].Endpoint, again.StickyEndpoint([]byte(a.StickyToken(a.Members[1].Endpoint))), "a new generation")
}

func TestWhatIsNoTokenOfTheServiceIsNone(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: Sticky}, 1, 1)
	token := s.StickyToken(s.Members[0].Endpoint)
	second := s.StickyToken(s.Members[1].Endpoint)
	foreign := w.service(ServiceConfig{Name: "foreign", Balance: Sticky}, 1)
	secret, err := NewService(ServiceConfig{
		Name: "s", State: s.State, Balance: Sticky, Secret: "another", Members: s.Members,
	})
	require.NoError(t, err)
	plain := w.service(ServiceConfig{}, 1)
	fewer := w.service(ServiceConfig{Balance: Sticky}, 0, 1)
	for name, value := range map[string]string{
		"empty": "", "short": token[1:], "long": token + "A", "no base64": strings.Repeat("!", stickyText),
		"line breaks": "\r\n" + token[2:], "other case": strings.ToLower(token),
		"id of one, signature of the other": mixed(token, second, stickyID),
		"but for its last byte":             mixed(token, second, stickyID+stickySignature-1),
		"of another service":                foreign.StickyToken(foreign.Members[0].Endpoint),
		"of another secret":                 secret.StickyToken(s.Members[0].Endpoint),
	} {
		assert.Nil(t, s.StickyEndpoint([]byte(value)), name)
	}
	assert.Nil(t, plain.StickyEndpoint([]byte(token)), "the service is not sticky")
	assert.Nil(t, fewer.StickyEndpoint([]byte(token)), "the endpoint is no member any more")
	assert.NotNil(t, fewer.StickyEndpoint([]byte(second)))
}

// mixed is a token of the first n bytes of one and the others of another.
func mixed(one, other string, n int) string {
	a, _ := base64.RawURLEncoding.DecodeString(one)
	b, _ := base64.RawURLEncoding.DecodeString(other)
	return base64.RawURLEncoding.EncodeToString(append(a[:n], b[n:]...))
}

func FuzzStickyEndpoint(f *testing.F) {
	w := newWorld(f, 1)
	s := w.service(ServiceConfig{Balance: Sticky}, 1, 1)
	tokens := map[string]*Endpoint{}
	for _, m := range s.Members {
		tokens[s.StickyToken(m.Endpoint)] = m.Endpoint
		f.Add([]byte(s.StickyToken(m.Endpoint)))
	}
	f.Add([]byte("\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		assert.Equal(t, tokens[string(b)], s.StickyEndpoint(b))
	})
}

func TestAClientStaysWithItsEndpoint(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: Sticky, Passive: ejecting}, 1000, 1, 1)
	pick := func(k Key, tried *Tried) *Endpoint {
		e, err := w.locals[0].Pick(s, k, tried, w.now)
		require.NoError(t, err)
		return e
	}
	mine := s.Members[2].Endpoint
	for range 50 {
		require.Same(t, mine, pick(sticky(s, 2), nil))
	}
	var tried Tried
	tried.Add(mine)
	assert.NotSame(t, mine, pick(sticky(s, 2), &tried), "a retry goes elsewhere")
	w.eject(s, 0, 1)
	assert.Same(t, mine, pick(sticky(s, 2), &tried), "unless there is nobody")
	w.eject(s, 2)
	_, err := w.locals[0].Pick(s, sticky(s, 2), nil, w.now)
	require.ErrorIs(t, err, ErrNoEndpoint)

	gone := Key{Sticky: &Endpoint{}}
	w.now += second
	assert.NotNil(t, pick(gone, nil), "an endpoint that is no member is ignored")
	random := w.service(ServiceConfig{Name: "random"}, 1, 1)
	e, err := w.locals[0].Pick(random, Key{Sticky: random.Members[0].Endpoint}, nil, w.now)
	require.NoError(t, err)
	assert.NotNil(t, e)
}

func TestStickinessGoesBeforeTiers(t *testing.T) {
	w := newWorld(t, 1)
	members := append(w.members(1, Member{Weight: 1}), w.members(2, Member{Weight: 1, Priority: 1})[1:]...)
	s := w.service(ServiceConfig{Balance: Sticky, Members: members})
	e, err := w.locals[0].Pick(s, sticky(s, 1), nil, w.now)
	require.NoError(t, err)
	assert.Same(t, s.Members[1].Endpoint, e)
	assert.Equal(t, []int{50, 0}, w.counts(0, s, nil, 50))
}

func TestVerifyingATokenDoesNotAllocate(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: Sticky}, 1, 1)
	token := []byte(s.StickyToken(s.Members[0].Endpoint))
	forged := [][]byte{[]byte(strings.Repeat("A", stickyText)), []byte(strings.Repeat("!", stickyText))}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		e := s.StickyEndpoint(token)
		_, _ = w.locals[0].Pick(s, Key{Sticky: e}, nil, w.now)
		_ = s.StickyToken(e)
		for _, b := range forged {
			_ = s.StickyEndpoint(b)
		}
	}))
}
