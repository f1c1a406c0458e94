package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/pool"
)

// ActiveHealth asks every endpoint now and then how it is.
type ActiveHealth struct {
	// Kind says how: http asks for a page, tcp opens a connection.
	Kind string `yaml:"kind" default:"http" enum:"http|tcp"`
	// Path is the page, with its query.
	Path string `yaml:"path" default:"/healthz"`
	// Host is the Host field of a request; empty: the address.
	Host string `yaml:"host"`
	// Port is where to ask; 0: where the endpoint serves.
	Port int `yaml:"port" default:"0" min:"0" max:"65535"`
	// Interval is the time from one probe of an endpoint to the next, 10 % more
	// or less.
	Interval time.Duration `yaml:"interval" default:"5s" min:"10ms" max:"1h"`
	// Timeout is the time in which a probe must have ended.
	Timeout time.Duration `yaml:"timeout" default:"1s" min:"10ms" max:"1m"`
	// Rise is the number of successes in a row that makes an unhealthy endpoint
	// healthy; the first probe of all decides alone.
	Rise int `yaml:"rise" default:"2" min:"1" max:"1000"`
	// Fall is the number of failures in a row that makes a healthy endpoint
	// unhealthy.
	Fall int `yaml:"fall" default:"3" min:"1" max:"1000"`
	// Expect are the status codes of success: a code, a range such as 200-399, or
	// several of them, as a list or with commas between. Redirects are not
	// followed.
	Expect Statuses `yaml:"expect" default:"200-399"`
	// Body is a text that must occur in the first 64 KiB of the body; empty: the
	// body is not read.
	Body string `yaml:"body"`
}

// Statuses are status codes and ranges of them, with commas between.
type Statuses string

// DecodeNode reads one text, or a list of codes and ranges.
func (s *Statuses) DecodeNode(d *tree.Decoder, n *tree.Node, at *tree.Path) {
	if n.Kind != tree.List {
		s.take(d, n, at)
		return
	}
	parts := make([]string, len(n.Items))
	for i, item := range n.Items {
		var one Statuses
		one.take(d, item, at.Index(i))
		parts[i] = string(one)
	}
	if len(parts) == 0 {
		d.Report(n.Pos, at, errStatuses.Error())
	}
	*s = Statuses(strings.Join(parts, ","))
}

func (s *Statuses) take(d *tree.Decoder, n *tree.Node, at *tree.Path) {
	var text string
	before := len(d.Findings)
	d.Decode(n, at, &text)
	if len(d.Findings) > before {
		return
	}
	if _, err := parseStatuses(text); err != nil {
		d.Report(n.Pos, at, fmt.Sprintf("%s: %s", n.Show(), err))
		return
	}
	*s = Statuses(text)
}

var errStatuses = errors.New("expected status codes from 100 to 599, such as 200, 200-399 or 200,204")

func parseStatuses(text string) (pool.Statuses, error) {
	var set pool.Statuses
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			last = first
		}
		a, errA := statusCode(first)
		b, errB := statusCode(last)
		if errA != nil || errB != nil || a > b {
			return pool.Statuses{}, errStatuses
		}
		set = set.With(a, b)
	}
	return set, nil
}

func statusCode(text string) (int, error) {
	code, err := strconv.Atoi(text)
	if err != nil || len(text) != 3 || code < 100 || code > 599 {
		return 0, errStatuses
	}
	return code, nil
}
