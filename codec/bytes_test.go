package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestByteClasses(t *testing.T) {
	const separators = "\"(),/:;<=>?@[\\]{}"
	for i := range 256 {
		c := byte(i)
		visible := c > ' ' && c < 0x7f
		assert.Equal(t, visible && !inString(c, separators), IsTokenByte(c), "token %q", c)
		assert.Equal(t, visible && c != '#', IsTargetByte(c), "target %q", c)
		assert.Equal(t, c == '\t' || c == ' ' || visible || c >= 0x80, IsValueByte(c), "value %q", c)
	}
	assert.False(t, IsToken(nil))
	assert.False(t, IsToken([]byte("a b")))
	assert.True(t, IsToken([]byte("X-a_1")))
}

func TestEqualFold(t *testing.T) {
	assert.True(t, EqualFold([]byte("Chunked"), "cHUNKED"))
	assert.False(t, EqualFold([]byte("chunked"), "chunke"))
	assert.False(t, EqualFold([]byte("@"), "`"), "only letters fold")
	assert.False(t, EqualFold([]byte("\xcb"), "\xeb"))
}

func TestNextOption(t *testing.T) {
	var got []string
	var option []byte
	for list := []byte(" a ,b,,\t c\t"); len(list) > 0; {
		option, list = NextOption(list)
		got = append(got, string(option))
	}
	assert.Equal(t, []string{"a", "b", "", "c"}, got)
	_, rest := NextOption([]byte("a,"))
	assert.NotNil(t, rest, "an empty element follows")
	assert.Empty(t, rest)
	_, rest = NextOption([]byte("a"))
	assert.Nil(t, rest)
}
