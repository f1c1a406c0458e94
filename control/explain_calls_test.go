package control

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/explain"
)

// callRoute is one random route, of calls more often than of paths.
func (d dice) callRoute(id string) string {
	match := "prefix: /"
	switch d.IntN(5) {
	case 0:
		match = "rpc: {key: " + d.of("k", "get", `"a?b"`) + "}"
	case 1, 2, 3:
		match = "rpc: {interface: " + d.of("com.a.I", "com.b.J")
		for _, more := range []struct {
			in   int
			text string
		}{{2, "method: " + d.of("find", "save")}, {3, "version: " + d.of("1.0.0", "2")}, {4, "group: g"}} {
			if d.one(more.in) {
				match += ", " + more.text
			}
		}
		match += "}"
	}
	if d.one(4) {
		match += ", headers: {X-Env: [" + d.of("prod", "pre, test") + "]}"
	}
	target := `filters: [{respond: {headers: {X-Route: ` + id + `}}}]`
	if d.one(2) {
		target = `service: origin, filters: [{headers: {request: {set: {X-Route: ` + id + `}}}}], strip: ` + d.of("0", "1")
		if d.one(3) {
			target += `, rewrite: {path: /fixed, host: inner.test}`
		}
	}
	return fmt.Sprintf("  - {id: %s, status: %s, priority: %d, match: {%s}, %s}\n",
		id, d.of("enabled", "enabled", "enabled", "disabled"), d.IntN(3), match, target)
}

// call is one random call, and the line that makes it.
func (d dice) call() (q explain.Request, line string) {
	q = explain.Request{RPC: &explain.Call{}, Headers: map[string][]string{}, Listener: "calls"}
	if d.one(4) {
		q.RPC.Key = d.of("k", "get", "a?b", "/", "other")
		line = "=" + q.RPC.Key
	} else {
		q.RPC.Interface, q.RPC.Method = d.of("com.a.I", "com.b.J", "com.c.K"), d.of("find", "save", "drop")
		q.RPC.Version, q.RPC.Group = d.of("", "1.0.0", "2"), d.of("", "", "g")
		line = q.RPC.Interface + "/" + q.RPC.Method
		for name, value := range map[string]string{"X-Rpc-Version": q.RPC.Version, "X-Rpc-Group": q.RPC.Group} {
			if value != "" {
				line += " " + name + "=" + value
			}
		}
	}
	for _, f := range []struct{ name, value string }{{"X-Env", d.of("prod", "test")}, {"X-Gray-Tag", "v2"}} {
		if d.one(2) {
			q.Headers[f.name] = []string{f.value}
			line += " " + f.name + "=" + f.value
		}
	}
	return q, line + "\n"
}

// answered are the words of a response: its status and its fields.
func (c *rawClient) answered() (status string, fields map[string]string) {
	c.t.Helper()
	line, err := c.in.ReadString('\n')
	require.NoError(c.t, err)
	words := strings.Fields(line)
	fields = make(map[string]string)
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		fields[name] = value
	}
	return words[0], fields
}

// Calls go where the explanation says, as requests do.
func TestExplanationsOfCallsAgreeWithTraffic(t *testing.T) {
	const generations, routes, calls = 3, 30, 120
	outcomes := make(map[string]int)
	for seed := range uint64(generations) {
		d := dice{rand.New(rand.NewPCG(seed, 11))}
		r := newRig(t, mirrored)
		sections := "services: [{name: origin, endpoints: [{address: \"ORIGIN\"}]}]\nroutes:\n"
		for i := range routes {
			sections += d.callRoute(fmt.Sprint("r", i))
		}
		r.serve(strings.Replace(r.document(sections), `[{name: web, address: "127.0.0.1:0"}]`,
			`[{name: calls, address: "127.0.0.1:0", protocol: lines}]`, 1))
		client := dialRaw(t, r.node.Addresses()[0])
		for range calls {
			q, line := d.call()
			e := r.explain(q)
			client.send(line)
			status, fields := client.answered()
			about := fmt.Sprintf("%q: %+v\n%s %v", line, e, status, fields)
			require.Equal(t, e.Route, fields["X-Route"], about)
			switch e.Outcome.Kind {
			case explain.Forwarded:
				require.Equal(t, "200", status, about)
				require.Equal(t, e.Path.Forwarded, fields["X-Path"], about)
			case explain.Refused:
				require.Equal(t, fmt.Sprint(e.Outcome.Status), status, about)
				require.Equal(t, e.Outcome.Reason, fields["X-Reason"], about)
			default:
				require.Equal(t, "200", status, about)
				require.NotContains(t, fields, "X-Path", about)
			}
			outcomes[fmt.Sprint(e.Outcome.Kind, " ", e.Outcome.Status, " key ", q.RPC.Key != "")]++
		}
	}
	for _, kind := range []string{
		"forwarded 0 key false", "answered 0 key false", "refused 404 key false", "answered 0 key true", "refused 404 key true",
	} {
		require.Positive(t, outcomes[kind], "no call was %s: %v", kind, outcomes)
	}
}
