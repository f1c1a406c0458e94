package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/pool"
)

func TestExplainEndpoints(t *testing.T) {
	registry := pool.NewRegistry()
	var members []pool.Member
	for i, address := range []string{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"} {
		e, err := registry.Endpoint("a", address, "")
		require.NoError(t, err)
		members = append(members, pool.Member{Endpoint: e, Weight: []int{3, 0, 1}[i]})
	}
	p, err := pool.NewService(pool.ServiceConfig{Name: "a", State: registry.Service("a"), Members: members})
	require.NoError(t, err)
	verdicts, choice := ExplainEndpoints(p, 1)
	require.Equal(t, []Verdict{
		{Endpoint: members[0].Endpoint, Usable: true, Weight: 3, Score: 0.75},
		{Endpoint: members[1].Endpoint, Why: "weight 0"},
		{Endpoint: members[2].Endpoint, Usable: true, Weight: 1, Score: 0.25},
	}, verdicts)
	require.Contains(t, []*pool.Endpoint{members[0].Endpoint, members[2].Endpoint}, choice)

	empty, err := pool.NewService(pool.ServiceConfig{Name: "b", State: registry.Service("b")})
	require.NoError(t, err)
	verdicts, choice = ExplainEndpoints(empty, 1)
	require.Empty(t, verdicts)
	require.Nil(t, choice)
}

func TestExplainEndpointsTellsEjections(t *testing.T) {
	registry := pool.NewRegistry()
	var members []pool.Member
	for _, address := range []string{"10.0.0.1:80", "10.0.0.2:80"} {
		e, err := registry.Endpoint("a", address, "")
		require.NoError(t, err)
		members = append(members, pool.Member{Endpoint: e, Weight: 1})
	}
	p, err := pool.NewService(pool.ServiceConfig{
		Name: "a", State: registry.Service("a"), Members: members,
		Passive: pool.Passive{ConsecutiveFailures: 1, Eject: 1000, MaxEjected: 50},
	})
	require.NoError(t, err)
	l := pool.NewLocal(pool.Options{Loops: 1})
	l.Start(p, members[0].Endpoint)
	l.Done(p, members[0].Endpoint, pool.Reset, 10)
	verdicts, choice := ExplainEndpoints(p, 11)
	require.Equal(t, "ejected", verdicts[0].Why)
	require.False(t, verdicts[0].Usable)
	require.Equal(t, 1.0, verdicts[1].Score, "the other one gets all")
	require.Equal(t, members[1].Endpoint, choice)
}

func TestExplainEndpointsTellsStandings(t *testing.T) {
	registry := pool.NewRegistry()
	var members []pool.Member
	for _, address := range []string{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"} {
		e, err := registry.Endpoint("a", address, "")
		require.NoError(t, err)
		members = append(members, pool.Member{Endpoint: e, Weight: 1})
	}
	cfg := pool.ServiceConfig{Name: "a", State: registry.Service("a"), Members: members}
	members[0].Endpoint.SetHealth(pool.Unhealthy, 1)
	members[1].Endpoint.SetDraining(true, 1)
	explained := func(panic float64) (whys []string, usable []bool) {
		cfg.Panic = panic
		p, err := pool.NewService(cfg)
		require.NoError(t, err)
		verdicts, _ := ExplainEndpoints(p, 2)
		for _, v := range verdicts {
			whys, usable = append(whys, v.Why), append(usable, v.Usable)
		}
		return whys, usable
	}
	whys, usable := explained(0)
	require.Equal(t, []string{"unhealthy", "draining", ""}, whys)
	require.Equal(t, []bool{false, false, true}, usable)
	_, usable = explained(60)
	require.Equal(t, []bool{true, false, true}, usable, "in a panic health does not count, but drain does")
}
