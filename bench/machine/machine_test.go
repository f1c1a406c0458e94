package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestThis(t *testing.T) {
	f := This("load on CPU 1")
	assert.Positive(t, f.CPUs)
	assert.NotEmpty(t, f.Kernel)
	assert.Contains(t, f.String(), "kernel "+f.Kernel)
	assert.Contains(t, f.String(), "load on CPU 1")
	assert.Equal(t, "23.5 GiB", gibibytes("24689012 kB"))
	assert.Equal(t, "odd", gibibytes("odd"))
	assert.NotEmpty(t, procField("/proc/cpuinfo", "processor"))
	assert.Empty(t, procField("/does/not/exist", "a"))
}
