package processor

import (
	"slices"
	"testing"
)

// TestCachesDecide holds what follows from the size of the second cache: a processor that does not
// tell it counts as one whose last level is near.
func TestCachesDecide(t *testing.T) {
	for _, c := range []struct {
		l2   int
		far  bool
		from int
	}{{0, false, 32 << 20}, {512 << 10, false, 32 << 20}, {1 << 20, false, 32 << 20}, {2 << 20, true, 24 << 20}, {3 << 20, true, 24 << 20}} {
		if p := withCaches(32<<10, c.l2, 0); p.FarLastLevel != c.far || p.NonTemporalFrom != c.from {
			t.Errorf("second cache of %d bytes: far %v, stores bypass the caches from %d, want %v and %d", c.l2, p.FarLastLevel, p.NonTemporalFrom, c.far, c.from)
		}
	}
}

// TestFeaturesOfInstructionSets holds the two flags to the list of features.
func TestFeaturesOfInstructionSets(t *testing.T) {
	have := Features()
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(have, n) })
	}
	if want := all("avx2", "fma", "f16c", "bmi2"); Host.AVX2 != want {
		t.Errorf("AVX2 is %v, the features are %v", Host.AVX2, have)
	}
	if want := Host.AVX2 && all("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"); Host.AVX512 != want {
		t.Errorf("AVX512 is %v, the features are %v", Host.AVX512, have)
	}
	if WakeSpinning >= WakeSleeping {
		t.Errorf("workers that spin take more work (%d ns) than those that sleep (%d ns)", WakeSpinning, WakeSleeping)
	}
}
