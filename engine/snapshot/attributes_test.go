package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
)

func headOf(t testing.TB, request string) *codec.Head {
	t.Helper()
	h, d := new(codec.Head), http1.Decoder{}
	_, done, err := d.Request(h, []byte(request), &http1.Limits{})
	require.NoError(t, err)
	require.True(t, done)
	return h
}

func TestAttributes(t *testing.T) {
	a := attributes{headOf(t, "GET /?a=1&b=x+y%21&empty=&flag&a=2 HTTP/1.1\r\nHost: h\r\nX-Env: prod\r\nX-Env: pre\r\n"+
		"Cookie: lane=blue; q=\"z\"\r\nCookie: second=2\r\n\r\n")}
	type ask struct {
		name   string
		values []string
		want   bool
	}
	for what, asks := range map[string][]ask{
		"header": {
			{"x-env", []string{"pre"}, true}, {"X-ENV", []string{"test"}, false}, {"X-Env", nil, true}, {"X-Other", nil, false},
		},
		"query": {
			{"a", []string{"2"}, true},
			{"a", []string{"3"}, false},
			{"b", []string{"x y!"}, true},
			{"empty", []string{""}, true},
			{"flag", nil, true},
			{"flag", []string{""}, true},
			{"A", nil, false},
			{"b", []string{"x y"}, false},
		},
		"cookie": {
			{"lane", []string{"red", "blue"}, true},
			{"q", []string{"z"}, true},
			{"second", []string{"2"}, true},
			{"third", nil, false},
			{"lane", []string{"blu"}, false},
		},
	} {
		has := map[string]func(string, []string) bool{"header": a.HasHeader, "query": a.HasQuery, "cookie": a.HasCookie}[what]
		for _, ask := range asks {
			require.Equal(t, ask.want, has(ask.name, ask.values), "%s %s %v", what, ask.name, ask.values)
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		a.HasHeader("x-env", nil)
		a.HasQuery("b", nil)
		a.HasCookie("second", nil)
	}))
}
