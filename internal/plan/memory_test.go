package plan

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A training step of a deep network: its parameters are written where they are, temporaries
// take a fifth more than is alive at once, at most, and the updates of what is small are
// launched together.
func TestMemoryOfTrainingStep(t *testing.T) {
	g := ir.New()
	const batch, width, layers = 64, 100, 6
	apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
	var sigs []Sig
	input := func(shape ...int) *ir.Node {
		sigs = append(sigs, Sig{DType: array.Float32, Shape: shape, Strides: array.RowMajor(shape)})
		return g.Input(len(sigs)-1, array.Float32, shape)
	}
	x, y := input(batch, width), input(batch, width)
	var params []*ir.Node
	h := x
	for range layers {
		w, b := input(width, width), input(width)
		params = append(params, w, b)
		h = apply(op.Tanh, apply(op.Add, apply(op.MatMul, h, w), b))
	}
	e := apply(op.Sub, h, y)
	loss := op.Apply(op.Mean, op.Reduction{}, apply(op.Mul, e, e))
	outs, into := []*ir.Node{loss}, []int{-1}
	for i, d := range op.Gradient([]*ir.Node{loss}, []*ir.Node{g.Number(1, array.Float32, false)}, params) {
		outs = append(outs, apply(op.Sub, params[i], apply(op.Mul, d, g.Number(0.1, array.Float32, false))))
		into = append(into, params[i].Arg())
	}
	p := BuildInto(outs, sigs, nil, into)
	for j, i := range into[1:] {
		if p.Outs[j+1].Slot != i {
			t.Errorf("output %d is in slot %d, want that of input %d", j+1, p.Outs[j+1].Slot, i)
		}
	}
	copies, together := 0, 0
	for _, s := range p.Steps {
		s.operands(func(o *Operand, write bool) {
			if write && o.Slot < p.Inputs && s.Kernel != nil && s.Kernel.Prog.Name == "copy" {
				copies++
			}
		})
		together = max(together, s.Group)
	}
	if copies > 0 {
		t.Errorf("%d copies, want every parameter to be updated in place\n%s", copies, p)
	}
	if together < 4 {
		t.Errorf("at most %d kernels are launched together, want 4 or more\n%s", together, p)
	}
	if 5*p.Arena > 6*p.Live {
		t.Errorf("the arena has %d bytes, %d are alive at once", p.Arena, p.Live)
	}
	sum := 0
	for _, s := range p.Slots[p.Inputs+len(p.Outs):] {
		sum += s.Bytes
	}
	t.Logf("%d steps; arena %d, alive %d, temporaries %d bytes in all", len(p.Steps), p.Arena, p.Live, sum)
}

// A training step of many parameters: each step of the plan is looked at as often however many
// there are, and all parameters are updated where they are.
func TestManyParameters(t *testing.T) {
	var looks [2]float64
	for k, params := range []int{200, 2000} {
		g := ir.New()
		apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
		var sigs []Sig
		outs, into := []*ir.Node(nil), []int(nil)
		h := g.Input(0, array.Float32, []int{16})
		sigs = append(sigs, Sig{DType: array.Float32, Shape: []int{16}, Strides: []int{1}})
		for i := range params {
			n := 16 + i%7 // of several sizes, so that the arena has gaps
			sigs = append(sigs, Sig{DType: array.Float32, Shape: []int{n}, Strides: []int{1}})
			p := g.Input(i+1, array.Float32, []int{n})
			d := op.Apply(op.Sum, op.Reduction{Axes: []int{0}, Keep: true}, apply(op.Mul, p, p))
			h = apply(op.Tanh, apply(op.Add, h, d))
			d = op.Apply(op.Sum, op.Reduction{Axes: []int{0}, Keep: true}, h)
			outs, into = append(outs, apply(op.Sub, p, apply(op.Mul, p, d))), append(into, i+1)
		}
		b := build(outs, sigs, nil, into)
		for j, i := range into {
			if b.p.Outs[j].Slot != i {
				t.Fatalf("output %d is in slot %d, want that of input %d", j, b.p.Outs[j].Slot, i)
			}
		}
		looks[k] = float64(b.visits) / float64(params)
	}
	if looks[1] > 1.25*looks[0] {
		t.Errorf("%.0f looks a parameter with 200 of them, %.0f with 2000", looks[0], looks[1])
	}
	t.Logf("%.0f and %.0f looks a parameter", looks[0], looks[1])
}
