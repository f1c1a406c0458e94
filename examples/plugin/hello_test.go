package hello

import (
	"testing"

	"github.com/corelane/corelane/filters/filtertest"
)

func TestHello(t *testing.T) {
	for field, want := range map[string]string{"X-Name: Ada": "hi, Ada\n", "X-Other: a": "hi, world\n"} {
		got := filtertest.Run(t, &Filter{Greeting: "hi"}, "GET / HTTP/1.1", "Host: a.example", field)
		if got.Status != 200 || got.Body != want {
			t.Errorf("%s: got %d %q, want %q", field, got.Status, got.Body, want)
		}
	}
}
