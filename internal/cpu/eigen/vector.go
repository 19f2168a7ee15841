package eigen

import "math"

// number is the type in which matrices are computed.
type number interface{ float64 | complex128 }

// times is the product of two complex numbers, each product of parts rounded before it is added.
func times(a, b complex128) complex128 {
	ar, ai, br, bi := real(a), imag(a), real(b), imag(b)
	return complex(float64(ar*br)-float64(ai*bi), float64(ar*bi)+float64(ai*br))
}

// modulus is the absolute value of a complex number, without overflow.
func modulus(a complex128) float64 { return length(real(a), imag(a)) }

// length is the square root of the sum of two squares, without overflow. math.Hypot is
// assembly on some processors, with other bits.
func length(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	if a < b {
		a, b = b, a
	}
	if b == 0 || math.IsInf(a, 0) {
		return a
	}
	r := b / a
	return float64(a * math.Sqrt(1+float64(r*r)))
}

func mul[T number](a, b T) T {
	if x, ok := any(a).(complex128); ok {
		return any(times(x, any(b).(complex128))).(T)
	}
	return any(float64(any(a).(float64) * any(b).(float64))).(T)
}

func conj[T number](a T) T {
	if x, ok := any(a).(complex128); ok {
		return any(complex(real(x), -imag(x))).(T)
	}
	return a
}

// of is a real number as a T.
func of[T number](a float64) T {
	var t T
	if _, ok := any(t).(complex128); ok {
		return any(complex(a, 0)).(T)
	}
	return any(a).(T)
}

// re is the real part.
func re[T number](a T) float64 {
	if x, ok := any(a).(complex128); ok {
		return real(x)
	}
	return any(a).(float64)
}

// abs is the absolute value.
func abs[T number](a T) float64 {
	if x, ok := any(a).(complex128); ok {
		return modulus(x)
	}
	return math.Abs(any(a).(float64))
}

// dotReal is the sum of x[i]*y[i], in four interleaved parts.
func dotReal(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += float64(x[i] * y[i])
		s1 += float64(x[i+1] * y[i+1])
		s2 += float64(x[i+2] * y[i+2])
		s3 += float64(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		s0 += float64(x[i] * y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// dot is the sum of conj(x[i])*y[i].
func dot[T number](x, y []T) T {
	switch x := any(x).(type) {
	case []float64:
		return any(dotReal(x, any(y).([]float64))).(T)
	case []complex128:
		var r, m float64
		y := any(y).([]complex128)[:len(x)]
		for i, a := range x {
			b := y[i]
			r += float64(real(a)*real(b)) + float64(imag(a)*imag(b))
			m += float64(real(a)*imag(b)) - float64(imag(a)*real(b))
		}
		return any(complex(r, m)).(T)
	}
	panic("unreachable")
}

// dotPlain is the sum of x[i]*y[i].
func dotPlain[T number](x, y []T) T {
	switch x := any(x).(type) {
	case []float64:
		return any(dotReal(x, any(y).([]float64))).(T)
	case []complex128:
		var r, m float64
		y := any(y).([]complex128)[:len(x)]
		for i, a := range x {
			p := times(a, y[i])
			r += real(p)
			m += imag(p)
		}
		return any(complex(r, m)).(T)
	}
	panic("unreachable")
}

// square is the sum of the squared absolute values.
func square[T number](x []T) float64 {
	switch x := any(x).(type) {
	case []float64:
		return dotReal(x, x)
	case []complex128:
		s := 0.0
		for _, a := range x {
			s += float64(real(a)*real(a)) + float64(imag(a)*imag(a))
		}
		return s
	}
	panic("unreachable")
}

// add adds a*x to y.
func add[T number](y []T, a T, x []T) {
	switch y := any(y).(type) {
	case []float64:
		a, x := any(a).(float64), any(x).([]float64)[:len(y)]
		for i := range y {
			y[i] += float64(a * x[i])
		}
	case []complex128:
		a, x := any(a).(complex128), any(x).([]complex128)[:len(y)]
		for i := range y {
			y[i] += times(a, x[i])
		}
	}
}

// scale multiplies x by a.
func scale[T number](x []T, a T) {
	for i := range x {
		x[i] = mul(x[i], a)
	}
}

// rotate replaces x by c*x + s*y and y by c*y - s*x.
func rotate[T number](x, y []T, c, s float64) {
	switch x := any(x).(type) {
	case []float64:
		y := any(y).([]float64)[:len(x)]
		for i, a := range x {
			b := y[i]
			x[i] = float64(c*a) + float64(s*b)
			y[i] = float64(c*b) - float64(s*a)
		}
	case []complex128:
		y := any(y).([]complex128)[:len(x)]
		for i, a := range x {
			b := y[i]
			x[i] = complex(float64(c*real(a))+float64(s*real(b)), float64(c*imag(a))+float64(s*imag(b)))
			y[i] = complex(float64(c*real(b))-float64(s*real(a)), float64(c*imag(b))-float64(s*imag(a)))
		}
	}
}

// conjugate replaces x by its conjugate.
func conjugate[T number](x []T) {
	if x, ok := any(x).([]complex128); ok {
		for i, a := range x {
			x[i] = complex(real(a), -imag(a))
		}
	}
}

// largest returns the greatest absolute value of a part of an element; NaN if one is NaN.
func largest[T number](x []T) float64 {
	m := 0.0
	see := func(a float64) {
		if a = math.Abs(a); a > m || a != a {
			m = a
		}
	}
	switch x := any(x).(type) {
	case []float64:
		for _, a := range x {
			if see(a); m != m {
				return m
			}
		}
	case []complex128:
		for _, a := range x {
			see(real(a))
			if see(imag(a)); m != m {
				return m
			}
		}
	}
	return m
}

// scaleOf returns the power of two by which a matrix whose largest element is m is multiplied
// before it is decomposed, and the exponent: results that scale with the matrix are multiplied by
// 2^-exponent.
func scaleOf(m float64) (exponent int) {
	if m == 0 {
		return 0
	}
	_, e := math.Frexp(m)
	return -e
}

// ldexp multiplies the elements of x by 2^e.
func ldexp[T number](x []T, e int) {
	if e == 0 {
		return
	}
	// Two factors: 2^e itself may overflow.
	f, g := math.Ldexp(1, e/2), math.Ldexp(1, e-e/2)
	switch x := any(x).(type) {
	case []float64:
		for i := range x {
			x[i] = x[i] * f * g
		}
	case []complex128:
		for i, a := range x {
			x[i] = complex(real(a)*f*g, imag(a)*f*g)
		}
	}
}

// Finite reports that all elements are finite.
func Finite[T number](x []T) bool {
	m := largest(x)
	return m == m && !math.IsInf(m, 0)
}

// Real is the number with its imaginary part replaced by 0.
func Real[T number](x T) T { return of[T](re(x)) }
