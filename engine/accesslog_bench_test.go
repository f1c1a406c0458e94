package engine

import (
	"net/netip"
	"testing"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
)

// go test -run - -bench LogRecord ./engine
func BenchmarkLogRecord(b *testing.B) {
	loop, err := reactor.NewLoop(reactor.Options{CPU: -1})
	if err != nil {
		b.Fatal(err)
	}
	w := &worker{loop: loop, nodeJSON: appendJSON(nil, []byte("gateway-1"), maxLoggedHost)}
	x := &Exchange{w: w}
	decode(b, &x.req, "GET /api/v1/app/order/detail?id=7 HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
	x.Client = netip.MustParseAddr("127.0.0.1")
	x.route = &snapshot.Route{Info: filters.RouteInfo{ID: "order-detail"}}
	x.Endpoint, x.status, x.tries = "10.1.2.3:8080", 200, 1
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = x.logRecord(buf[:0], loop.Now())
	}
}
