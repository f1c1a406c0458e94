// Package explain answers why a request would go where it goes: which routes
// were looked at and what each of them missed, which filters stand in the way,
// which endpoints could be chosen.
//
// The decision is taken by the code that serves traffic, from the same immutable
// generation: the request is written as a client would send it, decoded, cleaned
// at the door and resolved, with a record of every step. Nothing is sent and no
// filter runs. Secrets of the request are not shown.
package explain
