package polynomial

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/linalg"
)

// A Basis is a sequence of polynomials P0, P1, ... by which others are written: coefficients c stand for the sum of
// c[k]*Pk. [Add] and [Sub] work in any basis.
//
//	c := polynomial.Chebyshev.Fit(x, y, 5) // chebfit(x, y, 5)
//	y := polynomial.Chebyshev.Val(x, c)    // chebval(x, c)
type Basis int

// The bases, each with the names of its functions in numpy.polynomial.
const (
	Power     Basis = iota // powers of x: polyfit, polyval
	Chebyshev              // Chebyshev's polynomials of the first kind: chebfit, chebval, cheb2poly
	Legendre               // Legendre's: legfit, legval, leg2poly
	Hermite                // Hermite's for the weight exp(-x*x), as physics uses them: hermfit, hermval, herm2poly
	HermiteE               // Hermite's for the weight exp(-x*x/2), as statistics uses them: hermefit, hermeval
	Laguerre               // Laguerre's: lagfit, lagval, lag2poly
)

// basisNames are the names of the bases.
var basisNames = [...]string{"Power", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"}

// String returns the name of the basis.
func (b Basis) String() string {
	if b < 0 || int(b) >= len(basisNames) {
		return fmt.Sprintf("Basis(%d)", int(b))
	}
	return basisNames[b]
}

// check refuses numbers that stand for no basis.
func (b Basis) check(name, arg string) {
	if b < 0 || int(b) >= len(basisNames) {
		array.Failf(name, arg, "is %d: want Power, Chebyshev, Legendre, Hermite, HermiteE or Laguerre", int(b))
	}
}

// step returns the recurrence P[k+1] = (a*x + c)*P[k] - g*P[k-1] (DLMF 18.9).
func (b Basis) step(k int) (a, c, g float64) {
	n := float64(k)
	switch b {
	case Chebyshev:
		if k == 0 {
			return 1, 0, 0
		}
		return 2, 0, 1
	case Legendre:
		return (2*n + 1) / (n + 1), 0, n / (n + 1)
	case Hermite:
		return 2, 0, 2 * n
	case HermiteE:
		return 1, 0, n
	case Laguerre:
		return -1 / (n + 1), (2*n + 1) / (n + 1), n / (n + 1)
	}
	return 1, 0, 0
}

// Val returns the values at x of polynomials, [... n] by their coefficients in the basis, by Clenshaw's recurrence with
// one fused operation for each coefficient. Shapes broadcast as in the function [Val]. NumPy's chebval and its like.
//
// It panics with *[weft.Error] where c has no coefficients, or shapes do not broadcast.
func (b Basis) Val(x, c *weft.Tensor) *weft.Tensor {
	const name = "polynomial.basis.val"
	b.check(name, "b")
	if b == Power {
		return Val(x, c)
	}
	defer array.Named(name).End()
	x, c = numbers(name, "x", x), coefficients(name, "c", c)
	batch := c.Shape()[:c.Rank()-1]
	if !array.Broadcasts(x.Shape(), batch) {
		array.Failf(name, "c", "has polynomials of shape %s, which does not broadcast with x of shape %s", array.ShapeString(batch), array.ShapeString(x.Shape()))
	}
	d := array.Promote(x.DType(), c.DType())
	x, c = x.To(d), c.To(d)
	n := c.Dim(-1)
	at := func(k int) *weft.Tensor { return c.Slice(weft.Ellipsis, weft.Index(k)) }
	y := at(n - 1).Add(weft.ZerosLike(x))
	var before *weft.Tensor
	for k := n - 2; k >= 0; k-- {
		p, q, _ := b.step(k)
		_, _, g := b.step(k + 1)
		v := weft.Vars{"x": x, "y": y, "c": at(k), "p": p, "q": q, "g": g, "z": before}
		text := "c + (p*x + q)*y"
		if q == 0 {
			text = "c + p*x*y"
		}
		if before != nil {
			text += " - g*z"
		} else {
			delete(v, "z")
		}
		y, before = weft.Expr(text, v), y
	}
	return y
}

// Vander returns the values of P0 to Pdeg at x, [...], as [... deg+1]: the matrix whose product with coefficients is
// the values of a polynomial. NumPy's chebvander and its like.
//
// It panics with *[weft.Error] where deg is negative.
func (b Basis) Vander(x *weft.Tensor, deg int) *weft.Tensor {
	const name = "polynomial.basis.vander"
	defer array.Named(name).End()
	b.check(name, "b")
	x = numbers(name, "x", x)
	if deg < 0 {
		array.Failf(name, "deg", "%d is negative", deg)
	}
	array.CheckShape(name, append(x.Shape(), min(deg, math.MaxInt-1)+1), x.DType())
	core.CheckHeap(name, x.Size()*(deg+1), x.DType())
	list := make([]*weft.Tensor, deg+1)
	list[0] = weft.OnesLike(x)
	for k := range deg {
		a, c, g := b.step(k)
		v := weft.Vars{"x": x, "y": list[k], "a": a, "c": c, "g": g}
		text := "(a*x + c)*y"
		if c == 0 {
			text = "a*x*y"
		}
		if g != 0 {
			text, v["z"] = text+" - g*z", list[k-1]
		}
		list[k+1] = weft.Expr(text, v)
	}
	return weft.Stack(list, -1)
}

// Fit returns the polynomials of degree deg with the least sums of squared differences from y, [... m], at x, [m], by
// their coefficients in the basis, [... deg+1], as the function [Fit] does. Fits of high degrees want x from -1 to 1,
// for Laguerre from 0 on: [Basis.FitSeries] scales it. NumPy's chebfit and its like.
//
// It panics with *[weft.Error] where deg is negative, shapes do not fit, or elements are not finite.
func (b Basis) Fit(x, y *weft.Tensor, deg int, opts ...FitOpts) *weft.Tensor {
	const name = "polynomial.basis.fit"
	b.check(name, "b")
	defer array.Named(name).End()
	return leastSquares(name, x, y, deg, array.Options(name, opts), func(x *weft.Tensor) *weft.Tensor { return b.Vander(x, deg) })
}

// Roots returns the roots of polynomials of degree n, [... n+1] by their coefficients in the basis, as the function
// [Roots] does: the eigenvalues of matrices that are symmetric but for one row (Good, "The colleague matrix, a Chebyshev
// analogue of the companion matrix", Quart. J. Math. 12, 1961). NumPy's chebroots and its like.
//
// It panics with *[weft.Error] where the last coefficient is 0, c has none, or elements are not finite.
func (b Basis) Roots(c *weft.Tensor) *weft.Tensor {
	const name = "polynomial.basis.roots"
	b.check(name, "b")
	if b == Power {
		return Roots(c)
	}
	defer array.Named(name).End()
	c = coefficients(name, "c", c)
	n := c.Dim(-1) - 1
	if n == 0 {
		return noRoots(c)
	}
	core.CheckHeap(name, n*n, weft.Float64)
	// With s[k]*P[k] in place of P[k], x times it is its row of a symmetric matrix.
	matrix, last := make([]float64, n*n), make([]float64, n)
	scale := 1.0 // s[n-1]/s[k]
	for k := n - 1; k >= 0; k-- {
		a, q, g := b.step(k)
		end, _, _ := b.step(n - 1)
		matrix[k*n+k] = -q / a
		last[k] = scale / end
		if k > 0 {
			before, _, _ := b.step(k - 1)
			matrix[k*n+k-1] = math.Copysign(math.Sqrt(g/(a*before)), a)
			matrix[(k-1)*n+k] = matrix[k*n+k-1]
			scale *= math.Sqrt(a / (before * g))
		}
	}
	d := c.DType()
	row := part(c, 0, n).Div(part(c, n, 1)).Mul(constant(c, last, n)).Unsqueeze(-2)
	if n > 1 {
		row = weft.Cat([]*weft.Tensor{weft.ZerosLike(row).Expand(append(c.Shape()[:c.Rank()-1], n-1, n)...), row}, -2)
	}
	var roots *weft.Tensor
	blaming("c", func(place string) string {
		return "polynomial" + place + " has a last coefficient of 0, or one that is not finite"
	}, func() { roots = linalg.EigVals(constant(c, matrix, n, n).To(d).Sub(row).Flip(-1, -2)) })
	return roots
}

// constant returns numbers on c's device in the type of c's real parts.
func constant(c *weft.Tensor, x []float64, shape ...int) *weft.Tensor {
	d := c.DType()
	if d.Complex() {
		d = d.Part()
	}
	return weft.FromSlice(x, shape...).To(d).On(c.Device())
}

// linear returns the product of coefficients with a matrix whose rows f writes: row k of m numbers is what becomes of
// P[k].
func linear(name string, c *weft.Tensor, m int, f func(k int, row []float64)) *weft.Tensor {
	n := c.Dim(-1)
	array.CheckShape(name, []int{n, m}, weft.Float64)
	core.CheckHeap(name, n*m, weft.Float64)
	x := make([]float64, n*m)
	for k := range n {
		f(k, x[k*m:][:m])
	}
	return c.Unsqueeze(-2).MatMul(constant(c, x, n, m).To(c.DType())).Squeeze(-2)
}

// Der returns the derivatives of polynomials, by their coefficients in the basis: of n coefficients, n-1, and 0 for
// n = 1. NumPy's chebder and its like.
//
// It panics with *[weft.Error] where c has no coefficients.
func (b Basis) Der(c *weft.Tensor) *weft.Tensor {
	const name = "polynomial.basis.der"
	b.check(name, "b")
	if b == Power {
		return Der(c)
	}
	defer array.Named(name).End()
	c = coefficients(name, "c", c)
	n := c.Dim(-1)
	if n == 1 {
		return weft.ZerosLike(c)
	}
	return linear(name, c, n-1, func(k int, row []float64) {
		switch b {
		case Chebyshev:
			for j := k - 1; j >= 0; j -= 2 {
				row[j] = 2 * float64(k)
			}
			if k%2 == 1 {
				row[0] = float64(k)
			}
		case Legendre:
			for j := k - 1; j >= 0; j -= 2 {
				row[j] = 2*float64(j) + 1
			}
		case Hermite, HermiteE:
			if k > 0 {
				row[k-1] = float64(k)
			}
			if b == Hermite && k > 0 {
				row[k-1] *= 2
			}
		case Laguerre:
			for j := range k {
				row[j] = -1
			}
		}
	})
}

// Int returns the integrals of polynomials, by their coefficients in the basis: of n coefficients, n+1. Their values at
// Lower are Constant, both 0 if not given. NumPy's chebint and its like.
//
// It panics with *[weft.Error] where c has no coefficients.
func (b Basis) Int(c *weft.Tensor, opts ...IntOpts) *weft.Tensor {
	const name = "polynomial.basis.int"
	b.check(name, "b")
	if b == Power {
		return Int(c, opts...)
	}
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c = coefficients(name, "c", c)
	y := linear(name, c, c.Dim(-1)+1, func(k int, row []float64) {
		n := float64(k)
		switch b {
		case Chebyshev:
			switch k {
			case 0:
				row[1] = 1
			case 1:
				row[2] = 0.25
			default:
				row[k-1], row[k+1] = -1/(2*(n-1)), 1/(2*(n+1))
			}
		case Legendre:
			if row[k+1] = 1 / (2*n + 1); k > 0 {
				row[k-1] = -row[k+1]
			}
		case Hermite:
			row[k+1] = 1 / (2 * (n + 1))
		case HermiteE:
			row[k+1] = 1 / (n + 1)
		case Laguerre:
			row[k], row[k+1] = 1, -1
		}
	})
	at := b.Val(c.Device().FullOf(c.DType(), o.Lower), y).Unsqueeze(-1)
	first := part(y, 0, 1).Sub(at).Add(o.Constant)
	return weft.Cat([]*weft.Tensor{first, part(y, 1, c.Dim(-1))}, -1)
}

// To returns the coefficients of polynomials, [... n], in another basis. NumPy's cheb2poly is Chebyshev.To(c, Power),
// its poly2cheb Power.To(c, Chebyshev).
//
// It panics with *[weft.Error] where c has no coefficients.
func (b Basis) To(c *weft.Tensor, to Basis) *weft.Tensor {
	const name = "polynomial.basis.to"
	defer array.Named(name).End()
	b.check(name, "b")
	to.check(name, "to")
	return b.change(name, coefficients(name, "c", c), to, 0, 1)
}

// change returns the coefficients of polynomials of offset + scale*x in another basis. Row k of its matrix is P[k] of
// that: products with x follow from the recurrence of the other basis.
func (b Basis) change(name string, c *weft.Tensor, to Basis, offset, scale float64) *weft.Tensor {
	n := c.Dim(-1)
	var now, before []float64
	return linear(name, c, n, func(k int, row []float64) {
		if k == 0 {
			row[0] = 1
		} else {
			a, q, g := b.step(k - 1)
			for j, v := range now[:k] {
				up, middle, down := to.step(j)
				v *= a
				row[j] += float64(v * (offset - scale*middle/up))
				row[j+1] += float64(v * scale / up)
				if j > 0 {
					row[j-1] += float64(v * scale * down / up)
				}
			}
			for j, v := range now[:k] {
				row[j] += float64(q * v)
			}
			for j := range before {
				row[j] -= float64(g * before[j])
			}
		}
		now, before = row, now
	})
}
