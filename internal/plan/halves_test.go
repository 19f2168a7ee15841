package plan

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Halves are converted by the product that packs them, seen through windows, and the result
// is rounded by its epilogue: there is no kernel, and no memory, for operands in float32.
func TestHalvesOfProducts(t *testing.T) {
	for name, c := range map[string]struct {
		build  func(x []*ir.Node) *ir.Node
		shapes [][]int
		steps  string
	}{
		"matrices":                      {func(x []*ir.Node) *ir.Node { return apply(op.MatMul, x[0], x[1]) }, [][]int{{60, 70}, {70, 80}}, "routine+epilogue"},
		"turned":                        {func(x []*ir.Node) *ir.Node { return apply(op.MatMul, op.Transpose(x[0], 0, 1), x[1]) }, [][]int{{70, 60}, {70, 80}}, "routine+epilogue"},
		"a batch, one factor broadcast": {func(x []*ir.Node) *ir.Node { return apply(op.MatMul, x[0], x[1]) }, [][]int{{3, 5, 60, 70}, {5, 70, 80}}, "routine+epilogue"},
		"a layer":                       {func(x []*ir.Node) *ir.Node { return apply(op.Relu, apply(op.Linear, x[0], x[1], x[2])) }, [][]int{{4, 15, 70}, {80, 70}, {80}}, "kernel routine+epilogue"}, // the bias, a row
		"two products, the first computed": {func(x []*ir.Node) *ir.Node {
			return apply(op.MatMul, apply(op.MatMul, x[0], x[1]), x[2])
		}, [][]int{{60, 70}, {70, 80}, {80, 90}}, "routine+epilogue routine+epilogue"},
	} {
		for _, d := range []array.DType{array.Float16, array.BFloat16} {
			g := ir.New()
			var in []*ir.Node
			var sigs []Sig
			for i, s := range c.shapes {
				in = append(in, g.Input(i, d, s))
				sigs = append(sigs, Sig{d, s, array.RowMajor(s)})
			}
			p := Build([]*ir.Node{c.build(in)}, sigs, nil, OnCPU)
			if got := kinds(p); got != c.steps {
				t.Errorf("%s of %s: steps %s, want %s\n%s", name, d, got, c.steps, p)
			}
			for _, s := range p.Steps {
				for _, a := range s.Args {
					if a.DType != d {
						t.Errorf("%s: an argument has been converted to %s\n%s", name, a.DType, p)
					}
				}
			}
			if out := p.Outs[0].DType; out != d {
				t.Errorf("%s of %s has type %s", name, d, out)
			}
		}
	}
}
