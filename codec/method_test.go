package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMethods(t *testing.T) {
	for m := GET; m < methodCount; m++ {
		assert.Equal(t, m, ParseMethod([]byte(m.String())))
	}
	for _, s := range []string{"", "get", "OTHER", "GETS", "PROPFIND"} {
		assert.Equal(t, MethodOther, ParseMethod([]byte(s)), s)
	}
	assert.Equal(t, "OTHER", Method(200).String())
	for m, want := range map[Method][2]bool{
		GET: {true, true}, HEAD: {true, true}, OPTIONS: {true, true}, TRACE: {true, true}, PUT: {false, true},
		DELETE: {false, true}, POST: {}, PATCH: {}, CONNECT: {}, MethodOther: {},
	} {
		assert.Equal(t, want[0], m.Safe(), m.String())
		assert.Equal(t, want[1], m.Idempotent(), m.String())
	}
}
