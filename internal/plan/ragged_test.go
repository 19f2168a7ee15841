package plan

import (
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// lists plans a graph over rows of some shape, of one value an item, and the offsets of items.
func lists(shape []int, items int, build func(x, v, off *ir.Node) []*ir.Node) *Plan {
	g := ir.New()
	v := append([]int{items}, shape[1:]...)
	x := []*ir.Node{g.Input(0, array.Float32, shape), g.Input(1, array.Float32, v), g.Input(2, array.Int64, []int{items + 1})}
	var sigs []Sig
	for _, n := range x {
		sigs = append(sigs, Sig{n.DType, n.Shape, array.RowMajor(n.Shape)})
	}
	return Build(build(x[0], x[1], x[2]), sigs, nil, OnCPU)
}

// What over a list becomes one kernel, and with how many passes over an item, forward and
// backward.
func TestListFusion(t *testing.T) {
	spread := func(v, x, off *ir.Node) *ir.Node { return op.Apply(op.SegmentExpand, op.Rows(x.Shape[0]), v, off) }
	scaled := func(x, v, off *ir.Node) *ir.Node {
		return apply(op.Add, apply(op.Mul, x, x.Graph.Number(2, array.Float32, true)), spread(v, x, off))
	}
	norm := func(x, v, off *ir.Node) *ir.Node {
		d := apply(op.Sub, x, spread(apply(op.SegmentMean, x, off), x, off))
		s := apply(op.SegmentMean, apply(op.Square, d), off)
		return apply(op.Mul, d, spread(apply(op.Rsqrt, apply(op.Add, s, s.Graph.Number(1e-5, array.Float32, false))), x, off))
	}
	of := func(d *op.Def) func(x, v, off *ir.Node) *ir.Node {
		return func(x, v, off *ir.Node) *ir.Node { return apply(d, x, off) }
	}
	for name, c := range map[string]struct {
		build          func(x, v, off *ir.Node) *ir.Node
		passes         int // over an item
		back, backward int // kernels of the gradient, and passes of the longest
	}{
		"2*l + v":        {scaled, 1, 1, 1},
		"sum":            {of(op.SegmentSum), 1, 1, 1},
		"mean":           {of(op.SegmentMean), 1, 1, 1},
		"softmax":        {of(op.SegmentSoftmax), 3, 1, 4},
		"logsumexp":      {of(op.SegmentLogSumExp), 2, 1, 3},
		"log_softmax":    {of(op.SegmentLogSoftmax), 3, 1, 4},
		"norm":           {norm, 3, 1, 5},
		"chain then sum": {func(x, v, off *ir.Node) *ir.Node { return apply(op.SegmentSum, apply(op.Tanh, scaled(x, v, off)), off) }, 1, 1, 1},
	} {
		for _, shape := range [][]int{{1000}, {1000, 20}} {
			p := lists(shape, 50, func(x, v, off *ir.Node) []*ir.Node { return []*ir.Node{c.build(x, v, off)} })
			if len(p.Steps) != 1 || p.Steps[0].Kernel == nil || p.Steps[0].Kernel.Ragged == nil {
				t.Errorf("%s of %v: %d steps, want one kernel over items\n%s", name, shape, len(p.Steps), p)
				continue
			}
			k := p.Steps[0].Kernel
			got := passes(k)
			if len(shape) > 1 { // loops over the rows of an item, in one pass
				got = 0
				for _, in := range k.Prog.Ins {
					if in.Op == loop.OpLoop {
						got++
					}
				}
			}
			if got != c.passes {
				t.Errorf("%s of %v: %d passes over an item, want %d\n%s", name, shape, got, c.passes, p)
			}
			if s := p.String(); !strings.Contains(s, "by the offsets in buf") {
				t.Errorf("%s: the plan does not show the ragged axis:\n%s", name, s)
			}
			back := lists(shape, 50, func(x, v, off *ir.Node) []*ir.Node {
				y := c.build(x, v, off)
				return op.Gradient([]*ir.Node{y}, []*ir.Node{y}, []*ir.Node{x})
			})
			if n := len(back.Steps); n != c.back {
				t.Errorf("%s of %v: the gradient takes %d steps, want %d\n%s", name, shape, n, c.back, back)
			}
		}
	}
}

// Clusters over lists do not take in what they must not: another list, values that meet
// without an expansion, operations that want to know their place.
func TestListsThatDoNotFuse(t *testing.T) {
	spread := func(v, x, off *ir.Node) *ir.Node { return op.Apply(op.SegmentExpand, op.Rows(x.Shape[0]), v, off) }
	for name, build := range map[string]func(x, v, off *ir.Node) []*ir.Node{
		"items as rows": func(x, v, off *ir.Node) []*ir.Node { // as many items as rows
			y := apply(op.Tanh, x)
			return []*ir.Node{apply(op.Add, y, apply(op.SegmentSum, y, off))}
		},
		"two lists": func(x, v, off *ir.Node) []*ir.Node {
			other := x.Graph.Input(2, array.Int64, off.Shape)
			return []*ir.Node{spread(apply(op.SegmentSum, spread(v, x, off), apply(op.Add, other, other)), x, off)}
		},
		"a place": func(x, v, off *ir.Node) []*ir.Node {
			return []*ir.Node{apply(op.SegmentSum, op.Convert(op.Apply(op.Iota, nil, x), array.Float32), off)}
		},
	} {
		if p := lists([]int{50}, 50, build); len(p.Steps) < 2 {
			t.Errorf("%s: one kernel\n%s", name, p)
		}
	}
}
