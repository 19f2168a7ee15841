package weft

import (
	"testing"

	"weft/internal/cpu"
)

// Long results are written past the caches: every element, the last ones that
// fill no vector included, and not where the memory is read too or not aligned.
func TestStreamedResults(t *testing.T) {
	const n = 8<<20 + 13
	for _, b := range cpu.Available() {
		if b == cpu.Interp {
			continue
		}
		t.Run(b.String(), func(t *testing.T) {
			setBackend(b)
			defer setBackend(cpu.Available()[len(cpu.Available())-1])
			x := make([]float32, n+1)
			for i := range x {
				x[i] = float32(i % 1021)
			}
			streamed := func(want int64, f func()) {
				t.Helper()
				before := cpu.Counters.Streamed.Load()
				f()
				if got := cpu.Counters.Streamed.Load() - before; got != want {
					t.Errorf("%d launches past the caches, want %d", got, want)
				}
			}
			same := func(y *Tensor, want func(i int) float32) {
				t.Helper()
				Borrow(y, func(d []float32) {
					for i, v := range d {
						if v != want(i) {
							t.Fatalf("element %d is %v, want %v", i, v, want(i))
						}
					}
				})
			}
			a := FromSlice(x[:n])
			streamed(1, func() { same(a.Mul(3), func(i int) float32 { return 3 * x[i] }) })
			streamed(0, func() { same(a.Slice(Range(0, n/2)).Mul(3), func(i int) float32 { return 3 * x[i] }) })
			c := a.Clone()
			streamed(0, func() { same(c.AddAssign(1), func(i int) float32 { return x[i] + 1 }) })
			d := Zeros(n + 1)
			streamed(0, func() { d.Slice(Range(1, n+1)).Assign(a) })
			same(d, func(i int) float32 { return x[max(i-1, 0)] * float32(min(i, 1)) })
		})
	}
}
