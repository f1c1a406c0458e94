// Package proxyproto reads and writes the header that a load balancer sends in
// front of everything else to tell whose connection it carries ("The PROXY
// protocol, versions 1 & 2", Willy Tarreau): bytes in, a value out.
//
// Parse is a function of the bytes alone. Of the beginning of a header it says
// "more"; once it has called bytes a header or malformed, no byte behind them
// changes that. So whoever reads a connection may call it with whatever has come
// so far, and every split gives the same result.
//
// There is one reading of a header or none: what the protocol leaves to senders
// (spaces, leading zeros, families that do not fit their addresses) is refused.
package proxyproto
