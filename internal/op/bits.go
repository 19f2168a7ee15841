package op

import "weft/internal/loop"

// Operations on the bits of integers; bool is one bit.
var BitAnd, BitOr, BitXor, BitNot, Shl, Shr, PopCount *Def

func init() {
	for _, c := range []struct {
		def             **Def
		name, onnx, doc string
		op              loop.Op
	}{
		{&BitAnd, "bit_and", "BitwiseAnd", "The bits that both integers have; of bool, and.", loop.OpAnd},
		{&BitOr, "bit_or", "BitwiseOr", "The bits that either integer has; of bool, or.", loop.OpOr},
		{&BitXor, "bit_xor", "BitwiseXor", "The bits that one integer alone has; of bool, exclusive or.", loop.OpXor},
	} {
		*c.def = define(Def{Name: c.name, Arity: 2, ONNX: c.onnx, Doc: c.doc,
			Elementwise: Elementwise{Rule: Bits,
				Expr: func(b *bld, n *node, x []val) val { return b.Binary(c.op, x[0], x[1]) }}})
	}
	BitNot = define(Def{Name: "bit_not", Arity: 1, ONNX: "BitwiseNot", Doc: "The bits that an integer lacks, -x-1; of bool, not.",
		Elementwise: Elementwise{Rule: Bits,
			Expr: func(b *bld, n *node, x []val) val { return b.Not(x[0]) }}})
	Shl = define(Def{Name: "shl", Arity: 2, ONNX: "BitShift",
		Doc: "x times 2 to the y, without the bits that go beyond the type; 0 where y is below 0 or not below the width.",
		Elementwise: Elementwise{Rule: Ints, IntegerLimits: [3]Side{0, TooHigh},
			Expr: func(b *bld, n *node, x []val) val { return b.Shl(x[0], x[1]) }}})
	Shr = define(Def{Name: "shr", Arity: 2, ONNX: "BitShift",
		Doc: "x divided by 2 to the y and rounded down; where y is below 0 or not below the width 0, or -1 of negative numbers.",
		Elementwise: Elementwise{Rule: Ints, IntegerLimits: [3]Side{0, TooHigh},
			Expr: func(b *bld, n *node, x []val) val {
				if unsigned(n.DType) {
					return b.ShrU(x[0], x[1])
				}
				return b.Shr(x[0], x[1])
			}}})
	PopCount = define(Def{Name: "pop_count", Arity: 1, Doc: "How many bits of an integer are set, in its type.",
		Elementwise: Elementwise{Rule: Ints,
			Expr: func(b *bld, n *node, x []val) val { return b.Unary(loop.OpPopCount, x[0]) }}})
}
