package pooling

import (
	"math"
	"unsafe"

	"weft/internal/cpu/gen"
	"weft/internal/par"
)

// Mean writes to y the means of the windows of x, zeros of the padding counted: the sum of
// the places in ascending order times one over their number. Both are contiguous.
func Mean[T float](p Pool, y, x unsafe.Pointer) {
	if p.paired(32 / int(unsafe.Sizeof(T(0)))) {
		pairs[T](&p, meanPairsRoutine, x, y)
		return
	}
	n, m := p.H*p.W, p.OH*p.OW
	if c := newPlane[T](&p, true, false); c != nil {
		c.each(true, func(c *plane[T], i int) { c.means(of[T](y, i, m), of[T](x, i, n)) })
		return
	}
	scale := T(1 / float64(p.KH*p.KW))
	p.portable(func(i int) {
		x, y := of[T](x, i, n), of[T](y, i, m)
		for o := range y {
			top, left := o/p.OW*p.StepH-p.PadH, o%p.OW*p.StepW-p.PadW
			sum := T(math.Copysign(0, -1)) // which is added to anything without a change
			for h := top; h < top+p.KH; h++ {
				for w := left; w < left+p.KW; w++ {
					if h < 0 || h >= p.H || w < 0 || w >= p.W {
						sum += 0
					} else {
						sum += x[h*p.W+w]
					}
				}
			}
			y[o] = T(sum * scale)
		}
	})
}

// Spread writes to dx the gradient of Mean: each element is the sum over the places of a
// window, in ascending order, of the element of dy, divided by their number, of the window in
// which it is at that place, 0 where there is none. Both are contiguous.
func Spread[T float](p Pool, dx, dy unsafe.Pointer) {
	if p.paired(32 / int(unsafe.Sizeof(T(0)))) {
		pairs[T](&p, spreadPairsRoutine, dx, dy)
		return
	}
	n, m := p.H*p.W, p.OH*p.OW
	if c := newPlane[T](&p, true, true); c != nil {
		c.each(true, func(c *plane[T], i int) {
			dx, dy, line := of[T](dx, i, n), of[T](dy, i, m), 0
			for row := range c.OH {
				c.scaled(row, dy)
				line = c.spreads(dx, row, line, true)
			}
		})
		return
	}
	scale := T(1 / float64(p.KH*p.KW))
	p.portable(func(i int) {
		dx, dy := of[T](dx, i, n), of[T](dy, i, m)
		alone := p.KH == p.StepH && p.KW == p.StepW || p.KH*p.KW == 1
		for o := range dx {
			sum, terms := T(math.Copysign(0, -1)), 0
			for kh := range p.KH {
				for kw := range p.KW {
					top, left := o/p.W+p.PadH-kh, o%p.W+p.PadW-kw
					if top >= 0 && left >= 0 && top%p.StepH == 0 && left%p.StepW == 0 && top/p.StepH < p.OH && left/p.StepW < p.OW {
						sum += T(dy[top/p.StepH*p.OW+left/p.StepW] * scale)
						terms++
					} else if !alone {
						sum += 0
					}
				}
			}
			if terms == 0 {
				sum = 0
			}
			dx[o] = sum
		}
	})
}

// scaleBits are those of one over the places of a window.
func scaleBits[T float](p *Pool) uint64 {
	scale := T(1 / float64(p.KH*p.KW))
	if unsafe.Sizeof(scale) == 4 {
		return uint64(math.Float32bits(float32(scale)))
	}
	return math.Float64bits(float64(scale))
}

// portable calls f for every plane.
func (p *Pool) portable(f func(plane int)) {
	ns := p.Planes * p.OH * p.OW * p.KH * p.KW
	par.Run(p.Planes, 1, gen.Threads(ns), func(_, begin, end int) {
		for i := begin; i < end; i++ {
			f(i)
		}
	})
}
