package filters

import (
	"errors"
	"fmt"

	"github.com/corelane/corelane/codec"
)

// MaxFieldName and MaxFieldValue bound, in bytes, what configuration may ask a
// filter to write into a head.
const (
	MaxFieldName  = 256
	MaxFieldValue = 8 << 10
)

// ownFields are written by the gateway alone: those of one connection and
// those that say where a message ends.
var ownFields = codec.SetOf(
	codec.Connection, codec.KeepAlive, codec.ProxyConnection, codec.TE, codec.Upgrade,
	codec.HTTP2Settings, codec.TransferEncoding, codec.ContentLength, codec.Trailer,
)

// CheckFieldName says why a filter must not change the field of this name: it is
// not a token (RFC 9110 §5.1), is too long, or is the gateway's own. It is for
// Provision; any goroutine may call it.
func CheckFieldName(name string) error {
	if len(name) > MaxFieldName {
		return fmt.Errorf("a field name of %d bytes is too long, %d are allowed", len(name), MaxFieldName)
	}
	if !codec.IsToken([]byte(name)) {
		return fmt.Errorf("%q is not a field name", name)
	}
	switch known := codec.Lookup([]byte(name)); {
	case known == codec.Host:
		return errors.New("the field Host belongs to the route: use rewrite.host")
	case known == codec.Expect:
		return errors.New("the field Expect is between client and service and cannot be changed")
	case ownFields.Has(known):
		return fmt.Errorf("the field %s is hop-by-hop or part of the framing, which the gateway writes itself", known)
	}
	return nil
}

// CheckFieldValue says why the value cannot stand in a field line: a control
// character, which could begin another line, blanks at an end, which do not
// arrive (RFC 9110 §5.5), or its length. It is for Provision; any goroutine may
// call it.
func CheckFieldValue(value string) error {
	if len(value) > MaxFieldValue {
		return fmt.Errorf("a field value of %d bytes is too long, %d are allowed", len(value), MaxFieldValue)
	}
	for i := range len(value) {
		if !codec.IsValueByte(value[i]) {
			return fmt.Errorf("the field value %q has a control character", value)
		}
	}
	if len(codec.TrimOWS([]byte(value))) != len(value) {
		return fmt.Errorf("the field value %q begins or ends with a blank", value)
	}
	return nil
}

// CheckField is CheckFieldName and CheckFieldValue in one.
func CheckField(name, value string) error {
	if err := CheckFieldName(name); err != nil {
		return err
	}
	if err := CheckFieldValue(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
