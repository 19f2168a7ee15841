package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
)

// A drawing is a graph of random numbers: the last two inputs are the seed and the number of the draw.
type drawing struct {
	name string
	Graph
}

// Draws demands the oracle's bits of every distribution: from arrays of all layouts, alone, fused with what
// surrounds it, and with parameters outside its domain.
func Draws(t T, dev device.Device, caps Caps) {
	t.Helper()
	s := newSuite(t, dev, caps)
	defer s.done()
	for i := range drawings() {
		d := &drawings()[i]
		s.fused(d.name, &d.Graph, allContiguous, func(i int) Layout { return []Layout{Strided, Transposed, Reversed}[i%3] })
	}
	t.Logf("%d computations", s.checks)
}

// drawings are the graphs of Draws, the same for every device.
var drawings = sync.OnceValue(func() (all []drawing) {
	r := rand.New(rand.NewPCG(5, 5))
	add := func(name string, x []*Array, f func(in []*ir.Node) []*ir.Node) {
		for _, v := range []int64{-3 + r.Int64N(1<<62), r.Int64N(1000)} {
			n := New(array.Int64, nil)
			n.I[0] = v
			x = append(x, n)
		}
		g := ir.New()
		in := make([]*ir.Node, len(x))
		for i, a := range x {
			in[i] = g.Input(i, a.DType, a.Shape)
		}
		all = append(all, drawing{name, Graph{X: x, Outs: f(in)}})
	}
	integers := func(v ...int64) (x []*Array) {
		for _, k := range v {
			n := New(array.Int64, nil)
			n.I[0] = k
			x = append(x, n)
		}
		return x
	}
	for i, d := range []op.Distribution{op.Uniform, op.Normal, op.Exponential, op.Laplace, op.Cauchy} {
		name := []string{"uniform", "normal", "exponential", "laplace", "cauchy"}[i]
		for _, dt := range []array.DType{array.Float32, array.Float64} {
			for _, blocks := range []int{1, 67} {
				add(fmt.Sprint(name, " ", dt), nil, func(in []*ir.Node) []*ir.Node { return d.Draw(blocks, dt, in[0], in[1]) })
			}
		}
	}
	for _, size := range []int64{1, 10, math.MaxInt64, -1} { // -1 is 2^64-1
		add("integers", integers(-7, size), func(in []*ir.Node) []*ir.Node {
			return op.Integers.Draw(33, array.Int64, in[2], in[3], in[0], in[1])
		})
	}
	x := Random(r, array.Float32, []int{7, 19}, [2]float64{}, 0)
	add("dropout", []*Array{x, scalarOf(array.Float32, 0.3), scalarOf(array.Float32, 1/0.7)}, func(in []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Dropout, nil, in[0], in[3], in[4], in[1], in[2])}
	})
	for _, v := range []struct {
		name    string
		def     *op.Def
		domains [][2]float64
	}{
		{"poisson", op.Poisson, [][2]float64{{0, 60}}},
		{"binomial", op.Binomial, [][2]float64{{0, 400}, {0, 1}}},
		{"gamma", op.StandardGamma, [][2]float64{{0.01, 9}}},
		{"log gamma", op.LogGamma, [][2]float64{{0.01, 9}}},
		{"geometric", op.Geometric, [][2]float64{{0, 1}}},
		{"truncated normal", op.TruncatedNormal, [][2]float64{{-1, 1}, {0.1, 2}, {-4, 1}, {0, 6}}},
	} {
		for _, shape := range [][]int{{}, {1, 13}, {11, 13}} {
			for _, dt := range []array.DType{array.Float32, array.Float64, array.Int32} {
				of := array.Float64
				if dt == array.Float32 {
					of = dt
				}
				var params []*Array
				for _, domain := range v.domains {
					p := Random(r, of, shape, domain, 0)
					if v.name == "binomial" && domain[1] > 1 {
						for i := range p.F {
							p.F[i] = math.Floor(p.F[i])
						}
					}
					for i, bad := range []float64{math.NaN(), -1, math.Inf(1), 1e300} {
						if p.Size() > 50 { // outside of the domain
							p.F[10*i+len(params)] = roundTo(of, bad)
						}
					}
					params = append(params, p)
				}
				full := []int{11, 13}
				add(fmt.Sprint(v.name, " ", dt), params, func(in []*ir.Node) []*ir.Node {
					args := slices.Clone(in)
					args[0] = op.Apply(op.Abs, nil, in[0]) // part of the same kernel
					y := op.Apply(v.def, op.Variate{DType: dt, Shape: full}, args...)
					return []*ir.Node{y, op.Apply(op.Sum, op.Reduction{Axes: []int{1}}, op.Apply(op.Add, nil, y, y))}
				})
			}
		}
	}
	return all
})

// scalarOf returns an array without dimensions.
func scalarOf(d array.DType, x float64) *Array {
	a := New(d, nil)
	a.F[0] = roundTo(d, x)
	return a
}
