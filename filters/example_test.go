package filters_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// What follows up to the tests is the example of docs/filters.md, whole.

func init() {
	filters.Register(filters.Kind{
		Name: "tenant",
		Doc:  "Lets only known tenants in and tells the service who it is.",
		New:  func() any { return &Tenant{Header: "X-Tenant"} },
	})
}

// The compiler holds the filter to the phases it means to have.
var (
	_ filters.Provisioner    = (*Tenant)(nil)
	_ filters.RequestFilter  = (*Tenant)(nil)
	_ filters.Resumer        = (*Tenant)(nil)
	_ filters.ResponseFilter = (*Tenant)(nil)
)

// Tenant lets only known tenants in.
type Tenant struct {
	// Header is the field in which clients name their tenant.
	Header string `yaml:"header"`
	// Plans are the known tenants with their plans.
	Plans map[string]string `yaml:"plans"`

	counts *filters.PerLoop[int]
}

// planSlot keeps the plan for the response phase and for other filters.
var planSlot = filters.NewSlot[string]()

// Provision checks the options before the first request.
func (t *Tenant) Provision() error {
	t.counts = filters.NewPerLoop[int]()
	if len(t.Plans) == 0 {
		return errors.New("plans: at least one tenant is needed")
	}
	if err := filters.CheckFieldName(t.Header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

// OnRequest asks for the plan and waits without blocking the loop.
func (t *Tenant) OnRequest(ctx *filters.Context) filters.Verdict {
	*t.counts.At(ctx)++
	// A copy: the head's bytes are valid only until this call returns.
	name := string(ctx.Request.GetName(t.Header))
	if name == "" {
		return ctx.Fail(codec.Unauthenticated, "no tenant is named")
	}
	handle := ctx.Wait(0)
	go func() { handle.Resume(t.lookUp(name)) }()
	return filters.Wait
}

// lookUp stands for a call that blocks.
func (t *Tenant) lookUp(name string) string { return t.Plans[name] }

// OnResume goes on, on the loop again, with the value of Resume.
func (t *Tenant) OnResume(ctx *filters.Context, value any) filters.Verdict {
	plan, _ := value.(string)
	if plan == "" {
		return ctx.Fail(codec.Forbidden, "the tenant is not known")
	}
	planSlot.Set(ctx, plan)
	ctx.Request.SetString("X-Plan", plan)
	return filters.Continue
}

// OnResponse tells the client, also when another filter has answered.
func (t *Tenant) OnResponse(ctx *filters.Context) filters.Verdict {
	if plan, ok := planSlot.Get(ctx); ok {
		ctx.Response.SetString("X-Plan", plan)
	}
	return filters.Continue
}

func TestTenant(t *testing.T) {
	kind, ok := filters.Lookup("tenant")
	require.True(t, ok)
	tenant := kind.New().(*Tenant)
	assert.ErrorContains(t, tenant.Provision(), "at least one tenant")
	tenant.Plans = map[string]string{"ada": "gold"}
	require.NoError(t, tenant.Provision())
	chain := filters.NewChain([]*filters.Entry{filters.NewEntry(kind.Name, tenant)})

	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a.example", "X-Tenant: ada")
	at, v := chain.Request(&x.Context, 0)
	require.Equal(t, filters.Wait, v)
	x.AwaitWake()
	require.Equal(t, filters.Continue, chain.Resume(&x.Context, at))
	assert.Equal(t, "gold", string(x.Request.GetName("X-Plan")))
	x.NewResponse("HTTP/1.1 200 OK", "Content-Length: 0")
	chain.Response(&x.Context, at)
	assert.Equal(t, []string{"Content-Length: 0", "X-Plan: gold"}, filtertest.Fields(x.Response))

	x.NewRequest("GET / HTTP/1.1", "Host: a.example", "X-Tenant: eve")
	_, v = chain.Request(&x.Context, 0)
	require.Equal(t, filters.Wait, v)
	x.AwaitWake()
	require.Equal(t, filters.Respond, chain.Resume(&x.Context, at))
	reply, _ := x.Reply()
	assert.Equal(t, codec.Forbidden, reply.Reason)

	x.NewRequest("GET / HTTP/1.1", "Host: a.example")
	_, v = chain.Request(&x.Context, 0)
	assert.Equal(t, filters.Respond, v)
	assert.Equal(t, 3, *tenant.counts.At(&x.Context))
}

// TestTenantIsInTheDocumentation keeps docs/filters.md the same as this file.
func TestTenantIsInTheDocumentation(t *testing.T) {
	source, page := read(t, "example_test.go"), read(t, "../docs/filters.md")
	example := between(t, source, "func init() {", "func TestTenant(")
	assert.True(t, strings.Contains(page, strings.TrimSpace(example)), "copy the example from here to there")
}
