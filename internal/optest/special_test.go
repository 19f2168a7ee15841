package optest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
)

// The functions of package special are outside the op table, and their values are compared with mpmath's
// there. Here they are held to what every operation is held to: layouts, element types, other devices,
// fusion, gradients. Each function has a few cases, which take layouts and types by turns.

// specialSample has shapes that broadcast.
func specialSample(d *op.Def) op.Sample {
	return op.Sample{Shapes: [][]int{{3, 7}, {7}, {3, 1}, {1, 7}}[:d.Arity]}
}

// specialEdges are arguments of the extreme elements of a type, which meet in another order in each.
func specialEdges(d *op.Def, t array.DType) *Case {
	x := make([]*Array, d.Arity)
	for i := range x {
		x[i] = specials(t, func(n int) []int { return []int{n} })
		k := i * 5
		if x[i].F != nil {
			x[i].F = slices.Concat(x[i].F[k:], x[i].F[:k])
		} else {
			k = min(k, len(x[i].I)-1)
			x[i].I = slices.Concat(x[i].I[k:], x[i].I[:k])
		}
	}
	c := newCase(d, nil, x...)
	return &c
}

func TestSpecialFunctions(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) { specialFunctions(t, dev, caps, 1) })
}

// TestSimulatedSpecialFunctions holds some functions to the oracle on a simulated GPU.
func TestSimulatedSpecialFunctions(t *testing.T) {
	onSimulated(t, 5, func(dev device.Device) { specialFunctions(t, dev, Caps{Oracle: oracle}, 9) })
}

func TestDeferredSpecialFunctions(t *testing.T) {
	specialFunctions(t, late(), Caps{Oracle: oracle}, 9)
}

func specialFunctions(t *testing.T, dev device.Device, caps Caps, every int) {
	s := newSuite(t, dev, caps)
	defer s.done()
	types := slices.DeleteFunc(realTypes(), func(d array.DType) bool { return d == array.Float64 || d == array.Float32 })
	for i, d := range op.Specials() {
		if i%every != 0 {
			continue
		}
		r := rand.New(rand.NewPCG(31, uint64(i)))
		c := newCase(d, nil, drawn(r, d, specialSample(d), array.Float64)...)
		s.specialCase(&c)
		s.specialCase(specialEdges(d, array.Float32))
		s.specialCase(specialEdges(d, types[i%len(types)]))
		s.specialFused(d, &c, i)
		if caps.Oracle == nil {
			s.gradient(&c)
		} else if i%(2*every) == 0 {
			s.sameGradients(&c)
		}
	}
	t.Logf("%d computations on %s", s.checks, dev.Name())
}

// specialCase computes a case in some layouts. The elements are what the same device computes of these arguments
// in float64, rounded.
func (s *suite) specialCase(c *Case) {
	want := array.Float32
	if c.X[0].DType.Float() {
		want = c.X[0].DType
	}
	out, err := c.graph()
	if err != nil || out.DType != want {
		s.errorf(c.Def.Name, "%s gives %v, %v, want %v", c, out, err, want)
		return
	}
	first := s.laid(c, out, nil, func(int) Layout { return Contiguous }, Contiguous, false)
	if first == nil {
		return
	}
	if c.X[0].DType != array.Float64 {
		wide := Case{Def: c.Def}
		for _, x := range c.X {
			// Integers become float32 before.
			if !x.DType.Float() {
				x = convert(x, array.Float32)
			}
			wide.X = append(wide.X, convert(x, array.Float64))
		}
		exact, err := wide.graph()
		if err != nil {
			s.errorf(c.Def.Name, "%s: %v", &wide, err)
			return
		}
		y, err := s.outputs(s.dev, []*ir.Node{exact}, wide.X, allContiguous)
		if err != nil {
			s.errorf(c.Def.Name, "%s: %v", &wide, err)
			return
		}
		if k := same(convert(y[0], want), first); k >= 0 {
			s.errorf(c.Def.Name, "%s: element %s, in float64 %s%s", c, first.at(k), y[0].at(k), c.inputs(k))
		}
	}
	alike, mixed := s.layoutsOf(c)
	for _, l := range alike {
		s.laid(c, out, first, func(int) Layout { return l }, Contiguous, false)
	}
	for _, l := range mixed {
		s.laid(c, out, first, func(i int) Layout { return (l + Layout(i)) % numLayouts }, l, false)
	}
	s.inPlace(c, out, first)
}

// specialFused compares a function in the middle of a kernel, and in front of a reduction, with the same
// node by node.
func (s *suite) specialFused(d *op.Def, c *Case, i int) {
	g := ir.New()
	args := inputs(g, c.X)
	t := []array.DType{array.Float64, array.Float32}[i%2]
	for k, x := range args {
		args[k] = op.Convert(op.Apply(op.Mul, nil, x, g.Number(0.75, array.Float64, true)), t)
	}
	y := op.Apply(d, nil, args...)
	z := op.Apply(op.Add, nil, op.Apply(op.Mul, nil, y, args[0]), args[d.Arity-1])
	sum := op.Apply(op.Sum, op.Reduction{Axes: []int{i % 2}}, z)
	s.fused("special "+d.Name, &Graph{X: c.X, Outs: []*ir.Node{z, sum}}, func(k int) Layout { return Layout(i+k) % numLayouts })
}
