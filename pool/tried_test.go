package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTriedRemembersTheLastFew(t *testing.T) {
	var none *Tried
	assert.False(t, none.Has(&Endpoint{}))
	assert.Zero(t, none.Len())

	var tried Tried
	all := make([]Endpoint, MaxTried+2)
	for i := range all {
		assert.False(t, tried.Has(&all[i]))
		tried.Add(&all[i])
		assert.True(t, tried.Has(&all[i]))
		assert.Equal(t, min(i+1, MaxTried), tried.Len())
	}
	assert.False(t, tried.Has(&all[1]), "the oldest are forgotten")
	assert.True(t, tried.Has(&all[2]))
	tried.Reset()
	assert.Zero(t, tried.Len())
	assert.False(t, tried.Has(&all[2]))
}
