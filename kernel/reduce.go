package kernel

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/gokernel"
	"weft/internal/ir"
	"weft/internal/op"
)

// ReduceOpts are the options of [Func.Reduce] and [MapReduce], given behind the arguments.
type ReduceOpts struct {
	// Axes are those that are reduced; nil means all. Negative ones count from the end.
	Axes []int
	// Keep leaves reduced axes in the shape, with length 1.
	Keep bool
	// Identity are the accumulators of no elements, Go numbers; without them it is an
	// error to reduce none.
	Identity []any
	// Commutative says that the order of elements does not matter to the combination,
	// which lets long rows be combined several elements at once.
	Commutative bool
}

// Reduce combines the elements of its argument along axes with the function, which takes
// two values and returns one, and must be associative. The order in which neighbours are
// combined depends on the shape alone. A [ReduceOpts] may stand behind the argument.
func (f *Func) Reduce(args ...any) *weft.Tensor {
	f.check()
	if n := len(f.f.Results()); n != 1 {
		array.Failf(f.f.Name(), "", "has %d results: ReduceAll returns them", n)
	}
	return f.ReduceAll(args...)[0]
}

// ReduceAll is [Func.Reduce] with n accumulators: the function takes n of the left side, then
// n of the right side, and returns n. args has an argument for each.
func (f *Func) ReduceAll(args ...any) []*weft.Tensor { return reduce(nil, f, args) }

// MapReduce applies the first function to every element of the arguments, which broadcast,
// and combines its results along axes with the second, see [Func.ReduceAll], all in one
// pass. A [ReduceOpts] may stand behind the arguments.
func MapReduce(m, combine *Func, args ...any) []*weft.Tensor {
	m.check()
	return reduce(m, combine, args)
}

func reduce(m, f *Func, args []any) []*weft.Tensor {
	f.check()
	name := f.f.Name()
	var opts ReduceOpts
	if n := len(args) - 1; n >= 0 {
		switch o := args[n].(type) {
		case ReduceOpts:
			opts, args = o, args[:n]
		case *ReduceOpts:
			if o != nil {
				opts = *o
			}
			args = args[:n]
		}
	}
	r := newReduction(name, m, f, args)
	shape := r.shape
	axes := normalized(name, opts.Axes, len(shape))
	n, total := 1, 1
	for k, d := range shape {
		total *= d
		if axes[k] {
			n *= d
		}
	}
	if opts.Identity != nil && len(opts.Identity) != len(r.accs) {
		array.Failf(name, "Identity", "has %d numbers for %d accumulators", len(opts.Identity), len(r.accs))
	}
	if n == 0 {
		if opts.Identity == nil {
			array.Failf(name, "", "there is nothing to reduce in shape %v: ReduceOpts.Identity is needed", shape)
		}
		var outs []*weft.Tensor
		dev := deviceOf(r.as, nil)
		for i, d := range r.accs {
			outs = append(outs, dev.FullOf(d, opts.Identity[i], reduced(shape, axes, opts.Keep)...))
		}
		return outs
	}
	k := append(key([]byte{'r'}, r.as), r.mapKey...)
	for _, on := range axes {
		k = ir.Flag(k, on)
	}
	k = ir.Flag(ir.Flag(k, opts.Keep), opts.Commutative)
	return f.made.get(k, func() *runner {
		return r.runner(axes, opts.Keep, opts.Commutative)
	}).run(nil, r.args())
}

func normalized(name string, axes []int, rank int) []bool {
	out := make([]bool, rank)
	if axes == nil {
		for k := range out {
			out[k] = true
		}
	}
	for _, a := range axes {
		k := a
		if k < 0 {
			k += rank
		}
		if k < 0 || k >= rank {
			array.Failf(name, "Axes", "%d is out of range for %d dimensions", a, rank)
		}
		if out[k] {
			array.Failf(name, "Axes", "%d is given twice", a)
		}
		out[k] = true
	}
	return out
}

func reduced(shape []int, axes []bool, keep bool) []int {
	out := []int{}
	for k, n := range shape {
		switch {
		case !axes[k]:
			out = append(out, n)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// A reduction is a function that combines what another makes of elements.
type reduction struct {
	name    string
	as      []argument
	shape   []int // in which the arguments of this call meet
	mapKey  []byte
	mapped  op.Body // nil: the arguments are the accumulators
	combine op.Body
	accs    []array.DType
}

func newReduction(name string, m, f *Func, args []any) *reduction {
	r := &reduction{name: name}
	params := f.taken
	if len(params)%2 != 0 || len(params) == 0 || len(f.f.Params()) != len(params) {
		array.Failf(name, "", "takes %d arguments: a combination takes accumulators of the left and of the right side", len(f.f.Params()))
	}
	for _, p := range params {
		if p.Role != gokernel.Scalar {
			array.Failf(name, p.Name, "is %s: a combination takes numbers", p.Type)
		}
	}
	if m != nil {
		if len(m.f.Params()) != len(m.taken) {
			array.Failf(m.f.Name(), "", "takes a kernel.Elem: what is reduced cannot")
		}
		r.as = m.arguments(nil, args)
		in := m.instance(r.as)
		r.mapped, r.accs = in, in.Returns()
		r.mapKey = r.mapped.AppendKey([]byte{1})
	} else {
		k := len(params) / 2
		if len(args) != k {
			array.Failf(name, "", "has %d accumulators, got %d arguments", k, len(args))
		}
		both := f.arguments(nil, append(slices.Clone(args), args...))
		r.as = both[:k]
		for _, a := range r.as {
			r.accs = append(r.accs, a.dtype)
		}
	}
	if 2*len(r.accs) != len(params) {
		array.Failf(name, "", "takes %d accumulators a side, got %d", len(params)/2, len(r.accs))
	}
	var shapes [][]int
	for _, a := range r.as {
		switch {
		case a.p.Role != gokernel.Scalar:
			array.Failf(m.f.Name(), a.p.Name, "is %s: what is reduced takes numbers", a.p.Type)
		case a.t != nil:
			shapes = append(shapes, (*core.Tensor)(a.t).Sizes())
		}
	}
	r.shape = array.Broadcast(name, shapes...)
	for i, p := range params {
		if d := r.accs[i%len(r.accs)]; p.DType != array.Invalid && p.DType != d {
			array.Failf(name, p.Name, "is %s, got accumulators of %s", p.Type, d)
		}
	}
	in, err := f.f.Instantiate(append(slices.Clone(r.accs), r.accs...))
	if err != nil {
		fail(name, err)
	}
	if !slices.Equal(in.Returns(), r.accs) {
		array.Failf(name, "", "returns %v, want accumulators %v", in.Returns(), r.accs)
	}
	r.combine = in
	return r
}

func (r *reduction) args() []any {
	xs := make([]any, len(r.as))
	for i := range r.as {
		xs[i] = r.as[i].any()
	}
	return xs
}

// leaves returns the arguments as the bodies take them, broadcast to the shape in which
// they meet and with reduced axes as the second of three: [kept before, reduced, kept
// behind], where only reduced axes that are neighbours need no copy.
func (r *reduction) leaves(xs []*ir.Node, axes []bool) []*ir.Node {
	shape := r.meet(xs)
	var args []*ir.Node
	for i, a := range r.as {
		args = parts(args, xs[i], a.dtype)
	}
	var before, within, behind []int
	last := -1
	for k, on := range axes {
		if on {
			last = k
		}
	}
	size := [3]int{1, 1, 1}
	for k, on := range axes {
		switch {
		case on:
			within = append(within, k)
			size[1] *= shape[k]
		case k > last:
			behind = append(behind, k)
			size[2] *= shape[k]
		default:
			before = append(before, k)
			size[0] *= shape[k]
		}
	}
	order := op.Order(slices.Concat(before, within, behind))
	for i, x := range args {
		if len(x.Shape) == 0 && len(shape) > 0 && r.mapped != nil {
			continue // a number
		}
		x = op.Apply(op.Expand, op.Shape(shape), x)
		x = op.Apply(op.Permute, order, x)
		args[i] = op.Apply(op.Reshape, op.Shape(size[:]), x)
	}
	return args
}

// meet is the shape in which the arguments meet.
func (r *reduction) meet(xs []*ir.Node) []int {
	var shapes [][]int
	for _, x := range xs {
		shapes = append(shapes, x.Shape)
	}
	return array.Broadcast(r.name, shapes...)
}

// runner composes the reduction of axes. Its gradient is that of the plain tree, in which
// each step is a kernel.
func (r *reduction) runner(axes []bool, keep, commutative bool) *runner {
	finish := func(accs, xs []*ir.Node) []*ir.Node {
		shape := reduced(r.meet(xs), axes, keep)
		for i, x := range accs {
			accs[i] = op.Apply(op.Reshape, op.Shape(shape), x)
		}
		return joined(accs, r.accs)
	}
	compose := func(xs []*ir.Node) []*ir.Node {
		args := r.leaves(xs, axes)
		c := args[r.first(args)].Shape
		if c[2] == 1 && !commutative || c[1] < 2*foldRows || c[2] == 0 {
			return finish(r.tree(r.mapped, args), xs)
		}
		return finish(r.fold(args), xs)
	}
	return newRunner(r.name, compose, func(v *op.VJP) {
		outs := finish(r.tree(r.mapped, r.leaves(v.X, axes)), v.X)
		gradients(v, outs)
	})
}

// gradients sets the gradients of results that are composed of v.X.
func gradients(v *op.VJP, outs []*ir.Node) {
	dys := v.DYs
	if dys == nil {
		dys = []*ir.Node{v.DY}
	}
	var wrt []*ir.Node
	for i, x := range v.X {
		if v.Need[i] {
			wrt = append(wrt, x)
		}
	}
	gs := op.Gradient(outs, dys, wrt)
	k := 0
	for i, x := range v.X {
		if v.Need[i] {
			if g := gs[k]; g != nil {
				v.Set(i, func() *ir.Node { return op.Convert(g, x.DType) })
			}
			k++
		}
	}
}

// first returns an argument that is no number.
func (r *reduction) first(args []*ir.Node) int {
	return slices.IndexFunc(args, func(x *ir.Node) bool { return len(x.Shape) > 0 })
}

// step applies a body, nil is the identity, to arguments.
func step(body op.Body, args []*ir.Node) []*ir.Node {
	if body == nil {
		return args
	}
	return op.ApplyAll(op.Kernel, body, args...)
}

// along returns every by-th element of the arguments along their second axis from start,
// count of them; numbers stay.
func along(args []*ir.Node, start, by, count int) []*ir.Node {
	out := slices.Clone(args)
	for i, x := range args {
		if len(x.Shape) == 0 {
			continue
		}
		w := op.AllOf(x.Shape)
		w.Start[1], w.Step[1], w.Count[1] = start, by, count
		out[i] = op.Apply(op.Slice, w, x)
	}
	return out
}

// treeStep is how many neighbours a level of the tree combines.
const treeStep = 4

// tree combines [before, n, behind] along the second axis, treeStep neighbours at a time,
// in order.
func (r *reduction) tree(leaf op.Body, args []*ir.Node) []*ir.Node {
	n := args[r.first(args)].Shape[1]
	if n == 1 {
		return step(leaf, args)
	}
	for n > 1 {
		width := min(treeStep, n)
		m := n / width
		var acc []*ir.Node
		for k := range width {
			x := step(leaf, along(args, k, width, m))
			if k == 0 {
				acc = x
				continue
			}
			acc = step(r.combine, slices.Concat(acc, x))
		}
		if rest := n - m*width; rest > 0 {
			for i, x := range step(leaf, along(args, m*width, 1, rest)) {
				acc[i] = op.Apply(op.Cat, op.Axis(1), acc[i], x)
			}
			m += rest
		}
		args, leaf, n = acc, nil, m
	}
	return args
}

const (
	// foldRows is how many rows a loop combines where rows are apart: as many streams as
	// the processor fetches ahead.
	foldRows = 16
	// foldLanes is how many bytes of a row stand side by side as accumulators.
	foldLanes = 128
	// foldUnits is how many loops there are at least, so that threads have work.
	foldUnits = 256
)

// fold combines [before, n, behind] along the second axis by loops whose accumulators
// stand side by side, then by the tree.
func (r *reduction) fold(args []*ir.Node) []*ir.Node {
	shape := args[r.first(args)].Shape
	before, n, behind := shape[0], shape[1], shape[2]
	count, lanes := foldRows, behind
	if behind == 1 {
		wide := 1
		for _, x := range args {
			wide = max(wide, x.DType.Size())
		}
		lanes = foldLanes / wide
		units := max(1, min(foldUnits/max(before, 1), n/(lanes*foldRows)))
		if count = n / (lanes * units); count == 0 {
			return r.tree(r.mapped, args)
		}
	}
	width := lanes / behind // elements of the axis side by side
	units := n / (count * width)
	main := slices.Clone(along(args, 0, 1, units*count*width))
	for i, x := range main {
		if len(x.Shape) == 0 {
			continue
		}
		x = op.Apply(op.Reshape, op.Shape{before, units, count, lanes}, x)
		w := op.AllOf(x.Shape)
		w.Count[2] = 1
		main[i] = op.Apply(op.Slice, w, x)
	}
	g := args[0].Graph
	body := folding{r, seenBy(args)}
	accs := op.ApplyAll(op.Kernel, body, append(main, g.Number(float64(count), array.Int64, false))...)
	for i, x := range accs {
		accs[i] = op.Apply(op.Reshape, op.Shape{before, units * width, behind}, x)
	}
	if rest := n - units*count*width; rest > 0 {
		for i, x := range step(r.mapped, along(args, n-rest, 1, rest)) {
			accs[i] = op.Apply(op.Cat, op.Axis(1), accs[i], x)
		}
	}
	if behind > 1 && accs[0].Shape[1] >= 2*foldRows {
		again := *r
		again.mapped = nil
		return again.fold(accs)
	}
	return r.tree(nil, accs)
}

// seenBy is the dtypes and ways in which a folding reads args.
func seenBy(args []*ir.Node) []op.Param {
	var ps []op.Param
	for _, x := range args {
		p := op.Param{Seen: op.Near, DType: x.DType}
		if len(x.Shape) == 0 {
			p.Seen = op.ByElement
		}
		ps = append(ps, p)
	}
	return append(ps, op.Param{Name: "count", DType: array.Int64})
}
