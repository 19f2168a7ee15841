package kernel

import (
	"math"
	"reflect"
	"slices"

	"weft"
	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/gokernel"
	"weft/internal/ir"
	"weft/internal/op"
)

// StencilOpts are the options of [Func.Stencil], given behind its arguments.
type StencilOpts struct {
	Border Border
	// BorderFunc, if not nil, is used instead of Border: it returns the index that is read
	// for index i, which lies outside, of an axis of n elements.
	BorderFunc func(i, n int) int
	// Cval is the value of Constant and Fill, a Go number; nil means 0, or, for Constant
	// with Out, that results there stay as they are. It is converted to the type of the
	// results, which must hold it: of 7.9 an integer keeps 7.
	Cval any
	// Neighborhood gives the least and the greatest offset of each axis that the kernel
	// reads. It is needed where offsets are not constant, and found otherwise: the offsets
	// of all reads that the function has, also of those that no element makes, and 0. A
	// constant offset outside is an error; others are moved to the nearest inside.
	Neighborhood [][2]int
	// Step computes every Step-th element of each axis alone; nil means 1.
	Step []int
	// Out, if not nil, are tensors that receive the results. No gradient is recorded.
	Out []*weft.Tensor
	// Generator gives the random numbers of kernel.Elem; nil means weft.DefaultGenerator.
	Generator *weft.Generator
}

// Stencil computes the function for every element of its first argument and returns its one
// result. The function reads the neighbourhood of that element. Further neighbourhoods
// are of arrays with as many axes that are nowhere shorter; scalar parameters take Go
// numbers and tensors that broadcast to the first argument. A [StencilOpts] may stand
// behind the arguments.
//
// The rules are Numba's for @stencil unless an option says otherwise: an element that
// reads beyond the array is part of the border, where results are Cval.
// Borders that read elements are copies: one of more than 64 times the elements of the array
// and 2^22 is an error.
func (f *Func) Stencil(args ...any) *weft.Tensor {
	f.check()
	if n := len(f.f.Results()); n != 1 {
		array.Failf(f.f.Name(), "", "has %d results: StencilAll returns them", n)
	}
	return f.StencilAll(args...)[0]
}

// StencilAll is [Func.Stencil] for functions with any number of results.
func (f *Func) StencilAll(args ...any) []*weft.Tensor {
	f.check()
	s := f.stencil(args)
	return s.into(s.opts.Out)
}

// into computes the results, into dst if there are any, which may be memory that is read.
func (s *stencil) into(dst []*weft.Tensor) []*weft.Tensor {
	for _, t := range dst {
		for _, a := range s.as {
			if t == nil || a.t == nil {
				continue
			}
			if (*core.Tensor)(t).Layout().Overlaps((*core.Tensor)(a.t).Layout()) {
				apart := make([]*weft.Tensor, len(dst))
				for i, t := range dst {
					apart[i] = t.Clone()
				}
				for i, y := range s.run(apart) {
					dst[i].Assign(y)
				}
				return dst
			}
		}
	}
	return s.run(dst)
}

// A stencil is a call of one.
type stencil struct {
	f      *Func
	name   string
	opts   StencilOpts
	as     []argument
	in     *gokernel.Instance
	near   []int // the arguments that are neighbourhoods
	shape  []int // of the first
	lo, hi []int // the neighbourhood: lo <= 0 <= hi unless it is given
	step   []int
	random bool // seed and draw are arguments
	seed   core.Operand
	draw   core.Operand
	costs  *device.Costs // of the tensors' device, of those that Iterate runs
}

func (f *Func) stencil(args []any) *stencil {
	s := &stencil{f: f, name: f.f.Name()}
	if n := len(args) - 1; n >= 0 {
		switch o := args[n].(type) {
		case StencilOpts:
			s.opts, args = o, args[:n]
		case *StencilOpts:
			if o != nil {
				s.opts = *o
			}
			args = args[:n]
		}
	}
	s.as = f.arguments(nil, args)
	for i, a := range s.as {
		if a.p.Role == gokernel.Near {
			s.near = append(s.near, i)
		}
	}
	if len(s.near) == 0 || s.near[0] != 0 {
		array.Failf(s.name, "", "is not a stencil: its first parameter is not a neighbourhood (kernel.Near1 to Near6)")
	}
	s.shape = (*core.Tensor)(s.as[0].t).Sizes()
	for _, i := range s.near[1:] {
		a := s.as[i]
		shape := (*core.Tensor)(a.t).Sizes()
		if len(shape) != len(s.shape) {
			array.Failf(s.name, a.p.Name, "has %d axes, the first neighbourhood %d", len(shape), len(s.shape))
		}
		for k, n := range shape {
			if n < s.shape[k] {
				array.Failf(s.name, a.p.Name, "of shape %v is shorter than the first neighbourhood, of shape %v, along axis %d", shape, s.shape, k)
			}
		}
	}
	s.in = f.instance(s.as)
	s.steps()
	s.reach()
	if s.opts.Border > Valid {
		array.Failf(s.name, "Border", "is %s", s.opts.Border)
	}
	s.cval()
	if s.random = takesRandom(s.in); s.random {
		s.seed, s.draw = state(s.opts.Generator)
	}
	return s
}

// reach finds the neighbourhood.
func (s *stencil) reach() {
	rank := len(s.shape)
	if n := s.opts.Neighborhood; n != nil {
		if len(n) != rank {
			array.Failf(s.name, "Neighborhood", "has %d axes, the first neighbourhood %d", len(n), rank)
		}
		for k, r := range n {
			if r[0] > r[1] || r[0] < -maxReach || r[1] > maxReach {
				array.Failf(s.name, "Neighborhood", "runs from %d to %d along axis %d", r[0], r[1], k)
			}
		}
	}
	stepped := !slices.Equal(s.step, slices.Repeat([]int{1}, rank))
	for _, o := range s.in.Loads() {
		if !o.Constant && stepped {
			array.Failf(s.name, "Step", "is for constant offsets; those at which %s is read are not", s.f.f.Params()[o.Param].Name)
		}
	}
	s.lo, s.hi = s.f.extent(s.in, rank, s.opts.Neighborhood)
}

// Neighborhood returns the least and the greatest offset of each axis that the stencil reads,
// as [StencilOpts] describes them. It panics with a *weft.Error if the function is not a stencil,
// or if it reads at offsets that are not constant, so that a call needs StencilOpts.Neighborhood.
// Offsets do not depend on type parameters.
func (f *Func) Neighborhood() [][2]int {
	f.check()
	name := f.f.Name()
	if !f.IsStencil() {
		array.Failf(name, "", "is not a stencil: its first parameter is not a neighbourhood (kernel.Near1 to Near6)")
	}
	var in *gokernel.Instance
	var err error
	for _, d := range []array.DType{array.Float32, array.Float64, array.Int64, array.Int32, array.Int16, array.Int8, array.Uint64, array.Uint32, array.Uint16, array.Uint8, array.Complex128, array.Complex64, array.Bool} {
		var dtypes []array.DType
		for _, p := range f.taken {
			if p.TypeParam >= 0 {
				dtypes = append(dtypes, d)
			} else {
				dtypes = append(dtypes, p.DType)
			}
		}
		if in, err = f.f.Instantiate(dtypes); err == nil {
			break
		}
	}
	if err != nil {
		fail(name, err)
	}
	lo, hi := f.extent(in, f.taken[0].Rank, nil)
	out := make([][2]int, len(lo))
	for k := range lo {
		out[k] = [2]int{lo[k], hi[k]}
	}
	return out
}

// extent returns the neighbourhood of a stencil of that rank: the union of all offsets and 0, or
// what is given, which must have all offsets.
func (f *Func) extent(in *gokernel.Instance, rank int, given [][2]int) (lo, hi []int) {
	name := f.f.Name()
	lo, hi = make([]int, rank), make([]int, rank)
	for k, r := range given {
		lo[k], hi[k] = r[0], r[1]
	}
	widen := func(param string, low, high []int) {
		for k := range low {
			if low[k] < -maxReach || high[k] > maxReach {
				array.Failf(name, param, "is read at offsets from %d to %d", low[k], high[k])
			}
			lo[k], hi[k] = min(lo[k], low[k]), max(hi[k], high[k])
		}
	}
	read := false
	for _, o := range in.Loads() {
		param := f.f.Params()[o.Param].Name
		if !o.Constant {
			read = true
			switch {
			case given != nil:
				for k := range o.Low {
					if o.Low[k] < lo[k] || o.High[k] > hi[k] {
						array.Failf(name, "Neighborhood", "runs from %d to %d along axis %d, %s is read at offsets from %d to %d", lo[k], hi[k], k, param, o.Low[k], o.High[k])
					}
				}
			case o.Open || o.Low == nil:
				array.Failf(name, "Neighborhood", "is needed: the offsets at which %s is read are not constant", param)
			default:
				widen(param, o.Low, o.High)
			}
		}
		for _, d := range o.At {
			read = true
			if given == nil {
				widen(param, d, d)
				continue
			}
			for k, i := range d {
				if i < lo[k] || i > hi[k] {
					array.Failf(name, "Neighborhood", "does not have offset %d along axis %d, at which %s is read", i, k, param)
				}
			}
		}
	}
	if !read {
		array.Failf(name, "", "reads no neighbourhood")
	}
	for k := range lo { // as Numba's: elements before the first that reads stay inside
		lo[k], hi[k] = min(lo[k], 0), max(hi[k], 0)
	}
	return lo, hi
}

// maxReach bounds offsets, so that sums of them and of lengths do not overflow.
const maxReach = 1 << 40

func (s *stencil) steps() {
	s.step = make([]int, len(s.shape))
	for k := range s.step {
		s.step[k] = 1
	}
	if s.opts.Step == nil {
		return
	}
	if len(s.opts.Step) != len(s.shape) {
		array.Failf(s.name, "Step", "has %d axes, the first neighbourhood %d", len(s.opts.Step), len(s.shape))
	}
	for k, n := range s.opts.Step {
		if n < 1 {
			array.Failf(s.name, "Step", "is %d along axis %d", n, k)
		}
		s.step[k] = n
	}
}

// cval checks that the value of the border is one of every result's type, and, where it is
// read, of every neighbourhood's.
func (s *stencil) cval() {
	if s.opts.Cval == nil {
		return
	}
	d := numberDType(s.opts.Cval)
	if d == array.Invalid {
		array.Failf(s.name, "Cval", "is a %T, not a Go number", s.opts.Cval)
	}
	check := func(what string, r array.DType) {
		if d.Complex() && !r.Complex() {
			array.Failf(s.name, "Cval", "is complex, %s is %s", what, r)
		}
		if x := s.fill(r); r.Integer() && (numberDType(x).Float() || weft.Try(func() { weft.ScalarOf(r, x) }) != nil) {
			array.Failf(s.name, "Cval", "is %v, which %s does not hold", s.opts.Cval, r)
		}
	}
	for _, r := range s.in.Returns() {
		check("the result", r)
	}
	if s.opts.Border == Fill && s.opts.BorderFunc == nil {
		for _, i := range s.near {
			check(s.as[i].p.Name, s.as[i].dtype)
		}
	}
}

// fill is the value of the border as an element of type d: of a float an integer keeps
// what stands before the point, and bool whether it is 0, as conversions do.
func (s *stencil) fill(d array.DType) any {
	switch {
	case s.opts.Cval == nil:
		return 0
	case d == array.Bool:
		return complexOf(s.opts.Cval) != 0
	case d.Integer() && numberDType(s.opts.Cval).Float():
		switch x := math.Trunc(real(complexOf(s.opts.Cval))); {
		case x >= -0x1p63 && x < 0x1p63:
			return int64(x)
		case x >= 0 && x < 0x1p64:
			return uint64(x)
		}
	}
	return s.opts.Cval
}

// complexOf is a Go number as a complex one.
func complexOf(x any) complex128 {
	switch x := x.(type) {
	case half.Float16:
		return complex(float64(x.Float32()), 0)
	case half.BFloat16:
		return complex(float64(x.Float32()), 0)
	}
	switch v := reflect.ValueOf(x); {
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.CanInt():
		return complex(float64(v.Int()), 0)
	case v.CanUint():
		return complex(float64(v.Uint()), 0)
	case v.CanFloat():
		return complex(v.Float(), 0)
	case v.CanComplex():
		return v.Complex()
	}
	return 0
}

// A box is the range [lo, hi) of places of the first argument along each axis. The stencil
// computes every step-th of them.
type box struct{ lo, hi []int }

func (b box) empty() bool {
	for k := range b.lo {
		if b.lo[k] >= b.hi[k] {
			return true
		}
	}
	return false
}

// interior returns the places whose whole neighbourhood lies inside.
func (s *stencil) interior() box {
	b := box{make([]int, len(s.shape)), make([]int, len(s.shape))}
	for k, n := range s.shape {
		b.lo[k] = -s.lo[k]
		b.hi[k] = max(n-s.hi[k], b.lo[k])
		if b.lo[k] > n {
			b.lo[k], b.hi[k] = n, n
		}
	}
	return b
}

// places returns the box of results for places of b, rounded to steps counted from first.
func (s *stencil) places(b box, first []int) box {
	p := box{make([]int, len(b.lo)), make([]int, len(b.lo))}
	for k := range b.lo {
		up := func(i int) int { return (i - first[k] + s.step[k] - 1) / s.step[k] }
		p.lo[k], p.hi[k] = up(b.lo[k]), up(b.hi[k])
	}
	return p
}

// run computes the results, into dst if there are any.
func (s *stencil) run(dst []*weft.Tensor) []*weft.Tensor {
	inner := s.interior()
	first := make([]int, len(s.shape))
	all := box{first, s.shape}
	if s.opts.Border == Valid && s.opts.BorderFunc == nil {
		first, all = inner.lo, inner
	}
	whole := s.places(all, first)
	s.checkOut(dst, whole.hi)
	reads := s.opts.BorderFunc != nil || s.opts.Border != Constant && s.opts.Border != Valid
	if whole.empty() {
		return s.filled(dst, whole.hi)
	}
	at := func(b box) box { // the places that are computed
		p := s.places(b, first)
		for k := range p.lo {
			p.lo[k], p.hi[k] = first[k]+p.lo[k]*s.step[k], first[k]+p.hi[k]*s.step[k]
		}
		return p
	}
	if !reads && s.opts.Border == Valid || inner.equal(all) {
		return s.launch(dst, at(all))
	}
	if dst == nil && s.recorded() {
		if reads {
			return s.launch(nil, at(all))
		}
		inside := at(inner)
		if inside.empty() {
			return s.filledWith(whole.hi)
		}
		return s.padded(s.launch(nil, inside), s.places(inner, first), whole.hi)
	}
	fresh := dst == nil
	if fresh {
		for _, d := range s.in.Returns() {
			dst = append(dst, (*weft.Tensor)(core.Make((*core.Tensor)(s.as[0].t).View().Store.Device, d, whole.hi)))
		}
	}
	s.write(dst, inner, all, first, at, reads, fresh || s.opts.Cval != nil)
	return dst
}

// write computes the places of all into dst: inner without a look beyond the array, the
// places around it by the border. A border that is a value is written only if fill says so.
func (s *stencil) write(dst []*weft.Tensor, inner, all box, first []int, at func(box) box, reads, fill bool) {
	windows := func(p box) []*weft.Tensor {
		out := make([]*weft.Tensor, len(dst))
		spans := make([]weft.Span, len(p.lo))
		for k := range spans {
			spans[k] = weft.Range(p.lo[k], p.hi[k])
		}
		for i, t := range dst {
			out[i] = t.Slice(spans...)
		}
		return out
	}
	compute := func(b box) {
		if b = at(b); !b.empty() {
			s.launch(windows(s.places(b, first)), b)
		}
	}
	inner = inner.within(all)
	compute(inner)
	if inner.equal(all) {
		return
	}
	// What surrounds it: along each axis what lies before and behind, of the rest.
	rest := box{slices.Clone(all.lo), slices.Clone(all.hi)}
	for k := range s.shape {
		for _, side := range [2][2]int{{rest.lo[k], inner.lo[k]}, {inner.hi[k], rest.hi[k]}} {
			b := box{slices.Clone(rest.lo), slices.Clone(rest.hi)}
			b.lo[k], b.hi[k] = side[0], min(max(side[1], side[0]), rest.hi[k])
			switch {
			case b.empty():
			case reads:
				compute(b)
			case fill:
				for _, t := range windows(s.places(b, first)) {
					t.Fill(s.fill(t.DType()))
				}
			}
		}
		rest.lo[k], rest.hi[k] = inner.lo[k], inner.hi[k]
	}
}

// within is what b and c share.
func (b box) within(c box) box {
	d := box{make([]int, len(b.lo)), make([]int, len(b.lo))}
	for k := range b.lo {
		d.lo[k] = min(max(b.lo[k], c.lo[k]), c.hi[k])
		d.hi[k] = max(min(b.hi[k], c.hi[k]), d.lo[k])
	}
	return d
}

func (b box) equal(c box) bool { return slices.Equal(b.lo, c.lo) && slices.Equal(b.hi, c.hi) }

// recorded reports an argument whose gradient is wanted.
func (s *stencil) recorded() bool {
	for _, a := range s.as {
		if a.t != nil && (*core.Tensor)(a.t).Recorded() {
			return true
		}
	}
	return false
}

func (s *stencil) checkOut(dst []*weft.Tensor, shape []int) {
	results := s.in.Returns()
	if dst == nil {
		return
	}
	if len(dst) != len(results) {
		array.Failf(s.name, "Out", "has %d tensors for %d results", len(dst), len(results))
	}
	for i, t := range dst {
		if !slices.Equal((*core.Tensor)(t).Sizes(), shape) || t.DType() != results[i] {
			array.Failf(s.name, "Out", "%d is %s of shape %v, the result %s of shape %v", i, t.DType(), t.Shape(), results[i], shape)
		}
	}
}

// filled returns results that are border all over.
func (s *stencil) filled(dst []*weft.Tensor, shape []int) []*weft.Tensor {
	if dst != nil {
		return dst
	}
	return s.filledWith(shape)
}

func (s *stencil) filledWith(shape []int) []*weft.Tensor {
	var out []*weft.Tensor
	for _, d := range s.in.Returns() {
		y := s.as[0].t.Device().FullOf(d, s.fill(d), shape...)
		for _, a := range s.as {
			if a.t != nil && a.t.RequiresGrad() && (d.Float() || d.Complex()) && a.t.DType() == d {
				y = y.Add(a.t.Flatten(0).Slice(weft.Range(0, 0)).Sum()) // 0, with a gradient of zeros
			}
		}
		out = append(out, y)
	}
	return out
}

// padded puts a border of the fill around results.
func (s *stencil) padded(ys []*weft.Tensor, at box, shape []int) []*weft.Tensor {
	var pads []int
	for k := range shape {
		pads = append(pads, at.lo[k], shape[k]-at.hi[k])
	}
	for i, y := range ys {
		ys[i] = pad(y, pads, s.fill(y.DType()))
	}
	return ys
}

// pad is Tensor.Pad by any Go number.
func pad(x *weft.Tensor, pads []int, fill any) *weft.Tensor {
	c := complexOf(fill)
	if d := x.DType(); d.Integer() && math.Abs(real(c)) >= 1<<53 { // which Pad may round
		shape, in := x.Shape(), make([]weft.Span, x.Rank())
		for i, n := range shape {
			in[i] = weft.Range(pads[2*i], pads[2*i]+n)
			shape[i] += pads[2*i] + pads[2*i+1]
		}
		y := x.Device().FullOf(d, fill, shape...)
		y.Slice(in...).Assign(x)
		return y
	}
	if imag(c) != 0 {
		return weft.Complex(x.Real().Pad(real(c), pads...), x.Imag().Pad(imag(c), pads...))
	}
	return x.Pad(real(c), pads...)
}

// launch computes the places of b, whose bounds are multiples of the steps apart.
func (s *stencil) launch(dst []*weft.Tensor, b box) []*weft.Tensor {
	r, xs := s.prepare(b)
	return r.run(dst, xs)
}

// prepare returns what computes the places of b, and its arguments.
func (s *stencil) prepare(b box) (*runner, []any) {
	rank := len(s.shape)
	lo, hi := make([]int, rank), make([]int, rank)
	for k := range lo {
		lo[k], hi[k] = b.lo[k]+s.lo[k], b.hi[k]-s.step[k]+1+s.hi[k]
	}
	e := edge{s.name, s.opts.Border, s.opts.BorderFunc, s.fill}
	xs := make([]any, len(s.as), len(s.as)+2*rank+2)
	for i, a := range s.as {
		switch {
		case a.p.Role == gokernel.Near:
			xs[i] = e.part(a.t, s.shape, lo, hi)
		case a.p.Role == gokernel.Scalar && a.t != nil && a.t.Rank() > 0:
			xs[i] = s.cut(a, b)
		default:
			xs[i] = a.any()
		}
	}
	var few [64]byte
	k := append(key(few[:0], s.as), 's')
	for i := range s.lo {
		k = ir.Int(ir.Int(ir.Int(k, s.lo[i]), s.hi[i]), s.step[i])
	}
	if s.random {
		xs = append(xs, s.seed, s.draw)
	}
	for _, n := range s.shape {
		k = ir.Int(k, n) // extents are numbers of the graph
	}
	for axis := range rank {
		xs = append(xs, b.lo[axis])
	}
	return s.f.made.get(k, s.runner), xs
}

// cut returns the part of an argument that broadcasts to the first one which belongs to
// the places of b.
func (s *stencil) cut(a argument, b box) *weft.Tensor {
	shape := (*core.Tensor)(a.t).Sizes()
	if !array.Equal(array.Broadcast(s.name, shape, s.shape), s.shape) {
		array.Failf(s.name, a.p.Name, "of shape %v does not broadcast to the first neighbourhood, of shape %v", shape, s.shape)
	}
	spans := make([]weft.Span, len(shape))
	for j, n := range shape {
		k := len(s.shape) - len(shape) + j
		if spans[j] = weft.All; n > 1 {
			spans[j] = weft.Range(b.lo[k], min(b.hi[k], n), s.step[k])
		}
	}
	return a.t.Slice(spans...)
}

// runner composes the function over arrays that are cut to what the results read.
func (s *stencil) runner() *runner {
	in, f := s.in, s.f
	rank := len(s.shape)
	lo, hi, step, extents := s.lo, s.hi, s.step, s.shape
	n := len(s.as)
	b := in.Split()
	if b == nil {
		b = in.Within(lo, hi)
	}
	return newRunner(s.name, func(xs []*ir.Node) []*ir.Node {
		fr := frame{g: xs[0].Graph, args: xs[:n], extents: extents, around: extents, more: xs[n:]}
		fr.shape = make([]int, rank)
		for k := range fr.shape {
			fr.shape[k] = (xs[0].Shape[k]-(hi[k]-lo[k])-1)/step[k] + 1
		}
		first := xs[len(xs)-rank:]
		fr.place = func(axis int, i *ir.Node) *ir.Node {
			if step[axis] != 1 {
				i = op.Apply(op.Mul, nil, i, fr.whole(step[axis]))
			}
			return op.Apply(op.Add, nil, i, op.Convert(first[axis], array.Int64))
		}
		window := func(x *ir.Node, d []int) *ir.Node {
			w := op.Window{Start: make([]int, rank), Step: step, Count: fr.shape}
			for k := range w.Start {
				w.Start[k] = -lo[k]
				if d != nil {
					w.Start[k] += d[k]
				}
			}
			return op.Apply(op.Slice, w, x)
		}
		args := fr.converted(f, in)
		fr.prove(f, b, args)
		var inputs []*ir.Node
		for _, i := range b.Inputs() {
			if i.Kind != gokernel.Argument || i.Role != gokernel.Near {
				inputs = append(inputs, fr.input(i, args))
				continue
			}
			inputs = append(inputs, part(window(args[i.Param], i.At), i.Part))
		}
		return joined(op.ApplyAll(op.Kernel, b, inputs...), in.Returns())
	}, nil)
}
