//go:build !linux

package reactor

import "errors"

// There is no splice(2): RelayTo always says no.

func sysSplice(_, _, _ int) (int, error) { return 0, errors.ErrUnsupported }
func newPipe() (pipe, bool)              { return pipe{}, false }
func (pipe) close()                      {}
