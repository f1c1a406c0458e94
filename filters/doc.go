// Package filters is what a filter author sees: the phases a filter may take
// part in, the context of one exchange, the chain that runs filters in order
// and the registry that maps the names used in configuration to filters.
//
// A filter is an ordinary Go struct. Its exported fields are its options and
// their comments its documentation. It implements the phases it cares about
// (RequestFilter, RequestBodyFilter, WholeBodyFilter, ResponseFilter,
// ResponseBodyFilter, LogFilter) and nothing else; a route pays only for the filters it names and
// a filter only for the phases it has.
//
// One instance is built for each place of use and shared by all loops, so it
// must be immutable after Provision, or keep its state per loop (PerLoop) or in
// atomic words. Everything runs on the loop that owns the exchange: a filter
// must not block. What has to wait returns Wait and is resumed from any
// goroutine through a Handle.
package filters
