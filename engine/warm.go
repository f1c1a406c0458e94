package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
)

// warmExchanges is how many exchanges a fresh loop has in its free list.
const warmExchanges = 32

// What is rehearsed: heads as browsers and services send them.
var (
	rehearsedRequest = []byte("GET /api/v1/app/order/detail?id=4711&lang=en HTTP/1.1\r\nHost: rehearsal.invalid\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n" +
		"Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en;q=0.9\r\nConnection: keep-alive\r\n" +
		"Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\nX-Tenant: a\r\n\r\n")
	rehearsedResponse = []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n" +
		"Cache-Control: no-store\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: a\r\nX-A: b\r\n\r\n")
)

// warm pays for what the first requests would pay for: pages that nobody has
// touched, code that nobody has run, buffers that nobody has grown. It comes
// before the loop reports its first generation.
func (w *worker) warm() {
	w.loop.Warm()
	if w.sample > 0 {
		w.ring.touch()
	}
	w.stats.routeStats(snapshot.OtherSeries)
	w.date()
	snap := w.server.current.Load()
	for _, lis := range snap.Listeners {
		var all [warmExchanges]*Exchange
		for i := range all {
			all[i] = w.takeExchange()
			w.rehearse(all[i], snap, lis)
		}
		for _, x := range all {
			w.giveBack(x)
		}
		return
	}
}

// rehearse takes an exchange through all that needs neither peer nor filter.
func (w *worker) rehearse(x *Exchange, snap *snapshot.Snapshot, lis *snapshot.Listener) {
	var request, response http1.Decoder
	_, _, _ = request.Request(&x.req, rehearsedRequest, nil)
	x.lis = lis
	x.beginTrace()
	x.clean()
	w.resolver.Normalize(&x.req, lis, nil)
	w.resolver.Resolve(&x.query, snap, &x.req, nil)
	w.scratch = http1.AppendRequest(w.scratch[:0], &x.req)
	_, _, _ = response.Response(&x.resp, rehearsedResponse, nil, codec.GET)
	w.scratch = http1.AppendResponse(w.scratch[:0], &x.resp, http1.ResponseOptions{})
	w.record = x.logRecord(w.record[:0], w.loop.Now())
}

// touch makes the ring's memory present. The writer has nothing to read yet.
func (r *Ring) touch() { reactor.Touch(r.buf) }
