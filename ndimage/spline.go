package ndimage

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
)

// A splining is the attribute of the operation that computes a spline's coefficients along an axis.
type splining struct {
	axis, order int
	mode        Mode // Mirror, Reflect or GridWrap
	adjoint     bool // the transpose of that
}

// AppendKey implements ir.Attrs.
func (s splining) AppendKey(k []byte) []byte {
	return append(ir.Flag(ir.Int(ir.Int(k, s.axis), s.order), s.adjoint), s.mode...)
}

// splineDef computes coefficients.
var splineDef = &op.Def{Name: "ndimage.spline", Hash: 0x3c6ef372fe94f82b, Class: op.Composite, Arity: 1, Attrs: splining{},
	Composed: op.Composed{Compose: func(x []*ir.Node, a ir.Attrs) *ir.Node { return a.(splining).node(x[0]) }}}

// node adds the coefficients of x to its graph. They are linear, so that their gradient is the transpose.
func (s splining) node(x *ir.Node) *ir.Node {
	shape := x.Shape
	t := newTask("spline"+string(s.AppendKey(nil)), []ir.Type{{DType: x.DType, Shape: shape}}, func(args, out []array.View) {
		s.run(shape, core.Slice[float64](&args[0]), core.Slice[float64](&out[0]))
	})
	t.gradient = func(v *op.VJP) {
		back := s
		back.adjoint = !s.adjoint
		v.Set(0, func() *ir.Node { return back.node(v.DY) })
	}
	return op.Apply(op.Host, t, x)
}

// poles are the poles of the recursive filters of splines of order 2 to 5: M. Unser, Splines: A Perfect Fit for Signal
// and Image Processing (1999).
var poles = [6][]float64{
	2: {math.Sqrt(8) - 3},
	3: {math.Sqrt(3) - 2},
	4: {math.Sqrt(664-math.Sqrt(438976)) + math.Sqrt(304) - 19, math.Sqrt(664+math.Sqrt(438976)) - math.Sqrt(304) - 19},
	5: {math.Sqrt(67.5-math.Sqrt(4436.25)) + math.Sqrt(26.25) - 6.5, math.Sqrt(67.5+math.Sqrt(4436.25)) - math.Sqrt(26.25) - 6.5},
}

// run filters every line along the axis.
func (s splining) run(shape []int, from, to []float64) {
	if len(from) == 0 {
		return
	}
	n, step := shape[s.axis], array.RowMajor(shape)[s.axis]
	par.Run(len(from)/n, max(1, (1<<12)/n), 0, func(_, begin, end int) {
		c := make([]float64, n)
		for k := begin; k < end; k++ {
			start := k/step*step*n + k%step
			for i := range c {
				c[i] = from[start+i*step]
			}
			ends := s.adjoint && s.mode == Mirror && n > 1
			if ends { // the matrix is symmetric but for its ends
				c[0], c[n-1] = c[0]*2, c[n-1]*2
			}
			s.line(c)
			if ends {
				c[0], c[n-1] = c[0]/2, c[n-1]/2
			}
			for i, v := range c {
				to[start+i*step] = v
			}
		}
	})
}

// line filters one line in place: for each pole forwards and backwards.
func (s splining) line(c []float64) {
	n := len(c)
	if n < 2 {
		return
	}
	gain := 1.0
	for _, z := range poles[s.order] {
		gain *= (1 - z) * (1 - 1/z)
	}
	for i := range c {
		c[i] *= gain
	}
	for _, z := range poles[s.order] {
		c[0] = s.first(c, z)
		for i := 1; i < n; i++ {
			c[i] += float64(z * c[i-1])
		}
		switch s.mode {
		case Mirror:
			c[n-1] = (float64(z*c[n-2]) + c[n-1]) * z / (float64(z*z) - 1)
		case Reflect:
			c[n-1] *= z / (z - 1)
		default:
			sum, power := c[n-1], z
			for i := range n - 1 {
				sum += float64(power * c[i])
				power *= z
			}
			c[n-1] = sum * z / (power - 1)
		}
		for i := n - 2; i >= 0; i-- {
			c[i] = z * (c[i+1] - c[i])
		}
	}
}

// first is the first value of the forward filter: the sum over what lies before the line.
func (s splining) first(c []float64, z float64) float64 {
	n := len(c)
	switch s.mode {
	case Mirror:
		whole := math.Pow(z, float64(n-1))
		sum, power, back := c[0]+float64(whole*c[n-1]), z, float64(whole*whole)/z
		for i := 1; i < n-1; i++ {
			sum += float64((power + back) * c[i])
			power *= z
			back /= z
		}
		return sum / (1 - float64(whole*whole))
	case Reflect:
		whole := math.Pow(z, float64(n))
		sum, power := 0.0, 1.0
		for i := range c {
			sum += float64(power * (c[i] + float64(whole*c[n-1-i])))
			power *= z
		}
		return c[0] + float64(sum*z)/(1-float64(whole*whole))
	}
	sum, power := c[0], z
	for i := 1; i < n; i++ {
		sum += float64(power * c[n-i])
		power *= z
	}
	return sum / (1 - power)
}

// ends is how a spline goes on beyond the ends in a mode.
func (m Mode) ends() Mode {
	switch m {
	case Reflect, GridMirror, Nearest: // of Nearest behind copies of the last element
		return Reflect
	case GridWrap:
		return GridWrap
	}
	return Mirror
}

// checkSpline checks the order of a spline.
func checkSpline(name string, order int) {
	if order < 0 || order > 5 {
		array.Failf(name, "Order", "is %d, want 0 to 5", order)
	}
}

// SplineOpts are the options of [SplineFilter] and [SplineFilter1D].
type SplineOpts struct {
	Order *int // of the spline, 0 to 5; 3 if nil
	Mode  Mode // how it goes on beyond the ends; Mirror if empty
}

// spline checks the options.
func (o SplineOpts) spline(name string, x *weft.Tensor) (order int, m Mode) {
	if input(name, x); x.DType().Complex() {
		array.Failf(name, "input", "is %s, want real numbers", x.DType())
	}
	order = 3
	if o.Order != nil {
		order = *o.Order
	}
	checkSpline(name, order)
	return order, o.Mode.checked(name, Mirror)
}

// SplineFilter returns the coefficients of the spline through x, an array of Float64. It has a gradient. In mode
// Reflect it is exact, where SciPy has an error in short arrays: 0.006 of 3 elements, 1e-7 of 5.
func SplineFilter(x *weft.Tensor, opts ...SplineOpts) *weft.Tensor {
	const name = "ndimage.spline_filter"
	defer array.Named(name).End()
	order, m := array.Options(name, opts).spline(name, x)
	return coefficients(x.To(weft.Float64), order, m).Clone()
}

// SplineFilter1D is [SplineFilter] along one axis.
func SplineFilter1D(x *weft.Tensor, axis int, opts ...SplineOpts) *weft.Tensor {
	const name = "ndimage.spline_filter1d"
	defer array.Named(name).End()
	order, m := array.Options(name, opts).spline(name, x)
	return coefficient(x.To(weft.Float64), array.Axis(name, axis, x.Rank()), order, m).Clone()
}

func coefficient(x *weft.Tensor, axis, order int, m Mode) *weft.Tensor {
	if order < 2 {
		return x
	}
	return (*weft.Tensor)(core.WithAttrs(splineDef, splining{axis: axis, order: order, mode: m.ends()}, (*core.Tensor)(x)))
}

func coefficients(x *weft.Tensor, order int, m Mode) *weft.Tensor {
	for a := range x.Rank() {
		x = coefficient(x, a, order, m)
	}
	return x
}
