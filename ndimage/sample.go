package ndimage

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
)

// A sampling is the attribute of the operations that compute a spline at places, and their transposes.
type sampling struct {
	in, out []int // the shapes of the coefficients and of the results
	pad     int   // how many coefficients stand before the array in each axis
	order   int
	mode    Mode
	cval    float64
	slopes  []int     // the order of the derivative along each axis
	matrix  []float64 // the places are matrix times index plus offset, [axes of in, axes of out]; nil: an argument
	offset  []float64
}

// AppendKey implements ir.Attrs.
func (s sampling) AppendKey(k []byte) []byte {
	k = ir.Ints(ir.Ints(ir.Ints(k, s.in), s.out), s.slopes)
	k = ir.Int(ir.Int(ir.Int(k, s.pad), s.order), int(math.Float64bits(s.cval)))
	for _, list := range [][]float64{s.matrix, s.offset} {
		k = ir.Int(k, len(list))
		for _, x := range list {
			k = ir.Int(k, int(math.Float64bits(x)))
		}
	}
	return append(k, s.mode...)
}

// sampleDef takes coefficients, and places, [axes of in, shape of out...], unless the attribute has them.
var sampleDef = &op.Def{Name: "ndimage.sample", Hash: 0xa54ff53a5f1d36f1, Class: op.Composite, Arity: -1, Attrs: sampling{},
	Composed: op.Composed{Compose: func(x []*ir.Node, a ir.Attrs) *ir.Node { return a.(sampling).at(x...) }}}

// at adds a spline at places to the graph of its arguments, coefficients and places. Its transpose is spread. Both are
// linear in the first argument, and the derivative of each by places is the same with the spline's next derivative.
func (s sampling) at(x ...*ir.Node) *ir.Node {
	t := s.task("sample", s.out, sampling.sample)
	t.gradient = func(v *op.VJP) {
		v.Set(0, func() *ir.Node { return s.spreadFrom(append([]*ir.Node{v.DY}, v.X[1:]...)...) })
		if len(v.X) > 1 {
			v.Set(1, func() *ir.Node { return s.byPlaces(v.X[0], v.X[1], v.DY) })
		}
	}
	return op.Apply(op.Host, t, x...)
}

// spreadFrom adds the transpose of at, which takes values at places.
func (s sampling) spreadFrom(x ...*ir.Node) *ir.Node {
	s.cval = 0
	t := s.task("spread", s.in, sampling.spread)
	t.gradient = func(v *op.VJP) {
		v.Set(0, func() *ir.Node { return s.at(append([]*ir.Node{v.DY}, v.X[1:]...)...) })
		if len(v.X) > 1 {
			v.Set(1, func() *ir.Node { return s.byPlaces(v.DY, v.X[1], v.X[0]) })
		}
	}
	return op.Apply(op.Host, t, x...)
}

// byPlaces is the gradient of places: of each axis the product of values and a derivative.
func (s sampling) byPlaces(coefficients, places, values *ir.Node) *ir.Node {
	var rows []*ir.Node
	for a := range s.in {
		d := s
		d.slopes = slices.Clone(s.slopes)
		d.slopes[a]++
		y := op.Apply(op.Mul, nil, values, d.at(coefficients, places))
		rows = append(rows, op.Apply(op.Reshape, op.Shape(append([]int{1}, s.out...)), y))
	}
	return op.Apply(op.Cat, op.Axis(0), rows...)
}

func (s sampling) task(name string, shape []int, run func(s sampling, x, places, y []float64)) *task {
	return newTask(name+string(s.AppendKey(nil)), []ir.Type{{DType: array.Float64, Shape: shape}}, func(args, out []array.View) {
		var places []float64
		if len(args) > 1 {
			places = core.Slice[float64](&args[1])
		}
		run(s, core.Slice[float64](&args[0]), places, core.Slice[float64](&out[0]))
	})
}

// periodic reports whether a mode repeats the array.
func (m Mode) periodic() bool { return m != Constant && m != GridConstant && m != Nearest }

// period is the number of places after which a mode repeats an array of n elements where a function interpolates.
func (m Mode) period(n int) float64 {
	switch m {
	case GridWrap:
		return float64(n)
	case Wrap:
		return float64(max(n-1, 1))
	case Mirror:
		return float64(max(2*n-2, 1))
	}
	return float64(2 * n)
}

// A knot is what a place needs along one axis: coefficients and their weights.
type knot struct {
	at     [6]int // times the stride; -1 for cval
	weight [6]float64
	inside bool
}

// mapped returns the place in the array that stands for c, how it changes with c, and whether there is one.
func mapped(c float64, n int, m Mode) (p, slope float64, ok bool) {
	last := float64(n - 1)
	if math.Abs(c) > 1<<50 && m.periodic() { // far out, multiples of the period are not exact
		c = math.Mod(c, m.period(n))
	}
	switch {
	case c != c:
		return 0, 0, false
	case c >= 0 && c <= last:
		return c, 1, true
	case m == GridConstant: // 16 elements outside, no coefficient counts
		return c, 1, c > -16 && c < last+16
	case m == Constant:
		return 0, 0, false
	case math.IsInf(c, 0) && m != Nearest:
		return 0, 0, false
	case m == Nearest:
		return min(max(c, 0), last), 0, true
	case m == GridWrap:
		size := float64(n)
		if c < 0 {
			return c + size*(math.Trunc((-1-c)/size)+1), 1, true
		}
		return c - size*math.Trunc(c/size), 1, true
	case n == 1:
		return 0, 0, true
	case m == Wrap:
		if c < 0 {
			return c + last*(math.Trunc(-c/last)+1), 1, true
		}
		return c - last*math.Trunc(c/last), 1, true
	case m == Mirror:
		c = math.Abs(c)
		period := 2 * last
		slope = 1
		if p = c - period*math.Trunc(c/period); p > last {
			return period - p, -slope, true
		}
		return p, slope, true
	}
	period := 2 * float64(n) // reflect: symmetric around -1/2
	slope = 1
	if c < 0 {
		c, slope = -1-c, -1
	}
	p = c - period*math.Trunc(c/period)
	if p >= float64(n) {
		p, slope = period-p-1, -slope
	}
	return p, slope, true
}

// knot computes what a place along an axis needs.
func (s *sampling) knot(k *knot, axis int, c float64, stride int) {
	n := s.in[axis]
	if c += float64(s.pad); s.slopes[axis] == 0 && c >= 0 && c <= float64(n-1) { // most places have all coefficients
		start := int(c)
		if s.order%2 == 0 {
			start = int(c + 0.5)
		}
		if start -= s.order / 2; start >= 0 && start+s.order < n {
			k.inside = true
			weigh(&k.weight, s.order, c-float64(start))
			for i := range s.order + 1 {
				k.at[i] = (start + i) * stride
			}
			return
		}
	}
	p, slope, ok := mapped(c, n, s.mode)
	if k.inside = ok; !ok {
		return
	}
	if s.mode == Mirror && c < 0 {
		slope = -slope
	}
	shift := 0.0
	if s.order%2 == 0 {
		shift = 0.5
	}
	// Beyond any weight, whole numbers do not overflow.
	first := math.Floor(min(max(p+shift, -1e9), float64(n)+1e9))
	start := int(first) - s.order/2
	basis(&k.weight, s.order, p-float64(start), s.slopes[axis])
	for i := range s.order + 1 {
		if s.slopes[axis]%2 == 1 {
			k.weight[i] *= slope
		} else if s.slopes[axis] > 0 {
			k.weight[i] *= slope * slope
		}
		j := start + i
		if j < 0 || j >= n {
			if s.mode == GridConstant {
				k.at[i] = -1
				continue
			}
			m := s.mode
			if m == Constant || m == Wrap {
				m = Mirror
			}
			j = m.source(j, n)
		}
		k.at[i] = j * stride
	}
}

// weigh is basis without a derivative, in closed form for the usual orders.
func weigh(w *[6]float64, order int, t float64) {
	switch order {
	case 0:
		w[0] = 1
	case 1:
		w[0], w[1] = 1-t, t
	case 3:
		t--
		u := 1 - t
		w[0], w[3] = float64(float64(u*u)*u)/6, float64(float64(t*t)*t)/6
		w[1] = 2.0/3 - float64(float64(t*t)*(2-t))/2
		w[2] = 2.0/3 - float64(float64(u*u)*(2-u))/2
	default:
		basis(w, order, t, 0)
	}
}

// basis writes the weights of coefficients 0 to order at place t from the first: B-splines of that order around
// each, or their derivatives.
func basis(w *[6]float64, order int, t float64, derivative int) {
	if derivative > order {
		*w = [6]float64{}
		return
	}
	// The recursion of Cox and de Boor, then differences: C. de Boor, A Practical Guide to Splines (1978).
	low := order - derivative
	var b [7]float64
	b[0] = 1
	frac := t - float64(order/2) // the place between knots
	if order%2 == 0 {
		frac += 0.5
	}
	for d := 1; d <= low; d++ {
		for i := d; i >= 0; i-- {
			left, right := 0.0, 0.0
			if i > 0 {
				left = float64((frac + float64(d-i)) * b[i-1])
			}
			if i < d {
				right = float64((float64(i+1) - frac) * b[i])
			}
			b[i] = (left + right) / float64(d)
		}
	}
	for d := low + 1; d <= order; d++ {
		for i := d; i >= 0; i-- {
			prev, here := 0.0, 0.0
			if i > 0 {
				prev = b[i-1]
			}
			if i < d {
				here = b[i]
			}
			b[i] = prev - here
		}
	}
	copy(w[:], b[:6])
}

// knots calls f with the knots of each result from begin to below end.
func (s *sampling) knots(places []float64, begin, end int, f func(i int, k []*knot)) {
	strides := array.RowMajor(s.in)
	own, k := make([]knot, len(s.in)), make([]*knot, len(s.in))
	for a := range k {
		k[a] = &own[a]
	}
	size := array.Size(s.out)
	table := s.tables(strides)
	at := unravel(s.out, begin)
	for i := begin; i < end; i++ {
		for a := range k {
			switch {
			case table != nil:
				k[a] = &table[a][at[a]]
			case s.matrix == nil:
				s.knot(k[a], a, places[a*size+i], strides[a])
			default:
				c := s.offset[a]
				for b, v := range at {
					c += float64(s.matrix[a*len(s.out)+b] * float64(v))
				}
				s.knot(k[a], a, c, strides[a])
			}
		}
		f(i, k)
		for a := len(at) - 1; a >= 0; a-- {
			if at[a]++; at[a] < s.out[a] {
				break
			}
			at[a] = 0
		}
	}
}

// tables returns the knots of every index along each axis, where places along an axis depend on that index alone.
func (s *sampling) tables(strides []int) [][]knot {
	n := len(s.out)
	if s.matrix == nil || len(s.in) != n {
		return nil
	}
	lines := 0
	for _, l := range s.out {
		lines += l
	}
	if lines > array.Size(s.out)/16 && lines > 1<<10 { // a table would be larger than the result
		return nil
	}
	for i, x := range s.matrix {
		if x != 0 && i/n != i%n {
			return nil
		}
	}
	out := make([][]knot, n)
	for a := range out {
		out[a] = make([]knot, s.out[a])
		for i := range out[a] {
			s.knot(&out[a][i], a, float64(s.matrix[a*n+a]*float64(i))+s.offset[a], strides[a])
		}
	}
	return out
}

// sampleGrain is the number of results of a piece of work.
const sampleGrain = 1 << 14

// sample writes the spline at places.
func (s sampling) sample(x, places, y []float64) {
	if s.bilinear(x, places, y) {
		return
	}
	outside := s.beyond(0)
	par.Run(len(y), sampleGrain, 0, func(_, begin, end int) {
		s.knots(places, begin, end, func(i int, k []*knot) {
			for a := range k {
				if !k[a].inside {
					y[i] = outside
					return
				}
			}
			y[i] = s.value(x, k, 0)
		})
	})
}

// beyond is the value of an array of cval by the axes from one on: 0 if there is a derivative among them.
func (s *sampling) beyond(axis int) float64 {
	if slices.Max(append([]int{0}, s.slopes[axis:]...)) > 0 {
		return 0
	}
	return s.cval
}

// value is the sum of coefficients of an outer product of knots.
func (s *sampling) value(x []float64, k []*knot, base int) float64 {
	if len(k) == 2 && s.mode != GridConstant {
		return planar(x[base:], k[0], k[1], s.order)
	}
	sum := 0.0
	for i := range s.order + 1 {
		at := k[0].at[i]
		var v float64
		switch {
		case at < 0:
			v = s.beyond(len(s.in) - len(k) + 1)
		case len(k) == 1:
			v = x[base+at]
		default:
			v = s.value(x, k[1:], base+at)
		}
		sum += float64(k[0].weight[i] * v)
	}
	return sum
}

// planar is value along two axes, whose coefficients are all in the array.
func planar(x []float64, a, b *knot, order int) float64 {
	if order == 1 {
		i, j := a.at[0], a.at[1]
		u, v := b.at[0], b.at[1]
		p := float64(b.weight[0]*x[i+u]) + float64(b.weight[1]*x[i+v])
		q := float64(b.weight[0]*x[j+u]) + float64(b.weight[1]*x[j+v])
		return float64(a.weight[0]*p) + float64(a.weight[1]*q)
	}
	sum := 0.0
	at, weight := b.at[:order+1], b.weight[:order+1]
	for i := range order + 1 {
		row, line := 0.0, x[a.at[i]:]
		for j, w := range weight {
			row += float64(w * line[at[j]])
		}
		sum += float64(a.weight[i] * row)
	}
	return sum
}

// spread adds values to the coefficients that they are computed from, in the order of values.
func (s sampling) spread(x, places, y []float64) {
	clear(y)
	s.knots(places, 0, len(x), func(i int, k []*knot) {
		for a := range k {
			if !k[a].inside {
				return
			}
		}
		s.add(y, k, 0, x[i])
	})
}

func (s *sampling) add(y []float64, k []*knot, base int, v float64) {
	for i := range s.order + 1 {
		switch at := k[0].at[i]; {
		case at < 0:
		case len(k) == 1:
			y[base+at] += float64(k[0].weight[i] * v)
		default:
			s.add(y, k[1:], base+at, float64(k[0].weight[i]*v))
		}
	}
}
