package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/filters"
)

// compiled is a schema as a validator reads it.
func compiled(t *testing.T, of *Schema) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(of)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("corelane.json", doc))
	s, err := c.Compile("corelane.json")
	require.NoError(t, err)
	return s
}

// conforms validates every document of a text.
func conforms(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	parsed := tree.Parse(tree.Input{Bytes: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))})
	require.Empty(t, parsed.Findings)
	for _, n := range parsed.Documents {
		if err := s.Validate(n.Value()); err != nil {
			return err
		}
	}
	return nil
}

func TestGoodDocumentsConform(t *testing.T) {
	s := compiled(t, NewSchema(nil))
	good, err := filepath.Glob("testdata/*.ok")
	require.NoError(t, err)
	for i, path := range good {
		good[i] = strings.TrimSuffix(path, ".ok") + ".yaml"
	}
	examples, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, examples)
	for _, path := range slices.Concat(good, examples) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NoError(t, conforms(t, s, text), path)
	}
}

func TestBadDocumentsDoNot(t *testing.T) {
	s := compiled(t, NewSchema(nil))
	for _, name := range []string{"filters", "later", "protocols_bad", "rpc_bad", "scalar", "types", "unknown_keys"} {
		text, err := os.ReadFile("testdata/" + name + ".yaml")
		require.NoError(t, err)
		assert.Error(t, conforms(t, s, text), name)
	}
}

// TestValues gives each kind of value what it takes and what it does not.
func TestSchemaOfValues(t *testing.T) {
	s := compiled(t, NewSchema(nil))
	tests := []struct {
		key       string // VALUE stands for the value
		good, bad []string
	}{
		{"engine: {busy_poll: VALUE}", []string{"0", "0s", "500ms", "1h30m", "1.5s", `"${env:A}"`, "null"}, []string{"5", "-1s", "fast", "[1s]", "1d", "true"}},
		{"engine: {buffers: {high: VALUE}}", []string{"512", "64KiB", `"1GiB"`}, []string{"64KB", "-1", "1.5MiB", "1.5", "{}"}},
		{"engine: {buffers: {total: VALUE}}", []string{"50%", "0", "1GiB", "12.5%"}, []string{"half", "-1"}},
		{"engine: {loops: VALUE}", []string{"auto", "4", `"4"`}, []string{"0", "65", "many", "1.5"}},
		{"engine: {pin: VALUE}", []string{"auto", "none", `"0,2,4-7"`, "3"}, []string{"all", `"0;1"`, "-1"}},
		{"engine: {poller: VALUE}", []string{"epoll", "gnet", "null", `"${env:POLLER}"`}, []string{"kqueue", "1"}},
		{"engine: {max_connections: VALUE}", []string{"0", "5"}, []string{"-1", "1.5", "many"}},
		{"engine: {spill_dir: VALUE}", []string{`""`, "null", "/tmp"}, []string{"[/tmp]"}},
		{"routes: [{body: {mode: VALUE}}]", []string{"stream", "buffer"}, []string{"spill"}},
		{"config: {shrink_guard: VALUE}", []string{"50", "0.01", `"50%"`}, []string{"101", "-1", "most"}},
		{"log: {access: {sample: VALUE}}", []string{"0", "0.5", "1"}, []string{"1.1", "-0.1", "some"}},
		{"node: {coordinates: {env: VALUE}}", []string{"prod", "1", "true", "null"}, []string{"[a]", "{}"}},
		{"node: {VALUE: a}", []string{"id"}, []string{"name"}},
		{"VALUE: null", []string{"routes", "services"}, []string{"route"}},
		{"services: [{pool: {min_idle: VALUE}}]", []string{"0", "8", "null"}, []string{"-1", "65536", "many"}},
		{"services: [{slow_start: VALUE}]", []string{"0", "0s", "1m"}, []string{"fast", "[1s]"}},
		{"services: [{health: {active: {expect: VALUE}}}]", []string{"200", "200-399", `"200, 204"`, "[200, 300-399]"}, []string{"99", "600", "ok", "{}", "[ok]"}},
		{"services: [{balance: VALUE}]", []string{"ewma", "{hash: ip}", "{hash: \"cookie:uid\"}", "{sticky: {secret: a}}", "{sticky: {cookie: b, secret: \"${env:A}\"}}", "null"}, []string{"hash", "maglev", "{ewma: {}}", "{hash: body}", "{hash: ip, sticky: {secret: a}}", "{sticky: {cookie: a}}", "[ewma]", "{}"}},
		{"services: [{endpoints: [{priority: VALUE}]}]", []string{"0", "127"}, []string{"-1", "128", "high"}},
		{"services: [{retries: {on: VALUE}}]", []string{"[connect, 503]", "[]"}, []string{"connect", "{a: b}"}},
		{"listeners: [{protocol: VALUE}]", []string{"http", "frame", "lines", "null", `"${env:A}"`}, []string{"tcp!", "frames", "[http]"}},
		{"services: [{protocol: VALUE}]", []string{"http", "dubbo"}, []string{"nobody", "{}"}},
		{"routes: [{match: {rpc: VALUE}}]", []string{"{}", "{interface: I, method: m, group: g, version: 1.0.0}", "{key: k}", "null"}, []string{"I", "{name: I}", "[I]"}},
		{"routes: [{updated_at: VALUE}]", []string{"2026-11-29T00:00:00Z", "2026-11-29"}, []string{"today", "[1]"}},
		{"routes: [{retries: {attempts: VALUE}}]", []string{"0", "8", "null"}, []string{"9", "-1"}},
		{"routes: [{match: {headers: VALUE}}]", []string{"{a: [b]}", "{a: []}", "{}"}, []string{"{a: b}", "[a]"}},
		{"routes: [{filters: VALUE}]", []string{"[{answer: {}}]", "[{answer: null}, {stamp: {header: a, set: {a: b}}}]", "[{stamp: {set: [{name: a, value: b}]}}]"}, []string{"[answer]", "[{answer: {}, stamp: {}}]", "[{nobody: {}}]", "[{answer: {status: 600}}]", "[{answer: {state: 1}}]", "{answer: {}}", "[{}]"}},
		{"filter_sets: VALUE", []string{"{app: [{answer: {}}]}", "{}"}, []string{"{app: {answer: {}}}", "[app]"}},
		{"VALUE", []string{"{}"}, []string{"[]", "text"}},
	}
	for _, tt := range tests {
		for i, value := range slices.Concat(tt.good, tt.bad) {
			text := strings.Replace(tt.key, "VALUE", value, 1)
			err := conforms(t, s, []byte(text))
			if i < len(tt.good) {
				assert.NoError(t, err, text)
			} else {
				assert.Error(t, err, text)
			}
		}
	}
}

// Keys of other versions may be absent, empty, or hold their defaults.
func TestSchemaOfLaterKeys(t *testing.T) {
	for typ, keys := range later {
		for name, text := range keys {
			s := compiled(t, laterSchema(text))
			assert.NoError(t, s.Validate(plain(text)), "%s.%s", typ, name)
			assert.NoError(t, s.Validate(nil), "%s.%s", typ, name)
			assert.Error(t, s.Validate("something"), "%s.%s", typ, name)
			assert.Error(t, s.Validate(map[string]any{"something": 1}), "%s.%s", typ, name)
		}
	}
	assert.NoError(t, compiled(t, laterSchema("0s")).Validate(0))
}

func TestSchemaTellsDefaultsAndMeanings(t *testing.T) {
	owners := map[string]bool{}
	s := NewSchema(func(owner reflect.Type, f reflect.StructField) string {
		owners[owner.Name()] = true
		return f.Name + " is the " + f.Name + "."
	})
	engine := s.Properties.Get("engine").Properties
	assert.Equal(t, "auto", engine.Get("loops").Default)
	assert.Equal(t, "The Loops.", engine.Get("loops").Description)
	assert.Equal(t, "The BusyPoll. At most 1s.", engine.Get("busy_poll").Description)
	assert.Equal(t, "256KiB", engine.Get("buffers").Properties.Get("high").Default)
	service := s.Properties.Get("services").Items.Properties
	assert.Equal(t, []any{"connect", "reset"}, service.Get("retries").Properties.Get("on").Default)
	assert.Contains(t, owners, "stamp")
	stamp := s.Defs.Get("filter.stamp")
	assert.Equal(t, "for tests", stamp.Description)
	assert.Equal(t, "X-Stamp", stamp.Properties.Get("header").Default)
	assert.Equal(t, "0s", stamp.Properties.Get("wait").Default)
	assert.InDelta(t, 9, *stamp.Properties.Get("level").Maximum, 0)
	assert.Nil(t, s.Properties.Get("nothing"))
}

func TestMeaning(t *testing.T) {
	for comment, want := range map[string]string{
		"Trust is whom to\nbelieve.": "Whom to believe.", "Trust holds names.": "Holds names.", "Trust keeps it.": "Keeps it.",
		"Trust of clients.": "Trust of clients.", "Clients are trusted.": "Clients are trusted.", "": "",
	} {
		assert.Equal(t, want, unnamed("Trust", meaning("Trust", comment)))
	}
}

func TestShortDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", time.Minute: "1m", time.Hour: "1h", 90 * time.Minute: "1h30m", 90 * time.Second: "1m30s", time.Hour + 20*time.Second: "1h0m20s", 1500 * time.Millisecond: "1.5s",
	} {
		assert.Equal(t, want, shortDuration(d))
	}
}

func TestOptions(t *testing.T) {
	kind, _ := filters.Lookup("stamp")
	options := Options(kind, func(_ reflect.Type, f reflect.StructField) string { return "about " + f.Name })
	assert.Equal(t, []Option{
		{Name: "header", Type: "text", Default: "X-Stamp", Doc: "about Header"},
		{Name: "trust", Type: "true or false", Default: false, Doc: "about Trust"},
		{Name: "level", Type: "whole number", Default: 1, Doc: "about Level From 1 to 9."},
		{Name: "wait", Type: "duration", Default: "0s", Doc: "about Wait"},
		{Name: "set", Type: "mapping of text", Default: []any{}, Doc: "about Set"},
		{Name: "secret", Type: "text", Default: "", Doc: "about Secret"},
		{Name: "service", Type: "text", Default: "", Doc: "about Service"},
	}, options)
	type nested struct {
		Rules []struct {
			By   []string `yaml:"by" doc:"whom"`
			Kind string   `yaml:"kind" enum:"a|b"`
		} `yaml:"rules"`
		Labels map[string]string `yaml:"labels"`
		Inner  struct {
			Ratio float64 `yaml:"ratio" default:"0.5"`
		} `yaml:"inner"`
		Maybe *int `yaml:"maybe"`
	}
	options = Options(filters.Kind{Name: "n", New: func() any { return &nested{} }}, nil)
	assert.Equal(t, []Option{
		{Name: "rules", Type: "list", Default: []any{}},
		{Name: "rules[].by", Type: "list of text", Default: []any{}, Doc: "whom"},
		{Name: "rules[].kind", Type: "a or b", Default: ""},
		{Name: "labels", Type: "mapping of text", Default: map[string]any{}},
		{Name: "inner.ratio", Type: "number", Default: 0.5},
		{Name: "maybe", Type: "whole number"},
	}, options)
	assert.Empty(t, Options(filters.Kind{Name: "odd", New: func() any { return 1 }}, nil))
}
