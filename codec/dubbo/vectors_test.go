package dubbo

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vector is one recorded frame of testdata/dubbo-vectors.md, with what the
// recording says is in it.
type vector struct {
	name  string
	frame []byte
	rows  []row
}

type row struct{ hex, meaning string }

// recorded is one row of the values of the reference implementation.
type recorded struct{ name, hex, reads string }

var quoted = regexp.MustCompile(`string\(\d+\) "(.*)"`)

// readVectors reads the recordings: a heading, the frame in hexadecimal, and a
// table of its parts.
func readVectors(tb testing.TB) (frames []vector, values []recorded) {
	text, err := os.ReadFile("testdata/dubbo-vectors.md")
	require.NoError(tb, err)
	section, name := "", ""
	var v *vector
	inFrame, digits := false, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "## "):
			section = strings.TrimPrefix(line, "## ")
		case strings.HasPrefix(line, "### "):
			name = section[:2] + strings.TrimPrefix(line, "### ")
		case line == "```text":
			inFrame, digits = true, ""
		case line == "```":
			inFrame = false
			frame, err := hex.DecodeString(digits)
			require.NoError(tb, err, name)
			frames = append(frames, vector{name: name, frame: frame})
			v = &frames[len(frames)-1]
		case inFrame:
			digits += line
		case strings.HasPrefix(line, "| `") && v != nil:
			cells := strings.SplitN(strings.Trim(line, "| "), " | ", 2)
			v.rows = append(v.rows, row{strings.Trim(cells[0], "`"), strings.ReplaceAll(cells[1], "\\|", "|")})
		case strings.HasPrefix(line, "| ") && strings.HasPrefix(section, "5."):
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if strings.HasPrefix(cells[1], "`") {
				values = append(values, recorded{cells[0], strings.Trim(cells[1], "`"), cells[2]})
			}
		}
		if strings.HasPrefix(section, "5.") {
			v = nil
		}
	}
	return frames, values
}

// find returns the recorded frame whose name contains all of the words.
func find(tb testing.TB, words ...string) []byte {
	tb.Helper()
	frames, _ := readVectors(tb)
next:
	for _, v := range frames {
		for _, word := range words {
			if !strings.Contains(v.name, word) {
				continue next
			}
		}
		return bytes.Clone(v.frame)
	}
	tb.Fatal("no such recording", words)
	return nil
}

// meaning returns what a row with that label says a string is; ok false: there is
// none, or not one.
func (v *vector) meaning(label string) (string, bool) {
	for _, r := range v.rows {
		if rest, ok := strings.CutPrefix(r.meaning, label+": "); ok {
			if m := quoted.FindStringSubmatch(rest); m != nil {
				return m[1], true
			}
		}
	}
	return "", false
}

// attachments returns the strings of the attachments in their order; non-strings
// are left out.
func (v *vector) attachments() (keys, values []string) {
	inside := false
	for _, r := range v.rows {
		text := strings.TrimPrefix(r.meaning, "&nbsp;&nbsp;")
		switch {
		case strings.HasPrefix(r.meaning, "attachments: "):
			inside = true
		case inside && strings.HasPrefix(text, "key: "):
			keys = append(keys, quoted.FindStringSubmatch(text)[1])
		case inside && strings.HasPrefix(text, "value: "):
			values = append(values, quoted.FindStringSubmatch(text)[1])
		}
	}
	return keys, values
}

func TestTheRecordingsAreAllThere(t *testing.T) {
	frames, values := readVectors(t)
	require.Len(t, frames, bytes.Count(read(t, "testdata/dubbo-vectors.md"), []byte("```text")))
	require.Len(t, frames, 35)
	require.Len(t, values, 57)
}

func read(tb testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	require.NoError(tb, err)
	return b
}
