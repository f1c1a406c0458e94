package control

import (
	"time"

	"github.com/corelane/corelane/engine/snapshot"
)

// How often the duties look, and how long they wait.
const (
	// accessLogPoll is how long a record may rest in a loop's ring.
	accessLogPoll = 10 * time.Millisecond
	// accessLogComplain is the least time between two complaints about a log
	// that cannot be written.
	accessLogComplain = time.Minute
	// eventPoll is how often events of the loops are taken.
	eventPoll = 100 * time.Millisecond
	// eventPause is the least time between two lines about one filter.
	eventPause = time.Second
	// watchdogPoll is how often the loops are looked at, and stallAfter how long
	// a turn may take before the loop counts as stalled.
	watchdogPoll = 200 * time.Millisecond
	stallAfter   = time.Second
	// collectPoll is how often the counters are collected besides scrapes.
	collectPoll = time.Second
	// scrapeDeadline is how long a scrape or a call of the API waits for loops.
	scrapeDeadline = 500 * time.Millisecond
	// publishDeadline is how long a publish waits for all loops.
	publishDeadline = 5 * time.Second
	// passedPoll is how often a publish looks whether all loops have reported.
	passedPoll = 100 * time.Microsecond
	// openedPoll is how often a start looks whether pool.min_idle is open.
	openedPoll = time.Millisecond
	// reclaimPoll is how often endpoints are forgotten that were dropped while
	// they had connections.
	reclaimPoll = 10 * time.Second
	// drainPoll is how often a drain looks whether clients are left.
	drainPoll = 20 * time.Millisecond
	// startDeadline is how long a start waits for the loops' first turn.
	startDeadline = 10 * time.Second
	// stopDeadline is how long the loops may take to end.
	stopDeadline = 5 * time.Second
	// adminShutdown is how long running calls of the API may take at the end.
	adminShutdown = time.Second
)

// When the loops count as skewed: the busiest is more than skewPoints (of 1, a
// whole CPU) above the mean and more than skewFactor times as busy, for skewHold.
// The same time of evenness ends it.
const (
	skewPoints = 0.25
	skewFactor = 1.5
	skewHold   = time.Minute
)

// Bounds of what is held or sent.
const (
	// maxStack bounds a dump of goroutines in the log, in bytes.
	maxStack = 256 << 10
	// maxEventNames bounds the filters whose lines are paced one by one.
	maxEventNames = 1024
)

// Series of the metrics.
const (
	// otherSeries is the series that routes share when all others are taken.
	otherSeries = "other"
	maxSeries   = snapshot.MaxSeries
	// maxEndpointSeries and maxServiceSeries bound the endpoints and services that
	// have series of their own.
	maxEndpointSeries = 2000
	maxServiceSeries  = 2000
)

// Pages of the API.
const (
	defaultPage = 100
	maxPage     = 1000
)
