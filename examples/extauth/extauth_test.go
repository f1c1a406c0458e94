package extauth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/examples/extauth"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

func newFilter(t testing.TB) *extauth.Filter {
	f := &extauth.Filter{
		Service: "auth", Path: "/check", Timeout: time.Second,
		Forward: []string{"Authorization"}, Accept: []string{"X-User-Id"},
	}
	require.NoError(t, f.Provision())
	return f
}

func TestFilter(t *testing.T) {
	f := newFilter(t)
	for name, tc := range map[string]struct {
		answer filtertest.Answer
		status int
		user   string
	}{
		"accepted":        {filtertest.Answer{Status: 200, Fields: []string{"X-User-Id: 42"}}, 200, "42"},
		"without a name":  {filtertest.Answer{Status: 200}, 200, ""},
		"refused":         {filtertest.Answer{Status: 401, Body: "who?"}, 401, ""},
		"service broken":  {filtertest.Answer{Status: 500}, 503, ""},
		"service silent":  {filtertest.Answer{Err: codec.TotalTimeout}, 503, ""},
		"service is away": {filtertest.Answer{Err: codec.UpstreamRefused}, 503, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := filtertest.New(t, "GET /a HTTP/1.1", "Host: a.example", "Authorization: Bearer t", "X-User-Id: 1")
			x.Serve("auth", func(c *filtertest.Called) filtertest.Answer {
				assert.Equal(t, "GET /check HTTP/1.1", c.Line())
				assert.Equal(t, []string{"Host: auth", "Authorization: Bearer t"}, filtertest.Fields(c.Head))
				return tc.answer
			})
			got := x.Run(f)
			assert.Equal(t, tc.status, got.Status)
			assert.Equal(t, tc.status == 200, got.Forwarded)
			assert.Equal(t, tc.user, got.Sent("X-User-Id"), "what the client claims never passes")
		})
	}
}

func TestOptions(t *testing.T) {
	err := (&extauth.Filter{Path: "check", Forward: []string{"Host"}, Accept: []string{"a b"}}).Provision()
	for _, part := range []string{"service: ", `path: "check"`, "forward: the field Host", `accept: "a b"`} {
		require.ErrorContains(t, err, part)
	}
	assert.Equal(t, []string{"auth"}, newFilter(t).Services())
}

func TestAskingAllocatesNothing(t *testing.T) {
	f := newFilter(t)
	var ctx filters.Context
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a")
	ctx.Attach(silent{})
	ctx.Request = x.Request
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		f.OnRequest(&ctx)
		ctx.ExpireWait()
	}))
}

// silent is a host that does nothing.
type silent struct{}

func (silent) Clock() int64                               { return 0 }
func (silent) Wake()                                      {}
func (silent) SetWaitDeadline(int64)                      {}
func (silent) Call(string, *filters.CallRequest, int64)   {}
func (silent) DropCall()                                  {}
func (silent) FilterTime(*filters.Entry, int64)           {}
func (silent) FilterPanicked(*filters.Entry, any, []byte) {}
func (silent) FilterLength(*filters.Entry)                {}
func (silent) ResumedTwice()                              {}
