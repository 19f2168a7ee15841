// Package polynomial has polynomials as arrays of coefficients, under the names of numpy.polynomial in Go
// case: values, fits, roots, derivatives, integrals and arithmetic.
//
//	c := polynomial.Fit(x, y, 2)      // y is about c[0] + c[1]*x + c[2]*x*x
//	y := polynomial.Val(x, c)
//	r := polynomial.Roots(c)          // complex
//
// Coefficients lie along the last axis, the constant one first: this is the order of numpy.polynomial, and
// the reverse of np.polyval's and np.poly1d's. Axes before the last are a batch of polynomials. Nothing is
// trimmed: trailing zeros stay, since shapes do not depend on values. All functions have gradients, work in
// compiled functions, and take floats and complex numbers; integers become float32.
//
// Functions panic with *[weft.Error], whose operation is polynomial.name.
package polynomial
