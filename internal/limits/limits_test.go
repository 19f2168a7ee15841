package limits

import (
	"testing"

	"weft/internal/array"
	"weft/internal/gemm"
)

// The figures themselves cannot be tested, but their order can: float32 vectors hold
// twice as many lanes, and no memory is faster than the first cache.
func TestLimits(t *testing.T) {
	if gemm.CurrentISA() == gemm.Portable {
		if FMA(array.Float32, 1) != 0 {
			t.Error("a rate without machine code")
		}
		t.Skip("no machine code here")
	}
	single, double := FMA(array.Float32, 1), FMA(array.Float64, 1)
	t.Logf("%.0f GFLOP/s float32, %.0f float64, %.0f and %.0f on two threads", single, double, FMA(array.Float32, 2), FMA(array.Float64, 2))
	if single <= 0 || double <= 0 {
		t.Errorf("rates %v and %v", single, double)
	}
	for _, size := range []int{1, 16 << 10, 512 << 10, 8 << 20, 64 << 20} {
		for _, threads := range []int{1, 2} {
			rate, err := Bandwidth(size, threads)
			if err != nil || rate <= 0 {
				t.Fatalf("%d bytes: %v GB/s, %v", size, rate, err)
			}
			t.Logf("%d bytes, %d threads: %.0f GB/s", size, threads, rate)
		}
	}
}
