package ndimage

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A folding is the attribute of a fold of windows.
type folding struct {
	tapping
	kind int // which of folds
}

// AppendKey implements ir.Attrs.
func (f folding) AppendKey(k []byte) []byte { return f.tapping.AppendKey(ir.Int(k, f.kind)) }

// folds are the operations that join two windows.
var folds = []*op.Def{op.Minimum, op.Maximum}

// foldDef joins the windows of its first argument. To a window it adds an element of the second, if there is one.
var foldDef = &op.Def{Name: "ndimage.fold", Hash: 0xbb67ae8584caa73b, Class: op.Composite, Arity: -1, Attrs: folding{},
	Composed: op.Composed{Compose: func(x []*ir.Node, a ir.Attrs) *ir.Node {
		f := a.(folding)
		one := make(op.Shape, len(f.Reach))
		for i := range one {
			one[i] = 1
		}
		var y *ir.Node
		for k, v := range f.windows(x[0]) {
			if len(x) > 1 {
				v = op.Apply(op.Add, nil, v, op.Apply(op.Reshape, one, op.Narrow(x[1], 0, k, 1)))
			}
			if y == nil {
				y = v
			} else {
				y = op.Apply(folds[f.kind], nil, y, v)
			}
		}
		return y
	}}}

// folded joins the windows of an extended array, in parts of mostTaps windows.
func folded(t tapping, kind int, x, heights *weft.Tensor) *weft.Tensor {
	var y *weft.Tensor
	for at := 0; at < len(t.Starts); at += mostTaps {
		end := min(at+mostTaps, len(t.Starts))
		args := []*weft.Tensor{x}
		if heights != nil {
			args = append(args, heights.Slice(weft.Range(at, end)))
		}
		v := (*weft.Tensor)(core.WithAttrs(foldDef, folding{tapping{Starts: t.Starts[at:end], Reach: t.Reach}, kind}, core.Inner(args)...))
		switch {
		case y == nil:
			y = v
		case kind == 0:
			y = y.Minimum(v)
		default:
			y = y.Maximum(v)
		}
	}
	return y
}

// fewWindows is the most windows along an axis that one kernel joins.
const fewWindows = 8

// extreme returns minima or maxima of windows.
func (p plane) extreme(x *weft.Tensor, w window, d *op.Def) *weft.Tensor {
	if t := x.DType(); t == weft.Bool {
		return p.extreme(x.To(weft.Uint8), w, d).To(t)
	}
	kind := slices.Index(folds, d)
	if len(w.at) < array.Size(w.size) {
		return folded(w.taps(), kind, p.extended(x, w), nil)
	}
	for i, axis := range p.axes {
		size, before, n := w.size[axis], w.before[axis], x.Dim(axis)
		if size == 1 {
			continue
		}
		x = stretch(p.name, x, axis, -before, n+size-1-before, p.modes[i], p.cval)
		if size > fewWindows { // windows of 2k from two of k, as long as they are no longer than size
			width := 1
			for wide := 2; wide <= size; wide *= 2 {
				l := x.Dim(axis)
				x = join(kind, along(x, axis, 0, l-width), along(x, axis, width, l))
				width = wide
			}
			x = join(kind, along(x, axis, 0, n), along(x, axis, size-width, size-width+n))
			continue
		}
		t := tapping{Reach: make([]int, x.Rank())}
		t.Reach[axis] = size - 1
		for k := range size {
			start := make([]int, x.Rank())
			start[axis] = k
			t.Starts = append(t.Starts, start)
		}
		x = folded(t, kind, x, nil)
	}
	return x
}

func join(kind int, a, b *weft.Tensor) *weft.Tensor {
	if kind == 0 {
		return a.Minimum(b)
	}
	return a.Maximum(b)
}

// extremes is MinimumFilter and MaximumFilter.
func extremes(name string, x *weft.Tensor, size []int, o WindowOpts, d *op.Def) *weft.Tensor {
	defer array.Named(name).End()
	p, w := o.window(name, x, size, false)
	if x.Size() == 0 {
		return x.Clone()
	}
	return p.extreme(x, w, d).Clone()
}

// MinimumFilter returns the least element of each window, whose size is a number for each filtered axis or one for
// all, or, where size is nil, whose elements the option Footprint marks. A window with NaN gives NaN.
func MinimumFilter(x *weft.Tensor, size []int, opts ...WindowOpts) *weft.Tensor {
	const name = "ndimage.minimum_filter"
	return extremes(name, x, size, array.Options(name, opts), op.Minimum)
}

// MaximumFilter returns the greatest element of each window. See [MinimumFilter].
func MaximumFilter(x *weft.Tensor, size []int, opts ...WindowOpts) *weft.Tensor {
	const name = "ndimage.maximum_filter"
	return extremes(name, x, size, array.Options(name, opts), op.Maximum)
}

// extremeLine is MinimumFilter1D and MaximumFilter1D.
func extremeLine(name string, x *weft.Tensor, size, axis int, o LineOpts, d *op.Def) *weft.Tensor {
	axis = array.Axis(name, axis, ordered(name, x).Rank())
	return extremes(name, x, []int{size}, WindowOpts{Mode: o.Mode, Cval: o.Cval, Origin: []int{o.Origin}, Axes: []int{axis}}, d)
}

// MinimumFilter1D is [MinimumFilter] along one axis.
func MinimumFilter1D(x *weft.Tensor, size, axis int, opts ...LineOpts) *weft.Tensor {
	const name = "ndimage.minimum_filter1d"
	defer array.Named(name).End()
	return extremeLine(name, x, size, axis, array.Options(name, opts), op.Minimum)
}

// MaximumFilter1D is [MaximumFilter] along one axis.
func MaximumFilter1D(x *weft.Tensor, size, axis int, opts ...LineOpts) *weft.Tensor {
	const name = "ndimage.maximum_filter1d"
	defer array.Named(name).End()
	return extremeLine(name, x, size, axis, array.Options(name, opts), op.Maximum)
}
