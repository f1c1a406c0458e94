package reactor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseCPUList(t *testing.T) {
	got, err := ParseCPUList("0,2, 4-7")
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 4, 5, 6, 7}, got)
	for in, want := range map[string]string{
		"":      "is no CPU number",
		"a":     "is no CPU number",
		"1-":    "is no CPU number",
		"-1":    "is no CPU number",
		"9999":  "is no CPU number",
		"3-1":   "runs backwards",
		"1,0-2": "1 is named twice",
	} {
		_, err := ParseCPUList(in)
		require.ErrorContains(t, err, want, in)
	}
}

func FuzzParseCPUList(f *testing.F) {
	for _, s := range []string{"0", "0,2,4-7", "1-", "3-1", "0-4095"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := ParseCPUList(s)
		if err != nil {
			return
		}
		require.NotEmpty(t, cpus)
		require.LessOrEqual(t, len(cpus), maxCPU+1)
	})
}

func FuzzParseAddr(f *testing.F) {
	for _, s := range []string{"1.2.3.4:80", "[::1]:80", "unix:/x", "host:80", "[fe80::1%2]:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddr(s)
		if err != nil {
			return
		}
		again, err := ParseAddr(a.String())
		require.NoError(t, err)
		require.Equal(t, a, again)
		require.NotNil(t, a.sockaddr())
	})
}

func TestQuotaCPUs(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"none": {nil, 0},
		"v2": {map[string]string{
			"proc/self/cgroup":            "0::/a/b\n",
			"sys/fs/cgroup/a/b/cpu.max":   "max 100000\n",
			"sys/fs/cgroup/a/cpu.max":     "150000 100000\n",
			"sys/fs/cgroup/other/cpu.max": "1 100000\n",
		}, 1.5},
		"v2 nested, the stricter": {map[string]string{
			"proc/self/cgroup":          "0::/a/b\n",
			"sys/fs/cgroup/a/b/cpu.max": "50000 100000\n",
			"sys/fs/cgroup/a/cpu.max":   "200000 100000\n",
		}, 0.5},
		"v1": {map[string]string{
			"proc/self/cgroup":                      "5:memory:/m\n4:cpu,cpuacct:/g\nnonsense\n",
			"sys/fs/cgroup/cpu/g/cpu.cfs_quota_us":  "300000\n",
			"sys/fs/cgroup/cpu/g/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":    "-1\n",
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, content := range tc.files {
				path := filepath.Join(root, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			}
			require.InDelta(t, tc.want, quotaCPUs(root), 1e-9)
		})
	}
	require.GreaterOrEqual(t, QuotaCPUs(), 0.0)
}

func TestKeepOff(t *testing.T) {
	cpus := CPUs()
	if len(cpus) < 2 {
		return // nothing to choose from
	}
	require.ErrorContains(t, KeepOff(cpus), "take all CPUs")
	require.Equal(t, cpus, CPUs())
	require.NoError(t, KeepOff(nil), "keeps everything as it is")
	require.Equal(t, cpus, CPUs())
}
