package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// spareDescriptors and spareGoroutines are what a quiet gateway may hold on
	// top of what it held before its first client: a connection of whoever asks.
	spareDescriptors = 2
	spareGoroutines  = 4
	// flatShare and flatKiB are how much more memory the last quarter may show
	// than the second: the collector's heap breathes.
	flatShare = 1.10
	flatKiB   = 16 << 10
)

// result is what a soak has seen.
type result struct {
	before, after   reading
	readings        []reading
	tallies         map[string]*tally
	faults          []string
	faulty          int
	reloads, deaths int
}

// leaks is an error if r holds more than before.
func (r reading) leaks(before reading) error {
	var errs []error
	if r.descriptors > before.descriptors+spareDescriptors {
		errs = append(errs, fmt.Errorf("%d descriptors are left, %d were open before", r.descriptors, before.descriptors))
	}
	if r.goroutines > before.goroutines+spareGoroutines {
		errs = append(errs, fmt.Errorf("%d goroutines are left, %d ran before", r.goroutines, before.goroutines))
	}
	return errors.Join(errs...)
}

// memory is the median resident size of the second and of the last quarter.
func (r *result) memory() (early, late int) {
	n := len(r.readings)
	return medianKiB(r.readings[n/4 : n/2]), medianKiB(r.readings[n*3/4:])
}

func medianKiB(part []reading) int {
	if len(part) == 0 {
		return 0
	}
	sizes := make([]int, len(part))
	for i, r := range part {
		sizes[i] = r.rssKiB
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}

// judge is an error that lists everything that was wrong.
func (r *result) judge() error {
	errs := []error{r.after.leaks(r.before)}
	if r.faulty > 0 {
		errs = append(errs, fmt.Errorf("%d visits failed", r.faulty))
	}
	early, late := r.memory()
	if float64(late) > float64(early)*flatShare+flatKiB {
		errs = append(errs, fmt.Errorf("memory grew from %d to %d KiB", early, late))
	}
	for _, k := range kinds {
		if r.tallies[k.name] == nil {
			errs = append(errs, fmt.Errorf("nobody of the kind %q came", k.name))
		}
	}
	if r.reloads == 0 || r.deaths == 0 {
		errs = append(errs, errors.New("no change, or no death of an endpoint"))
	}
	return errors.Join(errs...)
}

// text is the page of the result.
func (r *result) text(o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Soak of %v\n\n`go run ./bench/soak -duration %v -workers %d -seed %d`\n\n", o.duration, o.duration, o.workers, o.seed)
	b.WriteString("| kind | visits | answers checked | excused |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.tallies)) {
		t := r.tallies[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", name, t.runs, t.answers, t.excused)
	}
	early, late := r.memory()
	fmt.Fprintf(&b, "\n%d changes of the configuration, %d deaths of endpoints, %d visits failed.\n\n", r.reloads, r.deaths, r.faulty)
	fmt.Fprintf(&b, "Resident memory: %d KiB before, %d KiB median of the second quarter, %d KiB of the last, %d KiB at the end.\n",
		r.before.rssKiB, early, late, r.after.rssKiB)
	fmt.Fprintf(&b, "Descriptors: %d before, %d at most, %d at the end. Goroutines: %d before, %d at most, %d at the end.\n",
		r.before.descriptors, r.most(func(x reading) int { return x.descriptors }), r.after.descriptors,
		r.before.goroutines, r.most(func(x reading) int { return x.goroutines }), r.after.goroutines)
	for _, x := range r.every(20) {
		fmt.Fprintf(&b, "\n    %10v %8d KiB %5d descriptors %4d goroutines", x.at.Round(time.Second/10), x.rssKiB, x.descriptors, x.goroutines)
	}
	b.WriteString("\n")
	for _, f := range r.faults {
		fmt.Fprintf(&b, "\nFAULT %s\n", f)
	}
	return b.String()
}

func (r *result) most(of func(reading) int) int {
	most := 0
	for _, x := range r.readings {
		most = max(most, of(x))
	}
	return most
}

// every is about n of the readings, evenly spread.
func (r *result) every(n int) []reading {
	step := max(1, len(r.readings)/n)
	var some []reading
	for i := step - 1; i < len(r.readings); i += step {
		some = append(some, r.readings[i])
	}
	return some
}
