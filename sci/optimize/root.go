package optimize

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"weft"
	"weft/internal/array"
)

// RootOpts are the options of [Root].
type RootOpts struct {
	Tol     float64         // relative length of the last step of Newton's method; 1.5e-8 if it is 0
	MaxIter int             // the most steps; 100 for each unknown if it is 0
	Context context.Context // ends the search, if it is not nil
}

// Root searches an x with f(x) = 0, from x0 on. f returns one number for each unknown. Its steps are taken by
// [LeastSquares], and at the end by Newton's method. It returns a [*ConvergenceError] and the best point where f has no
// root nearby, and panics with a [*weft.Error] for bad arguments. SciPy's root.
func Root(f func(x *weft.Tensor) *weft.Tensor, x0 *weft.Tensor, opts ...RootOpts) (*weft.Tensor, error) {
	const name = "optimize.root"
	o := array.Options(name, opts)
	tol := positive(name, "Tol", o.Tol, 1.5e-8)
	most := limit(name, "MaxIter", o.MaxIter, 0)
	fit, err := leastSquares(name, f, x0, LeastSquaresOpts{FTol: 1e-15, XTol: 1e-10, GTol: 1e-14, MaxIter: most, Context: o.Context})
	if fit == nil {
		return nil, err
	}
	if o.Context != nil && o.Context.Err() != nil {
		return fit.X, err
	}
	x := weft.Data[float64](fit.X)
	s := &squares{name: name, f: f, shape: fit.X.Shape()}
	r := s.residuals(x)
	if len(r) != len(x) {
		array.Failf(name, "f", "returns %d numbers for %d unknowns", len(r), len(x))
	}
	const polish = 10
	for range polish {
		step := mat.NewVecDense(len(x), nil)
		err := step.SolveVec(s.jacobian(x, len(r)), mat.NewVecDense(len(r), r))
		if _, poor := err.(mat.Condition); err != nil && !poor {
			break
		}
		next := make([]float64, len(x))
		for i := range x {
			next[i] = x[i] - step.AtVec(i)
		}
		newR := s.residuals(next)
		moved := length(step.RawVector().Data)
		if norm(newR) < norm(r) {
			x, r = next, newR
		}
		if moved <= tol*length(x) || norm(r) == 0 {
			return s.tensor(x), nil
		}
	}
	if norm(r) == 0 {
		return s.tensor(x), nil
	}
	return s.tensor(x), &ConvergenceError{Op: name, Reason: "f has a least length that is not 0, or a singular Jacobian"}
}

// BrentQOpts are the options of [BrentQ].
type BrentQOpts struct {
	XTol    float64         // 2e-12 if it is 0
	RTol    float64         // 4 times the machine epsilon if it is 0
	MaxIter int             // 100 if it is 0
	Context context.Context // ends the search, if it is not nil
}

// BrentQ returns a root of f between a and b, at which f has values of opposite signs, by Brent's method ("Algorithms
// for minimization without derivatives", 1973, chapter 4). The root is within XTol + RTol*|x|. It returns a
// [*ConvergenceError] after MaxIter steps, where f is NaN, where the context ends, or if the signs are equal, and
// panics with a [*weft.Error] for bad options. SciPy's brentq.
func BrentQ(f func(x float64) float64, a, b float64, opts ...BrentQOpts) (float64, error) {
	const name = "optimize.brentq"
	array.Given(name, "f", f != nil)
	o := array.Options(name, opts)
	xtol, rtol := positive(name, "XTol", o.XTol, 2e-12), positive(name, "RTol", o.RTol, 0x1p-50)
	fa, fb := f(a), f(b)
	switch {
	case fa == 0:
		return a, nil
	case fb == 0:
		return b, nil
	case !(math.Signbit(fa) != math.Signbit(fb)) || math.IsNaN(fa) || math.IsNaN(fb):
		return b, &ConvergenceError{Op: name, Reason: fmt.Sprintf("f is %v at %v and %v at %v: want opposite signs", fa, a, fb, b)}
	}
	c, fc := a, fa
	d, e := b-a, b-a // the last step, and the one before
	for range limit(name, "MaxIter", o.MaxIter, 100) {
		if math.Signbit(fb) == math.Signbit(fc) {
			c, fc = a, fa
			d, e = b-a, b-a
		}
		if math.Abs(fc) < math.Abs(fb) {
			a, b, c, fa, fb, fc = b, c, b, fb, fc, fb
		}
		tol := (xtol + rtol*math.Abs(b)) / 2
		middle := (c - b) / 2
		if fb == 0 || math.Abs(middle) <= tol {
			return b, nil
		}
		if err := ended(name, o.Context); err != nil {
			return b, err
		}
		d, e = interpolated(a, b, c, fa, fb, fc, d, e, middle, tol)
		a, fa = b, fb
		if math.Abs(d) > tol {
			b += d
		} else {
			b += math.Copysign(tol, middle)
		}
		if fb = f(b); math.IsNaN(fb) {
			return b, &ConvergenceError{Op: name, Reason: "f is NaN"}
		}
	}
	return b, &ConvergenceError{Op: name, Reason: "too many steps"}
}

// interpolated returns the next step of Brent's method, by a line or a parabola of the inverse where that pays, else to the
// middle, and the step to compare the next one with.
func interpolated(a, b, c, fa, fb, fc, d, e, middle, tol float64) (step, before float64) {
	if math.Abs(e) < tol || math.Abs(fa) <= math.Abs(fb) {
		return middle, middle
	}
	s := fb / fa
	p, q := 2*middle*s, 1-s
	if a != c {
		u, v := fa/fc, fb/fc
		p, q = s*(2*middle*u*(u-v)-(b-a)*(v-1)), (u-1)*(v-1)*(s-1)
	}
	if p > 0 {
		q = -q
	}
	p = math.Abs(p)
	if 2*p < min(3*middle*q-math.Abs(tol*q), math.Abs(e*q)) {
		return p / q, d
	}
	return middle, middle
}
