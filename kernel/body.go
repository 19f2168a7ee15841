package kernel

import (
	"weft/internal/array"
	"weft/internal/gokernel"
	"weft/internal/ir"
	"weft/internal/op"
)

// takesRandom reports a function that asks for random numbers.
func takesRandom(in *gokernel.Instance) bool {
	for _, i := range in.Inputs() {
		if i.Kind == gokernel.Seed {
			return true
		}
	}
	return false
}

// A frame is where a function is put into a graph.
type frame struct {
	g       *ir.Graph
	args    []*ir.Node // by parameter that takes one
	shape   []int      // of the results
	extents []int      // of what they belong to
	place   func(axis int, i *ir.Node) *ir.Node
	more    []*ir.Node // seed and draw
	around  []int      // the shape of the array whose neighbourhoods are read
}

// inputs returns what the function is given.
func (f *frame) inputs(fn *Func, in *gokernel.Instance) []*ir.Node {
	args := f.converted(fn, in)
	f.prove(fn, in, args)
	var out []*ir.Node
	for _, i := range in.Inputs() {
		out = append(out, f.input(i, args))
	}
	return out
}

// prove checks what is to hold of the arrays that the function reads.
func (f *frame) prove(fn *Func, in *gokernel.Instance, args []*ir.Node) {
	for k, p := range fn.f.Params() {
		if (p.Role == gokernel.Clamped || p.Role == gokernel.Wrapped) && args[k].Size() == 0 {
			array.Failf(fn.f.Name(), p.Name, "of shape %v has no element that %s could read", args[k].Shape, p.Type)
		}
	}
	for _, o := range in.Obligations() {
		if err := o.Check(f.extents, func(param int) []int { return args[param].Shape }); err != nil {
			fail(fn.f.Name(), err)
		}
	}
}

// converted returns the arguments by parameter, in the types that the function takes.
func (f *frame) converted(fn *Func, in *gokernel.Instance) []*ir.Node {
	args := make([]*ir.Node, len(fn.f.Params()))
	n := 0
	for k, p := range fn.f.Params() {
		if p.Role != gokernel.Element {
			args[k] = op.Convert(f.args[n], in.Args()[n])
			n++
		}
	}
	return args
}

func (f *frame) input(i gokernel.Input, args []*ir.Node) *ir.Node {
	switch i.Kind {
	case gokernel.Argument:
		return part(args[i.Param], i.Part)
	case gokernel.Index:
		return f.index(i.Axis)
	case gokernel.Extent:
		return f.whole(f.extent(i.Axis))
	case gokernel.DimOf:
		return f.whole(f.around[i.Axis])
	case gokernel.Seed:
		return op.Convert(f.more[0], array.Int64)
	case gokernel.Draw:
		return op.Convert(f.more[1], array.Int64)
	}
	// kernel.Flat
	flat, step := f.whole(0), 1
	for axis := len(f.shape) - 1; axis >= 0; axis-- {
		flat = op.Apply(op.Add, nil, flat, op.Apply(op.Mul, nil, f.index(axis), f.whole(step)))
		step *= f.extents[axis]
	}
	return flat
}

func (f *frame) whole(i int) *ir.Node { return f.g.Number(float64(i), array.Int64, false) }

func (f *frame) extent(axis int) int {
	if axis < 0 || axis >= len(f.extents) {
		array.Failf("kernel", "axis", "kernel.Elem has no axis %d: the result has %d", axis, len(f.extents))
	}
	return f.extents[axis]
}

// index is the index of each element along an axis.
func (f *frame) index(axis int) *ir.Node {
	f.extent(axis)
	i := op.Apply(op.Iota, op.Axis(axis), op.Apply(op.Expand, op.Shape(f.shape), f.whole(0)))
	if f.place != nil {
		i = f.place(axis, i)
	}
	return i
}

// widen broadcasts the first input that is seen by element to the shape of the results.
func (f *frame) widen(in *gokernel.Instance, args []*ir.Node) {
	for k, i := range in.Inputs() {
		if i.Seen() == op.ByElement {
			args[k] = op.Apply(op.Expand, op.Shape(f.shape), args[k])
			return
		}
	}
}

// part is a part of a number that may be complex, 0 the real one.
func part(x *ir.Node, i int) *ir.Node {
	switch {
	case !x.DType.Complex():
		return x
	case i == 0:
		return op.Apply(op.Real, nil, x)
	}
	return op.Apply(op.Imag, nil, x)
}
