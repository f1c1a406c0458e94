package config

import "testing"

func TestReviewOfPassages(t *testing.T) {
	const (
		tcp   = "listeners: [{name: in, address: 127.0.0.1:1, protocol: tcp, service: a}]\n"
		two   = "listeners: [{name: in, address: 127.0.0.1:1, protocol: tcp, service: a}, {name: by, address: 127.0.0.1:2, protocol: tcp, sni: {x.com: a, y.com: a}}]\n"
		there = "endpoints: [{address: 127.0.0.1:9}]"
		plain = "services: [{name: a, protocol: tcp, " + there + "}]\n"
	)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"all in use", two + plain, nil},
		{
			"a service that no listener names", tcp + "services: [{name: a, protocol: tcp, " + there + "}, {name: b, protocol: tcp, " + there + "}]\n",
			[]string{`2:82 services[1].name: no tcp listener uses the service "b"`},
		},
		{
			"nobody to get them", two + "services: [{name: a, protocol: tcp}]\n",
			[]string{`2:12 services[0].endpoints: the service has no endpoints: connections of listener "in" and 1 other listener are reset`},
		},
		{
			"a check in HTTP", tcp + "services: [{name: a, protocol: tcp, health: {active: {kind: http}}, " + there + "}]\n",
			[]string{`2:61 services[0].health.active.kind: the endpoints get connections as they come and are asked in HTTP`},
		},
		{"a check on a page's port", tcp + "services: [{name: a, protocol: tcp, health: {active: {kind: http, port: 80}}, " + there + "}]\n", nil},
		{"a check that connects", tcp + "services: [{name: a, protocol: tcp, health: {active: {kind: tcp}}, " + there + "}]\n", nil},
		{
			"statuses", tcp + "services: [{name: a, protocol: tcp, retries: {on: [connect, 503]}, " + there + "}]\n",
			[]string{`2:51 services[0].retries.on: a connection that is passed through has no status`},
		},
		{
			"what is for requests",
			"listeners: [{name: in, address: 127.0.0.1:1, protocol: tcp, service: a, trusted_proxies: [10.0.0.0/8], limits: {body: 1KiB, keepalive_requests: 3}, timeouts: {min_body_rate: 1KiB}}]\n" + plain,
			[]string{
				`1:90 listeners[0].trusted_proxies: a tcp listener has no requests: this changes nothing`,
				`1:119 listeners[0].limits.body: a tcp listener has no requests`,
				`1:145 listeners[0].limits.keepalive_requests: a tcp listener has no requests`,
				`1:175 listeners[0].timeouts.min_body_rate: a tcp listener has no requests`,
			},
		},
		{
			"routes that nobody can ask", tcp + plain + "routes:\n- {id: x, match: {path: /x}, filters: [{answer: {}}]}\n- {id: y, match: {path: /y}, filters: [{answer: {}}]}\n",
			[]string{`4:8 routes[0].id: every listener passes its connections through: no request reaches the route and 1 other route`},
		},
		{
			"routes of another listener",
			"listeners: [{name: in, address: 127.0.0.1:1, protocol: tcp, service: a}, {name: web, address: 127.0.0.1:2}]\n" + plain + "routes:\n- {id: x, match: {path: /x}, filters: [{answer: {}}]}\n",
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkReview(t, tt.text, tt.want) })
	}
}
