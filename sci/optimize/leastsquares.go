package optimize

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"weft"
	"weft/internal/array"
)

// LeastSquaresOpts are the options of [LeastSquares] and [CurveFit]. A tolerance of 0 is 1e-8.
type LeastSquaresOpts struct {
	FTol    float64         // relative decrease of the sum of squares
	XTol    float64         // relative length of a step
	GTol    float64         // the greatest element of the gradient
	MaxIter int             // the most steps; 100 for each parameter if it is 0
	Context context.Context // ends the search, if it is not nil
	Bounds  *Bounds         // of x, which starts from the nearest point within them; nil: none
}

// A Fit is a result of [LeastSquares].
type Fit struct {
	X          *weft.Tensor // float64, of x0's shape
	Cost       float64      // half the sum of the squares
	Residuals  *weft.Tensor // f(X), with one axis
	Jacobian   *weft.Tensor // of the residuals at X, [residuals parameters]
	Optimality float64      // the greatest element of the gradient, with bounds times its distance from the bound it leads to
	ActiveMask *weft.Tensor // int64, of x0's shape: -1 at a lower bound, 1 at an upper one, 0 between them
	Steps      int
	FuncEvals  int
}

// LeastSquares searches the x that makes the sum of the squares of f(x) least, from x0 on, by the method of Levenberg
// and Marquardt with the damping of Nielsen (Madsen, Nielsen, Tingleff, "Methods for non-linear least squares
// problems", 2004). Each step solves its equations by QR. With Bounds the method is trust region reflective (Branch,
// Coleman, Li, 1999), and x stays strictly between bounds that differ, up to XTol of an active one. f returns residuals
// of any shape. It returns a [*ConvergenceError] and the best point after MaxIter steps or where f is not finite, and
// panics with a [*weft.Error] for bad arguments. SciPy's least_squares.
func LeastSquares(f func(x *weft.Tensor) *weft.Tensor, x0 *weft.Tensor, opts ...LeastSquaresOpts) (*Fit, error) {
	const name = "optimize.leastsquares"
	return leastSquares(name, f, x0, array.Options(name, opts))
}

func leastSquares(name string, f func(x *weft.Tensor) *weft.Tensor, x0 *weft.Tensor, o LeastSquaresOpts) (*Fit, error) {
	array.Given(name, "f", f != nil)
	first, x := start(name, "x0", x0)
	ftol, xtol, gtol := positive(name, "FTol", o.FTol, 1e-8), positive(name, "XTol", o.XTol, 1e-8), positive(name, "GTol", o.GTol, 1e-8)
	most := limit(name, "MaxIter", o.MaxIter, 100*len(x))
	s := &squares{name: name, f: f, shape: first.Shape(), ctx: o.Context}
	if o.Bounds != nil {
		lower, upper := o.Bounds.of(name, first.Shape())
		return s.searchBounded(slices.Clone(x), lower, upper, ftol, xtol, gtol, most)
	}
	r := s.residuals(x)
	cost := half(r)
	if !finite(cost) {
		return nil, &ConvergenceError{Op: name, Reason: "the residuals at the starting point are not finite: look for NaN in the data and in f"}
	}
	j := s.jacobian(x, len(r))
	mu, nu := 0.0, 2.0
	for _, v := range columnNorms(j) {
		mu = max(mu, 1e-3*v*v)
	}
	done := func(err error) (*Fit, error) { return s.fit(x, r, j, cost), err }
	for ; s.steps < most; s.steps++ {
		if err := ended(name, s.ctx); err != nil {
			return done(err)
		}
		switch g := norm(gradient(j, r)); {
		case !finite(g):
			return done(&ConvergenceError{Op: name, Reason: "derivatives of f are not finite"})
		case g <= gtol:
			return done(nil)
		}
		step, ok := damped(j, r, mu)
		next := make([]float64, len(x))
		for i := range x {
			next[i] = x[i] + step[i]
		}
		if ok && length(step) <= xtol*(xtol+length(x)) {
			return done(nil)
		}
		newR := s.residuals(next)
		newCost := half(newR)
		predicted := cost - half(plus(r, j, step))
		if rho := (cost - newCost) / predicted; !ok || !(rho > 0) || !finite(newCost) {
			mu *= nu
			nu *= 2
			if math.IsInf(mu, 0) || mu == 0 {
				return done(&ConvergenceError{Op: name, Reason: "no step makes the sum of squares smaller"})
			}
			continue
		} else {
			x, r = next, newR
			small := cost-newCost <= ftol*cost && rho > 0.25
			cost = newCost
			j = s.jacobian(x, len(r))
			mu, nu = mu*max(1.0/3, 1-math.Pow(2*rho-1, 3)), 2
			if small {
				s.steps++
				return done(nil)
			}
		}
	}
	return done(&ConvergenceError{Op: name, Reason: afterSteps(most)})
}

// squares evaluates residuals and their Jacobian.
type squares struct {
	name         string
	f            func(x *weft.Tensor) *weft.Tensor
	shape        []int
	rows         int // residuals; 0 before the first call of f
	count, steps int
	ctx          context.Context
}

// fit is the result at x.
func (s *squares) fit(x, r []float64, j *mat.Dense, cost float64) *Fit {
	m, n := j.Dims()
	return &Fit{X: s.tensor(x), Cost: cost, Residuals: weft.FromSlice(r), Jacobian: weft.FromSlice(j.RawMatrix().Data, m, n), Optimality: norm(gradient(j, r)),
		ActiveMask: weft.ZerosOf(weft.Int64, s.shape...), Steps: s.steps, FuncEvals: s.count}
}

func (s *squares) tensor(x []float64) *weft.Tensor {
	return weft.FromSlice(append([]float64(nil), x...), s.shape...)
}

func (s *squares) flat(x *weft.Tensor) *weft.Tensor {
	y := s.f(x)
	if y == nil || y.Size() == 0 || y.DType().Complex() {
		array.Failf(s.name, "f", "returns no real numbers")
	}
	if s.rows == 0 {
		s.rows = y.Size()
	}
	if y.Size() != s.rows {
		array.Failf(s.name, "f", "returns %d residuals, in its first call %d", y.Size(), s.rows)
	}
	return y.To(weft.Float64).Reshape(-1)
}

func (s *squares) residuals(x []float64) (r []float64) {
	s.count++
	weft.WithoutGrad(func() { r = weft.Data[float64](s.flat(s.tensor(x))) })
	return r
}

func (s *squares) jacobian(x []float64, m int) *mat.Dense {
	return mat.NewDense(m, len(x), weft.Data[float64](weft.Jacobian(s.flat, s.tensor(x)).Detach()))
}

// damped returns the step that makes |r + j*step|^2 + mu*|step|^2 least.
func damped(j *mat.Dense, r []float64, mu float64) (step []float64, ok bool) {
	m, n := j.Dims()
	a, b := mat.NewDense(m+n, n, nil), mat.NewVecDense(m+n, nil)
	a.Slice(0, m, 0, n).(*mat.Dense).Copy(j)
	for i := range n {
		a.Set(m+i, i, math.Sqrt(mu))
	}
	for i, v := range r {
		b.SetVec(i, -v)
	}
	var qr mat.QR
	qr.Factorize(a)
	x := mat.NewVecDense(n, nil)
	err := qr.SolveVecTo(x, false, b)
	step = x.RawVector().Data
	_, poor := err.(mat.Condition) // a warning: x is there
	return step, (err == nil || poor) && finite(length(step))
}

// gradient returns j^T*r.
func gradient(j *mat.Dense, r []float64) []float64 {
	var g mat.VecDense
	g.MulVec(j.T(), mat.NewVecDense(len(r), r))
	return g.RawVector().Data
}

// plus returns r + j*step.
func plus(r []float64, j *mat.Dense, step []float64) []float64 {
	var y mat.VecDense
	y.MulVec(j, mat.NewVecDense(len(step), step))
	y.AddVec(&y, mat.NewVecDense(len(r), r))
	return y.RawVector().Data
}

func columnNorms(j *mat.Dense) []float64 {
	_, n := j.Dims()
	norms := make([]float64, n)
	for i := range norms {
		norms[i] = mat.Norm(j.ColView(i), 2)
	}
	return norms
}

// half is half the sum of squares.
func half(r []float64) float64 {
	n := length(r)
	return n * n / 2
}

func length(x []float64) float64 { return mat.Norm(mat.NewVecDense(len(x), x), 2) }

// norm is the greatest magnitude; NaN where there is one.
func norm(x []float64) float64 {
	n := 0.0
	for _, v := range x {
		n = max(n, math.Abs(v))
	}
	return n
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// CurveFitOpts are the options of [CurveFit].
type CurveFitOpts struct {
	LeastSquaresOpts
	Sigma         *weft.Tensor // standard deviations of y, of its shape; nil: all are equal
	AbsoluteSigma bool         // Sigma are the deviations themselves; otherwise only their ratios count
}

// CurveFit fits the parameters of a model to data: f(x, parameters) is to be y, and of y's shape, which is any. f gets
// x as it is given, of any shape and type, and float64 parameters of p0's shape. It returns the parameters in p0's
// shape and their covariance, [n n] for n parameters, which is infinite where the data do not determine them. Errors
// and panics are as with [LeastSquares]. SciPy's curve_fit.
func CurveFit(f func(x, parameters *weft.Tensor) *weft.Tensor, x, y, p0 *weft.Tensor, opts ...CurveFitOpts) (parameters, covariance *weft.Tensor, err error) {
	const name = "optimize.curvefit"
	array.Given(name, "f", f != nil)
	array.Given(name, "x", x != nil)
	array.Given(name, "y", y != nil)
	array.Given(name, "p0", p0 != nil)
	o := array.Options(name, opts)
	y = y.Detach().To(weft.Float64)
	x = x.Detach()
	if o.Sigma != nil && !array.Equal(o.Sigma.Shape(), y.Shape()) {
		array.Failf(name, "Sigma", "has shape %s, y %s", array.ShapeString(o.Sigma.Shape()), array.ShapeString(y.Shape()))
	}
	fit, err := leastSquares(name, func(p *weft.Tensor) *weft.Tensor {
		at := f(x, p)
		array.Given(name, "the result of f", at != nil)
		if !array.Equal(at.Shape(), y.Shape()) {
			array.Failf(name, "f", "returns shape %s, want y's, %s", array.ShapeString(at.Shape()), array.ShapeString(y.Shape()))
		}
		d := at.Sub(y)
		if o.Sigma != nil {
			d = d.Div(o.Sigma.Detach())
		}
		return d
	}, p0, o.LeastSquaresOpts)
	if fit == nil {
		return nil, nil, err
	}
	m, n := fit.Jacobian.Dim(0), fit.Jacobian.Dim(1)
	scale := 1.0
	if !o.AbsoluteSigma {
		scale = 2 * fit.Cost / float64(m-n)
	}
	c := make([]float64, n*n)
	var svd mat.SVD
	if m <= n && !o.AbsoluteSigma || !svd.Factorize(mat.NewDense(m, n, weft.Data[float64](fit.Jacobian)), mat.SVDThin) || svd.Rank(0x1p-52*float64(max(m, n))) < n {
		for i := range c {
			c[i] = math.Inf(1)
		}
	} else {
		var v mat.Dense
		svd.VTo(&v)
		for k, s := range svd.Values(nil) {
			for i := range n {
				for j := range n {
					c[i*n+j] += scale * v.At(i, k) * v.At(j, k) / (s * s)
				}
			}
		}
	}
	return fit.X, weft.FromSlice(c, n, n), err
}
