package formula

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// compose builds the graph of the formula. A misuse, such as shapes that do not
// broadcast, panics with an error that points at the operation.
func (v *Variant) compose(args []*ir.Node, _ ir.Attrs) *ir.Node {
	b := &builder{v: v, g: args[0].Graph, arrays: map[int]*ir.Node{}, at: v.Formula.root.at}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*array.Error)
			if !ok || e.Op == "expr" {
				panic(r)
			}
			panic(ErrorAt("expr", v.Formula.Text, b.at, e.Kind, e.Error()))
		}
	}()
	// Numbers are computed in the widest type of float among the arrays; with
	// integers alone in float32, as everywhere, and without arrays as Go does.
	b.float = array.Float64
	if len(v.arrays) > 0 {
		b.float = array.Float32
	}
	for i, k := range v.arrays {
		x := args[i]
		b.arrays[k] = x
		if x.DType == array.Float64 {
			b.float = array.Float64
		}
	}
	for _, x := range args[len(v.arrays):] {
		if x.DType.Float() {
			x = b.g.Scalar(x.Arg(), b.float, true)
		}
		b.numbers = append(b.numbers, x)
	}
	return b.build(v.Formula.root)
}

type builder struct {
	v       *Variant
	g       *ir.Graph
	arrays  map[int]*ir.Node // by name
	numbers []*ir.Node       // by slot
	float   array.DType      // of numbers
	at      int              // of the operation in hand
}

func (b *builder) build(n *Node) *ir.Node {
	if i, ok := b.v.slot[n]; ok {
		return b.numbers[i]
	}
	switch n.kind {
	case number:
		switch n.num.Kind {
		case array.CatFloat:
			return b.g.Number(n.num.Float, b.float, true)
		case array.CatInt:
			return b.g.Node(ir.Const, ir.Value{Int: n.num.Int}, array.Int64, nil, true)
		}
		return b.g.Node(ir.Const, ir.Value{Int: n.num.Int}, array.Bool, nil, true)
	case name:
		return b.arrays[n.name]
	}
	args := make([]*ir.Node, len(n.args))
	weak := true
	for i, a := range n.args {
		args[i] = b.build(a)
		weak = weak && args[i].Weak
	}
	b.at = n.at
	if n.kind == user {
		out := n.fun.Compose(args)
		if len(out) != 1 {
			array.Failf(n.fun.Name, "", "gives %d results: in a formula a function gives one", len(out))
		}
		return out[0]
	}
	if n.kind == made {
		if w := n.made.written; w != nil {
			return w.compose(n.made.name, b, args)
		}
		return n.made.compose(args)
	}
	if n.kind == cast {
		if args[0].Weak && args[0].DType.Integer() { // what does not fit wraps, as an array's elements do
			args[0] = op.Convert(args[0], array.Int64)
		}
		if args[0].DType.Complex() { // which is refused, unless the numbers stay complex
			return op.Apply(op.Cast, op.To(n.cast), args[0])
		}
		return op.Convert(args[0], n.cast)
	}
	if weak && n.def.Class == op.Pointwise && n.def.Rule == op.Float {
		// Integers among numbers become floats of their type, not float32.
		for i, x := range args {
			args[i] = b.asFloat(x)
		}
	}
	if n.def == op.Where && !args[0].Weak && args[1].Weak && args[2].Weak {
		// The choice is an array; of two numbers alone it would have the formula's type.
		meet := op.Promote(args[1], args[2])
		if meet.Float() {
			meet = array.Float32
		}
		args[1], args[2] = op.Convert(args[1], meet), op.Convert(args[2], meet)
	}
	if n.def == op.Pow && n.args[1].kind == number {
		return b.power(args[0], n.args[1], args[1])
	}
	if n.def == op.BitXor && op.Promote(args...).Float() {
		panic(ErrorAt("expr", b.v.Formula.Text, n.at, array.Misuse, "^ is not a power: a power is written pow(a, 2)"))
	}
	if n.def.Over != op.NoAxes {
		return op.Apply(n.def, n.over, args...)
	}
	return op.Apply(n.def, nil, args...)
}

// asFloat returns a number as a float that is still a number.
func (b *builder) asFloat(x *ir.Node) *ir.Node {
	switch {
	case x.DType.Float():
		return x
	case x.Op == ir.Const:
		return b.g.Number(float64(x.Value().Int), b.float, true)
	case x.Op == ir.Scalar:
		return b.g.Scalar(x.Arg(), b.float, true)
	}
	return op.Convert(x, b.float)
}

// power is x to a constant power. Small integers are chains of products, also
// when they are written as floats; an array of integers then becomes float32.
func (b *builder) power(x *ir.Node, n *Node, y *ir.Node) *ir.Node {
	f := asFloat(n.num)
	switch {
	case n.num.Kind == array.CatBool || x.DType == array.Bool:
		return op.Apply(op.Pow, nil, x, y)
	case n.num.Kind == array.CatFloat && !x.DType.Differentiable():
		t := array.Float32
		if x.Weak {
			t = b.float
		}
		x = op.Convert(x, t)
	}
	return op.PowBy(x, f)
}
