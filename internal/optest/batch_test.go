package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// looped are the routines for which op.Batch has no rule, since the shape of the result
// or the meaning of an argument is that of one example. The examples of sparse_sampled share places, and
// their results are not rows of one such product.
var looped = []string{"bincount", "count_true", "mask_place", "mask_select", "nonzero", "runs", "sparse_sampled"}

// TestBatch compares the graph that op.Batch makes of each operation, for every choice of
// arguments that differ from example to example, with the operation on each example alone.
func TestBatch(t *testing.T) {
	s := newSuite(t, oracle, Caps{Missing: missing})
	defer s.mem.Close()
	tested := map[*op.Def]bool{}
	for _, d := range slices.Concat(op.Table(), op.Specials(), op.Unlisted()) {
		if op.Looped(d) != slices.Contains(looped, d.Name) {
			t.Errorf("%s: has a rule or not, other than listed", d.Name)
		}
		for i, sample := range batchSamples(d) {
			for mask := 1; mask < 1<<len(sample.Shapes); mask++ {
				c := newBatchCase(d, i, sample, mask)
				var one []*ir.Node
				if err := attempt(func() error { one = op.ApplyAll(d, c.attrs, inputs(ir.New(), c.x[0])...); return nil }); err != nil {
					continue // not defined for floats
				}
				for k, want := range one {
					if c.check(t, s, k, want) {
						tested[d] = true
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

// batchSamples returns the samples of an operation, small shapes of elementwise ones, and
// the bodies of kernels.
func batchSamples(d *op.Def) []op.Sample {
	samples := d.Samples
	switch {
	case slices.Contains(op.Specials(), d):
		return []op.Sample{specialSample(d)}
	case elementwise(d):
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
	return samples
}

// A batchCase is a sample with a set of arguments that differ from example to example.
type batchCase struct {
	name  string
	attrs ir.Attrs
	mask  int        // the set
	x     [][]*Array // by example
	all   []*Array   // of all examples
}

const batchExamples = 3

func newBatchCase(d *op.Def, i int, sample op.Sample, mask int) *batchCase {
	c := &batchCase{attrs: sample.Attrs, mask: mask}
	if c.attrs == nil {
		c.attrs = d.Attrs
	}
	c.name = fmt.Sprintf("%s, sample %d %+v, arguments %b", d.Name, i, c.attrs, mask)
	r := rand.New(rand.NewPCG(17, uint64(i)))
	x := make([][]*Array, batchExamples)
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
			joined = New(a.DType, append([]int{batchExamples}, a.Shape...))
		}
		for e := range x {
			if mask>>k&1 == 0 {
				x[e][k] = a
				continue
			}
			copy(joined.F[e*len(a.F):], x[e][k].F)
			copy(joined.I[e*len(a.I):], x[e][k].I)
		}
		c.all = append(c.all, joined)
	}
	c.x = x
	return c
}

// check compares result k for all examples with that of each alone. It reports whether the
// device has the operation.
func (c *batchCase) check(t *testing.T, s *suite, k int, want *ir.Node) bool {
	g := ir.New()
	leaves := inputs(g, c.all)
	y := op.Batch(g, []*ir.Node{want}, batchExamples, func(x *ir.Node) op.Batched {
		return op.Batched{Node: leaves[x.Arg()], Lead: c.mask>>x.Arg()&1 == 1}
	})[0].Raise(batchExamples)
	if !s.have([]*ir.Node{y}) {
		return false
	}
	got, err := s.outputs(s.dev, []*ir.Node{y}, c.all, allContiguous)
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
		return false
	}
	for e := range c.x {
		each, err := s.outputs(s.dev, []*ir.Node{want}, c.x[e], allContiguous)
		if err != nil {
			t.Fatal(c.name, err)
		}
		w := each[0]
		for j := range w.cells() {
			at := e*w.cells() + j
			if w.F != nil && !near(w.DType, got[0].F[at], w.F[j]) || w.I != nil && got[0].I[at] != w.I[j] {
				t.Errorf("%s, result %d, example %d, element %d: %v, alone %v", c.name, k, e, j, got[0], w)
				break
			}
		}
	}
	return true
}

// inputs returns an input of g for each array.
func inputs(g *ir.Graph, of []*Array) (out []*ir.Node) {
	for k, a := range of {
		out = append(out, g.Input(k, a.DType, a.Shape))
	}
	return out
}

// near allows for another order of sums: a sparse product of float32 adds a vector's terms in lanes, and
// terms of rows one after the other.
func near(d array.DType, a, b float64) bool {
	tolerance := 1e-12
	if d != array.Float64 {
		tolerance = 16 * eps(d)
	}
	return a == b || a != a && b != b || math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}
