package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBodyRate(t *testing.T) {
	const second = int64(1e9)
	type step struct {
		at   int64 // seconds
		what string
		n    int
	}
	for name, tt := range map[string]struct {
		steps []step
		want  []bool // verdicts
	}{
		"fast enough":         {[]step{{0, "run", 0}, {1, "add", 500}, {5, "judge", 0}}, []bool{true}},
		"a byte too few":      {[]step{{0, "run", 0}, {1, "add", 499}, {5, "judge", 0}}, []bool{false}},
		"nothing at all":      {[]step{{0, "run", 0}, {5, "judge", 0}}, []bool{false}},
		"a burst counts once": {[]step{{0, "run", 0}, {1, "add", 9999}, {5, "judge", 0}, {10, "judge", 0}}, []bool{true, false}},
		"a late look asks for more": {
			[]step{{0, "run", 0}, {1, "add", 500}, {6, "judge", 0}}, []bool{false},
		},
		"a pause does not count": {
			[]step{{0, "run", 0}, {1, "add", 500}, {2, "stop", 0}, {100, "run", 0}, {103, "judge", 0}}, []bool{true},
		},
		"running twice is running": {
			[]step{{0, "run", 0}, {3, "run", 0}, {4, "add", 499}, {5, "judge", 0}}, []bool{false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var r bodyRate
			r.begin(5*second, 100)
			var verdicts []bool
			for _, s := range tt.steps {
				switch now := s.at * second; s.what {
				case "run":
					r.run(now)
				case "stop":
					r.stop(now)
					r.stop(now + second) // once is enough
				case "add":
					r.add(s.n)
				case "judge":
					verdicts = append(verdicts, r.judge(now))
				}
			}
			assert.Equal(t, tt.want, verdicts)
		})
	}
}

func TestBodyRateDeadline(t *testing.T) {
	var r bodyRate
	r.begin(50, 1)
	assert.EqualValues(t, 60, r.run(10))
	assert.EqualValues(t, 60, r.run(30), "it goes on")
	r.stop(30)
	assert.EqualValues(t, 130, r.run(100), "20 of 50 are spent")
	r.judge(130)
	assert.EqualValues(t, 180, r.run(140), "the next window")
}
