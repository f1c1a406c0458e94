package frame_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

func TestMux(t *testing.T) {
	m := &frame.Mux{}
	for name, call := range map[string]frame.Call{
		"method": frame.Method("I", "m"), "key": frame.Key("k"), "get": frame.Path("GET", "/a"), "post": frame.Path("", "/a"),
	} {
		m.HandleFunc(call, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
			return w.Reply([]byte(name + " " + r.TraceParent()))
		})
	}
	s := serve(t, m.ServeFrame)
	c := s.client()
	tests := []struct {
		call   frame.Call
		status int
		body   string
	}{
		{frame.Call{Interface: "I", Method: "m", Group: "g", Version: "2"}, 200, "method 00-1"},
		{frame.Key("k"), 200, "key 00-1"},
		{frame.Path("GET", "/a?b=c"), 200, "get 00-1"},
		{frame.Path("POST", "/a"), 200, "post 00-1"},
		{frame.Path("PUT", "/a"), 404, "PUT /a is not known here"},
		{frame.Path("", "/b?c"), 404, "POST /b?c is not known here"},
		{frame.Method("I", "n"), 404, "I/n is not known here"},
		{frame.Key("l"), 404, `key "l" is not known here`},
	}
	for _, tt := range tests {
		r, err := c.Call(patient(t), &frame.Message{Call: tt.call, Metadata: frame.Metadata{{Name: "Traceparent", Value: "00-1"}}})
		require.NoError(t, err)
		assert.Equal(t, tt.status, r.Status)
		assert.Equal(t, tt.body, string(r.Body))
	}
}

func TestMetadata(t *testing.T) {
	var m frame.Metadata
	m.Add("A", "1")
	m.Add("b", "2")
	m.Add("a", "3")
	assert.Equal(t, "1", m.Get("a"))
	m.Set("a", "4")
	assert.Equal(t, frame.Metadata{{Name: "b", Value: "2"}, {Name: "a", Value: "4"}}, m)
	m.Del("B")
	assert.Empty(t, m.Get("b"))
	assert.Empty(t, frame.Kind(99).String())
	assert.Equal(t, "status 404: no a", frame.Errorf(404, "no %s", "a").Error())
}
