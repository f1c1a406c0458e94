package pool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CheckKind is how an endpoint is probed.
type CheckKind uint8

const (
	// CheckHTTP asks for a page.
	CheckHTTP CheckKind = iota
	// CheckTCP opens a connection.
	CheckTCP
)

// String is the name used in the configuration.
func (k CheckKind) String() string {
	if k == CheckTCP {
		return "tcp"
	}
	return "http"
}

// Check says how the endpoints of a service are probed. The pool only carries it; package health acts on it. Two checks
// that are equal are the same.
type Check struct {
	Kind CheckKind
	// Path is the target of an HTTP probe, from the first slash, and Host the field of that name; empty: the address.
	Path, Host string
	// Port is where IP endpoints are probed; 0: where they serve.
	Port int
	// Interval is the time from one probe to the next, and Timeout the longest one.
	Interval, Timeout time.Duration
	// Rise is the number of successes in a row that makes an unhealthy endpoint healthy, Fall the number of failures that
	// makes a healthy one unhealthy. The first probe decides alone.
	Rise, Fall int
	// Expect are the status codes of success.
	Expect Statuses
	// Body must occur in the body; empty: the body is not read.
	Body string
}

// Statuses is a set of status codes from 100 to 599.
type Statuses [8]uint64

// With returns the set with the codes from first to last added; those out of range are ignored.
func (s Statuses) With(first, last int) Statuses {
	for code := max(first, 100); code <= min(last, 599); code++ {
		s[(code-100)/64] |= 1 << ((code - 100) % 64)
	}
	return s
}

// Has says whether the code is in the set.
func (s Statuses) Has(code int) bool {
	return code >= 100 && code <= 599 && s[(code-100)/64]>>((code-100)%64)&1 == 1
}

// String is the set as the configuration writes it, such as 200-299,304.
func (s Statuses) String() string {
	var parts []string
	for first := 100; first <= 599; first++ {
		if !s.Has(first) {
			continue
		}
		last := first
		for s.Has(last + 1) {
			last++
		}
		part := strconv.Itoa(first)
		if last > first {
			part += "-" + strconv.Itoa(last)
		}
		parts = append(parts, part)
		first = last
	}
	return strings.Join(parts, ",")
}

func (cfg *ServiceConfig) checkHealth() error {
	switch c := cfg.Check; {
	case cfg.WarmUp < 0 || cfg.SlowStart < 0:
		return errors.New("a warm-up is negative")
	case !(cfg.Panic >= 0 && cfg.Panic <= 100):
		return fmt.Errorf("panic %g is not in 0..100", cfg.Panic)
	case c != nil && (c.Interval <= 0 || c.Timeout <= 0 || c.Rise < 1 || c.Fall < 1):
		return errors.New("a check needs an interval, a timeout, a rise and a fall")
	}
	return nil
}
