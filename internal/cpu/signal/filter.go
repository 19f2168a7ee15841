package signal

import (
	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/par"
)

// A realNumber is the type of real elements.
type realNumber interface{ float32 | float64 }

// each calls f for ranges of n tasks of some multiply-adds each.
func each(n, work int, f func(begin, end int)) {
	work = max(work, 1)
	par.Run(n, max(1, tile.TaskWork/work), tile.ThreadsFor(n*work, 0), func(_, begin, end int) { f(begin, end) })
}

// last is the size of the last axis.
func last(v *array.View) int { return v.Shape[len(v.Shape)-1] }

// LFilter filters the rows of x, [... n], into y with coefficients b, [... p], and a, [... q], of the
// results before, from the states zi, [... m] with m = max(p-1, q), and stores the states behind the end
// into zf. All are contiguous, with the same axes before the last.
func LFilter(y, zf, x, b, a, zi *array.View) {
	switch x.DType {
	case array.Float32:
		filterRows[float32](y, zf, x, b, a, zi)
	case array.Float64:
		filterRows[float64](y, zf, x, b, a, zi)
	case array.Complex64:
		filterComplex[complex64](y, zf, x, b, a, zi)
	default:
		filterComplex[complex128](y, zf, x, b, a, zi)
	}
}

func filterRows[T realNumber](yv, zfv, xv, bv, av, ziv *array.View) {
	n, p, q, m := last(xv), last(bv), last(av), last(ziv)
	y, zf, x := codegen.Elements[T](yv), codegen.Elements[T](zfv), codegen.Elements[T](xv)
	b, a, zi := codegen.Elements[T](bv), codegen.Elements[T](av), codegen.Elements[T](ziv)
	each(array.Size(bv.Shape[:len(bv.Shape)-1]), n*(p+q), func(begin, end int) {
		c := make([]float64, 3*m+1)
		cb, ca, z := c[:m+1], c[m+1:2*m+1], c[2*m+1:]
		for r := begin; r < end; r++ {
			clear(c)
			widen(cb, b[r*p:][:p])
			widen(ca, a[r*q:][:q])
			widen(z, zi[r*m:][:m])
			filter(y[r*n:][:n], x[r*n:][:n], cb, ca, z)
			for i, v := range z {
				zf[r*m+i] = T(v)
			}
		}
	})
}

func widen[T realNumber](to []float64, from []T) {
	for i, v := range from {
		to[i] = float64(v)
	}
}

// filter filters a row with m+1 coefficients b, m coefficients a and m numbers of state z: the transposed
// direct form II. With the result o before, a step is
//
//	o = (z[0] + b[0]*v) - a[0]*o; z[0] = z[1] + b[1]*v; z[i] = (z[i+1] + b[i+1]*v) - a[i]*o
//
// A result waits for a product and a difference, since the product with the one before is subtracted last.
// Products and sums are rounded apart: with math.FMA, Go checks the processor in each step, and keeps the
// state in memory for that.
func filter[T, U realNumber](y []T, x []U, b, a, z []float64) {
	y = y[:len(x)]
	switch len(z) {
	case 0:
		for i, v := range x {
			y[i] = T(b[0] * float64(v))
		}
	case 2:
		filter2(y, x, b, a, z)
	case 4:
		filter4(y, x, b, a, z)
	default:
		b0, a0, w, o := b[0], a[0], z[0], 0.0
		next := z[1:]
		b1, bs, as := b[1], b[2:][:len(next)], a[1:][:len(next)]
		for i, s := range x {
			v := float64(s)
			o = (w + float64(b0*v)) - float64(a0*o)
			y[i] = T(o)
			if len(next) == 0 {
				w = float64(b1 * v)
				continue
			}
			w = next[0] + float64(b1*v)
			k := 0
			for ; k < len(next)-1; k++ {
				next[k] = (next[k+1] + float64(bs[k]*v)) - float64(as[k]*o)
			}
			next[k] = float64(bs[k]*v) - float64(as[k]*o)
		}
		z[0] = w - float64(a0*o)
	}
}

func filter2[T, U realNumber](y []T, x []U, b, a, z []float64) {
	y = y[:len(x)]
	b0, b1, b2, a0, a1 := b[0], b[1], b[2], a[0], a[1]
	w, z1, o := z[0], z[1], 0.0
	for i, s := range x {
		v := float64(s)
		w += float64(b0 * v)
		o = w - float64(a0*o)
		y[i] = T(o)
		w = z1 + float64(b1*v)
		z1 = float64(b2*v) - float64(a1*o)
	}
	z[0], z[1] = w-float64(a0*o), z1
}

func filter4[T, U realNumber](y []T, x []U, b, a, z []float64) {
	y = y[:len(x)]
	b0, b1, b2, b3, b4 := b[0], b[1], b[2], b[3], b[4]
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
	w, z1, z2, z3, o := z[0], z[1], z[2], z[3], 0.0
	for i, s := range x {
		v := float64(s)
		w += float64(b0 * v)
		o = w - float64(a0*o)
		y[i] = T(o)
		w = z1 + float64(b1*v)
		z1 = (z2 + float64(b2*v)) - float64(a1*o)
		z2 = (z3 + float64(b3*v)) - float64(a2*o)
		z3 = float64(b4*v) - float64(a3*o)
	}
	z[0], z[1], z[2], z[3] = w-float64(a0*o), z1, z2, z3
}

// cascade filters part of a row, x, into y with sections one behind the other. Results between are in t.
func cascade[T realNumber](y, x []T, t, c, z []float64) {
	switch len(z) {
	case 0:
		copy(y, x)
		return
	case 2:
		section(y, x, c, z)
		return
	case 4:
		twoSections(y, x, c, z)
		return
	}
	twoSections(t, x, c, z)
	c, z = c[10:], z[4:]
	for ; len(z) > 4; c, z = c[10:], z[4:] {
		twoSections(t, t, c, z)
	}
	if len(z) == 4 {
		twoSections(y, t, c, z)
	} else {
		section(y, t, c, z)
	}
}

// section filters part of a row, y and x, which may be one, with a section's coefficients b0 b1 b2 a1 a2. Products and sums are
// rounded apart: with math.FMA, Go checks the processor in each step, and keeps the state in memory for that.
func section[T, U realNumber](y []T, x []U, c, z []float64) {
	y = y[:len(x)]
	b0, b1, b2, a1, a2 := c[0], c[1], c[2], c[3], c[4]
	w, u := z[0], z[1]
	for i, e := range x {
		v := float64(e)
		o := float64(b0*v) + w
		w = (float64(b1*v) + u) - float64(a1*o)
		u = float64(b2*v) - float64(a2*o)
		y[i] = T(o)
	}
	z[0], z[1] = w, u
}

// twoSections is section twice: while one waits for its result, the other computes.
func twoSections[T, U realNumber](y []T, x []U, c, z []float64) {
	y = y[:len(x)]
	b0, b1, b2, a1, a2 := c[0], c[1], c[2], c[3], c[4]
	d0, d1, d2, e1, e2 := c[5], c[6], c[7], c[8], c[9]
	w, u, s, t := z[0], z[1], z[2], z[3]
	for i, e := range x {
		v := float64(e)
		o := float64(b0*v) + w
		w = (float64(b1*v) + u) - float64(a1*o)
		u = float64(b2*v) - float64(a2*o)
		p := float64(d0*o) + s
		s = (float64(d1*o) + t) - float64(e1*p)
		t = float64(d2*o) - float64(e2*p)
		y[i] = T(p)
	}
	z[0], z[1], z[2], z[3] = w, u, s, t
}

// sectionBlock is the number of elements that go through all sections at once: 4 KB of them.
const sectionBlock = 512

// SOSFilt filters the rows of x, [... n], into y with sections sos, [... s 5], from the states zi, [... s 2],
// and stores the states behind the end into zf. All are contiguous, with the same axes before these.
func SOSFilt(y, zf, x, sos, zi *array.View) {
	switch x.DType {
	case array.Float32:
		sections[float32](y, zf, x, sos, zi)
	case array.Float64:
		sections[float64](y, zf, x, sos, zi)
	case array.Complex64:
		sectionsComplex[complex64](y, zf, x, sos, zi)
	default:
		sectionsComplex[complex128](y, zf, x, sos, zi)
	}
}

func sections[T realNumber](yv, zfv, xv, sv, ziv *array.View) {
	n, k := last(xv), len(sv.Shape)-2
	s := sv.Shape[k]
	y, zf, x := codegen.Elements[T](yv), codegen.Elements[T](zfv), codegen.Elements[T](xv)
	sos, zi := codegen.Elements[T](sv), codegen.Elements[T](ziv)
	each(array.Size(sv.Shape[:k]), 5*n*s, func(begin, end int) {
		c := make([]float64, 7*s)
		co, z := c[:5*s], c[5*s:]
		var t [sectionBlock]float64
		for r := begin; r < end; r++ {
			widen(co, sos[r*5*s:][:5*s])
			widen(z, zi[r*2*s:][:2*s])
			for lo := 0; lo < n; lo += sectionBlock {
				hi := min(lo+sectionBlock, n)
				cascade(y[r*n+lo:r*n+hi], x[r*n+lo:r*n+hi], t[:hi-lo], co, z)
			}
			for i, v := range z {
				zf[r*2*s+i] = T(v)
			}
		}
	})
}
