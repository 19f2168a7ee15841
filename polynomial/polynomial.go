package polynomial

import (
	"errors"
	"fmt"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
	"weft/linalg"
)

// numbers returns an argument as floats or complex numbers.
func numbers(name, arg string, t *weft.Tensor) *weft.Tensor {
	(*core.Tensor)(t).CheckArgument(name, arg)
	if !t.DType().Differentiable() {
		t = t.To(weft.Float32)
	}
	return t
}

// coefficients returns an argument that is polynomials.
func coefficients(name, arg string, c *weft.Tensor) *weft.Tensor {
	c = numbers(name, arg, c)
	if c.Rank() == 0 || c.Dim(-1) == 0 {
		array.Failf(name, arg, "has shape %s, want at least one coefficient along the last axis", array.ShapeString(c.Shape()))
	}
	return c
}

// part is n elements of the last axis from one on.
func part(t *weft.Tensor, from, n int) *weft.Tensor {
	return t.Slice(weft.Ellipsis, weft.Range(from, from+n))
}

// padded puts zeros before and behind the elements of the last axis.
func padded(t *weft.Tensor, before, behind int) *weft.Tensor {
	if before == 0 && behind == 0 {
		return t
	}
	pads := make([]int, 2*t.Rank())
	pads[len(pads)-2], pads[len(pads)-1] = before, behind
	return t.Pad(0, pads...)
}

// blaming calls f, and names arg where package linalg refuses a matrix that was made of it. why gives the reason from the
// matrix's place in the batch, "" without a batch.
func blaming(arg string, why func(place string) string, f func()) {
	err := weft.Try(f)
	var e *weft.Error
	if !errors.As(err, &e) {
		return
	}
	if e.Arg == "a" {
		place := ""
		if _, after, found := strings.Cut(e.Msg, "matrix ["); found {
			place, _, _ = strings.Cut(after, "]")
			place = " [" + place + "]"
		}
		named := *e
		named.Arg, named.Msg = arg, why(place)
		e = &named
	}
	panic(e)
}

// step is the number of coefficients that one formula of Val has.
const step = 12

// horner holds the formulas of Val by their number of coefficients.
var horner = func() (f [step + 1]string) {
	for n := 1; n <= step; n++ {
		f[n] = strings.Repeat("(", n) + "y"
		for i := n - 1; i >= 0; i-- {
			f[n] += fmt.Sprintf("*x+c%d)", i)
		}
	}
	return f
}()

// Val returns the values of polynomials at x, by Horner's method in one fused operation for each 12
// coefficients. One polynomial, c of shape [n], is evaluated at each element of x; the axes of c before the
// last broadcast with x.
//
// It panics with *[weft.Error] where c has no coefficients, or shapes do not broadcast.
func Val(x, c *weft.Tensor) *weft.Tensor {
	const name = "polynomial.val"
	defer array.Named(name).End()
	x, c = numbers(name, "x", x), coefficients(name, "c", c)
	batch := c.Shape()[:c.Rank()-1]
	if !array.Broadcasts(x.Shape(), batch) {
		array.Failf(name, "c", "has polynomials of shape %s, which does not broadcast with x of shape %s", array.ShapeString(batch), array.ShapeString(x.Shape()))
	}
	d := array.Promote(x.DType(), c.DType())
	x, c = x.To(d), c.To(d)
	left := c.Dim(-1) - 1
	y := c.Slice(weft.Ellipsis, weft.Index(left))
	if left == 0 {
		return y.Add(weft.ZerosLike(x))
	}
	for left > 0 {
		n := min(left, step)
		v := weft.Vars{"x": x, "y": y}
		for i := range n {
			v[fmt.Sprintf("c%d", i)] = c.Slice(weft.Ellipsis, weft.Index(left-n+i))
		}
		y = weft.Expr(horner[n], v)
		left -= n
	}
	return y
}

// Add returns the sums of polynomials, whose axes before the last broadcast.
//
// It panics with *[weft.Error] where one has no coefficients, or shapes do not broadcast.
func Add(c1, c2 *weft.Tensor) *weft.Tensor {
	const name = "polynomial.add"
	defer array.Named(name).End()
	c1, c2 = coefficients(name, "c1", c1), coefficients(name, "c2", c2)
	n := max(c1.Dim(-1), c2.Dim(-1))
	return padded(c1, 0, n-c1.Dim(-1)).Add(padded(c2, 0, n-c2.Dim(-1)))
}

// Sub returns the differences of polynomials, as [Add] does sums.
func Sub(c1, c2 *weft.Tensor) *weft.Tensor {
	const name = "polynomial.sub"
	defer array.Named(name).End()
	return Add(c1, numbers(name, "c2", c2).Neg())
}

// Mul returns the products of polynomials, whose axes before the last broadcast: of n and m coefficients,
// n+m-1. Each is a sum of products, as in NumPy: its error is relative to its own products, however much the
// coefficients differ in size, and the time grows with n*m. Convolve of package signal takes by Fourier transforms the time of
// (n+m)*log(n+m), with an error relative to the largest coefficient.
//
// It panics with *[weft.Error] where one has no coefficients, or shapes do not broadcast.
func Mul(c1, c2 *weft.Tensor) *weft.Tensor {
	const name = "polynomial.mul"
	defer array.Named(name).End()
	return product(coefficients(name, "c1", c1), coefficients(name, "c2", c2))
}

// maxTable is the number of elements above which product takes no table, whose size is quadratic.
const maxTable = 1 << 20

// product sums the diagonals of the table of all products: rows that are one longer than a result put each
// diagonal into a column.
func product(c1, c2 *weft.Tensor) *weft.Tensor {
	n, m := c1.Dim(-1), c2.Dim(-1)
	if n > maxTable/(n+m) {
		return convolved(c1, c2)
	}
	t := padded(c1.Unsqueeze(-1).Mul(c2.Unsqueeze(-2)), 0, n)
	s := append([]int{}, t.Shape()[:t.Rank()-2]...)
	flat := part(t.Reshape(append(s, n*(n+m))...), 0, n*(n+m-1))
	return flat.Reshape(append(s, n, n+m-1)...).Sum(-2)
}

// convolved is product in memory as large as its result.
func convolved(c1, c2 *weft.Tensor) *weft.Tensor {
	if c1.Dim(-1) < c2.Dim(-1) {
		c1, c2 = c2, c1
	}
	n, m := c1.Dim(-1), c2.Dim(-1)
	s, t := c1.Shape(), c2.Shape()
	batch := array.Broadcast("polynomial.mul", s[:len(s)-1], t[:len(t)-1])
	d := array.Promote(c1.DType(), c2.DType())
	x := padded(c1.To(d), m-1, m-1).Expand(append(append([]int{}, batch...), n+2*(m-1))...)
	w := c2.To(d).Flip(-1).Expand(append(append([]int{}, batch...), m)...)
	return (*weft.Tensor)(core.WithAttrs(op.Correlate1D, nil, (*core.Tensor)(x), (*core.Tensor)(w)))
}

// Pow returns powers of polynomials; the power 0 is 1.
//
// It panics with *[weft.Error] where c has no coefficients or n is negative.
func Pow(c *weft.Tensor, n int) *weft.Tensor {
	const name = "polynomial.pow"
	defer array.Named(name).End()
	c = coefficients(name, "c", c)
	if n < 0 {
		array.Failf(name, "n", "%d is negative", n)
	}
	if d := c.Dim(-1) - 1; d > 0 {
		array.CheckShape(name, []int{d, n}, c.DType())
	}
	y := weft.OnesLike(part(c, 0, 1))
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y = product(y, c)
		}
		if n > 1 {
			c = product(c, c)
		}
	}
	return y
}

// Div returns quotients and remainders of polynomials: c1 = quo*c2 + rem. Of n and m coefficients, quo has
// n-m+1 and rem m-1; where n is less than m, quo is 0 and rem is c1, and where m is 1, rem is 0. The last
// coefficient of c2 is not 0.
//
// It panics with *[weft.Error] where it is 0 and n is at least m, one has no coefficients, or shapes do not
// broadcast.
func Div(c1, c2 *weft.Tensor) (quo, rem *weft.Tensor) {
	const name = "polynomial.div"
	defer array.Named(name).End()
	c1, c2 = coefficients(name, "c1", c1), coefficients(name, "c2", c2)
	s, t := c1.Shape(), c2.Shape()
	if !array.Broadcasts(s[:len(s)-1], t[:len(t)-1]) {
		array.Failf(name, "", "axes before the last do not broadcast: %s and %s", array.ShapeString(s), array.ShapeString(t))
	}
	batch := array.Broadcast(name, s[:len(s)-1], t[:len(t)-1])
	n, m := c1.Dim(-1), c2.Dim(-1)
	d := array.Promote(c1.DType(), c2.DType())
	c1 = c1.To(d).Expand(append(append([]int{}, batch...), n)...)
	c2 = c2.To(d).Expand(append(append([]int{}, batch...), m)...)
	if n < m {
		return weft.ZerosLike(part(c1, 0, 1)), c1
	}
	// Coefficient m-1+k of c1 is the sum of quo[j]*c2[m-1-(j-k)]: an upper triangular system.
	k := n - m + 1
	row := c2.Flip(-1)
	if m < k {
		row = padded(row, 0, k-m)
	}
	row = part(row, 0, k)
	a := linalg.Toeplitz(padded(part(row, 0, 1), 0, k-1), linalg.ToeplitzOpts{R: row})
	blaming("c2", func(place string) string { return "polynomial" + place + " has a last coefficient of 0" }, func() {
		quo = linalg.SolveTriangular(a, part(c1, m-1, k).Unsqueeze(-1)).Squeeze(-1)
	})
	if m == 1 {
		return quo, weft.ZerosLike(part(c1, 0, 1))
	}
	return quo, part(c1, 0, m-1).Sub(part(product(quo, c2), 0, m-1))
}

// Der returns the derivatives of polynomials: of n coefficients, n-1, and 0 for n = 1.
//
// It panics with *[weft.Error] where c has no coefficients.
func Der(c *weft.Tensor) *weft.Tensor {
	const name = "polynomial.der"
	defer array.Named(name).End()
	c = coefficients(name, "c", c)
	n := c.Dim(-1)
	if n == 1 {
		return weft.ZerosLike(c)
	}
	return part(c, 1, n-1).Mul(powers(c, n-1))
}

// powers are 1 to n in the type of the real parts of c.
func powers(c *weft.Tensor, n int) *weft.Tensor {
	d := c.DType()
	if d.Complex() {
		d = d.Part()
	}
	return c.Device().ArangeOf(d, 1, n+1)
}

// IntOpts are the options of [Int].
type IntOpts struct {
	Lower    float64 // where the integral is Constant
	Constant float64
}

// Int returns the integrals of polynomials: of n coefficients, n+1. Their values at Lower are Constant, both
// 0 if not given.
//
// It panics with *[weft.Error] where c has no coefficients.
func Int(c *weft.Tensor, opts ...IntOpts) *weft.Tensor {
	const name = "polynomial.int"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c = coefficients(name, "c", c)
	y := padded(c.Div(powers(c, c.Dim(-1))), 1, 0)
	first := weft.OnesLike(part(c, 0, 1)).Mul(o.Constant)
	if o.Lower != 0 {
		at := c.Device().FullOf(c.DType(), o.Lower)
		first = first.Sub(Val(at, y).Unsqueeze(-1))
	}
	return weft.Cat([]*weft.Tensor{first, part(y, 1, c.Dim(-1))}, -1)
}
