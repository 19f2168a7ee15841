package hostile

import (
	"io"

	"weft"
	"weft/sym"
)

// variable is a symbolic variable: an input, one that is shared, or computed.
func (g *gen) variable() *sym.Var {
	var v *sym.Var
	weft.Try(func() {
		switch g.r.IntN(12) {
		case 0:
		case 1:
			v = &sym.Var{}
		case 2, 3, 4:
			v = sym.New(g.text(), g.dtype(), g.shape()...)
		case 5, 6:
			v = pick(g, sym.Scalar, sym.Vector, sym.Row, sym.Col, sym.Matrix, sym.Tensor3)("v", weft.Float32)
		case 7, 8:
			v = sym.Shared("w", g.plain(g.shape()))
		case 9:
			v = sym.Const(g.plain(g.shape()))
		case 10:
			v = sym.Matrix("m", weft.Float64).Add(1).Sum(0)
		default:
			x := sym.Vector("x", weft.Float32)
			v = sym.Grad(x.Square().Sum(), []*sym.Var{x})[0]
		}
	})
	return v
}

func init() {
	makers[typ[func(...*weft.Tensor) *weft.Tensor]()] = func(g *gen) any {
		other := g.tensor()
		return pick(g, nil, func(x ...*weft.Tensor) *weft.Tensor { return x[0] }, func(...*weft.Tensor) *weft.Tensor { return other },
			func(...*weft.Tensor) *weft.Tensor { panic(errThrown) })
	}
	makers[typ[*sym.Var]()] = func(g *gen) any { return g.variable() }
	makers[typ[io.Writer]()] = func(g *gen) any { return pick(g, nil, io.Discard) }
	makers[typ[sym.Option]()] = func(g *gen) any {
		some := map[*sym.Var]*sym.Var{}
		for range g.r.IntN(3) {
			some[g.variable()] = g.variable()
		}
		return pick[any](g, nil, sym.Updates(some), sym.Givens(some), sym.Unused(g.integer()), sym.IgnoreUnused, sym.Mode(g.integer()), sym.Fast, sym.Including(g.text()), sym.Excluding("softplus"), sym.Named(g.text()), sym.NoDefaultUpdates{})
	}
	makers[typ[func([]*sym.Var) *sym.Var]()] = func(g *gen) any {
		return pick(g, nil, func(x []*sym.Var) *sym.Var { return x[0].Sin() }, func(x []*sym.Var) *sym.Var { return nil })
	}
	makers[typ[func(*sym.Var, *sym.Var) *sym.Var]()] = func(g *gen) any {
		return pick(g, nil, func(x, h *sym.Var) *sym.Var { return h.Add(x.Sum()) }, func(x, h *sym.Var) *sym.Var { return nil })
	}
	makers[typ[func(...*sym.Var) *sym.Var]()] = func(g *gen) any {
		return pick(g, nil, func(x ...*sym.Var) *sym.Var { return x[0].Neg() }, func(...*sym.Var) *sym.Var { return nil })
	}
	makers[typ[func() []*sym.Var]()] = func(g *gen) any {
		v := g.variable()
		return pick(g, nil, func() []*sym.Var { return []*sym.Var{v} }, func() []*sym.Var { return nil })
	}
	makers[typ[func(sym.Step) sym.Next]()] = func(g *gen) any {
		return pick(g, nil, func(s sym.Step) sym.Next { return sym.Next{H: s.H, Out: s.X} }, func(sym.Step) sym.Next { return sym.Next{} })
	}
	makers[typ[func(weft.DebugStep)]()] = func(g *gen) any { return pick(g, nil, func(weft.DebugStep) {}) }
	makers[typ[*sym.Fn]()] = func(g *gen) any {
		x := sym.Vector("x", weft.Float32)
		w := sym.Shared("w", weft.Ones(3))
		f, err := sym.Function(sym.In(sym.Param{Var: x, Value: weft.Ones(3)}), sym.Out(x.Mul(w).Sum().As("y")), sym.Updates{w: w.Add(x)})
		if err != nil {
			panic(err)
		}
		return pick(g, nil, &sym.Fn{}, f, f, f)
	}
	makers[typ[*sym.RandomStreams]()] = func(g *gen) any {
		return pick(g, nil, &sym.RandomStreams{}, sym.NewRandomStreams(7))
	}
	makers[typ[*sym.MRGStreams]()] = func(g *gen) any {
		return pick(g, nil, &sym.MRGStreams{}, sym.NewMRGStreams(7))
	}
	makers[typ[sym.Outputs]()] = func(g *gen) any { return pick(g, sym.Outputs{}, sym.Out(sym.Scalar("x", weft.Float32).As("y"))) }
	makers[typ[func([]sym.Type) []sym.Type]()] = func(g *gen) any {
		return pick(g, nil, func(a []sym.Type) []sym.Type { return a },
			func([]sym.Type) []sym.Type { return []sym.Type{{DType: g.dtype(), Shape: g.shape()}} })
	}
	makers[typ[func([]*weft.Tensor) ([]*weft.Tensor, error)]()] = func(g *gen) any {
		return pick(g, nil, func(x []*weft.Tensor) ([]*weft.Tensor, error) { return x, nil },
			func(x []*weft.Tensor) ([]*weft.Tensor, error) { return nil, errThrown },
			func([]*weft.Tensor) ([]*weft.Tensor, error) { panic(errThrown) })
	}
	makers[typ[func([]any) ([]any, error)]()] = func(g *gen) any {
		return pick(g, nil, func(x []any) ([]any, error) { return x, nil },
			func(x []any) ([]any, error) { return nil, errThrown },
			func([]any) ([]any, error) { panic(errThrown) })
	}
	makers[typ[func(_, _, _ []*weft.Tensor) []*weft.Tensor]()] = func(g *gen) any {
		return pick(g, nil, func(x, _, _ []*weft.Tensor) []*weft.Tensor { return x }, func(_, _, dy []*weft.Tensor) []*weft.Tensor { return dy })
	}
	makers[typ[func(_, _, _ []*sym.Var) []*sym.Var]()] = func(g *gen) any {
		return pick(g, nil, func(x, _, _ []*sym.Var) []*sym.Var { return x },
			func(_, y, dy []*sym.Var) []*sym.Var { return append(y, dy...) })
	}
}
