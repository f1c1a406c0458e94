// Package requestid is the filter "request_id": every request goes to its service
// with exactly one identifier, in the field X-Request-Id unless told otherwise.
//
// A new identifier is 128 random bits as 32 hexadecimal digits. They come from
// ChaCha8, one generator a loop, so that nobody can guess the next identifier
// from those he has seen and no two loops share a lock.
package requestid

import (
	"fmt"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// MaxTrusted is the length in bytes of the longest identifier that is kept from
// a client.
const MaxTrusted = 128

func init() {
	filters.Register(filters.Kind{
		Name: "request_id",
		Doc:  "Gives every request an identifier, or keeps the client's.",
		New:  func() any { return &Filter{Header: codec.XRequestID.String()} },
	})
}

var (
	_ filters.Provisioner   = (*Filter)(nil)
	_ filters.RequestFilter = (*Filter)(nil)
)

// Filter holds the options of one place of use. It does not change after
// Provision.
type Filter struct {
	// Header is the name of the field.
	Header string `yaml:"header"`
	// Trust keeps the identifier that the client sent if it is one token of at
	// most 128 bytes. Otherwise, and always without trust, it is replaced.
	Trust bool `yaml:"trust"`

	name []byte
}

// Provision checks the name.
func (f *Filter) Provision() error {
	if err := filters.CheckFieldName(f.Header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	f.name = []byte(f.Header)
	return nil
}

// OnRequest leaves the request with one identifier.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict {
	h := ctx.Request
	if f.sweep(h) && f.Trust && acceptable(h.GetName(f.Header)) {
		return filters.Continue
	}
	h.Set(f.name, generators.At(ctx).next())
	return filters.Continue
}

// sweep removes the fields that a service may take for the identifier though
// their names differ in '-', '_' and '.', as those do that map names to
// variables. It reports whether exactly one field of the very name is left.
func (f *Filter) sweep(h *codec.Head) bool {
	exact := 0
	for i := range h.Len() {
		name := h.Name(i)
		switch {
		case h.Removed(i) || len(name) != len(f.Header):
		case codec.EqualFold(name, f.Header):
			exact++
		case alike(name, f.Header):
			h.DelAt(i)
		}
	}
	return exact == 1
}

// alike compares two names of one length without regard to case and to which of
// '-', '_' and '.' stands between words.
func alike(name []byte, other string) bool {
	for i, c := range name {
		if fold(c) != fold(other[i]) {
			return false
		}
	}
	return true
}

func fold(c byte) byte {
	switch {
	case c == '_' || c == '.':
		return '-'
	case 'A' <= c && c <= 'Z':
		return c | 0x20
	}
	return c
}

// acceptable tells whether a client's identifier can be kept: a token stays one
// word in every log and header.
func acceptable(id []byte) bool {
	return len(id) <= MaxTrusted && codec.IsToken(id)
}
