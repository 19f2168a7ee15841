package gemm

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// A chain sums terms by the rule of the package.
type chain[E element] struct {
	block, sum E
	n, limit   int // terms in block, terms of a whole block
	some       bool
}

func (c *chain[E]) add(x, y E) {
	if c.n == c.limit {
		c.close()
	}
	c.block = fma(x, y, c.block)
	c.n++
}

// close ends a block.
func (c *chain[E]) close() {
	if c.some {
		c.sum += c.block
	} else {
		c.sum = c.block
	}
	c.block, c.n, c.some = 0, 0, true
}

// start is the state before the first term; old is nil or the element to add to.
func startChain[E element](limit int, old *E) chain[E] {
	c := chain[E]{limit: limit}
	if old != nil {
		c.sum, c.some = *old, true
	}
	return c
}

func (c *chain[E]) result() E {
	if c.n > 0 || !c.some {
		c.close()
	}
	return c.sum
}

func (m *Image) at(n, c, y, x, size int) unsafe.Pointer {
	return unsafe.Add(m.Ptr, (n*m.N+c*m.C+y*m.H+x*m.W)*size)
}

// finish applies bias, element i of e's vector, and activation.
func finish[E element](v E, e *Epilogue, i int) E {
	if e.Bias != nil {
		v += *(*E)(unsafe.Add(e.Bias, i*e.BiasStride*int(unsafe.Sizeof(v))))
	}
	if e.Act == Relu && v <= 0 {
		v = 0
	}
	return v
}

func old[E element](p *E, e *Epilogue) *E {
	if e.Accumulate {
		return p
	}
	return nil
}

func portableConv[E element](d array.DType, n, o int, y, x Image, w unsafe.Pointer, g *Geometry, e *Epilogue) {
	size := d.Size()
	limit := KBlock(d)
	for oy := range g.OutH() {
		for ox := range g.OutW() {
			out := (*E)(y.at(n, o, oy, ox, size))
			sum := startChain(limit, old(out, e))
			at := o * g.C * g.KH * g.KW
			for c := range g.C {
				for kh := range g.KH {
					iy := oy*g.StrideH + kh*g.DilationH - g.PadH
					for kw := range g.KW {
						ix := ox*g.StrideW + kw*g.DilationW - g.PadW
						var v E
						if uint(iy) < uint(g.H) && uint(ix) < uint(g.W) {
							v = *(*E)(x.at(n, c, iy, ix, size))
						}
						sum.add(v, *(*E)(unsafe.Add(w, at*size)))
						at++
					}
				}
			}
			*out = finish(sum.result(), e, o)
		}
	}
}

func portableConvGradInput[E element](d array.DType, n, c int, dx, dy Image, w unsafe.Pointer, g *Geometry, e *Epilogue) {
	size := d.Size()
	limit := KBlock(d)
	oh, ow := g.OutH(), g.OutW()
	for iy := range g.H {
		for ix := range g.W {
			out := (*E)(dx.at(n, c, iy, ix, size))
			sum := startChain(limit, old(out, e))
			for o := range g.O {
				for kh := range g.KH {
					ys := iy + g.PadH - kh*g.DilationH
					if mod(ys, g.StrideH) != 0 {
						continue
					}
					oy := ys / g.StrideH
					for kw := range g.KW {
						xs := ix + g.PadW - kw*g.DilationW
						if mod(xs, g.StrideW) != 0 {
							continue
						}
						ox := xs / g.StrideW
						var v E
						if uint(oy) < uint(oh) && uint(ox) < uint(ow) {
							v = *(*E)(dy.at(n, o, oy, ox, size))
						}
						sum.add(v, *(*E)(unsafe.Add(w, (((o*g.C+c)*g.KH+kh)*g.KW+kw)*size)))
					}
				}
			}
			*out = finish(sum.result(), e, c)
		}
	}
}

func portableConvGradWeight[E element](d array.DType, o, c int, dw unsafe.Pointer, x, dy Image, g *Geometry, accumulate bool) {
	size := d.Size()
	limit := KBlock(d)
	oh, ow := g.OutH(), g.OutW()
	for kh := range g.KH {
		for kw := range g.KW {
			out := (*E)(unsafe.Add(dw, (((o*g.C+c)*g.KH+kh)*g.KW+kw)*size))
			sum := startChain(limit, old(out, &Epilogue{Accumulate: accumulate}))
			for n := range g.N {
				for oy := range oh {
					iy := oy*g.StrideH + kh*g.DilationH - g.PadH
					for ox := range ow {
						ix := ox*g.StrideW + kw*g.DilationW - g.PadW
						var v E
						if uint(iy) < uint(g.H) && uint(ix) < uint(g.W) {
							v = *(*E)(x.at(n, c, iy, ix, size))
						}
						sum.add(v, *(*E)(dy.at(n, o, oy, ox, size)))
					}
				}
			}
			*out = sum.result()
		}
	}
}

// mod returns the remainder of x by m that is not negative.
func mod(x, m int) int {
	r := x % m
	if r < 0 {
		r += m
	}
	return r
}

// planes runs f over the pairs below n and m on the worker pool.
func planes(n, m, threads int, f func(i, j int)) {
	par.Run(n*m, 1, threads, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			f(i/m, i%m)
		}
	})
}
