package engine

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
)

// titled is a protocol of which the log needs the name alone.
type titled struct {
	codec.Protocol
	name string
}

func (p titled) Name() string { return p.name }

func TestLogRecordNamesProtocols(t *testing.T) {
	loop, err := reactor.NewLoop(reactor.Options{CPU: -1})
	require.NoError(t, err)
	frame, dubbo := titled{name: "frame"}, titled{name: `du"bbo`}
	svc := &snapshot.Service{Name: "a"}
	for name, tt := range map[string]struct {
		client, service codec.Protocol
		svc             *snapshot.Service
		want            map[string]any
	}{
		"HTTP on both sides":   {nil, nil, svc, map[string]any{}},
		"frame on both sides":  {frame, frame, svc, map[string]any{"protocol": "frame"}},
		"from frame to HTTP":   {frame, nil, svc, map[string]any{"protocol": "frame", "service_protocol": "http"}},
		"from HTTP to dubbo":   {nil, dubbo, svc, map[string]any{"service_protocol": `du"bbo`}},
		"from frame to dubbo":  {frame, dubbo, svc, map[string]any{"protocol": "frame", "service_protocol": `du"bbo`}},
		"frame, not forwarded": {frame, nil, nil, map[string]any{"protocol": "frame"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := &Exchange{w: &worker{loop: loop, nodeJSON: []byte(`"n"`)}}
			x.lis, x.svc, x.proto = &snapshot.Listener{Protocol: tt.client}, tt.svc, tt.service
			copy(x.TraceID[:], "4bf92f3577b34da6a3ce929d0e0e4736")
			x.req.Reset()
			x.req.SetKeyCall([]byte("a?b\x00"))
			var got map[string]any
			require.NoError(t, json.Unmarshal(x.logRecord(nil, loop.Now()), &got))
			require.Equal(t, "a?b\x00", got["path"], "a key has no query")
			said := map[string]any{}
			for _, key := range []string{"protocol", "service_protocol"} {
				if value, there := got[key]; there {
					said[key] = value
				}
			}
			require.Equal(t, tt.want, said)
		})
	}
}
