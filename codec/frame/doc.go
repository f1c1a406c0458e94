// Package frame is the product's own protocol, version 1, as docs/protocol.md
// describes it byte by byte: many messages at once on one connection, each in one
// frame or in several.
//
// Header and Pairs are the bytes and what they mean, for whoever reads or writes
// frames: the gateway, the library for services, load generators. They know no
// connection and no engine, keep nothing of what they are given and do not
// allocate. Protocol is the same for the engine: a decoder into a codec.Head, and
// the way back.
//
// There is one reading of a frame or none: reserved bits, fields that do not fit
// the kind of a frame and lengths that lie are errors.
package frame
