package ndimage

import (
	"cmp"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
)

// ordered refuses complex numbers, which have no order.
func ordered(name string, x *weft.Tensor) *weft.Tensor {
	if input(name, x).DType().Complex() {
		array.Failf(name, "x", "is %s, whose elements have no order", x.DType())
	}
	return x
}

// A task is a function in Go over whole arrays, as a node of graphs. Key tells it from others.
type task struct {
	key      []byte
	results  []ir.Type
	run      func(args, out []array.View)
	gradient func(v *op.VJP) // nil for a task without one
}

// AppendKey implements ir.Attrs.
func (t *task) AppendKey(k []byte) []byte { return append(k, t.key...) }

// Results implements op.HostFunc.
func (t *task) Results([]ir.Type) []ir.Type { return t.results }

// CallHost implements op.HostFunc.
func (t *task) CallHost(args, out []array.View) error {
	t.run(args, out)
	return nil
}

// Gradient implements op.GradientFunc.
func (t *task) Gradient(v *op.VJP) {
	if t.gradient != nil {
		t.gradient(v)
	}
}

// newTask returns a task; numbers are what its results depend on besides its arguments.
func newTask(name string, results []ir.Type, run func(args, out []array.View), numbers ...[]int) *task {
	key := append([]byte(name), 0)
	for _, r := range results {
		key = ir.Ints(append(key, byte(r.DType)), r.Shape)
	}
	for _, n := range numbers {
		key = ir.Ints(key, n)
	}
	return &task{key: key, results: results, run: run}
}

// apply computes the task.
func (t *task) apply(args ...*weft.Tensor) []*weft.Tensor {
	ops := make([]core.Operand, len(args))
	for i, x := range args {
		ops[i] = core.Of("ndimage", (*core.Tensor)(x))
	}
	return core.Outer[weft.Tensor](core.Call(op.Host, t, nil, ops...))
}

// A ranking is the attribute of the filter by rank.
type ranking struct {
	tapping
	*task
	rank int
}

// AppendKey implements ir.Attrs.
func (r ranking) AppendKey(k []byte) []byte { return r.tapping.AppendKey(r.task.AppendKey(k)) }

// rankDef selects from the windows of an array the element of a rank. Its gradient goes to the elements of the
// window that equal it, in equal parts.
var rankDef = &op.Def{Name: "ndimage.rank", Hash: 0x6a09e667f3bcc908, Class: op.Composite, Arity: 1, Attrs: ranking{},
	Composed: op.Composed{Compose: func(x []*ir.Node, a ir.Attrs) *ir.Node {
		r := a.(ranking)
		if len(r.Starts) <= mostSelected {
			return selected(r.windows(x[0]), r.rank)
		}
		return op.Apply(op.Host, r.task, x[0])
	}},
	Derivative: op.Derivative{VJP: func(v *op.VJP) {
		v.Set(0, func() *ir.Node {
			var chosen, count *ir.Node
			zero := v.Y.Graph.Number(0, v.Y.DType, false)
			one := v.Y.Graph.Number(1, v.Y.DType, false)
			for _, w := range v.Node.Attrs.(ranking).windows(v.X[0]) {
				equal := op.Apply(op.Eq, nil, w, v.Y)
				c, n := op.Apply(op.Where, nil, equal, w, zero), op.Apply(op.Where, nil, equal, one, zero)
				if chosen != nil {
					c, n = op.Apply(op.Add, nil, chosen, c), op.Apply(op.Add, nil, count, n)
				}
				chosen, count = c, n
			}
			return op.Gradient([]*ir.Node{chosen}, []*ir.Node{op.Apply(op.Div, nil, v.DY, count)}, v.X[:1])[0]
		})
	}}}

// WindowOpts are the options of filters of windows, which are sizes or footprints.
type WindowOpts struct {
	Footprint *weft.Tensor // the elements of the window that count, instead of sizes
	Mode      Mode         // what is read beyond the edges; Reflect if empty
	Modes     []Mode       // a mode for each axis, instead of Mode
	Cval      float64      // the value of Constant
	Origin    []int        // how many elements windows lie before their centre, in each axis; 0 if nil
	Axes      []int        // the axes that are filtered; all if nil
}

// window returns what the options and sizes say.
func (o WindowOpts) window(name string, x *weft.Tensor, size []int, turn bool) (plane, window) {
	p := FilterOpts{o.Mode, o.Modes, o.Cval, o.Origin, o.Axes}.on(name, ordered(name, x).Rank())
	if o.Footprint == nil {
		return p, p.around("size", p.sizes(size), x.Rank(), turn, nil)
	}
	if size != nil {
		array.Failf(name, "size", "is given beside Footprint")
	}
	return p, p.footprint("Footprint", o.Footprint, x.Rank(), turn)
}

// footprint is the window whose elements are the true ones of an array.
func (p plane) footprint(arg string, f *weft.Tensor, rank int, turn bool) window {
	(*core.Tensor)(f).CheckArgument(p.name, arg)
	if f.Rank() != len(p.axes) {
		array.Failf(p.name, arg, "has shape %s, want one axis for each of the %d that are filtered", array.ShapeString(f.Shape()), len(p.axes))
	}
	p, shape, on := p.ascending(), f.Shape(), truths(f)
	if turn { // along every axis: the last element is the first
		slices.Reverse(on)
	}
	w := p.around(arg, shape, rank, turn, func(i int) bool { return on[i] })
	if len(w.at) == 0 {
		array.Failf(p.name, arg, "has no true element")
	}
	return w
}

// RankFilter returns, for each element, the element of a rank of its window in ascending order, from 0 on; negative
// ranks count from the greatest. A window with NaN gives NaN. The gradient goes to the elements equal to the result, in equal parts.
//
// It panics with *[weft.Error] where the window has no such rank.
func RankFilter(x *weft.Tensor, rank int, size []int, opts ...WindowOpts) *weft.Tensor {
	const name = "ndimage.rank_filter"
	defer array.Named(name).End()
	p, w := array.Options(name, opts).window(name, x, size, false)
	n := len(w.at)
	if rank < -n || rank >= n {
		array.Failf(name, "rank", "is %d for windows of %d elements", rank, n)
	}
	return p.ranked(x, w, (rank+n)%n)
}

// MedianFilter returns the medians of windows: of an even number of elements the greater of the two in the middle.
// See [RankFilter].
func MedianFilter(x *weft.Tensor, size []int, opts ...WindowOpts) *weft.Tensor {
	const name = "ndimage.median_filter"
	defer array.Named(name).End()
	p, w := array.Options(name, opts).window(name, x, size, false)
	return p.ranked(x, w, len(w.at)/2)
}

// PercentileFilter returns a percentile of windows, from 0 to 100, or counted from the greatest if negative: the element
// whose rank is that part of the number of elements, rounded down. See [RankFilter].
func PercentileFilter(x *weft.Tensor, percentile float64, size []int, opts ...WindowOpts) *weft.Tensor {
	const name = "ndimage.percentile_filter"
	defer array.Named(name).End()
	p, w := array.Options(name, opts).window(name, x, size, false)
	if percentile < 0 {
		percentile += 100
	}
	if !(percentile >= 0 && percentile <= 100) {
		array.Failf(name, "percentile", "is outside of -100 to 100")
	}
	n := len(w.at)
	return p.ranked(x, w, min(int(float64(n)*percentile/100), n-1))
}

// ranked selects from windows.
func (p plane) ranked(x *weft.Tensor, w window, rank int) *weft.Tensor {
	if x.Size() == 0 || len(w.size) == 0 {
		return x.Clone()
	}
	if rank == 0 {
		return p.extreme(x, w, op.Minimum)
	}
	if rank == len(w.at)-1 {
		return p.extreme(x, w, op.Maximum)
	}
	d := x.DType()
	if d == weft.Float16 || d == weft.BFloat16 {
		return p.ranked(x.To(weft.Float32), w, rank).To(d)
	}
	run := selections[d]
	if run == nil { // bool
		return p.ranked(x.To(weft.Uint8), w, rank).To(d)
	}
	shape := x.Shape()
	t := newTask("rank", []ir.Type{{DType: d, Shape: shape}}, func(args, out []array.View) { run(w, rank, args[0], out[0]) }, w.size, w.at, []int{rank})
	e := p.extended(x, w).Contiguous()
	return (*weft.Tensor)(core.WithAttrs(rankDef, ranking{w.taps(), t, rank}, (*core.Tensor)(e)))
}

var selections = map[weft.DType]func(w window, rank int, src, dst array.View){
	weft.Float32: selects[float32], weft.Float64: selects[float64],
	weft.Int8: selects[int8], weft.Int16: selects[int16], weft.Int32: selects[int32], weft.Int64: selects[int64],
	weft.Uint8: selects[uint8], weft.Uint16: selects[uint16], weft.Uint32: selects[uint32], weft.Uint64: selects[uint64],
}

// selects writes the elements of a rank of windows of src, row by row. In a row the sorted window loses and gains
// elements from place to place.
func selects[T interface {
	cmp.Ordered
	core.Element
}](w window, rank int, src, dst array.View) {
	from, to := core.Slice[T](&src), core.Slice[T](&dst)
	r := len(dst.Shape)
	n := dst.Shape[r-1]
	strides := array.RowMajor(src.Shape)
	var all, leave, enter []int
	in := map[int]bool{}
	for _, k := range w.at {
		in[k] = true
	}
	for _, k := range w.at {
		at := unravel(w.size, k)
		flat := 0
		for i, v := range at {
			flat += v * strides[i]
		}
		all = append(all, flat)
		if at[r-1] == 0 || !in[k-1] {
			leave = append(leave, flat)
		}
		if at[r-1] == w.size[r-1]-1 || !in[k+1] {
			enter = append(enter, flat)
		}
	}
	nan := slices.ContainsFunc(from, func(x T) bool { return x != x })
	outer := array.View{Shape: dst.Shape[:r-1]}
	par.Run(outer.Size(), max(1, 1<<14/(n*len(all)+1)), 0, func(_, begin, end int) {
		values, next := make([]T, 0, len(all)), make([]T, 0, len(all))
		gone, come := make([]T, len(leave)), make([]T, len(enter))
		for row := begin; row < end; row++ {
			base := 0
			for i, v := range unravel(outer.Shape, row) {
				base += v * strides[i]
			}
			line := to[row*n : row*n+n]
			for j := range line {
				if j == 0 || nan || 2*len(leave) > len(all) {
					values = values[:0]
					for _, o := range all {
						values = append(values, from[base+j+o])
					}
					slices.Sort(values) // NaN first
				} else {
					gather(gone, from[base+j-1:], leave)
					gather(come, from[base+j:], enter)
					next = exchange(next[:0], values, gone, come)
					values, next = next, values
				}
				if line[j] = values[rank]; values[0] != values[0] {
					line[j] = values[0]
				}
			}
		}
	})
}

// gather sorts the elements of src at offsets into dst.
func gather[T cmp.Ordered](dst, src []T, offsets []int) {
	for k, o := range offsets {
		x, i := src[o], k
		for ; i > 0 && dst[i-1] > x; i-- {
			dst[i] = dst[i-1]
		}
		dst[i] = x
	}
}

// exchange appends the sorted values without those that are gone and with those that come, all sorted, to dst.
func exchange[T cmp.Ordered](dst, values, gone, come []T) []T {
	for _, x := range values {
		if len(gone) > 0 && gone[0] == x {
			gone = gone[1:]
			continue
		}
		for len(come) > 0 && come[0] < x {
			dst = append(dst, come[0])
			come = come[1:]
		}
		dst = append(dst, x)
	}
	return append(dst, come...)
}
