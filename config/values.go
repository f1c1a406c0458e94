package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written as 512, 64KiB, 10MiB or 1GiB. 0 is no
// limit where a limit is meant.
type Size int64

var sizeUnits = []struct {
	suffix string
	shift  uint
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}, {"", 0}}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := parseSize(string(text))
	*s = Size(n)
	return err
}

func parseSize(text string) (int64, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		switch {
		case err != nil || digits[0] == '+':
			return 0, errors.New("not a size: write bytes such as 512, or 64KiB, 10MiB, 1GiB")
		case n < 0:
			return 0, errors.New("a size must not be negative")
		case n > math.MaxInt64>>u.shift:
			return 0, errors.New("the size is too large")
		}
		return n << u.shift, nil
	}
	return 0, errors.New("not a size")
}

// Percent is a percentage from 0 to 100 that may have a fraction.
type Percent float64

// UnmarshalText reads a percentage, with or without the sign.
func (p *Percent) UnmarshalText(text []byte) error {
	x, err := parsePercent(strings.TrimSuffix(string(text), "%"))
	*p = Percent(x)
	return err
}

func parsePercent(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || x < 0 || x > 100 {
		return 0, errors.New("not a percentage from 0 to 100")
	}
	return x, nil
}

// Share is an amount of memory: a size, or a percentage of what there is.
type Share struct {
	Bytes   Size
	Percent float64
}

// UnmarshalText reads 50% or a size.
func (s *Share) UnmarshalText(text []byte) error {
	if number, ok := strings.CutSuffix(string(text), "%"); ok {
		x, err := parsePercent(number)
		*s = Share{Percent: x}
		return err
	}
	*s = Share{}
	return s.Bytes.UnmarshalText(text)
}

// Of returns the bytes of the share where `memory` bytes are there; 0 is no
// limit.
func (s Share) Of(memory int64) int64 {
	if s.Percent > 0 {
		return int64(float64(memory) / 100 * s.Percent)
	}
	return int64(s.Bytes)
}

// Loops is a number of event loops; 0 is auto.
type Loops int

// maxLoops bounds the loops of one process.
const maxLoops = 64

// UnmarshalText reads auto or a number from 1 to 64.
func (l *Loops) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*l = 0
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > maxLoops {
		return errors.New("expected auto or a number from 1 to 64")
	}
	*l = Loops(n)
	return nil
}

// Pin says which CPUs loops are bound to: auto, none or a CPU list.
type Pin string

// maxCPU is the highest CPU number that a list may name.
const maxCPU = 4095

// UnmarshalText reads auto, none or a list such as 0,2,4-7.
func (p *Pin) UnmarshalText(text []byte) error {
	*p = Pin(text)
	if *p == "auto" || *p == "none" {
		return nil
	}
	_, err := parseCPUs(string(text))
	return err
}

// CPUs returns the CPUs of a list in order; nil for auto and none.
func (p Pin) CPUs() []int {
	if p == "auto" || p == "none" || p == "" {
		return nil
	}
	cpus, _ := parseCPUs(string(p))
	return cpus
}

func parseCPUs(text string) ([]int, error) {
	bad := errors.New(`expected auto, none or a CPU list such as "0,2,4-7"`)
	seen := make(map[int]bool)
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && ranged {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to < from || to > maxCPU {
			return nil, bad
		}
		for c := from; c <= to; c++ {
			if seen[c] {
				return nil, errors.New("CPU " + strconv.Itoa(c) + " is listed twice")
			}
			seen[c] = true
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// Instant is a point in time, written as in RFC 3339; the zero value is absent.
type Instant struct{ time.Time }

// UnmarshalText reads a time such as 2026-11-29T00:00:00Z, or a date.
func (i *Instant) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		t, err = time.Parse(time.DateOnly, string(text))
	}
	if err != nil {
		return errors.New("not a time such as 2026-11-29T00:00:00Z")
	}
	i.Time = t
	return nil
}
