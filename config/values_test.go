package config

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "512": 512, "512B": 512, "64KiB": 64 << 10, "10MiB": 10 << 20, "1GiB": 1 << 30, "2TiB": 2 << 40,
		"9223372036854775807": math.MaxInt64,
	} {
		var s Size
		require.NoError(t, s.UnmarshalText([]byte(text)), text)
		assert.Equal(t, want, s, text)
	}
	for _, text := range []string{"", "KiB", "-1", "-1KiB", "+1", "1.5MiB", "1KB", "1 KiB", "64kib", "x", "9223372036854775808", "9007199254740992KiB", "1KiBB"} {
		var s Size
		assert.Error(t, s.UnmarshalText([]byte(text)), text)
	}
}

func TestPercent(t *testing.T) {
	for text, want := range map[string]Percent{"0": 0, "50": 50, "50%": 50, "0.01": 0.01, "100": 100} {
		var p Percent
		require.NoError(t, p.UnmarshalText([]byte(text)), text)
		assert.InDelta(t, float64(want), float64(p), 1e-12, text)
	}
	for _, text := range []string{"", "%", "-1", "100.1", "NaN", "inf", "5%%", "x"} {
		var p Percent
		assert.Error(t, p.UnmarshalText([]byte(text)), text)
	}
}

func TestShare(t *testing.T) {
	var s Share
	require.NoError(t, s.UnmarshalText([]byte("50%")))
	assert.EqualValues(t, 500, s.Of(1000))
	require.NoError(t, s.UnmarshalText([]byte("1KiB")))
	assert.EqualValues(t, 1024, s.Of(1000))
	require.NoError(t, s.UnmarshalText([]byte("0")))
	assert.Zero(t, s.Of(1000))
	assert.Error(t, s.UnmarshalText([]byte("101%")))
	assert.Error(t, s.UnmarshalText([]byte("half")))
}

func TestLoops(t *testing.T) {
	for text, want := range map[string]Loops{"auto": 0, "1": 1, "64": 64} {
		l := Loops(9)
		require.NoError(t, l.UnmarshalText([]byte(text)))
		assert.Equal(t, want, l)
	}
	for _, text := range []string{"", "0", "-1", "65", "all"} {
		var l Loops
		assert.Error(t, l.UnmarshalText([]byte(text)), text)
	}
}

func TestPin(t *testing.T) {
	for text, want := range map[string][]int{"auto": nil, "none": nil, "0": {0}, "0,2,4-7": {0, 2, 4, 5, 6, 7}, "3, 1": {3, 1}} {
		var p Pin
		require.NoError(t, p.UnmarshalText([]byte(text)), text)
		assert.Equal(t, want, p.CPUs(), text)
	}
	for _, text := range []string{"", "a", "1,", "3-1", "1,1", "0-2,1", "-1", "5000", "1-"} {
		var p Pin
		assert.Error(t, p.UnmarshalText([]byte(text)), text)
	}
}

func TestInstant(t *testing.T) {
	var i Instant
	require.NoError(t, i.UnmarshalText([]byte("2026-11-29T01:02:03Z")))
	assert.Equal(t, time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC), i.Time)
	require.NoError(t, i.UnmarshalText([]byte("2026-11-29")))
	assert.Error(t, i.UnmarshalText([]byte("tomorrow")))
}

func TestAdminAddress(t *testing.T) {
	for address, loopback := range map[string]bool{
		"127.0.0.1:9900": true, "[::1]:9900": true, "localhost:9900": true, "127.0.0.1:0": true,
		"0.0.0.0:9900": false, ":9900": false, "10.0.0.1:9900": false, "[::]:9900": false,
	} {
		got, err := adminAddress(address)
		require.NoError(t, err, address)
		assert.Equal(t, loopback, got, address)
	}
	for _, address := range []string{"", "9900", "127.0.0.1", "127.0.0.1:http", "gateway:9900", "127.0.0.1:70000"} {
		_, err := adminAddress(address)
		assert.Error(t, err, address)
	}
}

func TestNodeName(t *testing.T) {
	n := Node{ID: "a"}
	assert.Equal(t, "a", n.Name())
	n.ID = ""
	assert.NotEmpty(t, n.Name())
}
