package sym_test

import (
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// polar and polarOp give radius and angle of x and y, a count, and the radius once more as float32,
// with gradients of their own: by a graph, and by a Go function.
func polar() func(args ...*sym.Var) []*sym.Var {
	a, b := sym.Vector("a", weft.Float64), sym.Vector("b", weft.Float64)
	r := a.Square().Add(b.Square()).Sqrt()
	return sym.OpFromGraph([]*sym.Var{a, b}, []*sym.Var{r, b.Div(a).Atan(), a.Gt(0).Sum(), r.To(weft.Float32)}, sym.GraphOpts{Name: "polar", Gradient: func(x, y, dy []*sym.Var) []*sym.Var {
		dr, sq := dy[0].Add(dy[3].To(weft.Float64)), y[0].Square()
		if dy[2] != nil {
			panic("an integer has a gradient")
		}
		return []*sym.Var{dr.Mul(x[0]).Div(y[0]).Sub(dy[1].Mul(x[1]).Div(sq)), dr.Mul(x[1]).Div(y[0]).Add(dy[1].Mul(x[0]).Div(sq))}
	}})
}

func polarOp() func(args ...*sym.Var) []*sym.Var {
	o := &sym.Op{Name: "polar",
		Results: func(x []sym.Type) []sym.Type {
			return []sym.Type{x[0], x[1], {DType: weft.Int64}, {DType: weft.Float32, Shape: x[0].Shape}}
		},
		Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
			r := x[0].Square().Add(x[1].Square()).Sqrt()
			return []*weft.Tensor{r, x[1].Div(x[0]).Atan(), x[0].Gt(0).Sum(), r.To(weft.Float32)}, nil
		},
		Backward: func(x, y, dy []*weft.Tensor) []*weft.Tensor {
			dr, sq := dy[0].Add(dy[3].To(weft.Float64)), y[0].Square()
			if dy[2] != nil {
				panic("an integer has a gradient")
			}
			return []*weft.Tensor{dr.Mul(x[0]).Div(y[0]).Sub(dy[1].Mul(x[1]).Div(sq)), dr.Mul(x[1]).Div(y[0]).Add(dy[1].Mul(x[0]).Div(sq))}
		}}
	return o.Apply
}

// Gradients of operations with several results are sums over all results, as of the plain graph;
// outside, in loops and behind conditions, and once more differentiated.
func TestOwnGradientOfSeveralResults(t *testing.T) {
	x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
	X, Y := weft.FromSlice([]float64{3, 1.5, 0.25}), weft.FromSlice([]float64{-2, 0.5, 7})
	plain := func(v ...*sym.Var) []*sym.Var {
		r := v[0].Square().Add(v[1].Square()).Sqrt()
		return []*sym.Var{r, v[1].Div(v[0]).Atan(), v[0].Gt(0).Sum(), r.To(weft.Float32)}
	}
	costs := func(p func(v ...*sym.Var) []*sym.Var) []*sym.Var {
		out := p(x, y)
		both := out[0].Square().Sum().Add(out[1].Exp().Sum()).Add(out[2].To(weft.Float64))
		angle := p(x, y)[1].Sum()
		low := p(x, y)[3].To(weft.Float64).Sum()
		loop := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: new(3)}, func(s sym.Step) sym.Next {
			o := p(s.H[0], y)
			return sym.Next{H: []*sym.Var{o[0].Add(o[1])}}
		}).Last[0].Sum()
		side := sym.IfElse(x.Sum().Gt(0), func() []*sym.Var { return []*sym.Var{p(x, y)[1].Sum()} }, func() []*sym.Var { return []*sym.Var{x.Sum()} })[0]
		return []*sym.Var{both, angle, low, loop, side}
	}
	for name, p := range map[string]func(v ...*sym.Var) []*sym.Var{"graph": polar(), "function": polarOp()} {
		got, want := costs(p), costs(plain)
		for i := range want {
			var outs []*sym.Var
			for _, c := range []*sym.Var{got[i], want[i]} {
				g := sym.Grad(c, []*sym.Var{x, y})
				outs = append(append(outs, c), g...)
				if name == "graph" && i != 2 { // float32 in between
					outs = append(outs, sym.Grad(g[0].Square().Sum(), []*sym.Var{x, y})...)
				}
			}
			res := call(t, []*sym.Var{x, y}, outs, X, Y)
			for k := range len(res) / 2 {
				tensortest.Near(t, name, res[k], weft.Data[float64](res[len(res)/2+k]), 1e-7)
			}
		}
	}
}
