package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/program"
	"github.com/corelane/corelane/bench/wire"
)

// anyCPU lets a run work on a machine with one processor as well.
var anyCPU = []string{"-proxy-cpu=-1", "-origin-cpu=-1", "-load-cpu=-1", "-rounds=1", "-duration=1s", "-streams=8"}

// TestRun is a whole run, as short as it can be.
func TestRun(t *testing.T) {
	gateway := filepath.Join(t.TempDir(), "corelane")
	require.NoError(t, process.Build(t.Context(), gateway, "../../cmd/corelane"))
	lanes, out := laneNames(), t.TempDir()
	var page bytes.Buffer
	require.NoError(t, command(append([]string{"-lanes", strings.Join(lanes, ","), "-gateway", gateway, "-out", out}, anyCPU...), &page))
	found, err := filepath.Glob(filepath.Join(out, "*-messages.json"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	b, err := os.ReadFile(found[0])
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal(b, &r))
	for _, name := range lanes {
		assert.Contains(t, page.String(), "| "+name+" | ")
		got := r.Rounds[0][name]
		assert.Positive(t, got.Requests, name)
		assert.Zero(t, got.Failures, name)
		assert.Positive(t, got.P50, name)
		assert.Positive(t, r.Lanes[name].PeakKiB, name)
		// Not every user may trace a process; then the result says so.
		assert.True(t, len(r.Lanes[name].Syscalls) > 0 || r.Lanes[name].Note != "", name)
	}
}

func TestMissingGateway(t *testing.T) {
	err := command(append([]string{"-lanes=http", "-gateway=does/not/exist", "-out="}, anyCPU...), new(bytes.Buffer))
	require.ErrorContains(t, err, "start http")
}

func TestWrongOptions(t *testing.T) {
	for _, args := range [][]string{
		{"-lanes=smtp"},
		{"-base=smtp"},
		{"-rounds=0"},
		{"-duration=1500ms"},
		{"-streams=63"},
		{"-connections=0"},
		{"-size=3"},
		{"-call=echo"},
		{"-lanes=http-frame", "-frame-origin=./examples/greeter-frame"},
		{"-odd"},
	} {
		require.Error(t, command(args, new(bytes.Buffer)), args)
	}
	require.NoError(t, command([]string{"-h"}, new(bytes.Buffer)))
	o, err := parse([]string{"-lanes=frame,http", "-gateway=/somewhere/else/corelane", "-out=/private"})
	require.NoError(t, err)
	assert.Equal(t, "go run ./bench/messages -gateway=corelane -lanes=frame,http", o.command)
	assert.Equal(t, wire.Call{Interface: "bench.Echo", Method: "echo"}, o.call)
}

// TestConfigurations reads what each lane's gateway gets.
func TestConfigurations(t *testing.T) {
	for _, l := range lanes {
		target := filepath.Join(t.TempDir(), "corelane.yaml")
		p := &place{
			Dir: "d", Listen: "127.0.0.1:1", Admin: "127.0.0.1:2", Origin: "127.0.0.1:3", Client: l.client, Service: l.service,
			Interface: "bench.Echo", Method: "echo", Pool: 7,
		}
		require.NoError(t, program.Render("../conf/messages.yaml", target, p))
		b, err := os.ReadFile(target)
		require.NoError(t, err)
		var document struct {
			Listeners, Services []struct{ Protocol string }
			Routes              []struct{ Match map[string]any }
		}
		require.NoError(t, yaml.Unmarshal(b, &document), l.name)
		assert.Equal(t, l.client, document.Listeners[0].Protocol)
		assert.Equal(t, l.service, document.Services[0].Protocol)
		want := map[string]any{"rpc": map[string]any{"interface": "bench.Echo", "method": "echo"}}
		if l.client == "http" {
			want = map[string]any{"prefix": "/"}
		}
		assert.Equal(t, want, document.Routes[0].Match, l.name)
	}
	require.Error(t, program.Render("does/not/exist", "", nil))
}

func TestLoadCommands(t *testing.T) {
	o, err := parse([]string{"-lanes=http,frame,dubbo", "-frame-origin=./examples/greeter-frame", "-frame-args=-inline", "-size=256"})
	require.NoError(t, err)
	assert.Equal(t, []string{"-inline"}, o.frameArgs)
	s := &session{o: &o, load: "frameload"}
	want := map[string][]string{
		"http":  {"-c", "64", "http://a:1/256"},
		"frame": {"-protocol", "frame", "-connections", "4", "-streams", "16", "-size", "256", "-answer", "256"},
		"dubbo": {"-protocol", "dubbo", "-size", "16", "-answer", "256"},
	}
	for name, words := range want {
		assert.Subset(t, s.loadCommand(laneNamed(name), "a:1", o.duration), words, name)
	}
}

func TestParseReport(t *testing.T) {
	r, err := parseReport([]byte("text\nREPORT {\"requests\":10,\"seconds\":2,\"p50\":1.5,\"failures\":1,\"errors\":{\"status\":1}}\nend\n"))
	require.NoError(t, err)
	assert.Equal(t, report{Requests: 10, Seconds: 2, P50: 1.5, Failures: 1, Errors: map[string]int{"status": 1}}, r)
	for _, bad := range []string{"", "REPORT {", `REPORT {"requests":0,"seconds":2}`} {
		_, err := parseReport([]byte(bad))
		assert.Error(t, err, bad)
	}
}

func TestPage(t *testing.T) {
	r := &result{
		Command: "go run ./bench/messages", Order: []string{"http", "frame"}, Base: "http", Streams: 64, Connections: 4, Size: 128,
		Lanes: map[string]about{"frame": {PeakKiB: 2048, Syscalls: map[string]float64{"read": 0.5}}, "http": {Note: "no strace"}},
		Rounds: []map[string]sample{
			{"http": {Rate: 100, CPU: 10, P50: 10, P99: 10}, "frame": {Rate: 200, CPU: 4, P50: 5, P99: 20, Failures: 2}},
			{"http": {Rate: 50, CPU: 20, P50: 20, P99: 20}, "frame": {Rate: 100, CPU: 8, P50: 10, P99: 40}},
		},
	}
	r.summarise()
	var page bytes.Buffer
	writePage(&page, r)
	for _, want := range []string{
		"64 requests in flight, answers of 128 B, 2 rounds",
		"| frame | 150 | 8 | 30 | 6.00 | 2 | 2.0 | 0.50 | read 0.50 |",
		"| http | 75 | 15 | 15 | 15.00 | 0 | 0.0 | – | no strace |",
		"| ÷ http | CPU/request |",
		"| frame | 0.40 [0.40–0.40] | 2.00 [2.00–2.00] | 0.50 [0.50–0.50] | 2.00 [2.00–2.00] |",
	} {
		assert.Contains(t, page.String(), want)
	}
	r.Base = "dubbo"
	r.summarise()
	page.Reset()
	writePage(&page, r)
	assert.NotContains(t, page.String(), "÷")
}
