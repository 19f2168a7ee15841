package optimize

import (
	"context"
	"fmt"
	"math"

	"weft/internal/array"
)

// A ScalarMethod is an algorithm of [MinimizeScalar].
type ScalarMethod string

// The methods of [MinimizeScalar].
const (
	Brent   ScalarMethod = "brent"   // parabolas and golden sections, from a bracket
	Golden  ScalarMethod = "golden"  // golden sections, from a bracket
	Bounded ScalarMethod = "bounded" // Brent's method within bounds
)

// MinimizeScalarOpts are the options of [MinimizeScalar].
type MinimizeScalarOpts struct {
	Method ScalarMethod // Bounded if Bounds are given, else Brent
	// Bracket is two points from which the search goes downhill, or three, the one between having the least value.
	// nil means 0 and 1.
	Bracket []float64
	Bounds  []float64       // the least and the greatest x, of Bounded
	XTol    float64         // Brent and Golden: relative, 1.48e-8 if it is 0; Bounded: absolute, 1e-5
	MaxIter int             // 500 if it is 0; 5000 of Golden
	Context context.Context // ends the search, if it is not nil
}

// A ScalarMinimum is a result of [MinimizeScalar].
type ScalarMinimum struct {
	X, Value  float64
	Steps     int
	FuncEvals int
}

// MinimizeScalar searches a local minimum of f, a function of one number, by Brent's method ("Algorithms for
// minimization without derivatives", 1973, chapter 5) or by golden sections. It returns a [*ConvergenceError] and the
// best point after MaxIter steps, where f is NaN, where no bracket is found, or where the context ends; it panics with
// a [*weft.Error] for bad arguments. SciPy's minimize_scalar.
func MinimizeScalar(f func(x float64) float64, opts ...MinimizeScalarOpts) (*ScalarMinimum, error) {
	const name = "optimize.minimizescalar"
	array.Given(name, "f", f != nil)
	o := array.Options(name, opts)
	if o.Method == "" {
		if o.Method = Brent; o.Bounds != nil {
			o.Method = Bounded
		}
	}
	switch o.Method {
	case Brent, Golden, Bounded:
	default:
		array.Failf(name, "Method", "%q is unknown: want brent, golden or bounded", o.Method)
	}
	for _, list := range []struct {
		arg string
		x   []float64
	}{{"Bracket", o.Bracket}, {"Bounds", o.Bounds}} {
		for _, v := range list.x {
			if !finite(v) {
				array.Failf(name, list.arg, "has %v: want finite numbers", v)
			}
		}
	}
	m := &ScalarMinimum{}
	s := &scalarSearch{name: name, ctx: o.Context, m: m, xtol: positive(name, "XTol", o.XTol, 1.48e-8), most: limit(name, "MaxIter", o.MaxIter, 500)}
	s.f = func(x float64) float64 {
		m.FuncEvals++
		return f(x)
	}
	if o.Method == Bounded {
		if o.Bracket != nil {
			array.Failf(name, "Bracket", "is for Brent and Golden")
		}
		if len(o.Bounds) != 2 || !(o.Bounds[0] < o.Bounds[1]) {
			array.Failf(name, "Bounds", "are %v: want the least and a greater x", o.Bounds)
		}
		x := o.Bounds[0] + cGolden*(o.Bounds[1]-o.Bounds[0])
		s.absolute = positive(name, "XTol", o.XTol, 1e-5)
		return m, s.brent(o.Bounds[0], x, o.Bounds[1], s.f(x))
	}
	if o.Bounds != nil {
		array.Failf(name, "Bounds", "are for Bounded alone")
	}
	a, b, c, fb, err := s.bracket(o.Bracket)
	if err != nil {
		m.X, m.Value = b, fb
		return m, err
	}
	if o.Method == Golden {
		s.most = limit(name, "MaxIter", o.MaxIter, 5000)
		return m, s.golden(a, b, c, fb)
	}
	return m, s.brent(min(a, c), b, max(a, c), fb)
}

// cGolden is the smaller part of a golden section.
const cGolden = 0.3819660112501051518

type scalarSearch struct {
	name           string
	ctx            context.Context
	f              func(x float64) float64
	m              *ScalarMinimum
	xtol, absolute float64
	most           int
}

// bracket returns points in order, or in reverse; the one between has the least value.
func (s *scalarSearch) bracket(points []float64) (a, b, c, fb float64, err error) {
	if len(points) == 0 {
		points = []float64{0, 1}
	}
	if len(points) > 3 || len(points) < 2 {
		array.Failf(s.name, "Bracket", "has %d points: want 2 or 3", len(points))
	}
	a, b = points[0], points[1]
	if len(points) == 3 {
		c = points[2]
		fb = s.f(b)
		if fa, fc := s.f(a), s.f(c); !((a < b) == (b < c) && a != b && b != c) || !(fb < fa && fb < fc) {
			array.Failf(s.name, "Bracket", "is %v with values %v, %v, %v: want points in order, the one between with the least value", points, fa, fb, fc)
		}
		return a, b, c, fb, nil
	}
	if a == b {
		array.Failf(s.name, "Bracket", "is %v twice", a)
	}
	fa, fb := s.f(a), s.f(b)
	if fa < fb {
		a, b, fa, fb = b, a, fb, fa
	}
	// Steps grow by the golden ratio while f falls.
	c = b + (b-a)*1.618034
	fc := s.f(c)
	for n := 0; fc < fb; n++ {
		if n == 1000 || !finite(c) {
			break
		}
		if err := ended(s.name, s.ctx); err != nil {
			return a, c, c, fc, err
		}
		a, b, c, fb = b, c, c+(c-b)*1.618034, fc
		fc = s.f(c)
	}
	if !(fc >= fb) || !finite(c) {
		return a, b, c, fb, &ConvergenceError{Op: s.name, Reason: fmt.Sprintf("no bracket: f is %v at %v and %v at %v", fb, b, fc, c)}
	}
	return a, b, c, fb, nil
}

// brent searches between a and b, from x on.
func (s *scalarSearch) brent(a, x, b, fx float64) error {
	w, v, fw, fv := x, x, fx, fx
	var d, e float64 // the last step, and the one before
	for ; s.m.Steps < s.most; s.m.Steps++ {
		s.m.X, s.m.Value = x, fx
		if math.IsNaN(fx) {
			return &ConvergenceError{Op: s.name, Reason: fmt.Sprintf("f is NaN at %v", x)}
		}
		middle := (a + b) / 2
		tol := s.xtol*math.Abs(x) + 1e-11
		if s.absolute > 0 {
			tol = 1.5e-8*math.Abs(x) + s.absolute/3
		}
		if math.Abs(x-middle) <= 2*tol-(b-a)/2 {
			return nil
		}
		if err := ended(s.name, s.ctx); err != nil {
			return err
		}
		golden := true
		if math.Abs(e) > tol {
			r, q := (x-w)*(fx-fv), (x-v)*(fx-fw)
			p := (x-v)*q - (x-w)*r
			if q = 2 * (q - r); q > 0 {
				p = -p
			}
			q = math.Abs(q)
			if math.Abs(p) < math.Abs(q*e/2) && p > q*(a-x) && p < q*(b-x) {
				golden = false
				e, d = d, p/q
				if u := x + d; u-a < 2*tol || b-u < 2*tol {
					d = math.Copysign(tol, middle-x)
				}
			}
		}
		if golden {
			if e = b - x; x >= middle {
				e = a - x
			}
			d = cGolden * e
		}
		u := x + d
		if math.Abs(d) < tol {
			u = x + math.Copysign(tol, d)
		}
		fu := s.f(u)
		if math.IsNaN(fu) {
			return &ConvergenceError{Op: s.name, Reason: fmt.Sprintf("f is NaN at %v", u)}
		}
		if fu <= fx {
			if u >= x {
				a = x
			} else {
				b = x
			}
			v, w, x, fv, fw, fx = w, x, u, fw, fx, fu
			continue
		}
		if u < x {
			a = u
		} else {
			b = u
		}
		if fu <= fw || w == x {
			v, w, fv, fw = w, u, fw, fu
		} else if fu <= fv || v == x || v == w {
			v, fv = u, fu
		}
	}
	s.m.X, s.m.Value = x, fx
	return &ConvergenceError{Op: s.name, Reason: afterSteps(s.most)}
}

// golden searches between a and c, b being between with a lower value.
func (s *scalarSearch) golden(a, b, c, fb float64) error {
	var x, y, fx, fy float64
	if math.Abs(c-b) > math.Abs(b-a) {
		x, y = b, b+cGolden*(c-b)
		fx, fy = fb, s.f(y)
	} else {
		x, y = b-cGolden*(b-a), b
		fx, fy = s.f(x), fb
	}
	for ; s.m.Steps < s.most; s.m.Steps++ {
		if s.m.X, s.m.Value = x, fx; fy < fx {
			s.m.X, s.m.Value = y, fy
		}
		if math.IsNaN(fx) || math.IsNaN(fy) {
			return &ConvergenceError{Op: s.name, Reason: "f is NaN"}
		}
		if math.Abs(c-a) <= s.xtol*(math.Abs(x)+math.Abs(y))+1e-300 {
			return nil
		}
		if err := ended(s.name, s.ctx); err != nil {
			return err
		}
		if fy < fx {
			a, x, fx = x, y, fy
			y = x + cGolden*(c-x)
			fy = s.f(y)
		} else {
			c, y, fy = y, x, fx
			x = y - cGolden*(y-a)
			fx = s.f(x)
		}
	}
	return &ConvergenceError{Op: s.name, Reason: afterSteps(s.most)}
}
