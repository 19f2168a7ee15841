package worker

import (
	"slices"
	"time"
)

// sampleTime is the length of one sample: long enough that reading the clock
// does not show, short enough that a preempted sample can be outvoted.
const sampleTime = 200 * time.Microsecond

// minSamples is taken even of work that exceeds its time budget.
const minSamples = 3

// slow is the time of a run from which one sample a request is enough.
const slow = 300 * time.Millisecond

// Timing is what a request to time a case returns, in nanoseconds a run.
type Timing struct {
	Median  float64   `json:"median_ns"`
	Samples []float64 `json:"samples"`
	Inner   int       `json:"inner"` // runs a sample
}

// Warm runs the work until its time has settled: for the given time, and at
// least twice.
func Warm(run func(), d time.Duration) {
	start := time.Now()
	for i := 0; i < 2 || time.Since(start) < d; i++ {
		run()
	}
}

// Measure samples run for about the given time.
func Measure(run func(), budget time.Duration) Timing {
	start := time.Now()
	run()
	inner := 1
	once := time.Since(start)
	if once < sampleTime {
		inner = int(sampleTime/max(once, 50*time.Nanosecond)) + 1
	}
	t := Timing{Inner: inner}
	least := minSamples
	if once > slow {
		least = 1
	}
	start = time.Now()
	for len(t.Samples) < least || time.Since(start) < budget {
		s := time.Now()
		for range inner {
			run()
		}
		t.Samples = append(t.Samples, float64(time.Since(s).Nanoseconds())/float64(inner))
	}
	sorted := slices.Sorted(slices.Values(t.Samples))
	t.Median = sorted[len(sorted)/2]
	return t
}
