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
	lines := len(from) / n
	plan := s.plan(n)
	blocks := (lines + splineLanes - 1) / splineLanes
	par.Run(blocks, max(1, (1<<12)/(splineLanes*n)), 0, func(_, begin, end int) {
		c := make([]float64, splineLanes*n)
		for block := begin; block < end; block++ {
			first := block * splineLanes
			count := min(splineLanes, lines-first)
			for l := range count {
				k := first + l
				start := k/step*step*n + k%step
				for i := range n {
					c[splineLanes*i+l] = from[start+i*step]
				}
			}
			s.twice(c, 2)
			plan.filter(c)
			s.twice(c, 0.5)
			for l := range count {
				k := first + l
				start := k/step*step*n + k%step
				for i := range n {
					to[start+i*step] = c[splineLanes*i+l]
				}
			}
		}
	})
}

// twice multiplies the ends of lines in the transpose of the mirrored filter, whose matrix is symmetric but for them.
func (s splining) twice(c []float64, by float64) {
	if s.adjoint && s.mode == Mirror && len(c) > splineLanes {
		for l := range splineLanes {
			c[l], c[len(c)-1-l] = c[l]*by, c[len(c)-1-l]*by
		}
	}
}

// splineLanes is the number of lines that are filtered at once, interleaved: a recursive filter of one waits for each of its sums.
const splineLanes = 4

// A splinePlan is what filters of lines of n elements share.
type splinePlan struct {
	mode  Mode
	n     int
	gain  float64
	poles []splinePole
}

// A splinePole is a recursive filter. In mode Mirror w has the weights of the elements in what lies before the line and whole is z^(n-1);
// otherwise w has powers of z and whole is z^n.
type splinePole struct {
	z, whole float64
	w        []float64
}

func (s splining) plan(n int) *splinePlan {
	p := &splinePlan{mode: s.mode, n: n, gain: 1}
	for _, z := range poles[s.order] {
		p.gain *= (1 - z) * (1 - 1/z)
		f := splinePole{z: z, whole: math.Pow(z, float64(n)), w: make([]float64, n+1)}
		f.w[0] = 1
		for i := 1; i <= n; i++ {
			f.w[i] = f.w[i-1] * z
		}
		if s.mode == Mirror {
			f.whole = math.Pow(z, float64(n-1))
			back := float64(f.whole*f.whole) / z
			for i := 1; i < n-1; i++ {
				f.w[i] += back
				back /= z
			}
		}
		p.poles = append(p.poles, f)
	}
	return p
}

// filter filters lines in place: for each pole forwards and backwards.
func (p *splinePlan) filter(c []float64) {
	n := p.n
	if n < 2 {
		return
	}
	for i := range c {
		c[i] *= p.gain
	}
	last := splineLanes * (n - 1)
	for _, f := range p.poles {
		z := f.z
		a := p.first(f, c)
		copy(c, a[:])
		a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
		for i := splineLanes; i <= last; i += splineLanes {
			x := c[i : i+splineLanes : i+splineLanes]
			a0, a1, a2, a3 = x[0]+float64(z*a0), x[1]+float64(z*a1), x[2]+float64(z*a2), x[3]+float64(z*a3)
			x[0], x[1], x[2], x[3] = a0, a1, a2, a3
		}
		for l := range splineLanes {
			end := &c[last+l]
			switch p.mode {
			case Mirror:
				*end = (float64(z*c[last-splineLanes+l]) + *end) * z / (float64(z*z) - 1)
			case Reflect:
				*end *= z / (z - 1)
			default:
				sum := *end
				for i := range n - 1 {
					sum += float64(f.w[i+1] * c[splineLanes*i+l])
				}
				*end = sum * z / (f.w[n] - 1)
			}
		}
		x := c[last : last+splineLanes : last+splineLanes]
		a0, a1, a2, a3 = x[0], x[1], x[2], x[3]
		for i := last - splineLanes; i >= 0; i -= splineLanes {
			x := c[i : i+splineLanes : i+splineLanes]
			a0, a1, a2, a3 = z*(a0-x[0]), z*(a1-x[1]), z*(a2-x[2]), z*(a3-x[3])
			x[0], x[1], x[2], x[3] = a0, a1, a2, a3
		}
	}
}

// first is the first value of the forward filter of each line: the sum over what lies before it.
func (p *splinePlan) first(f splinePole, c []float64) (sum [splineLanes]float64) {
	n, last := p.n, splineLanes*(p.n-1)
	switch p.mode {
	case Mirror:
		for l := range sum {
			sum[l] = c[l] + float64(f.whole*c[last+l])
		}
		for i := 1; i < n-1; i++ {
			w, x := f.w[i], c[splineLanes*i:splineLanes*i+splineLanes]
			for l := range sum {
				sum[l] += float64(w * x[l])
			}
		}
		for l := range sum {
			sum[l] /= 1 - float64(f.whole*f.whole)
		}
	case Reflect:
		for i := range n {
			w, x, y := f.w[i], c[splineLanes*i:splineLanes*i+splineLanes], c[last-splineLanes*i:last-splineLanes*i+splineLanes]
			for l := range sum {
				sum[l] += float64(w * (x[l] + float64(f.whole*y[l])))
			}
		}
		for l := range sum {
			sum[l] = c[l] + float64(sum[l]*f.z)/(1-float64(f.whole*f.whole))
		}
	default:
		copy(sum[:], c)
		for i := 1; i < n; i++ {
			w, x := f.w[i], c[splineLanes*(n-i):splineLanes*(n-i)+splineLanes]
			for l := range sum {
				sum[l] += float64(w * x[l])
			}
		}
		for l := range sum {
			sum[l] /= 1 - f.w[n]
		}
	}
	return sum
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
		array.Failf(name, "x", "is %s, want real numbers", x.DType())
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
