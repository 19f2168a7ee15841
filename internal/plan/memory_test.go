package plan

import (
	"strings"
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
	p := BuildInto(outs, sigs, nil, into, OnCPU)
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
		together = max(together, s.Concurrent)
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
		b := build(outs, sigs, nil, into, OnCPU)
		for j, i := range into {
			if b.p.Outs[j].Slot != i {
				t.Fatalf("output %d is in slot %d, want that of input %d", j, b.p.Outs[j].Slot, i)
			}
		}
		looks[k] = float64(b.statVisits) / float64(params)
	}
	if looks[1] > 1.25*looks[0] {
		t.Errorf("%.0f looks a parameter with 200 of them, %.0f with 2000", looks[0], looks[1])
	}
	t.Logf("%.0f and %.0f looks a parameter", looks[0], looks[1])
}

// The slope of a tanh, which is cheap and computed of its result alone, is computed by the kernel
// that needs it, so that the result alone is kept; an exponential of it is kept.
func TestTanhSlopeIsRecomputed(t *testing.T) {
	const n = 64
	for _, c := range []struct {
		name  string
		of    *op.Def
		wrote int // arrays
	}{{"square", op.Square, 1}, {"exp", op.Exp, 2}} {
		g := ir.New()
		apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
		sig := Sig{DType: array.Float32, Shape: []int{n, n}, Strides: []int{n, 1}}
		x, w := g.Input(0, array.Float32, sig.Shape), g.Input(1, array.Float32, sig.Shape)
		y := apply(op.Tanh, apply(op.MatMul, x, w))
		slope := apply(op.Sub, g.Number(1, array.Float32, false), apply(c.of, y))
		z := apply(op.MatMul, apply(op.MatMul, y, w), x)
		p := Build([]*ir.Node{apply(op.Mul, slope, z), apply(op.Sum, y)}, []Sig{sig, sig}, nil, OnCPU)
		wrote := 0
		for i := range p.Steps {
			for _, k := range []*Kernel{p.Steps[i].Kernel, p.Steps[i].Epilogue} {
				for j := 0; k != nil && strings.Contains(k.Prog.Name, "tanh") && j < len(k.Binds); j++ {
					if k.Prog.Bufs[j].Write && p.Slots[k.Binds[j].Slot].Bytes == 4*n*n {
						wrote++
					}
				}
			}
		}
		if wrote != c.wrote {
			t.Errorf("%s: the kernel of tanh writes %d arrays, want %d\n%s", c.name, wrote, c.wrote, p)
		}
	}
}

// What is left of a value without its mean over several groups of axes, which the variance and the
// result need, is computed by the kernels of both, so that arrays are read alone, until the result
// is written; an exponential of it is stored. A result that is given is stored as well.
func TestCheapValueOfSeveralReadersIsRecomputed(t *testing.T) {
	const n, c, size = 8, 16, 100
	shape := []int{n, c, size}
	for _, test := range []struct {
		name  string
		of    *op.Def
		given bool
		wrote int // arrays
	}{{"square", op.Square, false, 1}, {"exp", op.Exp, false, 2}, {"given", op.Square, true, 2}} {
		g := ir.New()
		sig := Sig{DType: array.Float32, Shape: shape, Strides: array.RowMajor(shape)}
		x := g.Input(0, array.Float32, shape)
		d := apply(op.Sub, x, axes(op.Mean, true, x, 0, 2))
		e := d
		if test.of == op.Exp {
			e = apply(op.Exp, d)
		}
		y := apply(op.Mul, e, axes(op.Mean, true, apply(test.of, e), 0, 2))
		outs := []*ir.Node{y}
		if test.given {
			outs = append(outs, d)
		}
		p := Build(outs, []Sig{sig}, nil, OnCPU)
		wrote := 0
		for i := range p.Steps {
			for j := range p.Steps[i].Kernel.Binds {
				if p.Steps[i].Kernel.Prog.Bufs[j].Write && p.Slots[p.Steps[i].Kernel.Binds[j].Slot].Bytes == 4*n*c*size {
					wrote++
				}
			}
		}
		if wrote != test.wrote {
			t.Errorf("%s: %d arrays are written, want %d\n%s", test.name, wrote, test.wrote, p)
		}
	}
}

// A normalisation of a convolution's channels writes its result alone: the distances from the mean
// are recomputed from the convolution's reshaped result, and so are their multiples by a weight
// whose memory takes an updated one.
func TestNormalisedConvolutionWritesItsResultAlone(t *testing.T) {
	const n, c, side = 4, 32, 10
	g := ir.New()
	var sigs []Sig
	input := func(shape ...int) *ir.Node {
		sigs = append(sigs, Sig{DType: array.Float32, Shape: shape, Strides: array.RowMajor(shape)})
		return g.Input(len(sigs)-1, array.Float32, shape)
	}
	x, filters, weight := input(n, 3, side+2, side+2), input(c, 3, 3, 3), input(c, 1)
	r := op.Apply(op.Reshape, op.Shape{n, c, side * side}, apply(op.Conv2d, x, filters))
	d := apply(op.Sub, r, axes(op.Mean, true, r, 0, 2))
	scaled := apply(op.Mul, apply(op.Mul, d, axes(op.Mean, true, apply(op.Square, d), 0, 2)), weight)
	y := apply(op.Mul, scaled, axes(op.Mean, true, scaled, 0, 2))
	p := BuildInto([]*ir.Node{y, apply(op.Neg, weight)}, sigs, nil, []int{-1, 2}, OnCPU)
	wrote := 0
	for i := range p.Steps {
		for _, k := range []*Kernel{p.Steps[i].Kernel, p.Steps[i].Epilogue} {
			for j := 0; k != nil && j < len(k.Binds); j++ {
				if k.Prog.Bufs[j].Write && p.Slots[k.Binds[j].Slot].Bytes == 4*n*c*side*side {
					wrote++
				}
			}
		}
	}
	if wrote != 1 {
		t.Errorf("%d arrays are written, want 1\n%s", wrote, p)
	}
}

// Sums of rows and of columns of one large array are launched together. The sums of columns do
// not write to bytes that the sums of rows read last. Sums of a small array are not launched
// together.
func TestRowAndColumnSumsAreConcurrent(t *testing.T) {
	for rows, want := range map[int]int{8192: 2, 64: 1} {
		g := ir.New()
		shape := []int{rows, 512}
		row := Sig{DType: array.Float32, Shape: []int{rows, 1}, Strides: []int{1, 1}}
		all := Sig{DType: array.Float32, Shape: shape, Strides: array.RowMajor(shape)}
		x, dy, r := g.Input(0, array.Float32, shape), g.Input(1, array.Float32, shape), g.Input(2, array.Float32, row.Shape)
		s := apply(op.Exp, apply(op.Exp, apply(op.MatMul, r, axes(op.Sum, true, r, 0)))) // in the arena
		y := apply(op.Mul, s, apply(op.Sub, dy, axes(op.Mean, true, apply(op.Mul, dy, x), 1)))
		z := axes(op.Sum, false, apply(op.Add, dy, x), 0)
		p := Build([]*ir.Node{y, z}, []Sig{all, all, row}, nil, OnCPU)
		most := 0
		for i := range p.Steps {
			if k := p.Steps[i].Kernel; k != nil && strings.Contains(k.Prog.Name, "row") {
				most = max(most, p.Steps[i].Concurrent)
			}
		}
		if most != want {
			t.Errorf("%d rows: %d kernels with that of the rows, want %d\n%s", rows, most, want, p)
		}
	}
}

// Products of one array are launched together. A product of another one's result is not, and
// neither is a product whose epilogue writes what another one reads.
func TestIndependentProductsAreConcurrent(t *testing.T) {
	g := ir.New()
	sig := Sig{DType: array.Float32, Shape: []int{96, 96}, Strides: []int{96, 1}}
	var x []*ir.Node
	for i := range 4 {
		x = append(x, g.Input(i, sig.DType, sig.Shape))
	}
	apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
	p, q, r := apply(op.MatMul, x[0], x[1]), apply(op.Tanh, apply(op.MatMul, x[0], x[2])), apply(op.MatMul, x[0], x[3])
	for _, c := range []struct {
		name string
		outs []*ir.Node
		into []int
		want int
	}{
		{"one input", []*ir.Node{p, q, r}, nil, 3},
		{"a chain", []*ir.Node{apply(op.MatMul, p, x[2])}, nil, 1},
		{"an update", []*ir.Node{p, apply(op.Sub, x[1], apply(op.MatMul, x[0], x[2]))}, []int{-1, 1}, 1},
	} {
		p := BuildInto(c.outs, []Sig{sig, sig, sig, sig}, nil, c.into, OnCPU)
		most := 0
		for i := range p.Steps {
			if p.Steps[i].Node != nil {
				most = max(most, p.Steps[i].Concurrent)
			}
		}
		if most != c.want {
			t.Errorf("%s: %d products together, want %d\n%s", c.name, most, c.want, p)
		}
	}
}

// Distances from a mean are computed where they are read, of an input that stays as it is:
// nothing as large as it is stored but the result. An input that the result replaces cannot be
// read again.
func TestMemoryOfStandardisation(t *testing.T) {
	for _, axes := range [][]int{{0}, {1}, {0, 1}} {
		for _, into := range [][]int{nil, {-1}, {0}} {
			shape := []int{2000, 300}
			g := ir.New()
			x := g.Input(0, array.Float32, shape)
			keep := op.Reduction{Axes: axes, Keep: true}
			d := op.Apply(op.Sub, nil, x, op.Apply(op.Mean, keep, x))
			y := op.Apply(op.Div, nil, d, op.Apply(op.Std, keep, x))
			p := BuildInto([]*ir.Node{y}, []Sig{{DType: array.Float32, Shape: shape, Strides: array.RowMajor(shape)}}, nil, into, OnCPU)
			large := p.Arena >= 4*array.Size(shape)
			if large && (into == nil || into[0] < 0) {
				t.Errorf("over axes %v, into %v: %d bytes of temporaries\n%s", axes, into, p.Arena, p)
			}
		}
	}
}
