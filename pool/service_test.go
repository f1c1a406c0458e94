package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewServiceListsAllErrors(t *testing.T) {
	r := NewRegistry()
	st := r.Service("s")
	e, other := endpoint(t, r, "s", "127.0.0.1:1", ""), endpoint(t, r, "other", "127.0.0.1:2", "")
	for name, tt := range map[string]struct {
		cfg  ServiceConfig
		want []string
	}{
		"state":        {ServiceConfig{}, []string{"no state"}},
		"balance":      {ServiceConfig{State: st, Balance: 9}, []string{"balance 9"}},
		"no endpoint":  {ServiceConfig{State: st, Members: []Member{{}}}, []string{"member 0 has no endpoint"}},
		"foreign":      {ServiceConfig{State: st, Members: []Member{{Endpoint: other, Weight: 1}}}, []string{`"127.0.0.1:2" belongs to service "other"`}},
		"twice":        {ServiceConfig{State: st, Members: []Member{{Endpoint: e, Weight: 1}, {Endpoint: e, Weight: 1}}}, []string{"occurs twice"}},
		"weights":      {ServiceConfig{State: st, Members: []Member{{Endpoint: e, Weight: -1}}}, []string{"weight -1"}},
		"heavy":        {ServiceConfig{State: st, Members: []Member{{Endpoint: e, Weight: maxWeight + 1}}}, []string{"weight 1048577"}},
		"many":         {ServiceConfig{State: st, Members: make([]Member, maxMembers+1)}, []string{"65537 members"}},
		"limits":       {ServiceConfig{State: st, Limits: Limits{Wait: -1}}, []string{"limit is negative"}},
		"passive":      {ServiceConfig{State: st, Passive: Passive{Eject: -1}}, []string{"passive limit is negative"}},
		"share":        {ServiceConfig{State: st, Passive: Passive{MaxEjected: 101}}, []string{"max_ejected 101"}},
		"two together": {ServiceConfig{Balance: 9, Members: []Member{{Endpoint: e, Weight: -2}}}, []string{"no state", "balance 9", "weight -2"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.cfg.Name = "s"
			_, err := NewService(tt.cfg)
			require.Error(t, err)
			assert.ErrorContains(t, err, `service "s"`)
			for _, want := range tt.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestNewServiceSetsLimits(t *testing.T) {
	w := newWorld(t, 1)
	five, e := w.limited(Limits{MaxConnections: 5})
	assert.EqualValues(t, 5, e.Limit())
	w.limited(Limits{MaxConnections: 2, Wait: time.Second})
	assert.EqualValues(t, 2, e.Limit())
	five.Activate() // the second one was given up
	assert.EqualValues(t, 5, e.Limit())
}

func TestNewServiceKeepsItsOwnMembers(t *testing.T) {
	w := newWorld(t, 1)
	members := []Member{{Endpoint: endpoint(t, w.registry, "s", "127.0.0.1:1", ""), Weight: 3}}
	s, err := NewService(ServiceConfig{Name: "s", State: w.registry.Service("s"), Members: members})
	require.NoError(t, err)
	members[0].Weight = 9
	assert.Equal(t, 3, s.Members[0].Weight)
}

func TestNames(t *testing.T) {
	assert.Equal(t, "weighted_random", WeightedRandom.String())
	assert.Equal(t, "round_robin", RoundRobin.String())
	assert.Equal(t, "least_requests", LeastRequests.String())
	assert.Equal(t, "unknown", Balance(99).String())
	assert.Equal(t, "failed_5xx", Failed5xx.String())
	assert.Equal(t, "unknown", Outcome(99).String())
	assert.Equal(t, "yield", ReasonYield.String())
	assert.Equal(t, "unknown", CloseReason(99).String())
}
