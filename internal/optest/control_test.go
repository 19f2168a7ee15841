package optest

import (
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
)

// TestLoopUnrolled compares loops, and their gradients, with the same steps written one
// after the other: constants that are large, gradients through the last steps alone, loops
// in loops, loops without carries.
func TestLoopUnrolled(t *testing.T) {
	apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
	const steps = 5
	vec := func(n int) ir.Type { return ir.Type{DType: array.Float64, Shape: []int{n}} }
	step := func(x []*ir.Node) []*ir.Node { // element, carry, constant
		h := apply(op.Add, apply(op.Mul, apply(op.Sin, x[1]), x[2]), x[0])
		return []*ir.Node{h, apply(op.Mul, h, h)}
	}
	for _, c := range []struct {
		name     string
		n        int
		truncate int
		nested   bool
	}{{"small", 3, 0, false}, {"large", 2100, 0, false}, {"truncated", 3, 2, false}, {"nested", 3, 0, true}, {"nested, large", 2100, 0, true}} {
		n := c.n
		body := functionOf([]ir.Type{vec(n), vec(n), vec(n)}, step)
		if c.nested { // each step is two of another loop, of one sequence
			double := functionOf([]ir.Type{vec(n), vec(n), vec(n)}, step)
			two := ir.Type{DType: array.Float64, Shape: []int{2, n}}
			body = functionOf([]ir.Type{two, vec(n), vec(n)}, func(x []*ir.Node) []*ir.Node {
				r := op.ApplyAll(op.Loop, op.Looping{Body: double, Steps: 2, Seqs: 1, Carries: 1}, x...)
				return []*ir.Node{r[0], op.Apply(op.Sum, op.Reduction{Axes: []int{0}}, r[2])}
			})
		}
		g := ir.New()
		shape := []int{steps, n}
		if c.nested {
			shape = []int{steps, 2, n}
		}
		x, h0, k := g.Input(0, array.Float64, shape), g.Input(1, array.Float64, []int{n}), g.Input(2, array.Float64, []int{n})
		r := op.ApplyAll(op.Loop, op.Looping{Body: body, Steps: steps, Seqs: 1, Carries: 1, Truncate: c.truncate}, x, h0, k)
		looped := []*ir.Node{r[0], apply(op.Sum, r[1]), apply(op.Sum, r[2])}

		element := func(i int) *ir.Node {
			flat := op.Apply(op.Reshape, op.Shape{array.Size(shape) / n, n}, x)
			return op.Apply(op.Reshape, op.Shape{n}, op.Narrow(flat, 0, i, 1))
		}
		times := 1
		if c.nested {
			times = 2
		}
		h := h0
		var sum, states *ir.Node
		states = apply(op.Sum, h0)
		for i := range steps * times {
			if c.truncate > 0 && i == steps-c.truncate {
				h = apply(op.Mul, apply(op.Floor, apply(op.Mul, h, g.Number(1e15, array.Float64, false))), g.Number(1e-15, array.Float64, false)) // no gradient
			}
			y := step([]*ir.Node{element(i), h, k})
			h = y[0]
			kept := apply(op.Sum, y[1])
			if c.truncate > 0 && i < steps-c.truncate {
				kept = nil
			}
			if kept != nil {
				if sum == nil {
					sum = kept
				} else {
					sum = apply(op.Add, sum, kept)
				}
			}
			if i%times == times-1 {
				states = apply(op.Add, states, apply(op.Sum, h))
			}
		}
		seed := func(y *ir.Node) *ir.Node { return weighted(y, 1) }
		one := []*ir.Node{g.Number(1, array.Float64, false)}
		outs := func(y []*ir.Node) []*ir.Node {
			total := apply(op.Add, seed(y[0]), seed(y[2]))
			if c.truncate == 0 {
				total = apply(op.Add, total, seed(y[1]))
			}
			d := op.Gradient([]*ir.Node{total}, one, []*ir.Node{x, h0, k})
			if c.truncate > 0 {
				d[1] = k // cut off: nothing reaches it
				return append(d, y[0])
			}
			return append(d, y...)
		}
		want, got := outs([]*ir.Node{h, states, sum}), outs(looped)
		each(t, func(t *testing.T, dev device.Device, caps Caps) {
			s := newSuite(t, dev, caps)
			defer s.mem.Close()
			rnd := rand.New(rand.NewPCG(1, 2))
			in := []*Array{Random(rnd, array.Float64, shape, [2]float64{}, 0), Random(rnd, array.Float64, []int{n}, [2]float64{}, 0), Random(rnd, array.Float64, []int{n}, [2]float64{}, 0)}
			a, err := s.outputs(dev, want, in, allContiguous)
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.outputs(dev, got, in, allContiguous)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a {
				for j, v := range a[i].F {
					if w := b[i].F[j]; !(v-w < 1e-9*(1+abs(v)) && w-v < 1e-9*(1+abs(v))) {
						t.Fatalf("%s: result %d, element %d is %v, unrolled %v", c.name, i, j, w, v)
					}
				}
			}
		})
	}
}

func abs(x float64) float64 { return max(x, -x) }
