// Package tlshello finds the server name in the first message of a TLS client
// (RFC 8446 §4.1.2, RFC 6066 §3) without taking part in the handshake: bytes in, a
// name out.
//
// The message may lie in any number of records and arrive in any split. Nothing of
// it is kept but the name, so what is read costs no memory. With Encrypted Client
// Hello the name is the outer one, of the server that can decrypt the inner.
package tlshello
