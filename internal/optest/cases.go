package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Case is one application of an operation.
type Case struct {
	Def   *op.Def
	X     []*Array
	Attrs ir.Attrs
	// Result is which result of an operation with several is meant.
	Result int
	// Symmetric says that the first argument's matrices are taken to be symmetric.
	Symmetric bool
}

// newCase returns a case; nil attributes stand for the Def's own.
func newCase(d *op.Def, a ir.Attrs, x ...*Array) Case {
	if a == nil {
		a = d.Attrs
	}
	return Case{Def: d, X: x, Attrs: a}
}

func (c *Case) String() string {
	s := c.Def.Name + "("
	for i, x := range c.X {
		if i > 0 {
			s += ", "
		}
		s += array.TypeString(x.DType, x.Shape)
	}
	return s + fmt.Sprintf(") %+v", c.Attrs)
}

// results is the number of results of an operation with attributes.
func results(d *op.Def, a ir.Attrs) int {
	switch a := a.(type) {
	case op.Body:
		return len(a.Results())
	case op.Looping:
		n := 2*a.Carries + a.Kept()
		if a.Until {
			n++
		}
		return n
	case op.Branches:
		return len(a.Then.Results)
	}
	return max(d.Results, 1)
}

// Elements that make operations fail, by kind.
var (
	specialFloats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, 3, -7, math.Pi, 1e-3, 88.8, -104, 800, 1e30, -1e30,
		math.Inf(1), math.Inf(-1), math.NaN(), 0x1p-126, 0x1p-149, -0x1p-130, math.MaxFloat32, -math.MaxFloat32, 2147483648, -2147483649, 1 << 24, 16777217}
	specialWide = []float64{0x1p-1022, 5e-324, math.MaxFloat64, -math.MaxFloat64, 1e300, 0x1p63, -0x1p63, 1<<53 + 2}
	specialInts = map[array.DType][]int64{
		array.Bool:   {0, 1},
		array.Uint8:  {0, 1, 2, 3, 7, 128, 200, 255},
		array.Int8:   {0, 1, -1, 2, -2, 3, 7, -7, 31, 100, math.MaxInt8, math.MinInt8, math.MinInt8 + 1},
		array.Int16:  {0, 1, -1, 2, -2, 3, 7, -7, 31, 200, math.MaxInt16, math.MinInt16, math.MinInt16 + 1},
		array.Uint16: {0, 1, 2, 3, 7, 255, 256, 32767, 32768, 40000, 65535},
		array.Uint32: {0, 1, 2, 3, 7, 1 << 24, 1<<24 + 1, math.MaxInt32, 1 << 31, 3_000_000_000, math.MaxUint32},
		array.Uint64: {0, 1, 2, 3, 7, math.MaxUint32, 1<<53 + 1, math.MaxInt64, math.MinInt64, -5_000_000_000_000_000_000, -1025, -1},
		array.Int32:  {0, 1, -1, 2, -2, 3, 7, -7, 31, 100, math.MaxInt32, math.MinInt32, math.MinInt32 + 1},
		array.Int64:  {0, 1, -1, 2, -2, 3, 7, -7, 63, 100, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1<<53 + 1},
	}
)

// specials returns the extreme elements of a type along one axis of a shape.
func specials(d array.DType, shape func(n int) []int) *Array {
	if !d.Float() {
		v := specialInts[d]
		return &Array{DType: d, Shape: shape(len(v)), I: v}
	}
	v := specialFloats
	if d == array.Float64 {
		v = append(append([]float64(nil), v...), specialWide...)
	}
	a := &Array{DType: d, Shape: shape(len(v))}
	for _, f := range v {
		a.F = append(a.F, roundTo(d, f))
	}
	return a
}

// Random returns elements drawn from a range, integers from the small ones in
// it, or from 0 to max-1 if max is not 0.
func Random(r *rand.Rand, d array.DType, shape []int, domain [2]float64, maximum int) *Array {
	if domain[0] == domain[1] {
		domain = [2]float64{-3, 3}
	}
	a := New(d, shape)
	for i := range a.cells() {
		v := r.Int64N(19) - 9
		if d.Unsigned() {
			v = r.Int64N(20)
		}
		if d == array.Bool {
			v &= 1
		}
		if maximum > 0 {
			v = r.Int64N(int64(maximum))
		}
		a.set(i, domain[0]+(domain[1]-domain[0])*r.Float64(), v)
	}
	return a
}

// pointShapes are shapes of the arguments of elementwise operations, by arity.
var pointShapes = map[int][][][]int{
	1: {{{133}}, {{5, 7}}, {{}}, {{0, 3}}, {{2, 3, 4}}, {{1}}, {{2, 2, 2, 1, 2, 2, 2, 2, 2, 2}}},
	2: {{{133}, {133}}, {{5, 7}, {5, 7}}, {{5, 7}, {7}}, {{5, 7}, {5, 1}}, {{5, 7}, {}}, {{}, {5, 7}}, {{1, 7}, {5, 1}}, {{}, {}}, {{0, 3}, {3}}, {{3, 0}, {3, 1}}, {{2, 3, 4}, {3, 1}}, {{2, 2, 2, 2, 2, 2, 2, 2, 2}, {2, 1, 2, 1, 2, 1, 2, 2}}},
	3: {{{4, 5}, {5}, {4, 1}}, {{19}, {}, {}}, {{3, 2}, {3, 2}, {3, 2}}},
}

// only are the element types of operations that other operations convert for.
var only = map[string]func(d array.DType) bool{
	"reduce_all": isBool, "reduce_any": isBool,
	"reduce_sum": notBool, "reduce_prod": notBool, "reduce_min": notBool, "reduce_max": notBool,
	"matmul2": array.DType.Float, "conv2d_core": array.DType.Float, "conv2d_input": array.DType.Float, "conv2d_weight": array.DType.Float,
	"max_pool2d": array.DType.Float, "avg_pool2d": array.DType.Float,
	"max_pool2d_place": array.DType.Float, "max_pool2d_pick": array.DType.Float,
	"window_mean": array.DType.Float, "window_spread": array.DType.Float,
	"segment_reduce_all": isBool, "segment_reduce_any": isBool,
	"segment_reduce_sum": notBool, "segment_reduce_prod": notBool, "segment_reduce_min": notBool, "segment_reduce_max": notBool,
	"cholesky": array.DType.Float, "solve_triangular": array.DType.Float, "lu_factor": array.DType.Float, "solve": array.DType.Float, "qr": array.DType.Float, "qr_triangle": array.DType.Float,
	"rfft": array.DType.Float, "dct": array.DType.Float,
	"lfilter": array.DType.Float, "sosfilt": array.DType.Float, "correlate1d": array.DType.Float,
	"scan_sum": isWide, "scan_prod": isWide, "recurrence": func(d array.DType) bool { return isWide(d) && d.Float() },
}

func isBool(d array.DType) bool  { return d == array.Bool }
func notBool(d array.DType) bool { return d != array.Bool }

// isWide are the types in which running results are computed.
func isWide(d array.DType) bool { return d.Float() && d.Size() > 2 || d.Integer() && d.Size() == 8 }

// elementwise reports an operation without parameters of its own.
func elementwise(d *op.Def) bool {
	return d.Class == op.Pointwise && d.Rule != op.Keep || d.Name == "rsqrt"
}

// drawn are the arguments of a sample, of type t where it does not say.
func drawn(r *rand.Rand, d *op.Def, s op.Sample, t array.DType) []*Array {
	x := make([]*Array, len(s.Shapes))
	for i, shape := range s.Shapes {
		of, most, offsets := t, s.Max, s.Ascending && i == len(x)-1
		switch {
		case s.DTypes != nil:
			of = s.DTypes[i]
		case offsets:
			of = array.Int64
		}
		if s.Ascending && !offsets && !s.Inside {
			most = 0
		}
		x[i] = Random(r, of, shape, d.DomainOf(i), most)
		if s.Fit != nil && x[i].F != nil {
			s.Fit(i, shape, x[i].F)
			for k, v := range x[i].F {
				x[i].F[k] = roundTo(of, v)
			}
		}
		if offsets {
			slices.Sort(x[i].I)
		}
	}
	return x
}

// Cases returns the applications of d that the suite tries.
func Cases(d *op.Def) []Case {
	m := &caseMaker{d: d, r: rand.New(rand.NewPCG(1, uint64(len(d.Name))))}
	samples := d.Samples
	switch {
	case d.Name == "iota":
		samples = []op.Sample{{Shapes: [][]int{{5, 7}}}, {Shapes: [][]int{{5, 7}}, Attrs: op.Axis(1)}, {Shapes: [][]int{{0, 7}}, Attrs: op.Axis(1)}}
	case elementwise(d):
		m.elementwise()
	}
	m.samples(samples)
	m.byName()
	if d.Over == op.AnyAxes || d.Over == op.OneAxis {
		m.reductions()
	}
	return m.out
}

// A caseMaker makes the cases of an operation, with random numbers in the order in which they
// are made.
type caseMaker struct {
	d   *op.Def
	r   *rand.Rand
	out []Case
}

// add adds a case for each result.
func (m *caseMaker) add(a ir.Attrs, x ...*Array) {
	for i := range results(m.d, a) {
		c := newCase(m.d, a, x...)
		c.Result = i
		m.out = append(m.out, c)
	}
}

// random adds a case of random arguments, up to maximum where that is not 0.
func (m *caseMaker) random(a ir.Attrs, shapes [][]int, types []array.DType, maximum int) {
	x := make([]*Array, len(shapes))
	for i, s := range shapes {
		x[i] = Random(m.r, types[i], s, m.d.Domain, maximum)
	}
	m.add(a, x...)
}

// elementwise adds cases of an elementwise operation: special values of each type, shapes that
// are broadcast, types that are mixed.
func (m *caseMaker) elementwise() {
	attrs := []ir.Attrs{nil}
	if m.d.Name == "powint" {
		attrs = []ir.Attrs{op.Power(0), op.Power(1), op.Power(2), op.Power(7), op.Power(10), op.Power(64)}
	}
	for _, t := range realTypes() {
		types := []array.DType{t, t, t}
		for _, s := range pointShapes[m.d.Arity] {
			m.random(attrs[len(attrs)-1], s, types, 0)
		}
		for _, a := range attrs {
			row := specials(t, func(n int) []int { return []int{n} })
			if m.d.Arity == 1 {
				m.add(a, row)
			} else {
				col := specials(t, func(n int) []int { return []int{n, 1} })
				x := []*Array{row, col}
				if m.d.Arity == 3 {
					x = append(x, specials(t, func(n int) []int { return []int{n, 1, 1} }))
				}
				m.add(a, x...)
			}
		}
	}
	if m.d.Arity == 2 {
		for _, t := range realTypes() {
			for _, u := range realTypes() {
				if t != u {
					m.random(nil, [][]int{{5, 7}, {7}}, []array.DType{t, u}, 0)
					m.random(nil, [][]int{{5, 7}, {}}, []array.DType{t, u}, 0)
				}
			}
		}
	}
	if m.d.Name == "powint" {
		for _, t := range []array.DType{array.Float32, array.Float64} {
			m.add(op.Power(-3), specials(t, func(n int) []int { return []int{n} }))
		}
	}
}

// samples adds the samples of an operation, for each type that it takes.
func (m *caseMaker) samples(samples []op.Sample) {
	accepts := only[m.d.Name]
	if accepts == nil {
		accepts = func(array.DType) bool { return true }
	}
	for _, s := range samples {
		if s.DTypes != nil {
			m.add(s.Attrs, drawn(m.r, m.d, s, array.Invalid)...)
			continue
		}
		for _, t := range realTypes() {
			if accepts(t) {
				m.add(s.Attrs, drawn(m.r, m.d, s, t)...)
			}
		}
	}
}

// byName adds cases of operations that have arguments of their own.
func (m *caseMaker) byName() {
	switch m.d.Name {
	case "kernel":
		for _, k := range kernelCases() {
			m.random(k.body, k.shapes, k.types(), k.max)
		}
	case "loop", "branch":
		for _, k := range controlCases() {
			if k.def == m.d {
				m.random(k.attrs, k.shapes, k.types, 0)
			}
		}
	case "where", "select":
		for _, t := range realTypes() {
			for _, s := range pointShapes[3] {
				m.random(nil, s, []array.DType{array.Bool, t, t}, 0)
			}
		}
	case "cast":
		for _, from := range realTypes() {
			for _, to := range realTypes() {
				m.add(op.To(to), specials(from, func(n int) []int { return []int{n} }))
				m.random(op.To(to), [][]int{{67}}, []array.DType{from}, 0)
			}
		}
	}
}

// reductions adds NaN, infinities, axes of no elements, and long ones.
func (m *caseMaker) reductions() {
	spread := m.d == op.Var || m.d == op.Std
	for _, t := range realTypes() {
		if t.Float() {
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				if spread {
					continue // NaN by way of Inf - Inf
				}
				x := Random(m.r, t, []int{3, 70}, m.d.Domain, 0)
				x.F[75] = v
				m.add(op.Reduction{Axes: []int{1}}, x)
			}
		}
		for _, s := range [][]int{{0}, {0, 3}, {3, 0}} {
			if !spread && m.d != op.Mean {
				m.random(op.Reduction{Axes: []int{0}}, [][]int{s}, []array.DType{t}, 0)
			}
		}
		m.random(op.Reduction{Axes: []int{-1}}, [][]int{{3, 4200}}, []array.DType{t}, 0)
		m.random(op.Reduction{Axes: []int{0}}, [][]int{{131, 19}}, []array.DType{t}, 0)
	}
}
