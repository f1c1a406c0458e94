// Package engine is the proxy: it owns the loops, the listeners and everything
// that happens between the first byte of a request and the log line of its
// exchange.
//
// A worker is one loop's share of the engine: its sessions, its exchanges, its
// upstream connections, its counters and its log ring. An Exchange is one
// request with its response. It is a state machine between two streams, a
// downstream one (a request on a client's connection) and an upstream one (the
// same on an endpoint's connection), and knows no protocol: streams.go is all
// that the two sides say to it and it to them. HTTP/1.1 is spoken by Session and
// upstreamConn; another protocol is another pair.
//
// Everything here runs on the loop that owns it unless its comment says
// otherwise. Nothing waits: what must wait is done elsewhere and posted back.
package engine
