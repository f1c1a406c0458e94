package dubbo

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// referenceValues are the Go values of the recordings of the reference
// implementation, where one writes them the same way.
var referenceValues = map[string]any{
	"null": nil, "true": true,
	"int 0": 0, "int -16": -16, "int -17": -17, "int 48": 48, "int 2047": 2047, "int -2049": -2049, "int -262144": -262144,
	"int 262143": 262143, "int 262144": 262144, "int -2147483648": math.MinInt32,
	"long 0": int64(0), "long -8": int64(-8), "long -9": int64(-9), "long 16": int64(16), "long 2047": int64(2047),
	"long -2049": int64(-2049), "long -262144": int64(-262144), "long 262143": int64(262143), "long 262144": int64(262144),
	"long -2147483648": int64(math.MinInt32), "long 2147483648": int64(1 << 31), "long -9223372036854775808": int64(math.MinInt64),
	"double 0.0": 0.0, "double 1.0": 1.0, "double 127.0": 127.0, "double -129.0": -129.0, "double -32768.0": -32768.0,
	"double 32767.0": 32767.0, "double 12.25": 12.25, "double -0.001": -0.001, "double 3.141592653589793": math.Pi,
	"double 1.7976931348623157E308": math.MaxFloat64, "double -Infinity": math.Inf(-1),
	"string empty": "", "string 31": strings.Repeat("x", 31), "string 32": strings.Repeat("x", 32), "string cjk": "你好",
	"string emoji (surrogate pair)": "a😀b", "string 1024": strings.Repeat("x", 1024),
	"bytes 15": make([]byte, 15), "bytes 16": make([]byte, 16), "bytes 1024": make([]byte, 1024),
	"date 894621091000":     time.UnixMilli(894621091000),
	"int[] 1,2,3":           Array{"[int", []any{1, 2, 3}},
	"Object[] 1,a,null":     Array{"[object", []any{1, "a", nil}},
	"ArrayList 1,two,false": []any{1, "two", false},
	"LinkedList 1,2":        Array{"java.util.LinkedList", []any{1, 2}},
	"HashMap k=v":           Map{{"k", "v"}}, "HashMap empty": Map{},
	"object User": user,
	"list of two Users (class definition reused)": []any{user, user},
	"Class String": Object{"java.lang.Class", []Entry{{"name", "java.lang.String"}}},
}

var user = Object{"HessianVectors$User", []Entry{{"id", 7}, {"name", "user-7"}, {"tags", []any{"a", "b"}}, {"next", nil}}}

func TestReferenceValues(t *testing.T) {
	_, values := readVectors(t)
	wrote := 0
	for _, r := range values {
		t.Run(r.name, func(t *testing.T) {
			v, known := referenceValues[r.name]
			begin, long := r.hex, ""
			if i := strings.Index(r.hex, "...("); i >= 0 {
				begin, long = r.hex[:i], r.hex[i:]
			}
			if known {
				wrote++
				out := AppendValue(nil, v)
				require.Equal(t, begin, hex.EncodeToString(out)[:len(begin)])
				if long != "" {
					sum := sha256.Sum256(out)
					require.Contains(t, long, hex.EncodeToString(sum[:]))
				} else {
					require.Len(t, out, len(begin)/2)
				}
			}
			if long != "" {
				return
			}
			b, err := hex.DecodeString(r.hex)
			require.NoError(t, err)
			out, err := AppendJSON(nil, b)
			require.NoError(t, err)
			if strings.HasPrefix(r.reads, "Buffer") {
				return
			}
			require.Equal(t, sameAs(r), withoutClass(string(out)))
			s := scanner{b: b, wide: 1}
			require.True(t, s.value(1))
			require.Zero(t, s.left())
			for n := range b {
				s.reset(b[:n], 1)
				require.False(t, s.value(1))
				_, err = AppendJSON(nil, b[:n])
				require.Error(t, err)
			}
		})
	}
	require.Greater(t, wrote, 50)
}

// sameAs is what hessian.js reads, as JSON that tells ints and doubles apart.
func sameAs(r recorded) string {
	want := r.reads
	switch {
	case r.name == "double -Infinity":
		return `"-Infinity"`
	case strings.HasPrefix(r.name, "double") && !strings.ContainsAny(want, "."):
		return want + ".0"
	case strings.HasPrefix(r.name, "double"):
		return want
	case strings.HasPrefix(r.name, "date"):
		return `"` + want + `"`
	case strings.HasPrefix(r.name, "long"):
		return strings.Trim(want, `"`)
	}
	return want
}

// withoutClass removes what the recordings do not show.
func withoutClass(s string) string {
	for _, class := range []string{user.Class, "java.lang.Class"} {
		s = strings.ReplaceAll(s, `"class":"`+class+`",`, "")
	}
	return s
}

// Pieces may be of any length; the reference implementation ends each at 32 KiB.
func TestLongValues(t *testing.T) {
	text := strings.Repeat("x", 70_000) + strings.Repeat("😀", 40_000) + "é"
	out, err := AppendJSON(nil, AppendValue(nil, text))
	require.NoError(t, err)
	require.Equal(t, `"`+text+`"`, string(out))
	data := make([]byte, 100_000)
	out, err = AppendJSON(nil, AppendValue(nil, data))
	require.NoError(t, err)
	require.Equal(t, `"`+strings.Repeat("A", 133_334)+`=="`, string(out))

	// A pair of surrogates between two pieces, halves without another, and NUL in
	// two bytes.
	for in, want := range map[string]string{
		"R\x00\x01\xed\xa0\xbd\x01\xed\xb8\x80": `"😀"`, "\x02\xed\xa0\xbdx": `"` + "�" + `x"`, "\x01\xed\xb8\x80": `"` + "�" + `"`,
		"\x01\xed\xa0\xbd": `"` + "�" + `"`, "\x01\xc0\x80": `"\u0000"`, "\x05\"\\\n\t\x1f": `"\"\\\n\u0009\u001f"`,
	} {
		out, err := AppendJSON(nil, []byte(in))
		require.NoError(t, err, "%q", in)
		require.Equal(t, want, string(out))
	}
	require.Equal(t, "\x02\xed\xa0\xbdx", string(appendText(nil, "\xed\xa0\xbdx")))
}

func TestHessianToJSON(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"open list", "W\x91\x92Z", "[1,2]"},
		{"open typed list", "U\x04[int\x91Z", "[1]"},
		{"type by number", "\x7a\x71\x04[int\x91\x71\x90\x92", "[[1],[2]]"},
		{"typed map", "M\x05com.A\x01k\x91Z", `{"class":"com.A","k":1}`},
		{"typed map without", "M\x11java.util.TreeMap\x01k\x91Z", `{"k":1}`},
		{"keys", "H\x91\x92NT\x5c\x5b\x4b\x00\x00\x00\x00FZ", `{"1":2,"null":true,"1.0":0.0,"1970-01-01T00:00:00.000Z":false}`},
		{"itself", "\x79\x51\x90", "[null]"},
		{"two of one", "\x7a\x48\x01a\x91Z\x51\x91", `[{"a":1},{"a":1}]`},
		{"a parent", "C\x01P\x91\x05child\x60C\x01K\x91\x06parent\x61\x51\x90", `{"class":"P","child":{"class":"K","parent":null}}`},
		{"definitions in a row", "C\x01A\x90C\x01B\x91\x01b\x61\x91", `{"class":"B","b":1}`},
		{"a definition of nothing", "C\x01A\x90\x91", "1"},
		{"object by number", "C\x01A\x90O\x90", `{"class":"A"}`},
		{"beyond dates", "J\x7f\xff\xff\xff\xff\xff\xff\xff", "9223372036854775807"},
		{"no number", "D\x7f\xf8\x00\x00\x00\x00\x00\x00", `"NaN"`},
		{"infinity", "D\x7f\xf0\x00\x00\x00\x00\x00\x00", `"Infinity"`},
		{"a tail", "\x91N", "1"},
		{"one unit", "\x01😀", `"😀"`},
		{"two units", "\x03😀!", `"😀!"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := AppendJSON(nil, []byte(tt.in))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(out))
			s := scanner{b: []byte(tt.in), wide: 1}
			require.True(t, s.all() || s.sawWide)
		})
	}
}

func TestHessianThatIsWrong(t *testing.T) {
	deep := strings.Repeat("\x79", maxDepth+1) + "\x91"
	tests := []struct {
		name, in string
		want     *fault
	}{
		{"nothing", "", faultCut},
		{"no tag", "\x40", faultTag},
		{"no tag within", "\x79G", faultTag},
		{"nesting", deep, faultDepth},
		{"nesting of maps", strings.Repeat("H\x01k", maxDepth+1), faultDepth},
		{"reference ahead", "\x79\x51\x91", faultReference},
		{"reference backwards", "\x79\x51\x8f", faultReference},
		{"reference without a number", "\x79\x51N", faultTag},
		{"type that was not", "\x71\x90\x91", faultReference},
		{"map of a type that was not", "M\x90Z", faultReference},
		{"object of nothing", "\x60", faultClass},
		{"object of a number", "O\xb0", faultClass},
		{"length of 2^31", "X\x49\x7f\xff\xff\xff\x91", faultLength},
		{"negative length", "V\x01t\x8f", faultLength},
		{"a million fields", "C\x01A\x49\x00\x0f\x42\x40\x01a", faultLength},
		{"negative fields", "C\x01A\x8f", faultLength},
		{"objects longer than what is there", "C\x01A\x93\x01a\x01b\x01c\x60\x91", faultLength},
		{"a name that is none", "C\x91\x90", faultString},
		{"chunks of two kinds", "R\x00\x01aB\x00\x00", faultString},
		{"text that is none", "\x01\x80", faultText},
		{"text that is none either", "\x01\xff", faultText},
		{"text that ends", "\x02\xe4\xbd", faultCut},
		{"open list", "W\x91", faultCut},
		{"open map", "H\x01a", faultCut},
		{"two values", "\x91\x92", faultTrailing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := AppendJSON(nil, []byte(tt.in))
			require.Equal(t, tt.want.of(codec.Responses), err)
			if tt.want != faultTrailing {
				s := scanner{b: []byte(tt.in), wide: 1}
				require.False(t, s.value(1))
				require.Equal(t, tt.want, s.fault)
			}
		})
	}
	_, err := AppendJSON(nil, []byte("H\x79\x91\x92Z"))
	require.Equal(t, faultKey.of(codec.Responses), err)
}

// Bodies that would become more than there is room for.
func TestBombs(t *testing.T) {
	// Each list holds the one before it twice: 2^30 copies of a string.
	w := []byte("X")
	w = appendInteger(w, 31)
	w = append(w, "\x79\x30\x64"+strings.Repeat("x", 100)...)
	for i := range 30 {
		w = append(w, 0x7a, 0x51)
		w = appendInteger(w, int32(i+1))
		w = append(w, 0x51)
		w = appendInteger(w, int32(i+1))
	}
	_, err := AppendJSON(nil, w)
	require.Equal(t, faultTooLarge.of(codec.Responses), err)

	// Lists within lists by references alone.
	w = append([]byte("X"), appendInteger(nil, 100)...)
	w = append(w, 0x79, 0x91)
	for i := range 99 {
		w = appendInteger(append(w, 0x79, 0x51), int32(i+1))
	}
	_, err = AppendJSON(nil, w)
	require.Equal(t, faultDepth.of(codec.Responses), err)

	// Objects of one byte with a long name.
	w = append(AppendValue(nil, Array{Type: ""})[:0], 'X')
	w = appendInteger(w, 20_000)
	w = append(w, "C\x30\xff"+strings.Repeat("n", 255)+"\x90"...)
	w = append(w, strings.Repeat("\x60", 20_000)...)
	_, err = AppendJSON(nil, w)
	require.Equal(t, faultTooLarge.of(codec.Responses), err)

	// More definitions than anybody has, and more values.
	w = []byte(strings.Repeat("C\x00\x90", maxClasses+1) + "\x60")
	s := scanner{b: w, wide: 1}
	require.False(t, s.value(1))
	require.Equal(t, faultClasses, s.fault)
	_, err = AppendJSON(nil, w)
	require.Equal(t, faultClasses.of(codec.Responses), err)
	w = append(appendInteger([]byte("X"), maxValues), strings.Repeat("\x91", maxValues)...)
	_, err = AppendJSON(nil, w)
	require.Equal(t, faultTooMany.of(codec.Responses), err)
}
