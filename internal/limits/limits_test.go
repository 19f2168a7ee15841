package limits

import (
	"testing"
	"testing/synctest"
	"time"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/mem"
)

// The figures themselves cannot be tested, but their order can: float32 vectors hold
// twice as many lanes, and no memory is faster than the first cache.
func TestLimits(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		if FMA(array.Float32, 1) != 0 {
			t.Error("a rate without machine code")
		}
		t.Skip("SKIPPED: no machine code here")
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

func TestStream(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		if Stream(nil, 1, nil) {
			t.Error("streamed without machine code")
		}
		t.Skip("SKIPPED: no machine code here")
	}
	block, err := mem.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Free(block)
	dst := block.Bytes()[:700_001]
	a, b := make([]byte, len(dst)), make([]byte, len(dst))
	for i := range a {
		a[i], b[i] = byte(i*7), byte(i>>3)
	}
	for threads := 1; threads <= 2; threads++ {
		for _, src := range [][][]byte{{a}, {a, b}} {
			clear(dst)
			if !Stream(dst, threads, src...) {
				t.Fatal("not streamed")
			}
			for i := range dst {
				want := a[i]
				if len(src) > 1 {
					want ^= b[i]
				}
				if i >= len(dst)/streamStep*streamStep {
					want = 0
				}
				if dst[i] != want {
					t.Fatalf("%d threads, %d sources: byte %d is %d, want %d", threads, len(src), i, dst[i], want)
				}
			}
		}
	}
}

// A disturbance at the start is waited out, and a try that never gets better ends the measurement.
// The clock is the test's own: the machine's load does not matter.
func TestMeasureWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		best := measure(1, func(int) {
			if time.Since(start) < 30*time.Millisecond {
				time.Sleep(2 * time.Millisecond)
			} else {
				time.Sleep(10 * time.Microsecond)
			}
		})
		if best != 1e4 {
			t.Errorf("the best try took %v ns, want 10000", best)
		}
		if took := time.Since(start); took < 30*time.Millisecond+settled || took > 31*time.Millisecond+settled {
			t.Errorf("ended after %v, want 30 ms and %v", took, settled)
		}
	})
}
