package hostile

import (
	"weft"
	"weft/ndimage"
	"weft/nn"
)

// Functions for loops and branches, and for a Func of several results.
func init() {
	makers[typ[func() []*weft.Tensor]()] = func(g *gen) any {
		t := g.tensor()
		return pick(g, nil, func() []*weft.Tensor { return []*weft.Tensor{t.Exp()} }, func() []*weft.Tensor { return []*weft.Tensor{t} },
			func() []*weft.Tensor { return nil }, func() []*weft.Tensor { return []*weft.Tensor{t.AddAssign(1), nil} },
			func() []*weft.Tensor { panic(errThrown) })
	}
	makers[typ[func([]*weft.Tensor) *weft.Tensor]()] = func(g *gen) any {
		t := g.tensor()
		return pick(g, nil, func(s []*weft.Tensor) *weft.Tensor { return s[0].Sum().Lt(10) }, func([]*weft.Tensor) *weft.Tensor { return t },
			func([]*weft.Tensor) *weft.Tensor { return nil }, func([]*weft.Tensor) *weft.Tensor { panic(errThrown) })
	}
	makers[typ[func(*weft.Tensor, int, ...ndimage.BorderOpts) *weft.Tensor]()] = func(g *gen) any {
		t := g.tensor()
		return pick(g, nil, ndimage.Sobel, ndimage.Prewitt, func(x *weft.Tensor, _ int, _ ...ndimage.BorderOpts) *weft.Tensor { return x.AddAssign(1) },
			func(*weft.Tensor, int, ...ndimage.BorderOpts) *weft.Tensor { return t }, func(*weft.Tensor, int, ...ndimage.BorderOpts) *weft.Tensor { return nil },
			func(*weft.Tensor, int, ...ndimage.BorderOpts) *weft.Tensor { panic(errThrown) })
	}
	makers[typ[func([]*weft.Tensor) []*weft.Tensor]()] = func(g *gen) any {
		t := g.tensor()
		return pick(g, nil, func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].Add(1)} },
			func(s []*weft.Tensor) []*weft.Tensor { return s }, func(s []*weft.Tensor) []*weft.Tensor { return append(s, t) },
			func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].MulAssign(2)} },
			func([]*weft.Tensor) []*weft.Tensor { panic(errThrown) })
	}
	makers[typ[func(_, _ []*weft.Tensor) []*weft.Tensor]()] = func(g *gen) any {
		return pick(g, nil, func(_, _ []*weft.Tensor) []*weft.Tensor { return nil }, func(_, s []*weft.Tensor) []*weft.Tensor { return s },
			func(_, s []*weft.Tensor) []*weft.Tensor { return append(s, nil) }, func(_, _ []*weft.Tensor) []*weft.Tensor { panic(errThrown) })
	}
	makers[typ[func(*nn.Linear, *weft.Tensor) *weft.Tensor]()] = func(g *gen) any {
		return pick(g, nil, (*nn.Linear).Forward, func(_ *nn.Linear, x *weft.Tensor) *weft.Tensor { return x },
			func(*nn.Linear, *weft.Tensor) *weft.Tensor { panic(errThrown) })
	}
	makers[typ[func(*weft.Tensor, []*weft.Tensor) (_, _ []*weft.Tensor)]()] = func(g *gen) any {
		t := g.tensor()
		return pick(g, nil, func(i *weft.Tensor, s []*weft.Tensor) (_, _ []*weft.Tensor) {
			return []*weft.Tensor{s[0].Mul(1.5)}, []*weft.Tensor{i, s[0]}
		}, func(i *weft.Tensor, s []*weft.Tensor) (_, _ []*weft.Tensor) {
			return s, []*weft.Tensor{t.On(i.Device())}
		},
			func(_ *weft.Tensor, s []*weft.Tensor) (_, _ []*weft.Tensor) { return nil, s },
			func(i *weft.Tensor, s []*weft.Tensor) (_, _ []*weft.Tensor) { i.AddAssign(1); return s, nil },
			func(*weft.Tensor, []*weft.Tensor) (_, _ []*weft.Tensor) { panic(errThrown) })
	}
}

// severalResults makes f a function of several results.
func (g *gen) severalResults(f *weft.Func) *weft.Func {
	other := g.tensor()
	f.ForwardAll = pick(g, nil,
		func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor {
			c.Save(x...)
			return []*weft.Tensor{first(x).Exp(), first(x).Gt(0)}
		},
		func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor {
			c.MarkDirty(first(x).MulAssign(2))
			return x
		},
		func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor {
			c.MarkDirty(other)
			return []*weft.Tensor{other, first(x)}
		},
		func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor { return nil },
		func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{nil, other} })
	f.BackwardAll = pick(g, nil,
		func(c *weft.FuncContext, dys []*weft.Tensor) []*weft.Tensor { return dys },
		func(c *weft.FuncContext, dys []*weft.Tensor) []*weft.Tensor { return dys[:1] },
		func(c *weft.FuncContext, dys []*weft.Tensor) []*weft.Tensor { return nil })
	return f
}
