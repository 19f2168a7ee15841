package optest

import (
	"math"
	"slices"
	"sync"
	"testing"

	"weft/internal/cpu"
	"weft/internal/jit"
	"weft/internal/op"
)

// Devices of all instruction sets live in one process and compute at the same time, each
// with its own kernels and routines, and give the same bits.
func TestDevicesSideBySide(t *testing.T) {
	names := []string{"matmul2", "conv2d_core", "max_pool2d", "copy", "reduce_argmax", "index_select", "mask_select", "exp"}
	have := jit.ISAs()
	results := make([][]*Array, len(have))
	var wg sync.WaitGroup
	for i, isa := range have {
		d := cpu.New(isa)
		if d.ISA() != isa {
			t.Fatalf("a device of %s is one of %s", isa, d.ISA())
		}
		wg.Go(func() {
			s := newSuite(t, d, Caps{})
			defer s.mem.Close()
			for _, name := range names {
				for _, c := range append(Cases(op.Lookup(name)), routineCases(op.Lookup(name))...) {
					if _, refused := expect(&c); refused {
						continue
					}
					out, err := c.graph()
					if err != nil {
						t.Errorf("%s on %s: %v", &c, isa, err)
						return
					}
					results[i] = append(results[i], s.laid(&c, out, nil, func(int) Layout { return Transposed }, Contiguous, false))
				}
			}
		})
	}
	wg.Wait()
	for i, r := range results {
		for k, x := range r {
			want := results[0][k]
			if x == nil || want == nil || !slices.Equal(x.I, want.I) || !slices.EqualFunc(x.F, want.F, func(a, b float64) bool {
				return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
			}) {
				t.Errorf("computation %d of %d: %s and %s differ", k, len(r), have[i], have[0])
			}
		}
	}
}
