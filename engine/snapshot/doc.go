// Package snapshot is one compiled generation of the configuration: everything
// a loop needs to serve a request, immutable, read by one atomic load at the
// head of each request and swapped whole.
//
// What a generation shares with the one before it (the route table's shards,
// unchanged routes, endpoints, filter instances) is shared by pointer, so a
// small change makes a small generation. The resolver in this package is the
// one that serves traffic; there is no second one for explanations.
package snapshot
