package polynomial

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/linalg"
)

// Companion returns the companion matrices of polynomials of degree n, [... n+1], as [... n n]: their
// eigenvalues are the roots. Ones lie below the diagonal, and the last column has the coefficients divided
// by the last one, negated. The last coefficient is not 0.
//
// It panics with *[weft.Error] where c has fewer than two coefficients.
func Companion(c *weft.Tensor) *weft.Tensor {
	const name = "polynomial.companion"
	defer array.Named(name).End()
	c = coefficients(name, "c", c)
	n := c.Dim(-1) - 1
	if n == 0 {
		array.Failf(name, "c", "has shape %s, want two coefficients or more along the last axis", array.ShapeString(c.Shape()))
	}
	column := part(c, 0, n).Div(part(c, n, 1)).Neg().Unsqueeze(-1)
	ones := c.Device().EyeOf(c.DType(), n-1).Pad(0, 1, 0, 0, 1)
	return padded(column, n-1, 0).Add(ones)
}

// Roots returns the roots of polynomials of degree n, [... n+1], as [... n]: complex, in the order of
// [linalg.EigVals], which computes them from [Companion] matrices. The last coefficient is not 0. The gradient
// is that of simple roots.
//
// It panics with *[weft.Error] where the last coefficient is 0, c has none, or elements are not finite.
func Roots(c *weft.Tensor) *weft.Tensor {
	const name = "polynomial.roots"
	defer array.Named(name).End()
	c = coefficients(name, "c", c)
	if c.Dim(-1) == 1 {
		return noRoots(c)
	}
	var roots *weft.Tensor
	blaming("c", func(place string) string {
		return "polynomial" + place + " has a last coefficient of 0, or one that is not finite"
	}, func() { roots = linalg.EigVals(Companion(c).Flip(-1, -2)) })
	return roots
}

// noRoots returns the roots of constants.
func noRoots(c *weft.Tensor) *weft.Tensor {
	d := weft.Complex64
	if t := c.DType(); t == weft.Float64 || t == weft.Complex128 {
		d = weft.Complex128
	}
	return part(c, 0, 0).To(d)
}

// FromRoots returns the polynomials with given roots, [... n], as [... n+1]: the last coefficient is 1.
// Neighbours are multiplied in pairs.
//
// It panics with *[weft.Error] where roots has no axis.
func FromRoots(roots *weft.Tensor) *weft.Tensor {
	const name = "polynomial.from_roots"
	defer array.Named(name).End()
	roots = numbers(name, "roots", roots)
	if roots.Rank() == 0 {
		array.Failf(name, "roots", "has shape (), want roots along the last axis")
	}
	if roots.Dim(-1) == 0 {
		return roots.Device().OnesOf(roots.DType(), append(roots.Shape()[:roots.Rank()-1], 1)...)
	}
	r := roots.Unsqueeze(-1)
	f := weft.Cat([]*weft.Tensor{r.Neg(), weft.OnesLike(r)}, -1) // factors, [... n 2]
	last := func(from, to, by int) *weft.Tensor {
		return f.Slice(weft.Ellipsis, weft.Range(from, to, by), weft.All)
	}
	var odd *weft.Tensor
	for n := f.Dim(-2); n > 1; n = f.Dim(-2) {
		if n%2 == 1 {
			if o := last(n-1, n, 1); odd == nil {
				odd = o
			} else {
				odd = product(o, odd)
			}
		}
		f = product(last(0, n-n%2, 2), last(1, n-n%2, 2))
	}
	if odd != nil {
		f = product(f, odd)
	}
	return f.Squeeze(-2)
}

// FitOpts are the options of [Fit].
type FitOpts struct {
	W *weft.Tensor // weights of the differences, [m], before they are squared; ones if not given
	// RTol: singular values of the scaled equations up to RTol times the largest count as 0. The default is m
	// times the machine epsilon.
	RTol *float64
}

// Fit returns the polynomials of degree deg that have the least sums of squared differences from y, [... m],
// at x, [m], as [... deg+1]. The columns of the equations are scaled to length 1, as in NumPy, and solved by
// [linalg.LstSq].
//
// It panics with *[weft.Error] where deg is negative, shapes do not fit, or elements are not finite.
func Fit(x, y *weft.Tensor, deg int, opts ...FitOpts) *weft.Tensor {
	const name = "polynomial.fit"
	defer array.Named(name).End()
	return leastSquares(name, x, y, deg, array.Options(name, opts), func(x *weft.Tensor) *weft.Tensor {
		return linalg.Vander(x, linalg.VanderOpts{N: new(deg + 1), Increasing: true})
	})
}

// leastSquares fits coefficients of the columns that vander returns.
func leastSquares(name string, x, y *weft.Tensor, deg int, o FitOpts, vander func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
	x, y = numbers(name, "x", x), numbers(name, "y", y)
	if deg < 0 {
		array.Failf(name, "deg", "%d is negative", deg)
	}
	if x.Rank() != 1 || x.Dim(0) == 0 {
		array.Failf(name, "x", "has shape %s, want a vector with elements", array.ShapeString(x.Shape()))
	}
	m := x.Dim(0)
	if y.Rank() == 0 || y.Dim(-1) != m {
		array.Failf(name, "y", "has shape %s, want %d elements along the last axis", array.ShapeString(y.Shape()), m)
	}
	array.CheckShape(name, []int{m, min(deg, math.MaxInt-1) + 1}, x.DType())
	core.CheckHeap(name, m*(deg+1), x.DType())
	a := vander(x)
	if o.W != nil {
		w := numbers(name, "W", o.W)
		if w.Rank() != 1 || w.Dim(0) != m {
			array.Failf(name, "W", "has shape %s, want (%d)", array.ShapeString(w.Shape()), m)
		}
		a, y = a.Mul(w.Unsqueeze(-1)), y.Mul(w)
	}
	size := a.Detach().Abs()
	size = size.Mul(size).Sum(0).Sqrt()
	size = weft.Where(size.Eq(0), weft.OnesLike(size), size)
	l := linalg.LstSqOpts{RTol: o.RTol}
	if l.RTol == nil {
		eps := 0x1p-23
		if d := a.DType(); d == weft.Float64 || d == weft.Complex128 {
			eps = 0x1p-52
		}
		l.RTol = new(eps * float64(m))
	}
	s := y.Shape()
	var c *weft.Tensor
	blaming("x", func(string) string { return "has powers, or weights, that are not finite" }, func() {
		c, _, _, _ = linalg.LstSq(a.Div(size), y.Reshape(-1, m).Transpose(0, 1), l)
	})
	return c.Div(size.Unsqueeze(-1)).Transpose(0, 1).Reshape(append(s[:len(s)-1], deg+1)...)
}
