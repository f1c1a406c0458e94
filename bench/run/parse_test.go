package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/spread"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-rivals", "nginx,haproxy", "-connections", "8, 2", "-corelane", "/somewhere/else/corelane", "-out", "/private"})
	require.NoError(t, err)
	assert.Equal(t, []int{8, 2}, o.connections)
	assert.Equal(t, 15, o.rounds)
	assert.Equal(t, "go run ./bench/run -connections=8, 2 -corelane=corelane -rivals=nginx,haproxy", o.command)
	assert.Greater(t, o.bound(), 15*time.Minute/10)

	for _, args := range [][]string{
		{"-mode", "fast"},
		{"-rounds", "0"},
		{"-duration", "1500ms"},
		{"-connections", "0"},
		{"-size", "x"},
		{"-rivals", "apache"},
	} {
		_, err := parseOptions(args)
		assert.Error(t, err, "%v", args)
	}
}

func TestParseReport(t *testing.T) {
	r, err := parseReport([]byte("Running 1s test\nREPORT {\"requests\":10,\"seconds\":2,\"p50\":1.5,\"failures\":1}\nend\n"))
	require.NoError(t, err)
	assert.Equal(t, report{Requests: 10, Seconds: 2, P50: 1.5, Failures: 1}, r)
	for _, bad := range []string{"", "REPORT {", `REPORT {"requests":0,"seconds":2}`} {
		_, err := parseReport([]byte(bad))
		assert.Error(t, err, bad)
	}
}

func TestRatiosAreTakenWithinARound(t *testing.T) {
	rounds := []map[string]sample{
		{"a": {CPU: 10}, "nginx": {CPU: 20}},
		{"a": {CPU: 40}, "nginx": {CPU: 80}},
		{"a": {CPU: 40}, "nginx": {CPU: 0}},
	}
	assert.Equal(t, spread.Spread{Q1: 0.5, Median: 0.5, Q3: 0.5}, spread.Of(ratios(rounds, "a", "nginx", metrics[0])))
}

func TestRotated(t *testing.T) {
	list := []string{"a", "b", "c"}
	assert.Equal(t, list, rotated(list, 0))
	assert.Equal(t, []string{"c", "a", "b"}, rotated(list, 2))
	assert.Equal(t, []string{"b", "c", "a"}, rotated(list, 4))
}

func TestPage(t *testing.T) {
	r := &result{
		Command: "go run ./bench/run", Mode: modeLatency, Order: []string{"corelane", "nginx"},
		Proxies: map[string]about{"corelane": {Version: "v1", PeakKiB: 2048, Syscalls: map[string]float64{"read": 2}}, "nginx": {Note: "no strace"}},
		Cells: []cellResult{{
			cell: cell{Size: 128, Connections: 64}, AskedRate: 700,
			Rounds: []map[string]sample{{"corelane": {Rate: 100, CPU: 7, P50: 5, P99: 9, Failures: 2}, "nginx": {Rate: 100, CPU: 10, P50: 10, P99: 10}}},
		}},
	}
	r.summarise()
	var page bytes.Buffer
	writePage(&page, r)
	for _, want := range []string{
		"## 128 B, 64 connections, 1 rounds, 700 requests/s asked",
		"| corelane | 100 | 5 | 9 | 7.00 | 2 |",
		"| corelane | 0.70 [0.70–0.70] | 1.00 [1.00–1.00] | 0.50 [0.50–0.50] | 0.90 [0.90–0.90] |",
		"| corelane | v1 | 2.0 | 2.00 | read 2.00 |",
		"| nginx |  | 0.0 | – | no strace |",
	} {
		assert.Contains(t, page.String(), want)
	}
}

func TestFindVersion(t *testing.T) {
	for text, want := range map[string]string{
		"nginx version: nginx/1.22.1\n":                "1.22.1",
		"HAProxy version 2.6.12-1+deb12u4 2025/05/15":  "2.6.12-1+deb12u4",
		"corelane version v0.3.0-4-gabcdef (go1.26.8)": "v0.3.0-4-gabcdef",
		"e665a88-dirty\n":                              "e665a88-dirty",
		"unknown command":                              "",
	} {
		assert.Equal(t, want, findVersion(text))
	}
}
