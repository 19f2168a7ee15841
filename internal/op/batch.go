package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// A Batched is what [Batch] has for a node of one example: with Lead it has an axis of
// the examples before the axes of that node.
type Batched struct {
	Node *ir.Node
	Lead bool
}

// Batch rebuilds the graph of outs, which is that of one example, in g for n of them:
// leaf gives what stands for an Input, Scalar or Between. What depends on nothing that has
// an axis of examples is computed once and has none either.
//
// Elementwise operations broadcast, reductions and windows work on axes one further back,
// routines have a rule of their own, such as products of matrices, which are batched
// anyway, loops and branches run functions of all examples. A routine without rule
// ([Looped]) is applied to one example after the other.
func Batch(g *ir.Graph, outs []*ir.Node, n int, leaf func(x *ir.Node) Batched) []Batched {
	b := &batcher{g: g, n: n, leaf: leaf, memo: map[*ir.Node]Batched{}, several: map[*ir.Node][]Batched{}}
	for id, need := range ir.Reach(outs) {
		if need {
			b.add(outs[0].Graph.Nodes[id])
		}
	}
	res := make([]Batched, len(outs))
	for i, x := range outs {
		res[i] = b.memo[x]
	}
	return res
}

// Looped reports a routine that [Batch] applies to one example after the other.
func Looped(d *Def) bool { return d.Class == Routine && (batchRules[d.Name] == nil || !d.ours) }

// Raise returns the node with an axis of n examples, all alike if it has none yet.
func (x Batched) Raise(n int) *ir.Node {
	if x.Lead {
		return x.Node
	}
	return expand(reshape(x.Node, lead(1, x.Node.Shape)), lead(n, x.Node.Shape))
}

// lead is a shape behind an axis of size n.
func lead(n int, shape []int) []int { return append([]int{n}, shape...) }

type batcher struct {
	g       *ir.Graph
	n       int
	leaf    func(x *ir.Node) Batched
	memo    map[*ir.Node]Batched
	several map[*ir.Node][]Batched // the results of nodes that have several
}

// add does node x, whose arguments are done.
func (b *batcher) add(x *ir.Node) {
	switch x.Op {
	case ir.Input, ir.Scalar, ir.Between:
		b.memo[x] = b.leaf(x)
		return
	case ir.Result:
		b.memo[x] = b.several[x.Args[0]][x.Arg()]
		return
	}
	args, some := make([]Batched, len(x.Args)), false
	for i, a := range x.Args {
		args[i] = b.memo[a]
		some = some || args[i].Lead
	}
	if x.Op == Iota && some { // the same for all: only the shape of the argument counts
		args, some = []Batched{{Node: full(b.g, 0, array.Float32, x.Args[0].Shape)}}, false
	}
	if d := Of(x); some && d.Class == Control {
		b.several[x] = b.control(x, args)
		return
	}
	var outs []*node
	if some {
		outs = b.apply(x, args)
	} else {
		outs = b.single(x, func(i int) *node { return args[i].Node })
	}
	if x.Results == nil {
		b.memo[x] = Batched{outs[0], some}
		return
	}
	for _, y := range outs {
		b.several[x] = append(b.several[x], Batched{y, some})
	}
}

// single is x of one example, of arguments that arg gives.
func (b *batcher) single(x *node, arg func(i int) *node) []*node {
	args := make([]*node, len(x.Args))
	for i := range args {
		args[i] = arg(i)
	}
	if x.Results == nil {
		return []*node{b.g.Node(x.Op, x.Attrs, x.DType, x.Shape, x.Weak, args...)}
	}
	return b.results(x.Op, x.Attrs, x.Results, args)
}

func (b *batcher) results(o ir.Op, a ir.Attrs, types []ir.Type, args []*node) []*node {
	n := b.g.Several(o, a, types, args...)
	out := make([]*node, len(types))
	for i := range out {
		out[i] = b.g.Result(n, i)
	}
	return out
}

// apply is x of all examples; an argument at least has an axis of them.
func (b *batcher) apply(x *node, args []Batched) []*node {
	d := Of(x)
	if d == Own {
		return b.own(x, args)
	}
	switch d.Class {
	case Pointwise:
		return b.pointwise(x, args)
	case Reduce:
		a := x.Attrs.(Group)
		return []*node{Apply(d, Group{a.Lo + 1, a.Hi + 1}, args[0].Node)}
	case View:
		return []*node{BatchView(d, x.Attrs, b.n, args[0].Node)}
	case Concat:
		var a ir.Attrs
		switch at := x.Attrs.(type) {
		case Axis:
			a = at + 1
		case StridedWindow:
			a = at.lead(b.n, x.Size())
		case Placement:
			at.Shape = lead(b.n, at.Shape)
			if w, ok := at.View.(Window); ok {
				at.View = w.lead(b.n)
			}
			a = at
		default:
			a = at
		}
		return []*node{Apply(d, a, b.raised(args)...)}
	}
	if rule := batchRules[d.Name]; rule != nil && d.ours {
		return rule(b, x, args)
	}
	return b.loop(x, args)
}

// lead is the window of all of a first axis of size n.
func (w Window) lead(n int) Window {
	return Window{lead(0, w.Start), lead(1, w.Step), lead(n, w.Count)}
}

// lead is the window on each of n vectors of a size, one behind the other.
func (a StridedWindow) lead(n, size int) StridedWindow {
	return StridedWindow{a.Offset, lead(n, a.Shape), lead(size, a.Strides)}
}

// raised are arguments with an axis of examples each.
func (b *batcher) raised(args []Batched) []*node {
	out := make([]*node, len(args))
	for i, a := range args {
		out[i] = a.Raise(b.n)
	}
	return out
}

// aligned returns the arguments such that they broadcast to a result with rank dimensions of one
// example behind the axis of examples.
func (b *batcher) aligned(args []Batched, rank int) []*node {
	out := make([]*node, len(args))
	for i, a := range args {
		out[i] = a.Node
		if s := a.Node.Shape; a.Lead && len(s)-1 < rank {
			t := make([]int, rank+1)
			for k := range t {
				t[k] = 1
			}
			t[0] = b.n
			copy(t[rank+2-len(s):], s[1:])
			out[i] = reshape(a.Node, t)
		}
	}
	return out
}

func (b *batcher) pointwise(x *node, args []Batched) []*node {
	shape := x.Shape
	if x.Results != nil {
		shape = x.Results[0].Shape
	}
	for i := range args {
		if SeenBy(x, i) != ByElement { // by places counted along axes
			return b.loop(x, args)
		}
	}
	al := b.aligned(args, len(shape))
	if x.Results == nil {
		return []*node{b.g.Node(x.Op, x.Attrs, x.DType, lead(b.n, shape), false, al...)}
	}
	types := make([]ir.Type, len(x.Results))
	for i, t := range x.Results {
		types[i] = ir.Type{DType: t.DType, Shape: lead(b.n, t.Shape)}
	}
	return b.results(x.Op, x.Attrs, types, al)
}

// loop applies x to one example after the other.
func (b *batcher) loop(x *node, args []Batched) []*node {
	types := x.Results
	if types == nil {
		types = []ir.Type{{DType: x.DType, Shape: x.Shape}}
	}
	parts := make([][]*node, len(types))
	for e := range b.n {
		outs := b.single(x, func(i int) *node {
			if !args[i].Lead {
				return args[i].Node
			}
			return reshape(Narrow(args[i].Node, 0, e, 1), x.Args[i].Shape)
		})
		for k, y := range outs {
			parts[k] = append(parts[k], reshape(y, lead(1, y.Shape)))
		}
	}
	out := make([]*node, len(types))
	for k, t := range types {
		if b.n == 0 {
			out[k] = full(b.g, 0, t.DType, lead(0, t.Shape))
		} else {
			out[k] = Apply(Cat, Axis(0), parts[k]...)
		}
	}
	return out
}

// BatchView applies the view op d to each of n examples, which are the first axis of x.
func BatchView(d *Def, a ir.Attrs, n int, x *node) *node {
	for _, m := range BatchViews(d, a, n, x.Shape) {
		x = Apply(m.Def, m.Attrs, x)
	}
	return x
}

// A ViewOp is an operation of class View with its attributes.
type ViewOp struct {
	Def   *Def
	Attrs ir.Attrs
}

// BatchViews returns the view ops that [BatchView] applies one after the other to an array of
// the given shape, whose first axis is the examples.
func BatchViews(d *Def, a ir.Attrs, n int, shape []int) []ViewOp {
	switch a := a.(type) {
	case Shape:
		if d == Reshape {
			return []ViewOp{{d, Shape(lead(n, a))}}
		}
		full := make([]int, len(a)+1)
		for i := range full {
			full[i] = 1
		}
		full[0] = n
		copy(full[len(full)-len(shape)+1:], shape[1:])
		return []ViewOp{{Reshape, Shape(full)}, {d, Shape(lead(n, a))}}
	case Order:
		order := Order{0}
		for _, k := range a {
			order = append(order, k+1)
		}
		return []ViewOp{{d, order}}
	case Window:
		return []ViewOp{{d, a.lead(n)}}
	case StridedWindow:
		return []ViewOp{{Reshape, Shape{n * shape[1]}}, {d, a.lead(n, shape[1])}}
	}
	return []ViewOp{{d, a}} // of the last axes, or of each element
}

// spreadIndex gives batched places along an axis, rows of a vector each, the shape of
// what they are places for.
func (b *batcher) spreadIndex(idx *node, axis int, shape []int) *node {
	s := make([]int, len(shape)+1)
	for i := range s {
		s[i] = 1
	}
	s[0], s[axis+1] = b.n, idx.Shape[1]
	return expand(reshape(idx, s), lead(b.n, shape))
}

// batchRules holds the rules of routines, by name.
var batchRules map[string]func(b *batcher, x *node, args []Batched) []*node

func init() {
	// same applies d with other attributes to arguments with an axis of examples.
	same := func(attrs func(a ir.Attrs, n int) ir.Attrs) func(b *batcher, x *node, args []Batched) []*node {
		return func(b *batcher, x *node, args []Batched) []*node {
			return ApplyAll(Of(x), attrs(x.Attrs, b.n), b.raised(args)...)
		}
	}
	further := func(a ir.Attrs, n int) ir.Attrs {
		switch a := a.(type) {
		case Axis:
			return a + 1
		case Scan:
			a.Axis++
			return a
		case Sorting:
			a.Axis++
			return a
		case Ranks:
			a.Axis++
			return a
		case Selection:
			a.Axis++
			return a
		case Fourier:
			a.Axis++
			a.More = append([]int(nil), a.More...)
			for i := range a.More {
				a.More[i]++
			}
			return a
		case Cosine:
			a.Axis++
			return a
		case Extreme:
			a.Axis++
			return a
		case Target:
			return Target{a.Axis + 1, lead(n, a.Shape)}
		}
		return a // of the last axes
	}
	batchRules = map[string]func(b *batcher, x *node, args []Batched) []*node{
		"host": func(b *batcher, x *node, args []Batched) []*node {
			if _, ok := x.Attrs.(interface{ Elementwise() }); ok {
				return ApplyAll(Host, x.Attrs, b.raised(args)...)
			}
			return b.loop(x, args)
		},
		"matmul2": func(b *batcher, x *node, args []Batched) []*node {
			if s := x.Args[0].Shape; len(s) == 2 && !args[1].Lead { // one tall matrix
				y := apply(MatMul2, reshape(args[0].Node, []int{b.n * s[0], s[1]}), args[1].Node)
				return []*node{reshape(y, lead(b.n, x.Shape))}
			}
			if s := x.Args[1].Shape; len(s) == 2 && s[1] == 1 && !args[0].Lead { // columns, as the rows of one
				y := apply(MatMul2, reshape(args[1].Node, []int{b.n, s[0]}), swapLast(args[0].Node))
				return []*node{reshape(y, lead(b.n, x.Shape))}
			}
			return []*node{apply(MatMul2, b.raised(args)...)}
		},
		"conv2d_core": batchConv, "conv2d_input": batchConv, "conv2d_weight": batchConv,
		"index_select": func(b *batcher, x *node, args []Batched) []*node {
			axis := int(x.Attrs.(Axis))
			if !args[1].Lead {
				return []*node{Apply(IndexSelect, Axis(axis+1), args[0].Node, args[1].Node)}
			}
			return []*node{Apply(Gather, Axis(axis+1), args[0].Raise(b.n), b.spreadIndex(args[1].Node, axis, x.Shape))}
		},
		"index_add": func(b *batcher, x *node, args []Batched) []*node {
			a := x.Attrs.(Target)
			to := Target{a.Axis + 1, lead(b.n, x.Shape)}
			from := args[0].Raise(b.n)
			if !args[1].Lead {
				with := []*node{from, args[1].Node}
				if len(args) > 2 {
					with = append(with, args[2].Raise(b.n))
				}
				return []*node{Apply(indexAdd, to, with...)}
			}
			y := Apply(scatterSum, to, from, b.spreadIndex(args[1].Node, a.Axis, x.Args[0].Shape))
			if len(args) > 2 {
				y = add(args[2].Raise(b.n), y)
			}
			return []*node{y}
		},
		"index_copy": func(b *batcher, x *node, args []Batched) []*node {
			axis := int(x.Attrs.(Axis))
			from, base := args[0].Raise(b.n), args[2].Raise(b.n)
			if !args[1].Lead {
				return []*node{Apply(IndexCopy, Axis(axis+1), from, args[1].Node, base)}
			}
			return []*node{Apply(Scatter, Axis(axis+1), from, b.spreadIndex(args[1].Node, axis, x.Args[0].Shape), base)}
		},
		"ravel_index": func(b *batcher, x *node, args []Batched) []*node {
			return []*node{Apply(Ravel, x.Attrs, b.aligned(args, len(x.Shape))...)}
		},
		"searchsorted": func(b *batcher, x *node, args []Batched) []*node {
			rows := x.Args[0].Shape
			switch {
			case len(rows) > 1:
				return []*node{Apply(SearchSorted, x.Attrs, b.raised(args)...)}
			case !args[0].Lead: // one row for all
				return []*node{Apply(SearchSorted, x.Attrs, args[0].Node, args[1].Node)}
			}
			y := Apply(SearchSorted, x.Attrs, args[0].Node, reshape(args[1].Raise(b.n), []int{b.n, x.Size()}))
			return []*node{reshape(y, lead(b.n, x.Shape))}
		},
	}
	for _, name := range []string{"segment_reduce_sum", "segment_reduce_prod", "segment_reduce_min", "segment_reduce_max", "segment_reduce_all",
		"segment_reduce_any", "segment_expand", "segment_argmin", "segment_argmax"} {
		batchRules[name] = func(b *batcher, x *node, args []Batched) []*node {
			if args[1].Lead { // items of other lengths
				return b.loop(x, args)
			}
			// Rows stay first; what is side by side in them are the examples.
			return []*node{Transpose(Apply(Of(x), x.Attrs, Transpose(args[0].Node, 0, 1), args[1].Node), 0, 1)}
		}
	}
	batchRules["segment_sort"] = func(b *batcher, x *node, args []Batched) []*node {
		if args[1].Lead {
			return b.loop(x, args)
		}
		out := ApplyAll(Of(x), x.Attrs, Transpose(args[0].Node, 0, 1), args[1].Node)
		for i := range out {
			out[i] = Transpose(out[i], 0, 1)
		}
		return out
	}
	batchRules["sparse_matmul"] = func(b *batcher, x *node, args []Batched) []*node {
		if args[0].Lead || args[1].Lead || args[3].Lead {
			return b.loop(x, args)
		}
		y := Apply(Of(x), x.Attrs, args[0].Node, args[1].Node, Transpose(args[2].Node, 0, 1), args[3].Node)
		return []*node{Transpose(y, 0, 1)}
	}
	// Of items that are equally long the examples stand behind the rows.
	batchRules["segment_pad"] = func(b *batcher, x *node, args []Batched) []*node {
		if !args[0].Lead || args[1].Lead || args[2].Lead {
			return b.loop(x, args)
		}
		y := Apply(Of(x), x.Attrs, Transpose(args[0].Node, 0, 1), args[1].Node, args[2].Node)
		return []*node{Transpose(Transpose(y, 1, 2), 0, 1)}
	}
	batchRules["segment_unpad"] = func(b *batcher, x *node, args []Batched) []*node {
		if args[1].Lead {
			return b.loop(x, args)
		}
		y := Transpose(Transpose(args[0].Node, 0, 1), 1, 2)
		return []*node{Transpose(Apply(Of(x), x.Attrs, y, args[1].Node), 0, 1)}
	}
	batchRules["segment_take"] = func(b *batcher, x *node, args []Batched) []*node {
		if args[1].Lead || args[2].Lead {
			return b.loop(x, args)
		}
		return []*node{Transpose(Apply(Of(x), x.Attrs, Transpose(args[0].Node, 0, 1), args[1].Node, args[2].Node), 0, 1)}
	}
	for _, name := range []string{"attention", "attention_gradient"} {
		batchRules[name] = func(b *batcher, x *node, args []Batched) []*node {
			if x.Attrs.(Attending).Drop > 0 { // the same weights of each example are dropped
				return b.loop(x, args)
			}
			return ApplyAll(Of(x), x.Attrs, b.raised(args)...)
		}
	}
	for _, name := range []string{"copy", "max_pool2d", "max_pool2d_place", "max_pool2d_pick", "window_mean", "window_spread", "gather", "scatter_sum", "scatter", "scatter_min",
		"scatter_max", "scatter_prod", "fft", "rfft", "irfft", "dct", "lfilter", "sosfilt", "correlate1d", "cholesky", "solve_triangular", "lu_factor", "lu_solve", "pivots_to_permutation", "solve", "qr", "qr_triangle", "scan_sum", "scan_prod", "scan_tree", "recurrence", "cummax", "cummin", "sort", "topk", "kthvalue", "partition", "argpartition", "reduce_argmin", "reduce_argmax"} {
		batchRules[name] = same(further)
	}
}

// batchConv is the rule of convolutions and their gradients: examples are more pictures of
// the same filters, else each has groups of its own.
func batchConv(b *batcher, x *node, args []Batched) []*node {
	a, forward := x.Attrs.(Conv)
	var shape []int // of what a gradient is of
	if !forward {
		a, shape = x.Attrs.(ConvGrad).Conv, x.Attrs.(ConvGrad).Shape
	}
	attrs := func(groups int, shape []int) ir.Attrs {
		c := a
		c.Groups *= groups
		if forward {
			return c
		}
		return ConvGrad{c, shape}
	}
	d := Of(x)
	if d != conv2dWeight && !args[1].Lead {
		s := x.Args[0].Shape
		if !forward {
			shape = append([]int{b.n * shape[0]}, shape[1:]...)
		}
		y := Apply(d, attrs(1, shape), reshape(args[0].Node, append([]int{b.n * s[0]}, s[1:]...)), args[1].Node)
		return []*node{reshape(y, lead(b.n, x.Shape))}
	}
	// pictures puts the channels of examples side by side, filters those that make them.
	pictures := func(x *node) *node {
		s := x.Shape
		return reshape(permute(x, []int{1, 0, 2, 3, 4}), []int{s[1], s[0] * s[2], s[3], s[4]})
	}
	filters := func(x *node) *node {
		s := x.Shape
		return reshape(x, []int{s[0] * s[1], s[2], s[3], s[4]})
	}
	p, q := args[0].Raise(b.n), args[1].Raise(b.n)
	if d == conv2dWeight {
		y := Apply(d, attrs(b.n, append([]int{b.n * shape[0]}, shape[1:]...)), pictures(p), pictures(q))
		return []*node{reshape(y, lead(b.n, x.Shape))}
	}
	if !forward {
		shape = []int{shape[0], b.n * shape[1], shape[2], shape[3]}
	}
	y := Apply(d, attrs(b.n, shape), pictures(p), filters(q))
	s := x.Shape
	return []*node{permute(reshape(y, []int{s[0], b.n, s[1], s[2], s[3]}), []int{1, 0, 2, 3, 4})}
}
