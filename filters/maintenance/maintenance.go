// Package maintenance is the filter "maintenance": while it is active, every
// request it sees is answered 503, with the reason maintenance in the log, in the
// metrics and, unless the answer has a text of its own, in the body.
//
// It stands in front of a route that keeps its service, so that switching it off
// is a change of one word.
package maintenance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// MaxBody bounds the body in bytes: it is kept in memory for every place of use.
const MaxBody = 1 << 20

// Types of a body, by what it looks like.
const (
	plainText = "text/plain; charset=utf-8"
	jsonText  = "application/json"
)

// message is what clients read in the product's error body.
const message = "the service is under maintenance"

func init() {
	filters.Register(filters.Kind{
		Name: "maintenance",
		Doc:  "Answers every request with 503 while it is active.",
		New:  func() any { return &Filter{Active: true, Status: 503, RetryAfter: time.Minute} },
	})
}

var (
	_ filters.Provisioner   = (*Filter)(nil)
	_ filters.RequestFilter = (*Filter)(nil)
)

// Filter holds the options of one place of use. It does not change after
// Provision.
type Filter struct {
	// Active switches the filter on; without it requests pass.
	Active bool `yaml:"active"`
	// Status of the answer, 200 to 599 but for 204, 205 and 304.
	Status int `yaml:"status"`
	// Body of the answer, up to 1 MiB, sent as application/json if it is an object
	// or a list of JSON, and else as text/plain. Empty: the gateway's error body.
	Body string `yaml:"body"`
	// RetryAfter tells clients when to come again, in whole seconds, rounded up;
	// 0 leaves the field Retry-After out.
	RetryAfter time.Duration `yaml:"retry_after"`

	reply filters.Reply
}

// Provision checks the options and prepares the answer.
func (f *Filter) Provision() error {
	errs := []error{f.checkStatus()}
	if len(f.Body) > MaxBody {
		errs = append(errs, fmt.Errorf("body: %d bytes are too many, %d are allowed", len(f.Body), MaxBody))
	}
	f.reply = filters.Reply{Status: f.Status, Reason: codec.Maintenance, Message: message, Body: []byte(f.Body)}
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter-1)/time.Second + 1
		f.reply.Fields = append(f.reply.Fields, filters.ReplyField{Name: codec.RetryAfter.String(), Value: strconv.FormatInt(int64(seconds), 10)})
	}
	if f.Body != "" {
		f.reply.Fields = append(f.reply.Fields, filters.ReplyField{Name: codec.ContentType.String(), Value: typeOf(f.reply.Body)})
	}
	return errors.Join(errs...)
}

// typeOf tells JSON from text by looking at it.
func typeOf(body []byte) string {
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && (first[0] == '{' || first[0] == '[') && json.Valid(body) {
		return jsonText
	}
	return plainText
}

// checkStatus refuses what is no final status, and those without a body: the
// answer always has one.
func (f *Filter) checkStatus() error {
	switch {
	case f.Status < 200 || f.Status > 599:
		return fmt.Errorf("status: %d is not from 200 to 599", f.Status)
	case f.Status == 204 || f.Status == 205 || f.Status == 304:
		return fmt.Errorf("status: an answer %d has no body (RFC 9110 §15)", f.Status)
	}
	return nil
}

// OnRequest answers while the filter is active.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict {
	if !f.Active {
		return filters.Continue
	}
	return ctx.Answer(f.reply)
}
