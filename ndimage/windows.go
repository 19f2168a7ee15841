package ndimage

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A window is the places around each element that a filter reads.
type window struct {
	size   []int // of each axis of the array
	before []int // how far it reaches before its place
	at     []int // the elements of the window that count, in row-major order
}

// around returns the window of an array weights of len(p.axes) axes, the elements that keep says counting.
func (p plane) around(arg string, size []int, rank int, turn bool, keep func(i int) bool) window {
	w := window{size: make([]int, rank), before: make([]int, rank)}
	for i := range w.size {
		w.size[i] = 1
	}
	if len(size) != len(p.axes) {
		array.Failf(p.name, arg, "has %d axes, want one for each of the %d that are filtered", len(size), len(p.axes))
	}
	n := 1
	for i, axis := range p.axes {
		if size[i] < 1 {
			array.Failf(p.name, arg, "has size %d in an axis, want at least 1", size[i])
		}
		o := p.origin[i]
		if turn {
			o = turned(size[i], o)
		}
		w.size[axis], w.before[axis] = size[i], reach(p.name, arg, size[i], o)
		if n *= size[i]; n > maxWindow {
			array.Failf(p.name, arg, "has shape %s, more than %d elements", array.ShapeString(size), maxWindow)
		}
	}
	for i := range n {
		if keep == nil || keep(i) {
			w.at = append(w.at, i)
		}
	}
	return w
}

// hasCentre reports whether the place itself is in its window.
func (w window) hasCentre() bool {
	k := 0
	for i, n := range w.size {
		k = k*n + w.before[i]
	}
	return slices.Contains(w.at, k)
}

// maxWindow is the most elements of a window that is not taken axis by axis.
const maxWindow = 1 << 20

// ascending returns p with its axes in the array's order, in which windows that are arrays have theirs.
func (p plane) ascending() plane {
	q := p
	q.axes, q.modes, q.origin = slices.Sorted(slices.Values(p.axes)), nil, nil
	for _, a := range q.axes {
		i := slices.Index(p.axes, a)
		q.modes, q.origin = append(q.modes, p.modes[i]), append(q.origin, p.origin[i])
	}
	return q
}

// extended returns x with what windows read beyond its edges.
func (p plane) extended(x *weft.Tensor, w window) *weft.Tensor {
	for i, axis := range p.axes {
		x = stretch(p.name, x, axis, -w.before[axis], x.Dim(axis)+w.size[axis]-1-w.before[axis], p.modes[i], p.cval)
	}
	return x
}

// taps are the windows of an extended array.
func (w window) taps() tapping {
	t := tapping{Reach: make([]int, len(w.size))}
	for i, n := range w.size {
		t.Reach[i] = n - 1
	}
	for _, k := range w.at {
		t.Starts = append(t.Starts, unravel(w.size, k))
	}
	return t
}

// Correlate returns the sums of elements around each element, times weights, an array with an axis for each
// axis that is filtered. It panics with *[weft.Error] where shapes do not fit.
func Correlate(x, weights *weft.Tensor, opts ...FilterOpts) *weft.Tensor {
	return correlate("ndimage.correlate", x, weights, array.Options("ndimage.correlate", opts), false)
}

// Convolve is [Correlate] with the weights turned around along every axis. The result has x's shape. For the full
// convolution of two signals see signal.Convolve and signal.FFTConvolve.
func Convolve(x, weights *weft.Tensor, opts ...FilterOpts) *weft.Tensor {
	return correlate("ndimage.convolve", x, weights, array.Options("ndimage.convolve", opts), true)
}

func correlate(name string, x, weights *weft.Tensor, o FilterOpts, turn bool) *weft.Tensor {
	defer array.Named(name).End()
	p := o.on(name, input(name, x).Rank()).ascending()
	(*core.Tensor)(weights).CheckArgument(name, "weights")
	if weights.Rank() != len(p.axes) {
		array.Failf(name, "weights", "has shape %s, want one axis for each of the %d that are filtered", array.ShapeString(weights.Shape()), len(p.axes))
	}
	w := p.around("weights", weights.Shape(), x.Rank(), turn, nil)
	if turn {
		for a := range weights.Rank() {
			weights = weights.Flip(a)
		}
	}
	v := weights.Reshape(-1)
	if x.Size() == 0 {
		return x.Clone()
	}
	return inFloats(wideFor(x, v), func(x *weft.Tensor) *weft.Tensor {
		v, x := meet(v, x)
		return weighted(w.taps(), v, p.extended(x, w))
	})
}

// meet returns weights and an array, floats or complex, in the type of the array, or complex if either is.
func meet(w, x *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
	d := x.DType()
	if w.DType().Complex() {
		d = array.Promote(d, w.DType())
	}
	return w.To(d), x.To(d)
}

// UniformFilter returns means of windows of size elements, a number for each filtered axis or one for all. It
// sums powers of eight of elements, so errors do not grow along an axis as a cumulative sum's do, and the time grows
// with the logarithm of the size.
func UniformFilter(x *weft.Tensor, size []int, opts ...FilterOpts) *weft.Tensor {
	const name = "ndimage.uniform_filter"
	defer array.Named(name).End()
	p := array.Options(name, opts).on(name, input(name, x).Rank())
	for i, n := range p.sizes(size) {
		x = uniform(name, x, p.axes[i], n, p.origin[i], p.modes[i], p.cval)
	}
	return x.Clone()
}

// UniformFilter1D is [UniformFilter] along one axis.
func UniformFilter1D(x *weft.Tensor, size, axis int, opts ...LineOpts) *weft.Tensor {
	const name = "ndimage.uniform_filter1d"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	axis = array.Axis(name, axis, input(name, x).Rank())
	p := plane{name: name, axes: []int{axis}}
	return uniform(name, x, axis, p.sizes([]int{size})[0], o.Origin, o.Mode.checked(name, Reflect), o.Cval).Clone()
}

// sizes checks the sizes of windows.
func (p plane) sizes(size []int) []int {
	if size == nil {
		array.Failf(p.name, "size", "is nil, want numbers")
	}
	out := each(p.name, "size", size, len(p.axes), 1)
	for _, n := range out {
		if n < 1 {
			array.Failf(p.name, "size", "is %d, want at least 1", n)
		}
	}
	return out
}

func uniform(name string, x *weft.Tensor, axis, size, origin int, m Mode, cval float64) *weft.Tensor {
	before := reach(name, "size", size, origin)
	if size == 1 || x.Size() == 0 {
		return x
	}
	return inFloats(x, func(x *weft.Tensor) *weft.Tensor {
		return (*weft.Tensor)(core.WithAttrs(meanDef, meaning{axis, size}, core.Inner(lineParts(name, x, axis, before, size, m, cval))...))
	})
}

// A meaning is the attribute of means of windows of size elements along an axis.
type meaning struct{ axis, size int }

// AppendKey implements ir.Attrs.
func (m meaning) AppendKey(k []byte) []byte { return ir.Int(ir.Int(k, m.axis), m.size) }

// meanDef puts the means of the windows of its arguments one behind the other.
var meanDef = &op.Def{Name: "ndimage.mean", Hash: 0x9b05688c2b3e6c1f, Class: op.Composite, Arity: -1, Attrs: meaning{},
	Composed: op.Composed{Compose: func(x []*ir.Node, a ir.Attrs) *ir.Node {
		m := a.(meaning)
		parts := make([]*ir.Node, len(x))
		for i := range x {
			parts[i] = m.node(x[i])
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return op.Apply(op.Cat, op.Axis(m.axis), parts...)
	}}}

// shortMean is the most elements of a window that are added one by one.
const shortMean = 32

// node returns means of the windows of x. Short windows are added element by element. The size of a long one is a number
// to the base fewWindows: the digit of each power counts the windows of that length that are added. A window of a power
// is the sum of fewWindows windows of the power below, in one kernel. So each digit costs at most 2*(fewWindows-1) sums.
func (m meaning) node(x *ir.Node) *ir.Node {
	n, base := x.Shape[m.axis]-m.size+1, fewWindows
	if m.size <= shortMean {
		base = shortMean + 1
	}
	var sum *ir.Node
	add := func(v *ir.Node) {
		if sum == nil {
			sum = v
		} else {
			sum = op.Apply(op.Add, nil, sum, v)
		}
	}
	at, width := 0, 1
	for rest := m.size; ; rest /= base {
		for range rest % base {
			add(op.Narrow(x, m.axis, at, n))
			at += width
		}
		if rest < base {
			break
		}
		var wide *ir.Node
		l := x.Shape[m.axis] - (base-1)*width
		for k := range base {
			if v := op.Narrow(x, m.axis, k*width, l); wide == nil {
				wide = v
			} else {
				wide = op.Apply(op.Add, nil, wide, v)
			}
		}
		x, width = wide, width*base
	}
	return op.Apply(op.Div, nil, sum, sum.Graph.Number(float64(m.size), sum.DType.Part(), sum.DType.Complex()))
}

// unravel returns the index of element k of an array.
func unravel(shape []int, k int) []int {
	at := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		at[i], k = k%shape[i], k/shape[i]
	}
	return at
}
