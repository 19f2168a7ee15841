package kernel

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// ScanOpts are the options of [Func.Scan], given behind its arguments.
type ScanOpts struct {
	Axis    int  // along which; negative ones count from the end
	Reverse bool // starts at the end
}

// Scan returns the cumulative combination of its argument along an axis: each element combined with
// all before it. The function takes two values and returns one, and must be associative. The order
// in which neighbours are combined depends on the shape alone. Groups of four are combined first,
// then groups of four groups, and so on. Elements after the last group follow one by one. What is
// nothing but a sum is added as [weft.Tensor.CumSum] does. A [ScanOpts] may stand behind the
// argument.
func (f *Func) Scan(args ...any) *weft.Tensor {
	f.check()
	if n := len(f.f.Results()); n != 1 {
		array.Failf(f.f.Name(), "", "has %d results: ScanAll returns them", n)
	}
	return f.ScanAll(args...)[0]
}

// ScanAll is [Func.Scan] with several accumulators, as [Func.ReduceAll].
func (f *Func) ScanAll(args ...any) []*weft.Tensor {
	f.check()
	name := f.f.Name()
	var opts ScanOpts
	if n := len(args) - 1; n >= 0 {
		switch o := args[n].(type) {
		case ScanOpts:
			opts, args = o, args[:n]
		case *ScanOpts:
			if o != nil {
				opts = *o
			}
			args = args[:n]
		}
	}
	r := newReduction(name, nil, f, args)
	axes := normalized(name, []int{opts.Axis}, len(r.shape))
	axis := slices.Index(axes, true)
	k := append(key([]byte{'c'}, r.as), byte(axis))
	k = ir.Flag(k, opts.Reverse)
	for i, a := range r.as {
		if a.t == nil || !slices.Equal((*core.Tensor)(a.t).Sizes(), r.shape) {
			array.Failf(name, a.p.Name, "is not of shape %v as other arguments are", r.shape)
		}
		if opts.Reverse {
			r.as[i].t = flipped(a.t, axis)
		}
	}
	outs := f.made.get(k, func() *runner { return r.scanner(axis) }).run(nil, r.args())
	if opts.Reverse {
		for i, y := range outs {
			outs[i] = flipped(y, axis)
		}
	}
	return outs
}

func flipped(t *weft.Tensor, axis int) *weft.Tensor { return t.Flip(axis) }

func (r *reduction) scanner(axis int) *runner {
	sum := r.isSum()
	combination := &op.Combination{Body: r.combine}
	compose := func(xs []*ir.Node, routine bool) []*ir.Node {
		shape := xs[0].Shape
		size := op.Shape{array.Size(shape[:axis]), shape[axis], array.Size(shape[axis+1:])}
		var args []*ir.Node
		for i, a := range r.as {
			args = parts(args, op.Apply(op.Reshape, size, xs[i]), a.dtype)
		}
		var ys []*ir.Node
		if sum {
			ys = []*ir.Node{op.Apply(op.ScanSum, op.Scan{Axis: 1}, args[0])}
		} else {
			if routine && r.inRows(size) {
				for i, x := range args {
					args[i] = op.Apply(op.Reshape, op.Shape(size[:2]), x)
				}
				ys = op.ApplyAll(op.ScanTree, combination, args...)
			} else {
				ys = r.scan(args)
			}
			ys = joined(ys, r.accs)
		}
		for i, y := range ys {
			ys[i] = op.Apply(op.Reshape, op.Shape(shape), y)
		}
		return ys
	}
	// A gradient is that of the graph.
	return newRunner(r.name, func(xs []*ir.Node) []*ir.Node { return compose(xs, true) }, func(v *op.VJP) {
		gradients(v, compose(v.X, false))
	})
}

// treeRow is the least elements of a row for which [op.ScanTree] is faster than the graph.
const treeRow = 16

// inRows reports arrays that [op.ScanTree] is for: long rows of elements it can take.
func (r *reduction) inRows(size op.Shape) bool {
	results := r.combine.Results()
	return size[2] == 1 && size[1] >= treeRow && len(results) <= op.ScanTreeAccs &&
		!slices.ContainsFunc(results, func(d array.DType) bool { return d.Size() < 4 })
}

// isSum reports whether the combination is the sum of two numbers and nothing else, of a type
// that the routine for cumulative sums supports.
func (r *reduction) isSum() bool {
	if len(r.accs) != 1 {
		return false
	}
	switch r.accs[0] {
	case array.Float32, array.Float64, array.Int64, array.Uint64:
	default:
		return false
	}
	b := loop.NewBuilder(r.name, []loop.Axis{{}}, 0)
	sum := false
	b.Pass(func() {
		e := &op.Emit{B: b}
		for range 2 {
			e.X = append(e.X, b.Scalar(b.ScalarArg(loop.TypeOf(r.accs[0]))))
		}
		y := b.Program().Ins[r.combine.EmitKernel(e)[0]]
		sum = y.Op == loop.OpAdd && (y.A == e.X[0] && y.B == e.X[1] || y.A == e.X[1] && y.B == e.X[0])
	})
	return sum
}

// scan runs along the second axis of [before, n, behind]: groups of treeStep neighbours
// are combined, the running results of groups are found in the same way, and go before
// those inside each group.
func (r *reduction) scan(args []*ir.Node) []*ir.Node {
	n := args[0].Shape[1]
	if n <= 1 || args[0].Size() == 0 {
		return args
	}
	width := min(treeStep, n)
	m := n / width
	inside := make([][]*ir.Node, width) // running results of each group, by place in it
	for k := range inside {
		inside[k] = along(args, k, width, m)
		if k > 0 {
			inside[k] = step(r.combine, slices.Concat(inside[k-1], inside[k]))
		}
	}
	groups := r.scan(inside[width-1])
	out := make([]*ir.Node, len(args))
	cat := func(axis int, xs ...*ir.Node) *ir.Node { return op.Apply(op.Cat, op.Axis(axis), xs...) }
	lifted := make([][]*ir.Node, width) // by accumulator below
	for k := range inside {
		lifted[k] = inside[k]
		switch {
		case k == width-1:
			lifted[k] = groups
		case m > 1:
			rest := step(r.combine, slices.Concat(along(groups, 0, 1, m-1), along(inside[k], 1, 1, m-1)))
			head := along(inside[k], 0, 1, 1)
			for i := range rest {
				rest[i] = cat(1, head[i], rest[i])
			}
			lifted[k] = rest
		}
	}
	for i := range out {
		cols := make([]*ir.Node, width)
		for k := range cols {
			s := lifted[k][i].Shape
			cols[k] = op.Apply(op.Reshape, op.Shape{s[0], s[1], 1, s[2]}, lifted[k][i])
		}
		s := lifted[0][i].Shape
		out[i] = op.Apply(op.Reshape, op.Shape{s[0], m * width, s[2]}, cat(2, cols...))
	}
	if m*width == n {
		return out
	}
	last := along(groups, m-1, 1, 1)
	for k := m * width; k < n; k++ {
		last = step(r.combine, slices.Concat(last, along(args, k, 1, 1)))
		for i := range out {
			out[i] = cat(1, out[i], last[i])
		}
	}
	return out
}
