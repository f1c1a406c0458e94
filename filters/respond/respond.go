// Package respond is the filter "respond": it answers every request it sees with
// a fixed status, fields and body. A route with it needs no service.
package respond

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// MaxBody bounds the body in bytes: it is kept in memory for every place of use.
const MaxBody = 1 << 20

// plainText is the type of a body that names none.
const plainText = "text/plain; charset=utf-8"

func init() {
	filters.Register(filters.Kind{
		Name: "respond",
		Doc:  "Answers every request with a fixed status, fields and body.",
		New:  func() any { return &Filter{Status: 200} },
	})
}

var (
	_ filters.Provisioner   = (*Filter)(nil)
	_ filters.RequestFilter = (*Filter)(nil)
	_ filters.Answerer      = (*Filter)(nil)
)

// Filter holds the options of one place of use. It does not change after
// Provision.
type Filter struct {
	// Status of the answer, 200 to 599.
	Status int `yaml:"status"`
	// Headers are fields of the answer. Its framing is the gateway's, and a body
	// without Content-Type is text/plain in UTF-8.
	Headers map[string]string `yaml:"headers"`
	// Body of the answer, up to 1 MiB; not with 204, 205 and 304, which have none.
	Body string `yaml:"body"`

	body   []byte
	fields []filters.ReplyField
}

// Provision checks the options and prepares the answer.
func (f *Filter) Provision() error {
	errs := []error{f.checkStatus()}
	if len(f.Body) > MaxBody {
		errs = append(errs, fmt.Errorf("body: %d bytes are too many, %d are allowed", len(f.Body), MaxBody))
	}
	f.body = []byte(f.Body)
	f.fields = nil
	typed := len(f.body) == 0
	seen := make(map[string]string, len(f.Headers))
	for _, name := range slices.Sorted(maps.Keys(f.Headers)) {
		if err := filters.CheckField(name, f.Headers[name]); err != nil {
			errs = append(errs, fmt.Errorf("headers: %w", err))
		}
		folded := strings.ToLower(name)
		if first, twice := seen[folded]; twice {
			errs = append(errs, fmt.Errorf("headers: %s and %s are one field", first, name))
		}
		seen[folded] = name
		typed = typed || codec.Lookup([]byte(name)) == codec.ContentType
		f.fields = append(f.fields, filters.ReplyField{Name: name, Value: f.Headers[name]})
	}
	if !typed {
		f.fields = append(f.fields, filters.ReplyField{Name: codec.ContentType.String(), Value: plainText})
	}
	return errors.Join(errs...)
}

func (f *Filter) checkStatus() error {
	if f.Status < 200 || f.Status > 599 {
		return fmt.Errorf("status: %d is not from 200 to 599", f.Status)
	}
	if bodiless := f.Status == 204 || f.Status == 205 || f.Status == 304; bodiless && f.Body != "" {
		return fmt.Errorf("body: an answer %d has none (RFC 9110 §15)", f.Status)
	}
	return nil
}

// Answers tells that the route needs no service.
func (f *Filter) Answers() bool { return true }

// OnRequest answers.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict {
	return ctx.Respond(f.Status, f.body, f.fields...)
}
