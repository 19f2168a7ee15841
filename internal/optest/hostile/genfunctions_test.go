package hostile

import (
	"weft"
	"weft/kernel"
)

// Operations and kernels of users.

// function is an operation with a gradient of its own.
func (g *gen) function() *weft.Func {
	if g.chance(20) {
		return nil
	}
	other := g.tensor()
	f := &weft.Func{
		Name: pick(g, "", "f"),
		Forward: pick(g, nil,
			func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { c.Save(x...); return first(x).Exp() },
			func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
				c.Save(x...)
				c.Save(other)
				return first(x).Mul(2)
			},
			func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return first(x) },
			func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return other },
			func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { c.Saved(0); return first(x) },
			func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { panic(errThrown) }),
		Backward: pick(g, nil,
			func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
				return []*weft.Tensor{dy.Mul(c.Saved(0))}
			},
			func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{dy} },
			func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return nil },
			func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
				dy.Release()
				return []*weft.Tensor{dy, dy}
			},
			func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{other, other} },
			func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{c.Saved(9)} }),
		Once: g.chance(3),
	}
	if g.chance(3) {
		return g.severalResults(f)
	}
	return f
}

// kernels are functions of all kinds of parameters.
var kernels = kernel.MustParse(`package kernels

import "weft/kernel"

func Add(x, y float32) float32 { return x + y }
func Both[T float32 | float64 | int64](x, y T) (T, T) { return x + y, x * y }
func Affine(a, b, c, d float64) (float64, float64) { return a * c, b*c + d }
func Steps(x int32, n int8) int64 {
	s := int64(0)
	for i := range n {
		s += int64(x) / int64(i)
	}
	return s
}
func Turn(z complex64) complex64 { return z * 1i }
func Cross(a kernel.Near2[float32]) float32 { return a.At(0, 1) + a.At(1, 0) + a.At(-1, 0) }
func Line(a, b kernel.Near1[float64], s float64) (float64, int32) { return a.At(-1) + s*b.At(2), int32(a.At(0)) }
func Slide(a kernel.Near1[float32], n int) float32 { return a.At(n) }
func Clamped(g kernel.Clamped2[float32], i, j int) float32 { return g.At(i, j) }
func Wrapped(g kernel.Wrapped1[int8], i int) int8 { return g.At(i) }
func Zeroed(g kernel.Zeroed3[float64], i int) float64 { return g.At(i, 2*i, -i) + float64(g.Dim(1)) }
func Own(e kernel.Elem, g kernel.Array2[float64]) float64 { return g.At(e.Index(0), e.Index(1)) + float64(e.Dim(1)) }
func Noise(e kernel.Elem, x float32) float32 { return x + e.Rand() + e.Randn() }
func Last(x, y float32) float32 { return y }
func Endless(x float32) float32 {
	for x == x {
		x = x * 0.5
		if x == 0 {
			return 1
		}
	}
	return x
}
`)

// first is the first argument of a Forward, nil if there is none.
func first(x []*weft.Tensor) *weft.Tensor {
	if len(x) == 0 {
		return nil
	}
	return x[0]
}

// context is what a Forward was given.
func (g *gen) context() *weft.FuncContext {
	var c *weft.FuncContext
	f := &weft.Func{Name: "f", Forward: func(fc *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
		c = fc
		c.Save(x...)
		return x[0]
	}}
	weft.Try(func() { f.Apply(weft.Ones(2), weft.Ones(3)) })
	return c
}
