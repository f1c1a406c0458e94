// Package codec holds what all protocols of the gateway have in common: the
// neutral head of a message, the known field names, the methods, and the
// reasons for which the gateway answers by itself.
//
// A Head keeps every byte of a message head in one buffer and describes it by
// offsets. A decoder (codec/http1 and its siblings) copies the received bytes
// in once; reading hands out views, and a change appends to the buffer and
// moves an offset. Fields the gateway reads are found by number, not by scan.
//
// Nothing here does I/O, reads a clock, logs, locks or, once buffers have
// grown to their working size, allocates. A Head belongs to one loop.
package codec
