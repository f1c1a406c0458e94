package filters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/filters"
)

type (
	lenient   struct{}
	forgetful struct{}
)

func (*lenient) OnResponseBody(*filters.Context, []byte, bool) filters.Verdict {
	return filters.Continue
}

func (*forgetful) OnRequest(*filters.Context) {}

// A method that the engine would never call must not look as if it were.
func TestRegisterRefusesAPhaseOfAnotherShape(t *testing.T) {
	for want, f := range map[string]any{
		`filters: "odd": its method OnResponseBody must be func(*filters.Context, []uint8, bool)`: &lenient{},
		`filters: "odd": its method OnRequest must be func(*filters.Context) filters.Verdict`:     &forgetful{},
	} {
		assert.PanicsWithError(t, want, func() {
			filters.Register(filters.Kind{Name: "odd", New: func() any { return f }})
		})
		_, known := filters.Lookup("odd")
		assert.False(t, known)
	}
}
