package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func endpoint(t *testing.T, r *Registry, service, address, identity string) *Endpoint {
	t.Helper()
	e, err := r.Endpoint(service, address, identity)
	require.NoError(t, err)
	return e
}

func TestEndpointIsOneObjectPerKey(t *testing.T) {
	r := NewRegistry()
	a := endpoint(t, r, "s", "127.0.0.1:80", "")
	assert.Same(t, a, endpoint(t, r, "s", "127.0.0.1:80", ""))
	assert.NotSame(t, a, endpoint(t, r, "s", "127.0.0.1:80", "tls"))
	assert.NotSame(t, a, endpoint(t, r, "other", "127.0.0.1:80", ""))
	assert.Same(t, endpoint(t, r, "s", "[0:0::1]:80", ""), endpoint(t, r, "s", "[::1]:80", ""), "another spelling of the same address")
	assert.Len(t, r.Endpoints(), 4)

	assert.Equal(t, "s", a.Service())
	assert.Equal(t, "127.0.0.1:80", a.Address())
	assert.Equal(t, "127.0.0.1:80", a.Addr().String())
	assert.Empty(t, a.Identity())
	assert.Zero(t, a.Limit())
	assert.Zero(t, a.Failures())
	assert.Zero(t, a.EjectedUntil())
}

func TestEndpointErrorNamesAddress(t *testing.T) {
	for _, address := range []string{"", "localhost:80", "127.0.0.1", "127.0.0.1:99999"} {
		_, err := NewRegistry().Endpoint("orders", address, "")
		require.Error(t, err, address)
		assert.ErrorContains(t, err, `"`+address+`"`)
		assert.ErrorContains(t, err, `"orders"`)
	}
}

func TestEndpointsAreSorted(t *testing.T) {
	r := NewRegistry()
	c := endpoint(t, r, "b", "127.0.0.1:1", "")
	b := endpoint(t, r, "a", "127.0.0.1:2", "x")
	a := endpoint(t, r, "a", "127.0.0.1:2", "")
	assert.Equal(t, []*Endpoint{a, b, c}, r.Endpoints())
}

func TestPublishRetiresAndRevives(t *testing.T) {
	r := NewRegistry()
	a, b := endpoint(t, r, "s", "127.0.0.1:1", ""), endpoint(t, r, "s", "127.0.0.1:2", "")
	r.Publish([]*Endpoint{a, b})
	assert.False(t, a.Retired() || b.Retired())
	r.Publish([]*Endpoint{a})
	assert.False(t, a.Retired())
	assert.True(t, b.Retired())
	assert.Same(t, b, endpoint(t, r, "s", "127.0.0.1:2", ""), "a retired endpoint lives until it is reclaimed")
	r.Publish([]*Endpoint{a, b})
	assert.False(t, b.Retired())
}

func TestReclaimFreesSlotsOfUnconnectedRetired(t *testing.T) {
	r := NewRegistry()
	a, b := endpoint(t, r, "s", "127.0.0.1:1", ""), endpoint(t, r, "s", "127.0.0.1:2", "")
	assert.Equal(t, 0, a.Slot())
	assert.Equal(t, 1, b.Slot())
	require.True(t, b.reserve())
	r.Publish(nil)
	r.Reclaim()
	assert.Equal(t, []*Endpoint{b}, r.Endpoints(), "b still has a connection")

	c := endpoint(t, r, "s", "127.0.0.1:3", "")
	assert.Equal(t, 0, c.Slot(), "a's slot is used again")
	b.conns.Add(-1)
	r.Reclaim()
	assert.Equal(t, []*Endpoint{c}, r.Endpoints())
	assert.NotSame(t, b, endpoint(t, r, "s", "127.0.0.1:2", ""))
}

func TestReclaimSparesWhatIsBeingCompiled(t *testing.T) {
	r := NewRegistry()
	a := endpoint(t, r, "s", "127.0.0.1:1", "")
	st := r.Service("s")
	r.Publish(nil) // a is retired

	require.Same(t, a, endpoint(t, r, "s", "127.0.0.1:1", "")) // the next generation wants it again
	require.Same(t, st, r.Service("s"))
	r.Reclaim() // of the generation before
	r.Publish([]*Endpoint{a})
	assert.False(t, a.Retired())
	assert.Same(t, a, endpoint(t, r, "s", "127.0.0.1:1", ""))
	assert.Same(t, st, r.Service("s"))
}

func TestServiceStatesAreDenseAndReclaimed(t *testing.T) {
	r := NewRegistry()
	a, b := r.Service("a"), r.Service("b")
	assert.Same(t, a, r.Service("a"))
	assert.Equal(t, []int{0, 1}, []int{a.Slot(), b.Slot()})
	assert.Equal(t, "a", a.Name())

	e := endpoint(t, r, "b", "127.0.0.1:1", "")
	require.True(t, a.enter(0))
	r.Publish([]*Endpoint{e})
	r.Reclaim()
	assert.Same(t, a, r.Service("a"), "somebody waits")
	a.leave()
	r.Publish([]*Endpoint{e})
	r.Reclaim()
	assert.Same(t, b, r.Service("b"), "it has an endpoint")
	assert.Equal(t, 0, r.Service("c").Slot(), "a's slot is used again")
}
