package control

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

var nameInDesc = regexp.MustCompile(`fqName: "([^"]+)"`)

// described returns the names of all metrics of the node, in order.
func described() []string {
	var names []string
	for _, d := range descriptions {
		names = append(names, nameInDesc.FindStringSubmatch(d.String())[1])
	}
	slices.Sort(names)
	return names
}

// The names are what dashboards and alerts are built on: a change must be seen.
func TestMetricNames(t *testing.T) {
	want, err := os.ReadFile("testdata/metrics.txt")
	require.NoError(t, err)
	assert.Equal(t, strings.Fields(string(want)), described())
}

// Every metric, reason and call of the API stands in docs/operations.md, and no
// metric that does not exist.
func TestOperationsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	written := regexp.MustCompile("`(corelane_[a-z_]+)").FindAllStringSubmatch(string(page), -1)
	var names []string
	for _, m := range written {
		names = append(names, m[1])
	}
	slices.Sort(names)
	assert.Equal(t, described(), slices.Compact(names))
	for _, r := range codec.Reasons() {
		assert.Contains(t, string(page), "`"+r.String()+"`")
	}
	a := &admin{calls: map[string]call{}, below: map[string]call{}}
	(&Node{}).register(a)
	for path := range a.calls {
		assert.Contains(t, string(page), "`"+path+"`")
	}
	require.NotEmpty(t, a.patterns)
	for _, p := range a.patterns {
		assert.Contains(t, string(page), "`"+p.path+"`")
	}
}

func TestMetrics(t *testing.T) {
	r := serve(t, routes, ok)
	r.get("/hello")
	r.get("/o/a")
	r.get("/o/b")
	r.get("/nowhere")
	scrape := func() string {
		_, text := r.do(http.MethodGet, "http://"+r.node.AdminAddress()+"/metrics", "")
		return text
	}
	eventually(t, "all exchanges", func() bool {
		return strings.Contains(scrape(), `corelane_requests_total{code_class="2xx",route="forward"} 2`)
	})
	text := scrape()
	origin := strings.TrimPrefix(r.origin.URL, "http://")
	for _, line := range []string{
		`corelane_requests_total{code_class="2xx",route="hello"} 1`,
		`corelane_requests_total{code_class="4xx",route="other"} 1`,
		`corelane_request_duration_seconds_count{route="forward"} 2`,
		`corelane_request_duration_seconds_bucket{route="forward",le="+Inf"} 2`,
		`corelane_reasons_total{reason="route_not_found"} 1`,
		`corelane_unknown_paths_total 1`,
		`corelane_requests_started_total 4`,
		`corelane_upstream_dialed_total 1`,
		`corelane_upstream_reused_total 1`,
		`corelane_upstream_connections{endpoint="` + origin + `",service="origin",state="idle"} 1`,
		`corelane_upstream_connections{endpoint="` + origin + `",service="origin",state="busy"} 0`,
		`corelane_connections 1`,
		`corelane_ready 1`,
		`corelane_generation 1`,
		`corelane_info{node="test-node",version="v-test"} 1`,
		`corelane_scrape_missing_loops{loop="1"} 0`,
		`corelane_body_bytes_total{direction="out"} `,
		`go_goroutines `,
		`process_open_fds `,
	} {
		assert.Contains(t, text, line)
	}
	for _, name := range described() {
		assert.Contains(t, text, "# TYPE "+name+" ", name)
	}
}

// A route that was removed and came back has two places in the counters, and a
// route may be called "other": each name is one series nevertheless.
func TestMetricsOfEqualNames(t *testing.T) {
	const twice = "  - {id: other, match: {path: /other}, filters: [{respond: {status: 200, body: x}}]}\n"
	r := serve(t, routes+twice, ok)
	reload := func(sections string) {
		r.write(r.document(sections))
		require.Equal(t, 200, r.admin(http.MethodPost, "/api/v1/reload", testToken, nil))
	}
	r.get("/hello")
	r.get("/other")
	reload(strings.Replace(routes, "id: hello", "id: gone", 1) + twice)
	reload(routes + twice)
	r.get("/hello")
	r.get("/nowhere")
	eventually(t, "the sums", func() bool {
		status, text := r.do(http.MethodGet, "http://"+r.node.AdminAddress()+"/metrics", "")
		require.Equal(t, 200, status, text)
		return strings.Contains(text, `corelane_requests_total{code_class="2xx",route="hello"} 2`) &&
			strings.Contains(text, `corelane_request_duration_seconds_count{route="other"} 2`)
	})
}

func TestMetricsBoundEndpoints(t *testing.T) {
	var b strings.Builder
	b.WriteString("services:\n")
	for s := range 3 {
		fmt.Fprintf(&b, "  - {name: s%d, endpoints: [", s)
		for e := range 700 {
			fmt.Fprintf(&b, `{address: "127.1.%d.%d:80"},`, e/250, e%250)
		}
		b.WriteString("]}\n")
	}
	r := serve(t, b.String()+"routes: []\n", ok)
	_, text := r.do(http.MethodGet, "http://"+r.node.AdminAddress()+"/metrics", "")
	assert.Equal(t, 2*(maxEndpointSeries+1), strings.Count(text, "\ncorelane_upstream_connections{"))
	assert.Contains(t, text, `corelane_upstream_connections{endpoint="other",service="other",state="idle"} 0`)
}
