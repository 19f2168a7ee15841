package optest

import (
	"math"
	"math/rand/v2"
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
)

// Gradients compares, in float64, gradients of every operation that has them
// with central differences of a weighted sum of its results, and gradients of
// the gradients with central differences of those.
func Gradients(t T, dev device.Device, caps Caps) {
	t.Helper()
	s := newSuite(t, dev, caps)
	defer s.mem.Close()
	tested := 0
	gradientCases(func(c *Case) {
		if s.gradient(c) {
			tested++
		}
	})
	t.Logf("%d samples with gradients", tested)
	if tested < 100 {
		t.Errorf("only %d samples had gradients", tested)
	}
}

// SameGradients demands that gradients, and gradients of gradients, have the oracle's bits.
func SameGradients(t T, dev device.Device, caps Caps) {
	t.Helper()
	s := newSuite(t, dev, caps)
	defer s.mem.Close()
	every := max(1, caps.Every)
	n := 0
	gradientCases(func(c *Case) {
		if n++; n%every == 0 {
			s.sameGradients(c)
		}
	})
	t.Logf("gradients of %d cases", s.checks)
	if s.checks < 400/every {
		t.Errorf("%d cases had gradients, want more", s.checks)
	}
}

func (s *suite) sameGradients(c *Case) {
	d, err := derive(c)
	if err != nil {
		s.errorf(c.Def.Name, "gradient of %s: %v", c, err)
		return
	}
	outs := slices.DeleteFunc(slices.Concat(d.first, d.second), func(x *ir.Node) bool { return x == nil })
	if len(outs) == 0 {
		return
	}
	want, err := s.outputs(s.caps.Oracle, outs, c.X, allContiguous)
	if err != nil {
		s.errorf(c.Def.Name, "gradients of %s on the oracle: %v", c, err)
		return
	}
	want = slices.Clone(want)
	got, err := s.outputs(s.dev, outs, c.X, allContiguous)
	if err != nil {
		s.errorf(c.Def.Name, "gradients of %s: %v", c, err)
		return
	}
	for i := range outs {
		if k := same(want[i], got[i]); k >= 0 {
			s.errorf(c.Def.Name, "gradient %d of %s: element %s, want %s", i, c, got[i].at(k), want[i].at(k))
		}
	}
}

// gradientCases calls f with the cases of every operation in float64, none of them large. f keeps no
// case.
func gradientCases(f func(c *Case)) {
	for _, d := range op.Table() {
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
		for _, k := range controlCases() {
			if k.def == d && slices.Contains(k.types, array.Float64) {
				samples = append(samples, op.Sample{Shapes: k.shapes, DTypes: k.types, Attrs: k.attrs})
			}
		}
		for i, sample := range samples {
			r := rand.New(rand.NewPCG(11, uint64(i)))
			c := newCase(d, sample.Attrs, drawn(r, d, sample, array.Float64)...)
			c.Symmetric = sample.Symmetric
			if sample.Ascending { // items with rows; one is left out
				off := c.X[len(c.X)-1].I
				for i := range off {
					off[i] = int64(min(1, sample.Max-1) + i*max(sample.Max-2, 0)/max(len(off)-1, 1))
				}
			}
			small := true
			for _, sh := range sample.Shapes {
				small = small && array.Size(sh) <= 200
			}
			for c.Result = range results(d, sample.Attrs) {
				if small && references[d.Name] != nil {
					if _, refused := expect(&c); refused {
						continue // not defined for floats
					}
				}
				if small {
					f(&c)
				}
			}
		}
	}
}

// weighted is the sum of x times fixed weights.
func weighted(x *ir.Node, salt int) *ir.Node {
	w := op.Apply(op.Cos, nil, op.Apply(op.Mul, nil, op.Convert(position(x), array.Float64), x.Graph.Number(0.7+float64(salt), array.Float64, false)))
	return op.Apply(op.Sum, nil, op.Apply(op.Mul, nil, x, w))
}

// position numbers the elements of x.
func position(x *ir.Node) *ir.Node {
	flat := op.Apply(op.Reshape, op.Shape{x.Size()}, x)
	return op.Apply(op.Reshape, op.Shape(x.Shape), op.Apply(op.Iota, nil, flat))
}

// differentiable reports that argument i has a gradient.
func (c *Case) differentiable(i int) bool {
	return c.X[i].DType.Float() && !slices.Contains(c.Def.Flat, i)
}

// derivatives are the graphs of a case and its gradients: value is a sum of the result, slope one of
// value's gradients, and second has the gradients of slope. What does not exist is nil.
type derivatives struct {
	value, slope  *ir.Node
	first, second []*ir.Node
}

func derive(c *Case) (d derivatives, err error) {
	err = attempt(func() error {
		g := ir.New()
		args := make([]*ir.Node, len(c.X))
		var wrt []*ir.Node
		for i, x := range c.X {
			args[i] = g.Input(i, x.DType, x.Shape)
			if c.differentiable(i) {
				wrt = append(wrt, args[i])
			}
		}
		out := op.ApplyAll(c.Def, c.Attrs, args...)[c.Result]
		// Differences of float32 results would measure their rounding.
		if out.DType != array.Float64 || len(wrt) == 0 || out.Size() == 0 {
			return nil
		}
		d.value = weighted(out, 0)
		one := []*ir.Node{g.Number(1, array.Float64, false)}
		d.first = op.Gradient([]*ir.Node{d.value}, one, wrt)
		for i, x := range d.first {
			if x == nil {
				continue
			}
			w := weighted(x, i+1)
			if d.slope == nil {
				d.slope = w
			} else {
				d.slope = op.Apply(op.Add, nil, d.slope, w)
			}
		}
		if d.slope != nil && !c.Def.NonDifferentiable {
			d.second = op.Gradient([]*ir.Node{d.slope}, one, wrt)
		}
		return nil
	})
	return d, err
}

// gradient checks one case; it reports whether it has a gradient.
func (s *suite) gradient(c *Case) bool {
	d, err := derive(c)
	if err != nil {
		s.errorf(c.Def.Name, "gradient of %s: %v", c, err)
		return false
	}
	if d.slope == nil || !s.have([]*ir.Node{d.slope}) {
		return false
	}
	s.slopes(c, d.value, d.first, "gradient")
	if d.second != nil {
		s.slopes(c, d.slope, d.second, "second gradient")
	}
	return true
}

// slopes compares gradients of a scalar node with its central differences.
func (s *suite) slopes(c *Case, value *ir.Node, grads []*ir.Node, what string) {
	k := 0
	for i, x := range c.X {
		if !c.differentiable(i) {
			continue
		}
		d := grads[k]
		k++
		got := New(x.DType, x.Shape)
		if d != nil {
			r, err := s.outputs(s.dev, []*ir.Node{d}, c.X, allContiguous)
			if err != nil {
				s.errorf(c.Def.Name, "%s of %s: %v", what, c, err)
				return
			}
			got = r[0]
		}
		const h = 1e-5
		for i := 0; i < x.Size(); i += 1 + x.Size()/6 {
			at := func(v float64) float64 {
				old := slices.Clone(x.F)
				x.F[i] = v
				if c.Symmetric && k == 1 { // by half, and half of it across the diagonal
					n := x.Shape[len(x.Shape)-1]
					across := i - i%(n*n) + i%n*n + i/n%n
					x.F[i] = (v + old[i]) / 2
					x.F[across] += (v - old[i]) / 2
				}
				r, err := s.outputs(s.dev, []*ir.Node{value}, c.X, allContiguous)
				copy(x.F, old)
				if err != nil {
					s.errorf(c.Def.Name, "%s of %s: %v", what, c, err)
					return math.NaN()
				}
				return r[0].F[0]
			}
			want := (at(x.F[i]+h) - at(x.F[i]-h)) / (2 * h)
			if !(math.Abs(got.F[i]-want) <= 1e-5*(1+math.Abs(want)+math.Abs(at(x.F[i])))) {
				s.errorf(c.Def.Name, "%s of %s: argument %d at %s, by differences %v", what, c, k-1, got.at(i), want)
				return
			}
		}
	}
}
