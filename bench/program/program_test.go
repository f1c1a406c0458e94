package program

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRun(t *testing.T) {
	wrong, failed := errors.New("wrong"), errors.New("failed")
	for given, want := range map[error]error{flag.ErrHelp: nil, wrong: wrong, nil: failed} {
		parse := func(args []string) (string, error) { return args[0], given }
		err := Run([]string{"a"}, parse, func(ctx context.Context, o string) error {
			assert.NoError(t, given, "it runs only with good arguments")
			assert.NoError(t, ctx.Err())
			assert.Equal(t, "a", o)
			return failed
		})
		assert.Equal(t, want, err)
	}
}
