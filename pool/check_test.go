package pool

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestStatuses(t *testing.T) {
	s := Statuses{}.With(200, 399).With(503, 503)
	for code := -1; code < 1000; code++ {
		assert.Equal(t, code >= 200 && code < 400 || code == 503, s.Has(code), code)
	}
	s = Statuses{}.With(-5, 5000)
	assert.True(t, s.Has(100) && s.Has(599))
	assert.False(t, s.Has(99) || s.Has(600))
	assert.Equal(t, "100-599", s.String())
	assert.Equal(t, "200,204-206,599", Statuses{}.With(204, 206).With(200, 200).With(599, 599).String())
	assert.Empty(t, Statuses{}.String())
}

func TestCheckKindNames(t *testing.T) {
	assert.Equal(t, "http", CheckHTTP.String())
	assert.Equal(t, "tcp", CheckTCP.String())
}

func TestNewServiceChecksHealth(t *testing.T) {
	good := Check{Interval: 1, Timeout: 1, Rise: 1, Fall: 1}
	for name, tt := range map[string]struct {
		change func(cfg *ServiceConfig)
		want   string
	}{
		"warm-up":    {func(cfg *ServiceConfig) { cfg.WarmUp = -time.Second }, "a warm-up is negative"},
		"slow start": {func(cfg *ServiceConfig) { cfg.SlowStart = -1 }, "a warm-up is negative"},
		"panic":      {func(cfg *ServiceConfig) { cfg.Panic = 100.5 }, "panic 100.5 is not in 0..100"},
		"no panic":   {func(cfg *ServiceConfig) { cfg.Panic = math.NaN() }, "panic NaN"},
		"interval":   {func(cfg *ServiceConfig) { cfg.Check.Interval = 0 }, "a check needs an interval"},
		"timeout":    {func(cfg *ServiceConfig) { cfg.Check.Timeout = 0 }, "a check needs an interval"},
		"rise":       {func(cfg *ServiceConfig) { cfg.Check.Rise = 0 }, "a check needs an interval"},
		"fall":       {func(cfg *ServiceConfig) { cfg.Check.Fall = 0 }, "a check needs an interval"},
	} {
		t.Run(name, func(t *testing.T) {
			check := good
			cfg := ServiceConfig{Name: "s", State: NewRegistry().Service("s"), Check: &check}
			_, err := NewService(cfg)
			assert.NoError(t, err)
			tt.change(&cfg)
			_, err = NewService(cfg)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
