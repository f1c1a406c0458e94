package cmd

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config"
)

// said runs a command line and returns what it printed.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	require.NoError(t, root.Execute())
	return out.String()
}

func TestFilters(t *testing.T) {
	assert.Contains(t, said(t, "filters"), "respond      Answers every request with a fixed status, fields and body.\n")
	page := said(t, "filters", "maintenance")
	assert.Contains(t, page, "maintenance: Answers every request with 503 while it is active.\n(package github.com/corelane/corelane/filters/maintenance)\n")
	assert.Contains(t, page, "retry_after  duration       1m       Tells clients when to come again")
	var one filterInfo
	require.NoError(t, json.Unmarshal([]byte(said(t, "filters", "request_id", "--json")), &one))
	assert.Equal(t, "request_id", one.Name)
	assert.Equal(t, config.Option{Name: "header", Type: "text", Default: "X-Request-Id", Doc: "The name of the field."}, one.Options[0])
	var all []filterInfo
	require.NoError(t, json.Unmarshal([]byte(said(t, "filters", "--json")), &all))
	assert.Greater(t, len(all), 3)
	assert.Equal(t, exitFailed, execute([]string{"filters", "nobody"}))
}

func TestFilterWithoutOptions(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, writeOptions(&out, filterInfo{Name: "a", Doc: "Does it.", Package: "p"}))
	assert.Equal(t, "a: Does it.\n(package p)\n\nIt has no options.\n", out.String())
}

func TestShown(t *testing.T) {
	for want, value := range map[string]any{"": nil, "1m": "1m", `""`: "", "5": 5, "[]": []any{}, `{"a":1}`: map[string]any{"a": 1}} {
		assert.Equal(t, want, shown(value))
	}
}

func TestSchema(t *testing.T) {
	var schema struct {
		Dialect string `json:"$schema"`
		Defs    map[string]struct {
			OneOf []any `json:"oneOf"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal([]byte(said(t, "schema")), &schema))
	assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", schema.Dialect)
	assert.Contains(t, schema.Defs, "filter.maintenance")
	assert.NotEmpty(t, schema.Defs["filter"].OneOf)
}
