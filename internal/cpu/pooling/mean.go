package pooling

import (
	"math"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/par"
)

// Mean writes to y the means of the windows of x, with the zeros of the padding: the sum of the
// window's elements in ascending order, times one over their number. Both arrays are
// contiguous.
func Mean[T float](p Pool, y, x unsafe.Pointer) {
	if p.paired(32 / int(unsafe.Sizeof(T(0)))) {
		pairs[T](&p, meanPairsRoutine, x, y)
		return
	}
	n, m := p.H*p.W, p.OH*p.OW
	if c := newWhole[T](&p, true, false); c != nil {
		c.each(func(_ []T, i int) { c.means(of[T](y, i, m), of[T](x, i, n)) })
		return
	}
	if c := newPlane[T](&p, true, false); c != nil {
		c.each(true, func(c *plane[T], i int) { c.means(of[T](y, i, m), of[T](x, i, n)) })
		return
	}
	scale := T(p.scale())
	p.portable(func(i int) {
		x, y := of[T](x, i, n), of[T](y, i, m)
		for o := range y {
			top, left := o/p.OW*p.StepH-p.PadH, o%p.OW*p.StepW-p.PadW
			from, to := max(left, 0), min(left+p.KW, p.W)
			lines := min(top+p.KH, p.H) - max(top, 0)
			sum := start[T](lines*(to-from) == p.KH*p.KW)
			for h := range lines {
				for _, v := range x[(max(top, 0)+h)*p.W:][from:to] {
					sum += v
				}
			}
			y[o] = T(sum * scale)
		}
	})
}

// Spread writes to dx the gradient of Mean. Each element of dx is a sum over the windows that
// have it: their elements of dy, divided by the number of places in a window. The sum is in
// ascending order of the element's place in the window, and 0 where no window has it. dx and
// dy are contiguous.
func Spread[T float](p Pool, dx, dy unsafe.Pointer) {
	if p.paired(32 / int(unsafe.Sizeof(T(0)))) {
		pairs[T](&p, spreadPairsRoutine, dx, dy)
		return
	}
	n, m := p.H*p.W, p.OH*p.OW
	if c := newWhole[T](&p, true, true); c != nil {
		c.each(func(_ []T, i int) { c.spreads(of[T](dx, i, n), of[T](dy, i, m)) })
		return
	}
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
	scale := T(p.scale())
	p.portable(func(i int) {
		dx, dy := of[T](dx, i, n), of[T](dy, i, m)
		alone := p.KH == p.StepH && p.KW == p.StepW || p.KH*p.KW == 1
		for h := range p.H {
			low, high := having(h+p.PadH, p.KH, p.StepH, p.OH)
			left, right := having(p.PadW, p.KW, p.StepW, p.OW)
			entered := p.PadW / p.StepW
			nextLeft, nextRight := p.KW, (entered+1)*p.StepW // where a window ends, and one begins
			for w := range p.W {
				if w+p.PadW == nextLeft {
					left, nextLeft = left+1, nextLeft+p.StepW
				}
				if w+p.PadW == nextRight {
					entered, nextRight = entered+1, nextRight+p.StepW
					right = min(entered, p.OW-1)
				}
				terms := max(high-low+1, 0) * max(right-left+1, 0)
				sum := start[T](alone && terms > 0 || terms == p.KH*p.KW)
				// Ascending places are descending windows.
				for row := high; row >= low; row-- {
					for col := right; col >= left; col-- {
						sum += T(dy[row*p.OW+col] * scale)
					}
				}
				dx[h*p.W+w] = sum
			}
		}
	})
}

// having returns the first and the last of n windows that have the index at. Windows are step
// apart, and have the given number of places.
func having(at, places, step, n int) (first, last int) {
	if at >= places {
		first = (at-places)/step + 1
	}
	return first, min(at/step, n-1)
}

// start returns the zero from which a sum starts: -0 if only windows' terms are added, so that
// a zero term keeps its sign, else +0, as padding adds +0.
func start[T float](alone bool) T {
	if alone {
		return T(math.Copysign(0, -1))
	}
	return 0
}

// scaleBits returns the bits of one over the number of places in a window.
func scaleBits[T float](p *Pool) uint64 {
	scale := T(p.scale())
	if unsafe.Sizeof(scale) == 4 {
		return uint64(math.Float32bits(float32(scale)))
	}
	return math.Float64bits(float64(scale))
}

// portable calls f for every plane.
func (p *Pool) portable(f func(plane int)) {
	par.Run(p.Planes, 1, codegen.Threads(p.visits()), func(_, begin, end int) {
		for i := begin; i < end; i++ {
			f(i)
		}
	})
}
