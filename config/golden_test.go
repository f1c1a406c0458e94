package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

var update = flag.Bool("update", false, "write the golden files and docs/configuration.md anew")

// TestGolden reads testdata/*.yaml, a file for each feature. Beside each stands
// a .err file with every problem, or a .ok file with what was compiled.
func TestGolden(t *testing.T) {
	t.Setenv("TEST_TOKEN", "s3cr3t-value")
	t.Setenv("TEST_REJECTED", "reject-me")
	t.Setenv("TEST_HOST", "10.9.9.9")
	inputs, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, path := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) { checkGolden(t, path) })
	}
}

func checkGolden(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	base := strings.TrimSuffix(path, ".yaml")
	doc, err := Parse(File{Name: filepath.Base(path), Text: text})
	got, right, wrong := "", base+".ok", base+".err"
	if err != nil {
		var problems Problems
		require.ErrorAs(t, err, &problems)
		got = problems.Error() + "\n"
		right, wrong = wrong, right
	} else {
		got = outline(t, doc)
	}
	assert.NotContains(t, got, "s3cr3t-value")
	if *update {
		_ = os.Remove(wrong)
		require.NoError(t, os.WriteFile(right, []byte(got), 0o644))
	}
	want, err := os.ReadFile(right)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is missing; the outcome was:\n%s", right, got)
	}
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// outline shows what a document compiles to.
func outline(t *testing.T, doc *Document) string {
	s, _, err := NewCompiler(pool.NewRegistry()).Compile(doc, nil)
	require.NoError(t, err)
	var b strings.Builder
	for _, w := range doc.Warnings() {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	for _, l := range doc.Listeners {
		c := s.Listeners[l.Name]
		fmt.Fprintf(&b, "listener %s: paths %+v, head %v, line %d, filters %d\n", l.Name, c.Paths, c.Head, c.RequestLine, c.Chain.Len())
		if c.Protocol != nil {
			fmt.Fprintf(&b, "  protocol %s\n", c.Protocol.Name())
		}
		if c.Passage != nil {
			var names []string
			c.Passage.Each(func(r *snapshot.Route) { names = append(names, r.Info.ID+" > "+r.Service.Name) })
			slices.Sort(names)
			fmt.Fprintf(&b, "  passes connections on, peeks %v: %s\n", c.Passage.Peeks(), strings.Join(names, ", "))
		}
		if c.Layout {
			fmt.Fprintf(&b, "  layout %+v\n", c.Protocol.Traits())
		}
		if c.ProxyProtocol || c.TrustUnix || c.MaxConnections > 0 {
			fmt.Fprintf(&b, "  trusts %v, unix %v; PROXY header %v; connections %d\n", c.TrustedProxies, c.TrustUnix, c.ProxyProtocol, c.MaxConnections)
		}
	}
	for _, svc := range doc.Services {
		c := s.Services[svc.Name]
		fmt.Fprintf(&b, "service %s: %v, limits %+v, passive %+v\n", svc.Name, c.Pool.Balance, c.Pool.Limits, c.Pool.Passive)
		if c.Protocol != nil {
			fmt.Fprintf(&b, "  protocol %s, follows a layout %t\n", c.Protocol.Name(), c.Follows)
		}
		if c.ProxyProtocol != 0 {
			fmt.Fprintf(&b, "  PROXY header v%d\n", c.ProxyProtocol)
		}
		if p := c.Pool; p.Check != nil || p.Panic+float64(p.WarmUp+p.SlowStart) > 0 {
			fmt.Fprintf(&b, "  check %+v, panic %g, warm-up %v, slow start %v\n", p.Check, p.Panic, p.WarmUp, p.SlowStart)
		}
		if c.Balance != (snapshot.Balance{}) {
			fmt.Fprintf(&b, "  balance %+v\n", c.Balance)
		}
		for _, m := range c.Pool.Members {
			fmt.Fprintf(&b, "  endpoint %s, weight %d", m.Endpoint.Address(), m.Weight)
			if m.Priority > 0 {
				fmt.Fprintf(&b, ", priority %d", m.Priority)
			}
			b.WriteByte('\n')
		}
	}
	for _, r := range doc.Routes {
		spec, c, _ := s.Routes.Get(r.ID)
		kind := spec.Kind.String()
		if spec.Space != route.Paths {
			kind = spec.Space.String() + " " + kind
		}
		fmt.Fprintf(&b, "route %s: %s %s, hosts %v, methods %v, headers %v\n", r.ID, kind, strings.Trim(strconv.Quote(spec.Pattern), `"`), spec.Hosts, spec.Methods, spec.Headers)
		fmt.Fprintf(&b, "  timeouts %+v\n  retries %+v\n  filters %d\n", c.Timeouts, c.Retries, c.Chain.Len())
	}
	return b.String()
}
