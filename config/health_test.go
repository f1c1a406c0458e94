package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseStatuses(t *testing.T) {
	for text, want := range map[string]string{
		"200":                "200",
		"200-399":            "200-399",
		"200,204":            "200,204",
		" 204 , 200-202":     "200-202,204",
		"200-299,250-350":    "200-350",
		"100-599":            "100-599",
		"":                   "",
		"99":                 "",
		"600":                "",
		"0200":               "",
		"+20":                "",
		"300-200":            "",
		"200-":               "",
		"-200":               "",
		"200--300":           "",
		"200,":               "",
		"2xx":                "",
		"200-300-400":        "",
		"999999999999999999": "",
	} {
		set, err := parseStatuses(text)
		assert.Equal(t, want, set.String(), text)
		assert.Equal(t, want == "", err != nil, text)
	}
}

func FuzzStatuses(f *testing.F) {
	for _, seed := range []string{"200-399", "200,204", "200, 503-503", "99", "-", ",", "300-200"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := parseStatuses(text)
		if err != nil {
			require.Empty(t, set)
			return
		}
		again, err := parseStatuses(set.String())
		require.NoError(t, err)
		require.Equal(t, set, again)
	})
}
