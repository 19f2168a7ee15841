package signal

import (
	"math"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
)

// A complexNumber is the type of complex elements.
type complexNumber interface{ complex64 | complex128 }

// fma is c + a*b: each part is a product added to c's and then the other.
func fma(a, b, c complex128) complex128 {
	re := math.FMA(-imag(a), imag(b), math.FMA(real(a), real(b), real(c)))
	return complex(re, math.FMA(imag(a), real(b), math.FMA(real(a), imag(b), imag(c))))
}

func widenComplex[T complexNumber](to []complex128, from []T) {
	for i, v := range from {
		to[i] = complex128(v)
	}
}

func filterComplex[T complexNumber](yv, zfv, xv, bv, av, ziv *array.View) {
	n, p, q, m := last(xv), last(bv), last(av), last(ziv)
	y, zf, x := codegen.Elements[T](yv), codegen.Elements[T](zfv), codegen.Elements[T](xv)
	b, a, zi := codegen.Elements[T](bv), codegen.Elements[T](av), codegen.Elements[T](ziv)
	each(array.Size(bv.Shape[:len(bv.Shape)-1]), 4*n*(p+q), func(begin, end int) {
		c := make([]complex128, 3*m+1)
		cb, ca, z := c[:m+1], c[m+1:2*m+1], c[2*m+1:]
		for r := begin; r < end; r++ {
			clear(c)
			widenComplex(cb, b[r*p:][:p])
			widenComplex(ca, a[r*q:][:q])
			widenComplex(z, zi[r*m:][:m])
			stepComplex(y[r*n:][:n], x[r*n:][:n], cb, ca, z)
			for i, v := range z {
				zf[r*m+i] = T(v)
			}
		}
	})
}

// stepComplex filters a row in the transposed direct form II.
func stepComplex[T, U complexNumber](y []T, x []U, b, a, z []complex128) {
	m := len(z)
	for i, s := range x {
		v := complex128(s)
		if m == 0 {
			y[i] = T(fma(b[0], v, 0))
			continue
		}
		o := fma(b[0], v, z[0])
		for k := range m - 1 {
			z[k] = fma(-a[k], o, fma(b[k+1], v, z[k+1]))
		}
		z[m-1] = fma(-a[m-1], o, fma(b[m], v, 0))
		y[i] = T(o)
	}
}

func sectionsComplex[T complexNumber](yv, zfv, xv, sv, ziv *array.View) {
	n, k := last(xv), len(sv.Shape)-2
	s := sv.Shape[k]
	y, zf, x := codegen.Elements[T](yv), codegen.Elements[T](zfv), codegen.Elements[T](xv)
	sos, zi := codegen.Elements[T](sv), codegen.Elements[T](ziv)
	each(array.Size(sv.Shape[:k]), 20*n*s, func(begin, end int) {
		c := make([]complex128, 7*s)
		co, z := c[:5*s], c[5*s:]
		var t [sectionBlock]complex128
		for r := begin; r < end; r++ {
			widenComplex(co, sos[r*5*s:][:5*s])
			widenComplex(z, zi[r*2*s:][:2*s])
			for lo := 0; lo < n; lo += sectionBlock {
				hi := min(lo+sectionBlock, n)
				part := t[:hi-lo]
				widenComplex(part, x[r*n+lo:r*n+hi])
				for i := range s {
					stepComplex(part, part, co[5*i:], co[5*i+3:], z[2*i:][:2])
				}
				for i, v := range part {
					y[r*n+lo+i] = T(v)
				}
			}
			for i, v := range z {
				zf[r*2*s+i] = T(v)
			}
		}
	})
}
