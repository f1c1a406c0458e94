// Package codectest checks protocols in tests, without a gateway. A Kit is one
// protocol in one direction; it plays the engine's part for its decoder and
// encoder, and holds what every protocol must: any split of the bytes gives the
// same events, what was decoded is encoded without loss, lengths that lie cost no
// memory, and nothing is allocated for a usual message.
//
// It is for tests of protocols, those of this repository and those of plugins. No
// program imports it.
package codectest
