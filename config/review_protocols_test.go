package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReviewOfProtocols(t *testing.T) {
	const (
		framesOnly = "listeners: [{name: f, address: 127.0.0.1:8080, protocol: frame}]\n"
		both       = "listeners: [{name: f, address: 127.0.0.1:8080, protocol: dubbo}, {name: web, address: 127.0.0.1:8081}]\n"
		web        = "listeners: [{name: web, address: 127.0.0.1:8080}]\n"
		sticky     = "services: [{name: a, balance: {sticky: {secret: s}}, endpoints: [{address: 127.0.0.1:9000}]}]\n"
		plain      = "services: [{name: a, endpoints: [{address: 127.0.0.1:9000}]}]\n"
		byPath     = "routes: [{id: x, match: {prefix: /}, service: a}]\n"
		byCall     = "routes: [{id: x, match: {rpc: {interface: I}}, service: a}]\n"
		noCookie   = `2:22: services[0].balance: the service is balanced by a cookie, and its requests come as calls, which have none: any endpoint is taken`
	)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"calls in their place":                  {framesOnly + plain + byCall, nil},
		"a cookie of browsers":                  {web + sticky + byPath, nil},
		"a cookie, some requests by path":       {both + sticky + byPath, nil},
		"a cookie of calls":                     {both + sticky + byCall, []string{noCookie}},
		"a cookie without a listener of HTTP":   {framesOnly + sticky + byPath, []string{noCookie}},
		"a cookie of a service that nobody has": {framesOnly + sticky, []string{`2:19: services[0].name: no route uses the service "a"`}},
		"a query of calls": {
			framesOnly + "services: [{name: a, balance: {hash: 'query:q'}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall,
			[]string{`2:22: services[0].balance: the service is balanced by a query, and its requests come as calls, which have none: any endpoint is taken`},
		},
		"a header of calls": {framesOnly + "services: [{name: a, balance: {hash: 'header:X'}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall, nil},
		"a check in another protocol": {
			framesOnly + "services: [{name: a, protocol: frame, health: {active: {kind: http}}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall,
			[]string{`2:63: services[0].health.active.kind: the endpoints speak frame and are asked in HTTP: use kind tcp, or the port of a page`},
		},
		"a check on a port of its own": {
			framesOnly + "services: [{name: a, protocol: frame, health: {active: {port: 80}}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall, nil,
		},
		"a check that connects": {
			framesOnly + "services: [{name: a, protocol: frame, health: {active: {kind: tcp}}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall, nil,
		},
		"fewer connections than loops": {
			framesOnly + "services: [{name: a, protocol: frame, pool: {max_connections: 1}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall + "engine: {loops: 4}\n",
			[]string{`2:63: services[0].pool.max_connections: 4 loops share 1 connection to each endpoint and take turns: one for each loop carries any number of requests`},
		},
		"a connection for each loop": {
			framesOnly + "services: [{name: a, protocol: frame, pool: {max_connections: 4}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall + "engine: {loops: 4}\n", nil,
		},
		"few connections that nobody shares": {
			framesOnly + "services: [{name: a, protocol: lines, pool: {max_connections: 1}, endpoints: [{address: 127.0.0.1:9000}]}]\n" + byCall + "engine: {loops: 4}\n", nil,
		},
		"calls that nobody can make": {
			web + plain + "routes:\n  - {id: x, match: {rpc: {interface: I}}, service: a}\n  - {id: y, match: {rpc: {key: k}}, service: a}\n",
			[]string{`4:21: routes[0].match.rpc: no listener speaks a protocol that has calls: no request reaches the route and 1 other such route`},
		},
		"the same call twice": {
			framesOnly + plain + "routes:\n  - {id: x, match: {rpc: {interface: I, method: m}}, service: a}\n  - {id: y, match: {rpc: {interface: I, method: m, version: 1}}, service: a}\n  - {id: z, match: {rpc: {interface: I, method: m}}, service: a}\n",
			[]string{`6:13: routes[2].match: no request reaches the route: route "x" (f.yaml, line 4) has the same call, is tried before it and takes all that it would`},
		},
		"the same key, once disabled": {
			framesOnly + plain + "routes:\n  - {id: x, match: {rpc: {key: k}}, service: a}\n  - {id: y, status: disabled, match: {rpc: {key: k}}, service: a}\n",
			[]string{`5:21: routes[1].status: the route is disabled, but route "x" (f.yaml, line 4) has the same key and takes requests`},
		},
		"a call and a path that look the same": {
			both + plain + "routes:\n  - {id: x, match: {rpc: {interface: I, method: m}}, service: a}\n  - {id: y, match: {path: /I/m}, service: a}\n", nil,
		},
		"hosts of calls and of paths": {
			both + plain + "routes:\n  - {id: x, match: {prefix: /api, hosts: ['*.a.com']}, service: a}\n  - {id: y, match: {hosts: [www.a.com], rpc: {interface: I}}, service: a}\n", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := []string{}
			for _, line := range tt.want {
				want = append(want, "f.yaml:"+line)
			}
			assert.Equal(t, want, reviewed(t, tt.text))
		})
	}
}
