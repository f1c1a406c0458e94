package control

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSkewed(t *testing.T) {
	tests := []struct {
		name    string
		shares  []float64
		busiest int
		far     bool
	}{
		{"none", nil, 0, false},
		{"alone", []float64{1}, 0, false},
		{"idle", []float64{0, 0}, 0, false},
		{"even", []float64{0.9, 0.9}, 0, false},
		{"one works, one does not", []float64{0.1, 0.9}, 1, true},
		{"25 points above the mean are not more than 25", []float64{0.75, 0.25}, 0, false},
		{"a little more is", []float64{0.751, 0.249}, 0, true},
		{"far by points, not by proportion", []float64{1, 0.8, 0.8, 0.4}, 0, false},
		{"far by proportion, not by points", []float64{0.02, 0.3, 0.02}, 1, false},
		{"one of eight", []float64{0.4, 0.4, 0.4, 1, 0.4, 0.4, 0.4, 0.4}, 3, true},
		{"half of eight", []float64{0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1}, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			busiest, _, far := skewed(tt.shares)
			assert.Equal(t, tt.busiest, busiest)
			assert.Equal(t, tt.far, far)
		})
	}
}

// A sample is a character: s for skewed, e for even; R and E are the samples
// after which the alarm has been raised and ended.
func TestSkewState(t *testing.T) {
	hold := int(skewHold / time.Second)
	tests := []struct{ name, samples string }{
		{"even", strings.Repeat("e", 3*hold)},
		{"for less than the time", strings.Repeat("s", hold) + "e"},
		{"for the time", strings.Repeat("s", hold) + "R"},
		{"with a pause", strings.Repeat("s", hold-1) + "e" + strings.Repeat("s", hold) + "R"},
		{"once", strings.Repeat("s", hold) + "R" + strings.Repeat("s", 3*hold)},
		{"and recovered", strings.Repeat("s", hold) + "R" + strings.Repeat("e", hold) + "E" + strings.Repeat("e", hold)},
		{"not yet recovered", strings.Repeat("s", hold) + "R" + strings.Repeat("e", hold-1) + "s" + strings.Repeat("e", hold) + "E"},
		{"again", strings.Repeat("s", hold) + "R" + strings.Repeat("e", hold) + "E" + strings.Repeat("s", hold) + "R"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s skewState
			at := time.Unix(1000, 0)
			for i, c := range tt.samples {
				before := s.raised
				s = s.next(at.Add(time.Duration(i)*time.Second), c == 's' || c == 'R')
				changed := ' '
				if s.raised != before {
					changed = map[bool]rune{true: 'R', false: 'E'}[s.raised]
				}
				assert.Equal(t, c == 'R' || c == 'E', changed != ' ', "sample %d of %s", i, tt.samples)
				if changed != ' ' {
					assert.Equal(t, c, changed)
				}
			}
		})
	}
}

func TestSkewAlarm(t *testing.T) {
	var lines lockedBuffer
	a := &skewAlarm{log: slog.New(slog.NewTextHandler(&lines, nil))}
	at := time.Unix(1000, 0)
	feed := func(shares ...float64) {
		for range int(skewHold/collectPoll) + 1 {
			at = at.Add(collectPoll)
			a.sample(at, shares)
		}
	}
	feed(0.5, 0.5)
	assert.False(t, a.raised())
	assert.Empty(t, lines.String())
	feed(0.1, 0.9)
	feed(0.1, 0.9)
	assert.True(t, a.raised())
	assert.Equal(t, 1, strings.Count(lines.String(), "level=WARN"), "once")
	assert.Contains(t, lines.String(), "loop=1 busy=0.9 mean=0.5 for=1m0s")
	feed(0.5, 0.5)
	assert.False(t, a.raised())
	assert.Contains(t, lines.String(), "the loops are even again")
}

func TestSkewAlarmIsShown(t *testing.T) {
	r := serve(t, routes, ok)
	shown := func() (api bool, metric bool) {
		var answer loopsAnswer
		assert.Equal(t, 200, r.admin(http.MethodGet, "/api/v1/loops", "", &answer))
		_, text := r.do(http.MethodGet, "http://"+r.node.AdminAddress()+"/metrics", "")
		return answer.Alarm, strings.Contains(text, "\ncorelane_loop_skew_alarm 1\n")
	}
	api, metric := shown()
	assert.False(t, api || metric)
	r.node.counters.alarm.on.Store(true)
	api, metric = shown()
	assert.True(t, api && metric)
}

// The look of every second feeds the alarm.
func TestCountersFeedTheSkewAlarm(t *testing.T) {
	r := serve(t, routes, ok)
	r.node.background.end() // from here on only the test looks
	c := r.node.counters
	c.alarm.state = skewState{raised: true, since: time.Now().Add(-2 * skewHold)}
	c.alarm.on.Store(true)
	c.second()
	assert.False(t, c.alarm.raised(), "loops without work are even")
	assert.Contains(t, r.log.String(), "the loops are even again")
}
