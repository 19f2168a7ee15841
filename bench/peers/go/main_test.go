package main

import (
	"math"
	"testing"

	"weft/bench/worker"
)

// The libraries agree with each other on every work that more than one of them has.
func TestLibrariesAgree(t *testing.T) {
	want := map[string][]float64{}
	for lib, fill := range libraries {
		clear(worker.Cases)
		fill()
		for name, prepare := range worker.Cases {
			for _, dtype := range []string{"float32", "float64"} {
				c, err := prepare(worker.Params{N: 60, DType: dtype, Threads: 1})
				if err != nil {
					continue // not for this type
				}
				c.Run()
				// A run before the check moves the weights of a training step: so it does in all.
				got, key := c.Check(), name+" "+dtype
				if want[key] == nil {
					want[key] = got
				}
				for i, v := range want[key] {
					if math.Abs(got[i]-v) > 1e-4*(1+math.Abs(v)) {
						t.Errorf("%s: %s: %v, another library %v", lib, key, got, want[key])
						break
					}
				}
			}
		}
	}
}
