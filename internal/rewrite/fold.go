package rewrite

import (
	"math"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

var foldRules = []*Rule{
	{Name: "order of operands", Doc: "y+x -> x+y, c*x -> x*c: constants last, else who comes first in the graph", Phase: Merge,
		Roots: commutative,
		Apply: func(c *Context, n *ir.Node) *ir.Node {
			if x, y := n.Args[0], n.Args[1]; swapped(x, y) {
				return c.copy(n, []*ir.Node{y, x})
			}
			return nil
		}},
	{Name: "constant folding", Doc: "f(constants) -> constant", Phase: Canonicalise, Apply: fold},
}

// fold computes an elementwise operation of constants, by the program that would compute it
// later, on the oracle: no bit depends on who does it.
func fold(c *Context, n *ir.Node) *ir.Node {
	if len(n.Args) == 0 || len(n.Shape) > 0 || n.DType.Complex() {
		return nil
	}
	for _, a := range n.Args {
		if a.Op != ir.Const {
			return nil
		}
	}
	if !elementwise(n) {
		return nil
	}
	b := loop.NewBuilder("constant", []loop.Axis{{Kind: loop.Parallel}}, 0)
	out := b.Buf(n.DType, true, loop.Unit)
	b.Pass(func() {
		x := make([]loop.Value, len(n.Args))
		for i, a := range n.Args {
			x[i] = constant(b, a)
		}
		v := op.Of(n).Expr(b, n, x)
		if n.DType.Half() {
			v = b.Round(n.DType, v)
		}
		b.Store(out, v)
	})
	p := b.Finish()
	var word uint64
	f := loop.NewFrame()
	defer f.Free(1)
	f.Word[loop.WordFuel], f.Word[loop.WordResume] = 1<<20, 0
	f.Word[p.ExtentWord(0)], f.Word[p.StartWord(0)] = 1, 0
	f.Word[p.StrideWord(out, 0)] = uint64(n.DType.Size())
	f.Ptr[out] = unsafe.Pointer(&word)
	if !interp.Compile(p).Run(f, func() bool { return false }) {
		return nil
	}
	return n.Graph.Node(ir.Const, valueOf(n.DType, unsafe.Pointer(&word)), n.DType, nil, n.Weak)
}

// constant is a constant as a value of a program.
func constant(b *loop.Builder, n *ir.Node) loop.Value {
	switch t := loop.TypeOf(n.DType); {
	case t == loop.B:
		return b.Bool(n.Value().Int != 0)
	case t.Float():
		return b.Float(t, op.Nearest(n.DType, n.Value().Float))
	default:
		return b.Int(t, n.Value().Int)
	}
}

// valueOf is the element at p.
func valueOf(d array.DType, p unsafe.Pointer) ir.Value {
	switch d {
	case array.Float16:
		return ir.Value{Float: float64((*(*half.Float16)(p)).Float32())}
	case array.BFloat16:
		return ir.Value{Float: float64((*(*half.BFloat16)(p)).Float32())}
	case array.Float32:
		return ir.Value{Float: float64(*(*float32)(p))}
	case array.Float64:
		return ir.Value{Float: *(*float64)(p)}
	case array.Bool, array.Uint8:
		return ir.Value{Int: int64(*(*uint8)(p))}
	case array.Int8:
		return ir.Value{Int: int64(*(*int8)(p))}
	case array.Int16:
		return ir.Value{Int: int64(*(*int16)(p))}
	case array.Uint16:
		return ir.Value{Int: int64(*(*uint16)(p))}
	case array.Int32:
		return ir.Value{Int: int64(*(*int32)(p))}
	case array.Uint32:
		return ir.Value{Int: int64(*(*uint32)(p))}
	}
	return ir.Value{Int: *(*int64)(p)}
}

// powerOfTwo reports a number by which division and multiplication with its inverse are the
// same: a power of two whose inverse is one of the type too.
func powerOfTwo(d array.DType, f float64) bool {
	frac, exp := math.Frexp(math.Abs(f))
	return frac == 0.5 && exp > -100 && exp < 100 && op.Nearest(d, 1/f)*f == 1
}
