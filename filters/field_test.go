package filters_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/filters"
)

func TestCheckField(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"X-A", "b", ""},
		{"Server", "", ""},
		{"x!#$%&'*+-.^_`|~9", "a\tb \"c\" \xe2\x82\xac", ""},
		{"Set-Cookie", "a=b; Path=/", ""},
		{strings.Repeat("n", filters.MaxFieldName), strings.Repeat("v", filters.MaxFieldValue), ""},
		{strings.Repeat("n", filters.MaxFieldName+1), "", "a field name of 257 bytes is too long"},
		{"X-A", strings.Repeat("v", filters.MaxFieldValue+1), "X-A: a field value of 8193 bytes is too long"},
		{"", "b", `"" is not a field name`},
		{"X A", "b", `"X A" is not a field name`},
		{"X-A:", "b", "is not a field name"},
		{"X-A\r\n", "b", "is not a field name"},
		{"X-Ü", "b", "is not a field name"},
		{"X-A", "b\r\nX-B: c", "has a control character"},
		{"X-A", "b\rc", "has a control character"},
		{"X-A", "b\x00", "has a control character"},
		{"X-A", "b\x7f", "has a control character"},
		{"X-A", " b", "begins or ends with a blank"},
		{"X-A", "b\t", "begins or ends with a blank"},
		{"host", "b", "use rewrite.host"},
		{"EXPECT", "100-continue", "cannot be changed"},
	}
	for _, own := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade", "HTTP2-Settings",
		"Transfer-Encoding", "Content-Length", "Trailer",
	} {
		tests = append(tests, struct{ name, value, want string }{strings.ToUpper(own), "b", "the field " + own + " is hop-by-hop"})
	}
	for _, test := range tests {
		err := filters.CheckField(test.name, test.value)
		if test.want == "" {
			assert.NoError(t, err, test.name)
		} else {
			assert.ErrorContains(t, err, test.want)
		}
	}
}
