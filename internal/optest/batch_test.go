package optest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// looped are the routines for which op.Batch has no rule, since the shape of the result
// or the meaning of an argument is that of one example.
var looped = []string{"bincount", "count_true", "mask_place", "mask_select", "nonzero", "runs"}

// TestBatch compares the graph that op.Batch makes of each operation, for every choice of
// arguments that differ from example to example, with the operation on each example alone.
func TestBatch(t *testing.T) {
	s := newSuite(t, oracle, Caps{Missing: missing})
	defer s.mem.Close()
	const n = 3
	tested := map[*op.Def]bool{}
	for _, d := range op.Table() {
		if op.Looped(d) != slices.Contains(looped, d.Name) {
			t.Errorf("%s: has a rule or not, other than listed", d.Name)
		}
		samples := d.Samples
		if elementwise(d) {
			for _, sh := range pointShapes[d.Arity] {
				if array.Size(sh[0]) < 40 {
					samples = append(samples[:len(samples):len(samples)], op.Sample{Shapes: sh})
				}
			}
		}
		if d == op.Kernel {
			for _, k := range kernelCases() {
				samples = append(samples, op.Sample{Shapes: k.shapes, DTypes: k.types(), Attrs: k.body, Max: k.max})
			}
		}
		for i, sample := range samples {
			attrs := sample.Attrs
			if attrs == nil {
				attrs = d.Attrs
			}
			for mask := 1; mask < 1<<len(sample.Shapes); mask++ {
				r := rand.New(rand.NewPCG(17, uint64(i)))
				x := make([][]*Array, n) // by example
				var all []*Array
				of := array.Float64
				if bits := only[d.Name]; bits != nil && !bits(of) {
					of = array.Bool
				} else if d.Rule == op.Bits || d.Rule == op.Ints {
					of = array.Int64
				}
				for e := range x {
					x[e] = drawn(r, d, sample, of)
				}
				for k, a := range x[0] {
					joined := a
					if mask>>k&1 == 1 {
						joined = New(a.DType, append([]int{n}, a.Shape...))
					}
					for e := range x {
						if mask>>k&1 == 0 {
							x[e][k] = a
							continue
						}
						copy(joined.F[e*len(a.F):], x[e][k].F)
						copy(joined.I[e*len(a.I):], x[e][k].I)
					}
					all = append(all, joined)
				}
				g := ir.New()
				inputs := func(of []*Array) []*ir.Node {
					var out []*ir.Node
					for k, a := range of {
						out = append(out, g.Input(k, a.DType, a.Shape))
					}
					return out
				}
				var one []*ir.Node
				if err := attempt(func() error { one = op.ApplyAll(d, attrs, inputs(x[0])...); return nil }); err != nil {
					continue // not defined for floats
				}
				for k, want := range one {
					g = ir.New()
					leaves := inputs(all)
					b := op.Batch(g, []*ir.Node{want}, n, func(x *ir.Node) op.Batched {
						return op.Batched{Node: leaves[x.Arg()], Lead: mask>>x.Arg()&1 == 1}
					})[0]
					y := b.Raise(n)
					if !s.have([]*ir.Node{y}) {
						continue
					}
					got, err := s.outputs(s.dev, []*ir.Node{y}, all, allContiguous)
					if err != nil {
						t.Errorf("%s, sample %d, arguments %b: %v", d.Name, i, mask, err)
						continue
					}
					tested[d] = true
					for e := range x {
						each, err := s.outputs(s.dev, []*ir.Node{want}, x[e], allContiguous)
						if err != nil {
							t.Fatal(d.Name, err)
						}
						w := each[0]
						for j := range w.cells() {
							at := e*w.cells() + j
							if w.F != nil && !near(got[0].F[at], w.F[j]) || w.I != nil && got[0].I[at] != w.I[j] {
								t.Errorf("%s, sample %d %+v, arguments %b, result %d, example %d, element %d: %v, alone %v", d.Name, i, attrs, mask, k, e, j, got[0], w)
								break
							}
						}
					}
				}
			}
		}
	}
	if len(tested) < 150 {
		t.Errorf("only %d operations", len(tested))
	}
	t.Logf("%d operations", len(tested))
}

func near(a, b float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= 1e-12*(1+math.Abs(b))
}
