package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compared compares two documents that differ in one place, X.
func compared(t *testing.T, template, old, next string) *Comparison {
	t.Helper()
	folder := t.TempDir()
	var paths []string
	for i, text := range []string{old, next} {
		path := filepath.Join(folder, fmt.Sprintf("%d.yaml", i))
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(template, "X", text)), 0o600))
		paths = append(paths, path)
	}
	c, err := Compare(paths[0], paths[1])
	require.NoError(t, err)
	return c
}

// changesOf lists all changes as lines.
func changesOf(c *Comparison) []string {
	lines := []string{}
	keys := func(name string, all []KeyChange) {
		for _, k := range all {
			lines = append(lines, fmt.Sprintf("%s %s: %s > %s", name, k.Key, k.Old, k.New))
		}
	}
	for _, s := range []struct {
		name string
		of   SectionChange
	}{{"route", c.Routes}, {"service", c.Services}, {"listener", c.Listeners}, {"set", c.FilterSets}} {
		for _, id := range s.of.Added {
			lines = append(lines, s.name+" + "+id)
		}
		for _, id := range s.of.Removed {
			lines = append(lines, s.name+" - "+id)
		}
		for _, item := range s.of.Changed {
			keys(s.name+" "+item.Name, item.Keys)
		}
	}
	keys("setting", c.Settings)
	return lines
}

func TestCompare(t *testing.T) {
	t.Setenv("OLD_VALUE", "old-value")
	t.Setenv("NEW_VALUE", "new-value")
	const (
		route   = "routes:\n- {id: r, match: {path: /r}, service: a, X}\n"
		filters = "routes:\n- {id: r, match: {path: /r}, service: a, filters: [X]}\n"
		matched = "routes:\n- {id: r, match: {path: /r, X}, service: a}\n"
		service = "services: [{name: b, X}]\n"
	)
	tests := []struct {
		name, template, old, next string
		want                      []string
	}{
		{"nothing", route, "priority: 0", "strip: 0", nil},
		{"an empty list", matched, "methods: []", "hosts: []", nil},
		{"a number", route, "priority: 1", "priority: 2", []string{"route r priority: 1 > 2"}},
		{"text", route, "rewrite: {host: a}", "rewrite: {host: b}", []string{"route r rewrite.host: a > b"}},
		{"a list", route, "retries: {on: [connect]}", "retries: {on: [connect, reset]}", []string{"route r retries.on: [connect] > [connect, reset]"}},
		{"a list that inherits", route, "retries: {on: []}", "retries: {attempts: 1}", []string{"route r retries.attempts:  > 1", "route r retries.on: [] > "}},
		{"a duration", route, "timeouts: {total: 90s}", "timeouts: {total: 3600s}", []string{"route r timeouts.total: 1m30s > 1h"}},
		{"a size", route, "body: {max: 0}", "body: {max: 2MiB}", []string{"route r body.max: 0 > 2MiB"}},
		{"a time", route, "updated_at: 2026-01-01", "updated_at: 2026-01-01T10:00:00Z", []string{"route r updated_at: 2026-01-01T00:00:00Z > 2026-01-01T10:00:00Z"}},
		{"a pair", route, "metadata: {a: b}", "metadata: {a: c d, e: f}", []string{`route r metadata.a: b > "c d"`, "route r metadata.e:  > f"}},
		{"another route", "routes:\n- {id: X, match: {path: /r}, service: a}\n", "p", "q", []string{"route + q", "route - p"}},
		{"the order of routes", "routes:\nX\n", "- {id: p, match: {path: /p}, service: a}\n- {id: q, match: {path: /q}, service: a}", "- {id: q, match: {path: /q}, service: a}\n- {id: p, match: {path: /p}, service: a}", nil},

		{"a call", "routes:\n- {id: r, match: {X}, service: a}\n", "rpc: {interface: I, version: 1}", "rpc: {interface: I, method: m}", []string{"route r match.rpc.method: \"\" > m", "route r match.rpc.version: 1 > \"\""}},
		{"a key for a path", "routes:\n- {id: r, match: {X}, service: a}\n", "path: /r", "rpc: {key: k}", []string{"route r match.path: /r > \"\"", "route r match.rpc.key: \"\" > k"}},
		{"no call", matched, "rpc: {}", "methods: []", nil},
		{"a protocol", service, "protocol: http", "protocol: frame", []string{"service b protocol: http > frame"}},

		{"an option", filters, "{stamp: {header: a}}", "{stamp: {header: b}}", []string{"route r filters.stamp.header: a > b"}},
		{"an option written out", filters, "{stamp: {header: a}}", "{stamp: {header: a, level: 1}}", nil},
		{"one more filter", filters, "{stamp: {header: a}}", "{answer: {status: 404}}, {stamp: {header: a}}", []string{"route r filters.answer:  > {status: 404}"}},
		{"one filter less", filters, "{stamp: {header: a}}, {answer: {}}", "{stamp: {header: a}}", []string{"route r filters.answer: {status: 200} > "}},
		{"another order", filters, "{stamp: {header: a}}, {answer: {}}", "{answer: {}}, {stamp: {header: a}}", []string{"route r filters: [stamp, answer] > [answer, stamp]"}},
		{"the second of a name", filters, "{stamp: {header: a}}, {stamp: {header: b}}", "{stamp: {header: a}}, {stamp: {header: c}}", []string{"route r filters.stamp#2.header: b > c"}},
		{"a set", "filter_sets: {s: [X]}\n", "{stamp: {header: a}}", "{stamp: {header: b}}", []string{"set s filters.stamp.header: a > b"}},
		{"a set's name", "filter_sets: {X: []}\n", "s", "t", []string{"set + t", "set - s"}},

		{"a weight", service, "endpoints: [{address: 127.0.0.1:1}, {address: 127.0.0.1:2}]", "endpoints: [{address: 127.0.0.1:2, weight: 5}, {address: 127.0.0.1:1}]", []string{"service b endpoints[127.0.0.1:2].weight: 1 > 5"}},
		{"endpoints", service, "endpoints: [{address: 127.0.0.1:1}]", "endpoints: [{address: 127.0.0.1:2}]", []string{"service b endpoints[127.0.0.1:2]:  > {address: 127.0.0.1:2, weight: 1}", "service b endpoints[127.0.0.1:1]: {address: 127.0.0.1:1, weight: 1} > "}},
		{"a section", "log: {level: X}\n", "info", "debug", []string{"setting log.level: info > debug"}},
		{"a share", "engine: {buffers: {total: X}}\n", "50%", "1GiB", []string{"setting engine.buffers.total: 50% > 1GiB"}},

		{"a token", "admin: {token: X}\n", "secret-one", "secret-two", []string{"setting admin.token: *** > ***"}},
		{"a token that is new", "admin: {token: X}\n", `""`, "secret-two", []string{`setting admin.token: "" > ***`}},
		{"a reference", route, `metadata: {a: "${env:OLD_VALUE}"}`, `metadata: {a: "x ${env:NEW_VALUE}"}`, []string{`route r metadata.a: ${env:OLD_VALUE} > "x ${env:NEW_VALUE}"`}},
		{"a secret of a filter", filters, "{stamp: {header: a, secret: one}}", "{stamp: {header: a, secret: two}}", []string{"route r filters.stamp.secret: *** > ***"}},
		{"a secret inside", filters, "{answer: {}}", "{answer: {}}, {stamp: {header: a, secret: two}}", []string{"route r filters.stamp:  > {header: a, level: 1, secret: ***}"}},
		{"a secret in a condition", matched, "headers: {Authorization: [one]}", "headers: {Authorization: [two]}", []string{"route r match.headers.Authorization: *** > ***"}},
		{"a password in an address", route, `metadata: {a: "redis://me:one@h"}`, `metadata: {a: "redis://me:two@h"}`, []string{"route r metadata.a: redis://***@h > redis://***@h"}},
	}
	const base = "listeners: [{name: web, address: 127.0.0.1:8080}]\n---\nservices: [{name: a, endpoints: [{address: 127.0.0.1:9000}]}]\n---\n"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := compared(t, base+tt.template, tt.old, tt.next)
			assert.ElementsMatch(t, tt.want, changesOf(c))
			assert.Equal(t, len(tt.want) == 0, c.Same())
		})
	}
}

func TestCompareTellsThatAProtocolNeedsARestart(t *testing.T) {
	const template = "listeners: [{name: web, address: 127.0.0.1:8080, protocol: X}]\n"
	assert.Equal(t, []string{"listeners[0].protocol (of web)"}, compared(t, template, "http", "frame").Restart)
	assert.Empty(t, compared(t, template, "frame", "frame").Restart)
}

func TestCompareTellsWhatNeedsARestart(t *testing.T) {
	const template = "listeners: [{name: web, address: 127.0.0.1:8080}]\nservices: [{name: a}]\nengine: {loops: X}\n"
	assert.Equal(t, []string{"engine.loops"}, compared(t, template, "1", "2").Restart)
	assert.Empty(t, compared(t, template, "1", "1").Restart)
}

func TestCompareOfWhatCannotBeRead(t *testing.T) {
	_, err := Compare("nowhere.yaml", "nowhere.yaml")
	require.ErrorContains(t, err, "nowhere.yaml")
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte("listeners: [{name: web, address: 127.0.0.1:8080}]\nservices: [{name: a}]\n"), 0o600))
	_, err = Compare(path, "nowhere.yaml")
	require.ErrorContains(t, err, "nowhere.yaml")
}

func TestShownValue(t *testing.T) {
	for want, value := range map[string]any{
		"1h": time.Hour, "64KiB": Size(64 << 10), "1025": Size(1025), "2TiB": Size(2 << 40), "auto": Loops(0), "3": Loops(3), "50": Percent(50), "true": true,
		`"a b"`: "a b", `"[::1]:80"`: "[::1]:80", "{a: [b, c]}": map[string][]string{"a": {"b", "c"}}, "null": (*int)(nil), "{token: ***}": map[string]string{"token": "abc"},
		"{stamp: {header: X-Stamp, level: 1}}": Filter{Name: "stamp"},
	} {
		assert.Equal(t, want, shownValue("", reflect.ValueOf(value)))
	}
}
