package layout

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/codectest"
)

func TestLayoutsHoldTheContract(t *testing.T) {
	tests := []struct {
		name   string
		layout Layout
		role   codec.Role
		frames string
	}{
		{"requests", withIDs(), codec.Requests, request + oneWayFrame + ping},
		{"responses", withIDs(), codec.Responses, response + failed + pong},
		{"without ids", withoutIDs(), codec.Requests, thriftCall},
		{"the least", least(), codec.Requests, "00 02 4142"},
		{"odd", odd(KeyBytes, 8), codec.Requests, oddFrame},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kit := codectest.Kit{Protocol: mustNew(t, tt.layout), Role: tt.role, Limits: limits}
			wire := unhex(t, tt.frames)
			require.Nil(t, kit.Splits(t, wire).Err)
			kit.Truncated(t, wire)
			kit.RoundTrip(t, wire)
			require.Zero(t, kit.Allocations(t, wire))
			kit.Skips = true
			require.Nil(t, kit.Splits(t, wire).Err)
		})
	}
}

func TestALengthThatLiesCostsNoMemory(t *testing.T) {
	kit := codectest.Kit{Protocol: mustNew(t, withIDs()), Limits: limits}
	kit.Cheap(t, unhex(t, "dabb c2 00 0000000000000007 000fff00 00"), 4096)
}
