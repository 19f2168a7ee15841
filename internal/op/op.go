// Package op is the op table: every operation of weft is defined here once, as a
// [Def], and eager execution, autograd, formulas, the planner and the tests read
// it.
//
// # Adding an operation
//
// If existing operations express it (softmax), write a Def of class Composite whose
// Compose builds it from nodes. Otherwise, for an elementwise one, write a Def of class
// Pointwise with Expr, its value for one element over the loop language, and VJP, its
// gradient over nodes. docs/architecture.md lists what else an operation needs, under
// "Where do I add ..."; tests fail until it is there.
package op

import (
	"fmt"
	"slices"

	"weft/half"
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// A Call is what Infer sees.
type Call struct {
	Def   *Def
	Args  []*ir.Node
	Attrs ir.Attrs
}

// Failf panics with a misuse error of the operation.
func (c *Call) Failf(arg, format string, args ...any) {
	array.Failf(c.Def.Name, arg, format, args...)
}

// count checks the number of arguments of an operation that takes any.
func (c *Call) count(least, most int) {
	if n := len(c.Args); n < least || n > most {
		c.Failf("", "takes %d to %d arguments, got %d", least, most, n)
	}
}

// inRank checks an axis counted from the front.
func (c *Call) inRank(axis, rank int) {
	if axis < 0 || axis >= rank {
		c.Failf("axis", "%d is out of range for %d dimensions", axis, rank)
	}
}

// floats checks that there are least to most arguments, floats of one type.
func (c *Call) floats(least, most int) {
	c.count(least, most)
	for _, x := range c.Args {
		if d := c.Args[0].DType; x.DType != d || !d.Float() {
			c.Failf("", "takes floats of one type, got %s and %s", d, x.DType)
		}
	}
}

// sameShape checks the shape of an argument.
func (c *Call) sameShape(arg string, shape, want []int) {
	if !array.Equal(shape, want) {
		c.Failf(arg, "has shape %s, want %s", array.ShapeString(shape), array.ShapeString(want))
	}
}

// Apply adds d of args to their graph: it checks types and shapes, converts
// arguments to the type in which they meet, and expands a Composite.
//
//go:noinline
func Apply(d *Def, a ir.Attrs, args ...*ir.Node) *ir.Node {
	return ApplyAll(d, a, args...)[0]
}

// ApplyAll is [Apply] with all results of an operation that may have several.
func ApplyAll(d *Def, a ir.Attrs, args ...*ir.Node) []*ir.Node {
	a = prepare(d, a, args)
	switch {
	case d.Wide && hasHalf(args):
		return applyWide(d, a, args)
	case hasComplex(args) && !d.Complex, d == Cast && array.DType(a.(To)).Complex():
		if f := d.complexForm(); f != nil {
			return []*ir.Node{f(args, a)}
		} else if d.ComposeAll == nil {
			array.Failf(d.Name, "", "is not defined for %s", Promote(args...))
		}
		return d.ComposeAll(args, a)
	case d.ComposeAll != nil:
		return d.ComposeAll(args, a)
	case d.InferAll != nil:
		types := d.InferAll(&Call{d, args, a})
		for _, t := range types {
			array.CheckShape(d.Name, t.Shape, t.DType)
		}
		if len(types) == 1 && d.Class == Pointwise {
			return []*ir.Node{args0(args).Node(d, a, types[0].DType, types[0].Shape, false, args...)}
		}
		n := args0(args).Several(d, a, types, args...)
		out := make([]*ir.Node, len(types))
		for i := range out {
			out[i] = n.Graph.Result(n, i)
		}
		return out
	}
	return []*ir.Node{applyOne(d, a, args)}
}

func hasComplex(args []*ir.Node) bool {
	return slices.ContainsFunc(args, func(x *ir.Node) bool { return x.DType.Complex() })
}

func hasHalf(args []*ir.Node) bool {
	return slices.ContainsFunc(args, func(x *ir.Node) bool { return x.DType.Half() })
}

// Widen returns args with float32 in the place of float16 and bfloat16.
func Widen(args []*ir.Node) []*ir.Node {
	wide := slices.Clone(args)
	for i, x := range wide {
		if x != nil && x.DType.Half() {
			wide[i] = Convert(x, array.Float32)
		}
	}
	return wide
}

// applyWide computes in float32 and rounds the results to the type in which the
// arguments meet.
func applyWide(d *Def, a ir.Attrs, args []*ir.Node) []*ir.Node {
	out := ApplyAll(d, a, Widen(args)...)
	to := Promote(args...)
	if r, ok := a.(Reduction); ok && r.DType != array.Invalid || !to.Half() {
		return out
	}
	for i, y := range out {
		if y.DType == array.Float32 {
			out[i] = Convert(y, to)
		}
	}
	return out
}

// prepare checks the number of arguments and their types, and returns the
// attributes.
func prepare(d *Def, a ir.Attrs, args []*ir.Node) ir.Attrs {
	if d.Arity >= 0 && len(args) != d.Arity {
		array.Failf(d.Name, "", "takes %s, got %d", array.Count(d.Arity, "argument"), len(args))
	}
	if a == nil {
		a = d.Attrs
	}
	for _, x := range args {
		if !x.DType.Supported() {
			array.Failf(d.Name, "", "element type %s is not supported", x.DType)
		}
	}
	return a
}

// applyOne adds an operation of one result.
func applyOne(d *Def, a ir.Attrs, args []*ir.Node) *ir.Node {
	switch d.Class {
	case Composite:
		return d.Compose(args, a)
	case Pointwise:
		if d.Infer == nil {
			return applyPointwise(d, a, args)
		}
	}
	return applyInferred(d, a, args)
}

func applyInferred(d *Def, a ir.Attrs, args []*ir.Node) *ir.Node {
	dt, shape := d.Infer(&Call{d, args, a})
	array.CheckShape(d.Name, shape, dt)
	return args0(args).Node(d, a, dt, shape, false, args...)
}

func args0(args []*ir.Node) *ir.Graph { return args[0].Graph }

func applyPointwise(d *Def, a ir.Attrs, args []*ir.Node) *ir.Node {
	meet := Promote(args...)
	switch d.Rule {
	case NoBool:
		if meet == array.Bool {
			array.Failf(d.Name, "", "is not defined for bool")
		}
	case Float:
		if !meet.Float() {
			meet = array.Float32
		}
	case Logic:
		meet = array.Bool
	case Bits:
		if !meet.Integer() && meet != array.Bool {
			array.Failf(d.Name, "", "is defined for integers and bool, got %s", meet)
		}
	case Ints:
		if !meet.Integer() {
			array.Failf(d.Name, "", "is defined for integers, got %s", meet)
		}
	}
	if meet.Integer() && len(args) > 1 {
		if y := exactly(d, args, meet); y != nil {
			return y
		}
	}
	res := meet
	if d.Rule == Compare {
		res = array.Bool
	}
	conv, shape := args, args[0].Shape
	weak, same := true, true
	for i, x := range args {
		if d.Rule != Keep {
			if y := d.convert(i, x, meet); y != x {
				if &conv[0] == &args[0] {
					conv = slices.Clone(args)
				}
				conv[i] = y
			}
		}
		same = same && array.Equal(shape, x.Shape)
		weak = weak && x.Weak
	}
	if !same {
		shapes := make([][]int, len(args))
		for i, x := range args {
			shapes[i] = x.Shape
		}
		shape = array.Broadcast(d.Name, shapes...)
		array.CheckShape(d.Name, shape, res)
	}
	return args0(args).Node(d, a, res, shape, weak && d.Rule != Compare, conv...)
}

// Promote returns the type in which the nodes meet: PyTorch's rule. Arrays with
// dimensions decide; a 0-d array or a Go number counts only if its category is
// higher.
func Promote(args ...*ir.Node) array.DType {
	var class [3]array.DType // arrays, 0-d arrays, Go numbers
	for _, x := range args {
		c := 0
		if x.Weak {
			c = 2
		} else if len(x.Shape) == 0 {
			c = 1
		}
		class[c] = promote2(class[c], x.DType)
	}
	res := class[0]
	if res != array.Invalid || class[1] != array.Invalid {
		// What a formula computes of numbers alone may be float64; to arrays a number
		// is a number.
		if class[2].Float() {
			class[2] = array.Float32
		}
	}
	for _, t := range class[1:] {
		if t != array.Invalid && (res == array.Invalid || t.Category() > res.Category()) {
			res = promote2(res, t)
		}
	}
	return res
}

func promote2(a, b array.DType) array.DType {
	switch array.Invalid {
	case a:
		return b
	case b:
		return a
	}
	return array.Promote(a, b)
}

// Convert returns x with elements of type d. A Go number that is an integer must fit an
// integer type: a constant is checked here, others when they are given.
func Convert(x *ir.Node, d array.DType) *ir.Node {
	if x.DType == d && !x.Weak {
		return x
	}
	g := x.Graph
	switch {
	case x.DType.Complex() || d.Complex():
		return convertComplex(x, d)
	case x.Op == ir.Scalar && x.Weak:
		return g.Scalar(x.Arg(), d, false)
	case x.Op == ir.Const:
		if x.Weak {
			checkNumber("convert", x, d, 0)
		}
		v := x.Value()
		if !x.Weak {
			v.Float = Nearest(x.DType, v.Float) // a constant is rounded when it is used
		}
		switch {
		case !d.Float():
			return g.Node(ir.Const, ir.Value{Int: constInt(v, x.DType, d)}, d, nil, false)
		case !x.DType.Float():
			return g.Number(FloatOf(v.Int, x.DType, d), d, false)
		}
		return g.Number(v.Float, d, false)
	}
	if x.DType == d {
		return x
	}
	array.CheckShape(Cast.Name, x.Shape, d)
	return g.Node(Cast, To(d), d, x.Shape, false, x)
}

// constInt is a constant as an element of an integer type or bool, by the rules of
// Cast; of uint64 as its bits.
func constInt(v ir.Value, from, d array.DType) int64 {
	i, f := v.Int, v.Float
	if from.Float() {
		lo, hi := d.Limits()
		switch {
		case d == array.Bool && f != 0: // NaN too
			return 1
		case d == array.Bool || f != f:
			return 0
		case d == array.Uint64 && f >= 0x1p64:
			return -1 // as bits
		case d == array.Uint64 && f >= 0x1p63:
			return int64(uint64(f))
		case f <= float64(lo):
			return lo
		case f >= float64(hi):
			return hi
		}
		return int64(f)
	}
	rest := 64 - 8*d.Size()
	switch {
	case d == array.Bool:
		return truth(i != 0)
	case unsigned(d):
		return int64(uint64(i) << rest >> rest)
	}
	return i << rest >> rest
}

// FloatOf is an integer of type from as an element of a float type d, or as what is rounded
// to it; of uint64 it is given by its bits.
func FloatOf(i int64, from, d array.DType) float64 {
	neg := from != array.Uint64 && i < 0
	u := uint64(i)
	if neg {
		u = -u
	}
	f := float64(u)
	if d == array.Float32 {
		f = float64(float32(u))
	}
	if d.Half() && u>>53 != 0 && u&(1<<12-1) != 0 { // that a second rounding sees that there was more
		f = float64(u&^(1<<12-1) | 1<<11)
	}
	if neg {
		return -f
	}
	return f
}

// unsigned reports the integer types without sign.
func unsigned(d array.DType) bool { return d.Integer() && d.Unsigned() }

// Combines returns by what the elements of a reduction are combined.
func Combines(n *ir.Node) loop.Reduction {
	k := Of(n).Kind
	switch {
	case !unsigned(n.DType):
	case k == loop.Min:
		return loop.MinU
	case k == loop.Max:
		return loop.MaxU
	}
	return k
}

// Nearest is f as an element of a float type d.
func Nearest(d array.DType, f float64) float64 {
	switch d {
	case array.Float32:
		return float64(float32(f))
	case array.Float16:
		return float64(half.NewFloat16(f).Float32())
	case array.BFloat16:
		return float64(half.NewBFloat16(f).Float32())
	}
	return f
}

// num is the constant f in the type of like.
func num(like *ir.Node, f float64) *ir.Node {
	if like.DType.Complex() {
		part := like.DType.Part()
		return join2(like.Graph.Number(f, part, false), like.Graph.Number(0, part, false))
	}
	return like.Graph.Number(f, like.DType, false)
}

// A VJP collects the gradients of one application of a Def.
type VJP struct {
	Node *ir.Node // the application: its type, shape, attributes
	X    []*ir.Node
	Y    *ir.Node // its result, the first if there are several
	DY   *ir.Node // the gradient of the result
	// Ys are the results of an operation that has several, DYs their gradients:
	// zeros for a result that nothing depends on, nil for one that is no float.
	Ys, DYs []*ir.Node
	Need    []bool // by argument
	DX      []*ir.Node
	Seeds   []*ir.Node // gradients that the graph of gradients begins with
}

// Set gives the gradient of argument i. The gradient is summed over broadcast axes to the
// argument's shape, and converted to the argument's type. f is called only if the gradient is
// needed.
func (v *VJP) Set(i int, f func() *ir.Node) {
	if !v.Need[i] {
		return
	}
	v.DX[i] = Convert(SumTo(f(), v.X[i].Shape), v.X[i].DType)
}

// SumTo sums x over the axes that shape broadcasts along to x.Shape.
func SumTo(x *ir.Node, shape []int) *ir.Node {
	if array.Equal(x.Shape, shape) {
		return x
	}
	var axes []int
	k := len(x.Shape) - len(shape)
	for i, n := range x.Shape {
		if i < k || shape[i-k] == 1 && n != 1 {
			axes = append(axes, i)
		}
	}
	if len(axes) > 0 {
		x = Apply(Sum, Reduction{Axes: axes, Keep: true, DType: x.DType}, x)
	}
	return reshape(x, shape)
}

// Gradient returns the gradients of the sum over outs of <outs[i], douts[i]>
// with respect to wrt; nil where an output does not depend on it.
func Gradient(outs, douts, wrt []*ir.Node) []*ir.Node { return gradientFrom(outs, douts, wrt, nil) }

// gradientFrom is Gradient, added to starts, the first operand of the sum, where outs depend on wrt.
// starts and its elements may be nil.
func gradientFrom(outs, douts, wrt, starts []*ir.Node) []*ir.Node {
	g := outs[0].Graph
	reach := ir.Reach(outs)
	n := len(reach)
	leads := make([]bool, n) // from wrt
	for _, w := range wrt {
		if w.ID < n {
			leads[w.ID] = true
		}
	}
	for i, x := range g.Nodes[:n] {
		if x.Op == Stop {
			continue
		}
		for _, a := range x.Args {
			leads[i] = leads[i] || reach[i] && leads[a.ID] && (x.DType.Differentiable() || x.Results != nil)
		}
	}
	grad := make([]*ir.Node, n)
	accumulate := func(x, dx *ir.Node) {
		if grad[x.ID] != nil {
			dx = Apply(Add, nil, grad[x.ID], dx)
		}
		grad[x.ID] = dx
	}
	for i, s := range starts {
		if wrt[i].ID < n {
			grad[wrt[i].ID] = s
		}
	}
	for i, o := range outs {
		if leads[o.ID] && douts[i] != nil {
			accumulate(o, douts[i])
		}
	}
	// flat are nodes that outs depend on through a piecewise constant operation: their gradient is 0 where
	// nothing else gives one.
	flat := make([]bool, n)
	several := map[*ir.Node][]*ir.Node{} // gradients by result
	for i := n - 1; i >= 0; i-- {
		x := g.Nodes[i]
		if d := Of(x); leads[i] && (grad[i] != nil && d != nil && d.PiecewiseConstant || grad[i] == nil && several[x] == nil && flat[i]) {
			for _, a := range x.Args {
				flat[a.ID] = flat[a.ID] || leads[a.ID] && a.DType.Differentiable()
			}
		}
		if grad[i] == nil && several[x] == nil || !leads[i] || len(x.Args) == 0 {
			continue
		}
		if x.Op == ir.Result {
			of := x.Args[0]
			if several[of] == nil {
				several[of] = make([]*ir.Node, len(of.Results))
			}
			several[of][x.Arg()] = grad[i]
			continue
		}
		d := Of(x)
		if d.VJP == nil {
			continue
		}
		v := &VJP{Node: x, X: x.Args, Y: x, DY: grad[i], Seeds: douts, Need: make([]bool, len(x.Args)), DX: make([]*ir.Node, len(x.Args))}
		if x.Results != nil {
			v.DYs = several[x]
			for k, t := range x.Results {
				v.Ys = append(v.Ys, g.Result(x, k))
				if v.DYs[k] == nil && t.DType.Differentiable() {
					v.DYs[k] = expand(num(v.Ys[k], 0), t.Shape)
				}
			}
			v.Y, v.DY = v.Ys[0], v.DYs[0]
		}
		for j, a := range x.Args {
			v.Need[j] = leads[a.ID] && a.DType.Differentiable()
		}
		d.VJP(v)
		if d.Class == Control {
			addOrderedTo(grad, v)
		}
		for j, dx := range v.DX {
			if dx != nil && v.Need[j] {
				if !array.Equal(dx.Shape, x.Args[j].Shape) || dx.DType != x.Args[j].DType {
					panic(fmt.Sprintf("op: gradient %d of %s is %s, want %s", j, d.Name,
						array.TypeString(dx.DType, dx.Shape), array.TypeString(x.Args[j].DType, x.Args[j].Shape)))
				}
				accumulate(x.Args[j], dx)
			}
		}
	}
	out := make([]*ir.Node, len(wrt))
	for i, w := range wrt {
		if w.ID >= n {
			continue
		}
		if out[i] = grad[w.ID]; out[i] == nil && flat[w.ID] {
			out[i] = full(g, 0, w.DType, w.Shape)
		}
	}
	return out
}

// addOrderedTo moves gradients of a loop or a branch that [AddOrdered] adds from v to grad, by node.
func addOrderedTo(grad []*ir.Node, v *VJP) {
	olds := make([]*ir.Node, len(v.X))
	for j, a := range v.X {
		olds[j] = grad[a.ID]
	}
	for j, added := range AddOrdered(v.DX, olds) {
		if added {
			grad[v.X[j].ID], v.DX[j] = v.DX[j], nil
		}
	}
}

// Replace rebuilds the graph of outs with node to[i] in the place of node from[i]. nil outputs
// stay nil.
func Replace(outs, from, to []*ir.Node) []*ir.Node {
	memo := map[*ir.Node]*ir.Node{}
	for i, n := range from {
		memo[n] = to[i]
	}
	var walk func(n *ir.Node) *ir.Node
	walk = func(n *ir.Node) *ir.Node {
		if m, ok := memo[n]; ok {
			return m
		}
		args := make([]*ir.Node, len(n.Args))
		for i, a := range n.Args {
			args[i] = walk(a)
		}
		m := rebuilt(n, args)
		memo[n] = m
		return m
	}
	res := make([]*ir.Node, len(outs))
	for i, o := range outs {
		if o != nil {
			res[i] = walk(o)
		}
	}
	return res
}
