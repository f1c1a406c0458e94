package control

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config"
)

func TestPlacement(t *testing.T) {
	four := machine{cpus: []int{0, 1, 4, 5}, count: 4}
	quota := machine{cpus: []int{0, 1, 4, 5}, count: 4, quota: 1.5}
	blind := machine{count: 8}
	tests := []struct {
		name  string
		loops config.Loops
		pin   config.Pin
		m     machine
		want  placement
	}{
		{"all CPUs", 0, "auto", four, placement{4, []int{0, 1, 4, 5}, false, 8}},
		{"fewer than CPUs", 2, "auto", four, placement{2, []int{0, 1}, true, 6}},
		{"one", 1, "auto", four, placement{1, []int{0}, true, 4}},
		{"quota, rounded up", 0, "auto", quota, placement{2, []int{0, 1}, true, 6}},
		{"more than CPUs", 6, "auto", four, placement{6, nil, false, 11}},
		{"not pinned", 2, "none", four, placement{2, nil, false, 6}},
		{"list", 2, "5,1", four, placement{2, []int{5, 1}, true, 6}},
		{"list says how many", 0, "4-5", four, placement{2, []int{4, 5}, true, 6}},
		{"longer list", 1, "4-5", four, placement{1, []int{4}, true, 4}},
		{"system does not tell", 0, "auto", blind, placement{8, nil, false, 14}},
		{"list there", 2, "6,7", blind, placement{2, []int{6, 7}, true, 6}},
		{"very large machine", 0, "none", machine{count: 200}, placement{64, nil, false, 88}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := place(&config.Engine{Loops: tt.loops, Pin: tt.pin}, tt.m)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestPlacementErrors(t *testing.T) {
	m := machine{cpus: []int{0, 1}, count: 2}
	_, err := place(&config.Engine{Loops: 2, Pin: "0"}, m)
	assert.EqualError(t, err, "engine.pin names 1 CPUs for 2 loops")
	_, err = place(&config.Engine{Loops: 1, Pin: "3"}, m)
	assert.EqualError(t, err, "engine.pin names CPU 3, which the process may not use")
}

func TestThisMachine(t *testing.T) {
	assert.GreaterOrEqual(t, thisMachine().count, 1)
	assert.Positive(t, memoryLimit())
}

func TestMemoryLimit(t *testing.T) {
	const meminfo = "MemTotal:        1000 kB\nMemFree: 5 kB\n"
	tests := []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing is told", nil, 0},
		{"machine", map[string]string{"proc/meminfo": meminfo}, 1000 << 10},
		{"nonsense", map[string]string{"proc/meminfo": "MemTotal: many kB\n"}, 0},
		{"no limit", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n",
		}, 1000 << 10},
		{"group", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4096\n",
		}, 4096},
		{"group above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "8192\n",
		}, 8192},
		{"root of a container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "2048\n",
		}, 2048},
		{"version 1", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "bad\n5:cpu:/a\n4:memory:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "16384\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 16384},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tt.files {
				path := filepath.Join(root, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			assert.Equal(t, tt.want, memoryLimitAt(root))
		})
	}
}
