package ndimage

import (
	"weft"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A tapping reduces windows of an array. Starts has the first element of each window. The windows are as
// large as they can be.
type tapping struct {
	Starts [][]int
	Reach  []int // how many elements a window is smaller than the array, in each axis
	Pairs  int   // 1: weights k and -1-k are the same; -1: of the opposite sign; 0: neither
	Axis   int   // results of several arrays are put one behind the other along it
}

// AppendKey implements ir.Attrs.
func (t tapping) AppendKey(k []byte) []byte {
	k = ir.Ints(ir.Int(ir.Int(k, t.Pairs), t.Axis), t.Reach)
	for _, s := range t.Starts {
		k = ir.Ints(k, s)
	}
	return k
}

// windows returns the windows of x.
func (t tapping) windows(x *ir.Node) []*ir.Node {
	out := make([]*ir.Node, len(t.Starts))
	step, count := make([]int, len(x.Shape)), make([]int, len(x.Shape))
	for i, n := range x.Shape {
		step[i], count[i] = 1, n-t.Reach[i]
	}
	for k, start := range t.Starts {
		out[k] = op.Apply(op.Slice, op.Window{Start: start, Step: step, Count: count}, x)
	}
	return out
}

// tapSum is the sum of windows times the elements of a vector, its first argument.
var tapSum = &op.Def{Name: "ndimage.taps", Hash: 0x2b7e151628aed2a7, Class: op.Composite, Arity: -1, Attrs: tapping{},
	Composed: op.Composed{Compose: func(x []*ir.Node, a ir.Attrs) *ir.Node {
		t := a.(tapping)
		return t.joined(x[1:], func(v []*ir.Node) *ir.Node { return t.sum(x[0], v) })
	}}}

// joined reduces the windows of each array by f.
func (t tapping) joined(xs []*ir.Node, f func(windows []*ir.Node) *ir.Node) *ir.Node {
	parts := make([]*ir.Node, len(xs))
	for i, x := range xs {
		parts[i] = f(t.windows(x))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return op.Apply(op.Cat, op.Axis(t.Axis), parts...)
}

// sum is the sum of windows, each times an element of w.
func (t tapping) sum(w *ir.Node, windows []*ir.Node) *ir.Node {
	one := make(op.Shape, len(t.Reach))
	for i := range one {
		one[i] = 1
	}
	var y *ir.Node
	for k, v := range windows {
		opposite := len(windows) - 1 - k
		switch {
		case t.Pairs == 0:
		case opposite < k:
			return y
		case opposite == k:
			if t.Pairs < 0 && y != nil {
				return y // its weight is 0
			}
		case t.Pairs > 0:
			v = op.Apply(op.Add, nil, v, windows[opposite])
		default:
			v = op.Apply(op.Sub, nil, v, windows[opposite])
		}
		v = op.Apply(op.Mul, nil, v, op.Apply(op.Reshape, one, op.Narrow(w, 0, k, 1)))
		if y == nil {
			y = v
		} else {
			y = op.Apply(op.Add, nil, y, v)
		}
	}
	return y
}

// mostTaps is the most windows that one kernel reads.
const mostTaps = 64

// weighted sums windows of each of xs times w, in parts of mostTaps windows, and puts the results one
// behind the other.
func weighted(t tapping, w *weft.Tensor, xs ...*weft.Tensor) *weft.Tensor {
	if len(t.Starts) <= mostTaps {
		return (*weft.Tensor)(core.WithAttrs(tapSum, t, core.Inner(append([]*weft.Tensor{w}, xs...))...))
	}
	var y *weft.Tensor
	for at := 0; at < len(t.Starts); at += mostTaps {
		end := min(at+mostTaps, len(t.Starts))
		part := tapping{Starts: t.Starts[at:end], Reach: t.Reach, Axis: t.Axis}
		v := weighted(part, w.Slice(weft.Range(at, end)), xs...)
		if y == nil {
			y = v
		} else {
			y = y.Add(v)
		}
	}
	return y
}
