package interpolate

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/sci/optimize"
)

// SmoothingOpts are the options of [MakeSmoothingSpline].
type SmoothingOpts struct {
	Weights     *weft.Tensor // of the points, above 0; nil: all are 1
	Lambda      *float64     // the weight of the curvature, 0 or more; nil: chosen by generalised cross-validation
	Extrapolate bool         // as in [Opts]
}

// MakeSmoothingSpline returns the natural cubic spline f that makes the sum of w*(y - f(x))^2 plus Lambda times the
// integral of the square of its second derivative least, by Reinsch's equations (Green, Silverman, "Nonparametric
// regression and generalized linear models", 1994, chapter 2). Without Lambda it searches the one with the least
// generalised cross-validation; the trace comes from bands of an inverse (Hutchinson, de Hoog, "Smoothing noisy data
// with spline functions", Numer. Math. 47, 1985). x and y are vectors of the same size, of 5 elements or more, x
// ascending. The curve has no gradient with respect to x, y and the options. It panics with a [*weft.Error] for bad
// arguments. SciPy's make_smoothing_spline.
func MakeSmoothingSpline(x, y *weft.Tensor, opts ...SmoothingOpts) *Curve {
	const name = "interpolate.makesmoothingspline"
	o := array.Options(name, opts)
	s := &smoothing{x: ascending(name, "x", x, 5), y: vector(name, "y", y)}
	n := len(s.x)
	if len(s.y) != n {
		array.Failf(name, "y", "has %d elements, x %d", len(s.y), n)
	}
	s.spread = make([]float64, n)
	for i := range s.spread {
		s.spread[i] = 1
	}
	if o.Weights != nil {
		w := vector(name, "Weights", o.Weights)
		if len(w) != n {
			array.Failf(name, "Weights", "has %d elements, x %d", len(w), n)
		}
		for i, v := range w {
			if !(v > 0) || math.IsInf(v, 1) {
				array.Failf(name, "Weights", "has %v at %d: want finite numbers above 0", v, i)
			}
			s.spread[i] = 1 / v
		}
	}
	for i, v := range s.y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			array.Failf(name, "y", "has %v at %d: want finite numbers", v, i)
		}
	}
	checkSpan(name, s.x[0], s.x[n-1])
	s.prepare()
	lambda := 0.0
	if o.Lambda == nil {
		lambda = s.best()
	} else if lambda = *o.Lambda; !(lambda >= 0) || math.IsInf(lambda, 1) {
		array.Failf(name, "Lambda", "is %v: want a finite number from 0 on", lambda)
	}
	values, curvature, _ := s.fit(lambda)
	slope := make([]float64, n)
	for i := range n - 1 {
		h := s.x[i+1] - s.x[i]
		rise := (values[i+1] - values[i]) / h
		slope[i] = rise - h*(2*curvature[i]+curvature[i+1])/6
		slope[i+1] = rise + h*(curvature[i]+2*curvature[i+1])/6
	}
	return &Curve{weft.FromSlice(s.x), weft.FromSlice(values), weft.FromSlice(slope), o.Extrapolate}
}

// A smoothing has the equations of a smoothing spline: q are the three weights that make second differences of values,
// r and k the bands of the matrices of curvatures, and of q^T*spread*q.
type smoothing struct {
	x, y, spread []float64
	q, r, k      [][3]float64
	second       []float64 // q^T*y
}

func (s *smoothing) prepare() {
	m := len(s.x) - 2
	s.q, s.r, s.k, s.second = make([][3]float64, m), make([][3]float64, m), make([][3]float64, m), make([]float64, m)
	for i := range m {
		a, b := s.x[i+1]-s.x[i], s.x[i+2]-s.x[i+1]
		s.q[i] = [3]float64{1 / a, -1/a - 1/b, 1 / b}
		s.r[i] = [3]float64{(a + b) / 3, b / 6, 0}
		s.second[i] = (s.y[i+2]-s.y[i+1])/b - (s.y[i+1]-s.y[i])/a
	}
	for i := range m {
		for d := 0; d < 3 && i+d < m; d++ {
			for j := d; j < 3; j++ {
				s.k[i][d] += s.q[i][j] * s.spread[i+j] * s.q[i+d][j-d]
			}
		}
	}
}

// fit returns the values and curvatures of the spline at the points, and the score of generalised cross-validation.
func (s *smoothing) fit(lambda float64) (values, curvature []float64, score float64) {
	n, m := len(s.x), len(s.q)
	// L D L^T of r + lambda*k, whose bands are 0 to 2.
	l, d := make([][3]float64, m), make([]float64, m)
	z := append([]float64(nil), s.second...)
	for i := range m {
		at := func(k int) float64 { return s.r[i][k] + lambda*s.k[i][k] }
		d[i] = at(0)
		one := at(1)
		if i > 0 {
			d[i] -= l[i-1][1] * l[i-1][1] * d[i-1]
			one -= l[i-1][1] * l[i-1][2] * d[i-1]
			z[i] -= l[i-1][1] * z[i-1]
		}
		if i > 1 {
			d[i] -= l[i-2][2] * l[i-2][2] * d[i-2]
			z[i] -= l[i-2][2] * z[i-2]
		}
		l[i] = [3]float64{1, one / d[i], at(2) / d[i]}
	}
	// The solution, and the bands of the inverse, from the end.
	inverse, trace := make([][3]float64, m+2), 0.0
	curvature = make([]float64, n+1)
	for i := m - 1; i >= 0; i-- {
		curvature[i+1] = z[i]/d[i] - l[i][1]*curvature[i+2] - l[i][2]*curvature[min(i+3, n)]
		a, b := l[i][1], l[i][2]
		if i == m-1 {
			a = 0
		}
		if i >= m-2 {
			b = 0
		}
		inverse[i][1] = -a*inverse[i+1][0] - b*inverse[i+1][1]
		inverse[i][2] = -a*inverse[i+1][1] - b*inverse[i+2][0]
		inverse[i][0] = 1/d[i] - a*inverse[i][1] - b*inverse[i][2]
		trace += inverse[i][0]*s.k[i][0] + 2*(inverse[i][1]*s.k[i][1]+inverse[i][2]*s.k[i][2])
	}
	curvature = curvature[:n]
	values = append([]float64(nil), s.y...)
	wrong := 0.0
	for i := range n {
		change := 0.0
		for j := range 3 {
			if k := i - j; k >= 0 && k < m {
				change += s.q[k][j] * curvature[k+1]
			}
		}
		change *= lambda * s.spread[i]
		values[i] -= change
		wrong += change * change / s.spread[i]
	}
	return values, curvature, wrong / (lambda * trace * lambda * trace)
}

// best returns the lambda with the least score: the best of some magnitudes, and Brent's method from there.
func (s *smoothing) best() float64 {
	score := func(log float64) float64 {
		_, _, score := s.fit(math.Exp(log))
		return score
	}
	span := s.x[len(s.x)-1] - s.x[0]
	middle := 3 * math.Log(span/float64(len(s.x))) // where both terms weigh alike
	at, least := middle, math.Inf(1)
	const step = 1.0
	for log := middle - 15; log <= middle+25; log += step {
		if v := score(log); v < least {
			at, least = log, v
		}
	}
	if m, err := optimize.MinimizeScalar(score, optimize.MinimizeScalarOpts{Bounds: []float64{at - step, at + step}, XTol: 1e-8}); err == nil && m.Value < least {
		at = m.X
	}
	return math.Exp(at)
}
