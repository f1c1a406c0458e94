package frame

import (
	"context"
	"errors"
	"fmt"

	"github.com/corelane/corelane/codec"
)

// Kind says what went wrong with a call or a connection.
type Kind uint8

// The kinds.
const (
	// Unreachable: no connection could be made; nothing was sent.
	Unreachable Kind = iota + 1
	// Disconnected: the connection ended before the answer was complete. Whether
	// the call was carried out is not known.
	Disconnected
	// GoneAway: the peer takes no more calls and has not looked at this one. It may
	// be repeated, which Client.Call does by itself.
	GoneAway
	// Cancelled: the peer gave the message up; Status and Reason may tell why.
	Cancelled
	// Expired: the context of the call ended; Err is its error.
	Expired
	// Malformed: the peer does not keep to the protocol.
	Malformed
	// Unresponsive: the peer is connected, but does not answer heartbeats or does
	// not read what it is sent.
	Unresponsive
	// TooLarge: a limit of this side was passed, see Limits.
	TooLarge
	// Overloaded: as many calls as allowed are under way.
	Overloaded
	// Closed: this side was closed.
	Closed
	// Invalid: what was to be sent cannot be said in this protocol.
	Invalid
)

var kindNames = [...]string{
	"", "unreachable", "disconnected", "gone away", "cancelled", "expired", "malformed", "unresponsive", "too large",
	"overloaded", "closed", "invalid",
}

// String is one or two words for people.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}

// Error is how a call or a connection failed. Responses with a status of 400 or
// more are no errors.
type Error struct {
	Kind Kind
	// Peer is the address of the other side.
	Peer string
	// Status and Reason are what the peer said of it, 0 and empty if nothing.
	Status int
	Reason string
	// Text is a clause for people.
	Text string
	// Err is the cause, if it is an error of its own.
	Err error
}

// Error tells kind, peer, status and text.
func (e *Error) Error() string {
	text := "frame: " + e.Kind.String()
	if e.Peer != "" {
		text += ": " + e.Peer
	}
	if e.Status != 0 {
		text += fmt.Sprintf(": status %d", e.Status)
	}
	if e.Reason != "" {
		text += " " + e.Reason
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, &Error{Kind: GoneAway}) ask for the kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.Peer == "" && t.Status == 0 && t.Text == "" && t.Err == nil
}

// StatusError is what a handler returns to be answered with that status.
type StatusError struct {
	// Status is 400 to 599.
	Status int
	// Text is the body of the response, for people.
	Text string
}

// Error tells status and text.
func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// Errorf makes a *StatusError.
func Errorf(status int, format string, args ...any) error {
	return &StatusError{status, fmt.Sprintf(format, args...)}
}

// answer is what a client is told of a handler's error. What is not a
// StatusError is nobody's business but the log's.
func answer(err error) (status int, text string) {
	var wanted *StatusError
	var failed *Error
	switch {
	case errors.As(err, &wanted) && wanted.Status >= 400 && wanted.Status <= 599:
		return wanted.Status, wanted.Text
	case errors.Is(err, context.DeadlineExceeded):
		return codec.TotalTimeout.Status(), "the deadline of the request has passed"
	case errors.As(err, &failed) && failed.Kind == TooLarge:
		return codec.BodyTooLarge.Status(), failed.Text
	case errors.As(err, &failed) && failed.Kind == Malformed:
		return codec.BadRequest.Status(), failed.Text
	}
	return codec.InternalError.Status(), "the handler failed"
}

var errTooMuchMetadata = &codec.Error{Reason: codec.HeadersTooLarge, Detail: "the metadata is over the limit"}
