package core

import (
	"slices"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
)

// What package sym replays expressions by.

// nestedTrace begins a trace inside the one that runs here, if any, which goes on after end.
func nestedTrace(line *uintptr) (tr *Trace, end func()) {
	outer := TracingHere()
	tr = NewTrace(line)
	return tr, func() {
		tr.End()
		if outer != nil {
			Running.Store(tr.Thread, outer)
		}
	}
}

// Infer returns the types of what f gives for tensors of these types without memory.
func Infer(types []ir.Type, f func([]*Tensor) []*Tensor) []ir.Type {
	tr, end := nestedTrace(nil)
	defer end()
	ts := make([]*Tensor, len(types))
	for i, t := range types {
		array.CheckShape("sym", t.Shape, t.DType)
		ts[i] = &Tensor{v: tr.Fresh(t.DType, t.Shape)}
	}
	var outs []*Tensor
	Recording(true, func() { outs = f(ts) })
	res := make([]ir.Type, len(outs))
	for i, t := range outs {
		res[i] = ir.Type{DType: t.v.DType, Shape: t.v.Shape}
	}
	return res
}

// DryRun runs f with tensors without memory that have the types and the device of ts. Nothing is
// computed, and what f writes into tensors with memory is not written. macs counts the multiply-adds of matrix
// products and convolutions so far.
func DryRun(ts []*Tensor, f func(ts []*Tensor, macs func() int64)) {
	tr, end := nestedTrace(nil)
	defer end()
	like := make([]*Tensor, len(ts))
	for i, t := range ts {
		t.Check("dryrun")
		tr.place(t.v.Store.Device)
		v := tr.Fresh(t.v.DType, t.v.Shape)
		like[i] = &Tensor{v: v}
		tr.cells[v.Store].node = tr.G.Input(i, v.DType, v.Shape)
	}
	counted, sum := 0, int64(0)
	Recording(false, func() {
		f(like, func() int64 {
			for ; counted < len(tr.G.Nodes); counted++ {
				sum += op.MultiplyAdds(tr.G.Nodes[counted])
			}
			return sum
		})
	})
}

// FunctionOf is what f gives for tensors of these types, as a function that operations run. What
// f draws are arguments behind those, int64 without dimensions: the seed and the number of each
// draw. It panics with *array.Error if f uses tensors of another kind. The tape says which values
// have gradients, or none, that their operations do not.
func FunctionOf(name string, line *uintptr, types []ir.Type, f func([]*Tensor) []*Tensor) (*op.Function, []Drawing) {
	return tracedFunction(name, line, types, len(types), func(_ *Trace, ts []*Tensor) []*Tensor {
		for _, t := range ts {
			if t.v.DType.Differentiable() {
				t.RequireGrad()
			}
		}
		return f(ts)
	})
}

// tracedFunction is what f does with tensors of these types as a function of the graph. What
// it draws it does with two arguments more each, the seed and the number of the draw, which
// stand before argument number first of these.
func tracedFunction(name string, line *uintptr, types []ir.Type, first int, f func(tr *Trace, ts []*Tensor) []*Tensor) (*op.Function, []Drawing) {
	tr, end := nestedTrace(line)
	defer end()
	tr.Callee = true
	ts := make([]*Tensor, len(types))
	for i, t := range types {
		array.CheckShape(name, t.Shape, t.DType)
		v := array.View{Store: tr.Storage(array.Size(t.Shape) * t.DType.Size()), DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}
		tr.Input(Source{Kind: FromArgument, Index: i, At: v})
		ts[i] = &Tensor{v: v}
	}
	var outs []*Tensor
	Recording(true, func() { outs = f(tr, ts) })
	if tr.Refused != nil {
		panic(tr.Refused)
	}
	nodes := make([]*ir.Node, len(outs))
	for i, t := range outs {
		nodes[i] = tr.Value(&t.v)
	}
	switch {
	case len(tr.Host) > 0:
		array.Failf(name, "", "the function does what every call does on the host, such as counting steps: do it outside")
	case len(tr.Sources) > len(types):
		array.Failf(name, "", "the function uses a tensor that is not a variable%s: make it one with Const or Shared outside", At(tr.Sources[len(types)].PC))
	}
	if tr.Numbers > 0 && first == len(types) {
		types = slices.Concat(types, slices.Repeat([]ir.Type{{DType: array.Int64, Shape: []int{}}}, tr.Numbers))
	}
	g := ir.New()
	nodes = op.Import(g, nodes, func(n *ir.Node) *ir.Node {
		if n.Op == ir.Input {
			return g.Input(n.Arg(), n.DType, n.Shape)
		}
		return g.Input(first+n.Arg(), n.DType, n.Shape)
	})
	return op.NewFunction(types, nodes), tr.drawn
}

// Draws are the draws of n runs of a function, one after the other: their seed, and a vector of
// their numbers. In a trace each call makes them.
func Draws(d Drawing, n int) (seed, numbers *Tensor) {
	each := int64(d.Count)
	d.Count *= n
	var a, b exec.Number
	var first *Tensor
	if tr := TracingHere(); tr == nil {
		s := d.From.Skip(d.Count)
		if a, b = Word(s.Seed).Num, Word(s.Draw).Num; d.Short {
			b.Int &= low32
		}
		seed, first = NumberOf("scalar", 0, Whole(a.Int).Num, array.Int64), NumberOf("scalar", 0, Whole(b.Int).Num, array.Int64)
	} else {
		a, b = tr.Draws(d)
		seed, first = &Tensor{v: tr.Scalar(a, array.Int64)}, &Tensor{v: tr.Scalar(b, array.Int64)}
	}
	// Each run goes on where the one before it ended.
	x := WithAttrs(op.CumSum, op.Axis(0), Full("ones", Whole(1), 0, array.Int64, []int{n}))
	x = Apply(op.Sub, nil, Operand{T: x}, Whole(1))
	x = Apply(op.Mul, nil, Operand{T: x}, Whole(each))
	return seed, Apply(op.Add, nil, Operand{T: x}, Operand{T: first})
}

// Constant returns t, which never changes, as a value of the function that is being traced. It is
// a number of the graph if the elements are equal, which it reports, and one value of the trace
// with constants equal to it.
func Constant(t *Tensor) (value *Tensor, number bool) {
	if tr := TracingHere(); tr != nil {
		return tr.fixed(t)
	}
	return t, false
}

// JacobianOf returns the derivatives of each element of y by each element of each x, all at once.
// A result has the sizes of y, then the sizes of x. create records them.
func JacobianOf(y *Tensor, x []*Tensor, create bool) []*Tensor {
	m := y.Size()
	out := make([]*Tensor, len(x))
	if y.Node() != nil && m > 0 {
		eye := Full("eye", Whole(0), 0, array.Float32, []int{m, m})
		Window(op.Diagonal, op.Offset(0), eye).Assigned("assign", "x", Whole(1), (*Tensor).CopyFrom)
		seeds := eye.To(y.v.DType).On(y.v.Store.Device).Reshape(append([]int{m}, y.v.Shape...)...)
		out = WalkRows("jacobian", []*Tensor{y}, x, WalkOpts{Seeds: []*Tensor{seeds}, Create: create, Retain: true, AllowUnused: true}, m)
	}
	for i, g := range out {
		shape := append(slices.Clone(y.v.Shape), x[i].v.Shape...)
		if g == nil {
			array.CheckShape("jacobian", shape, x[i].v.DType)
			out[i] = Full("zeros", Whole(0), 0, x[i].v.DType, shape)
		} else {
			out[i] = g.Reshape(shape...)
		}
	}
	return out
}
