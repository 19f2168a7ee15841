package ptx

import (
	"weft/internal/array"
	"weft/internal/loop"
)

// A rule says which instructions compute an operation of package loop.
//
// The text has instructions between semicolons, with placeholders. $A, $B and $C are the operands,
// $D the result: the last instruction alone writes it, since a kernel may write a register that it
// also reads. $s, $u, $b and $f are the type that the rule is for, as an integer with sign and
// without, as bits and as a float: s32, u64, b64, f32. $p1, $h1, $r1, $d1 and so on are temporaries, $x1 one of
// the size of that type. $from and $to are the types of a conversion.
type rule struct {
	op    loop.Op
	types typeSet // of the operand A; of OpSelect, of B
	text  string
}

// A typeSet is a set of types of package loop, by bit.
type typeSet uint16

const (
	b      typeSet = 1 << loop.B
	i32    typeSet = 1 << loop.I32
	i64    typeSet = 1 << loop.I64
	f32    typeSet = 1 << loop.F32
	f64    typeSet = 1 << loop.F64
	ints           = i32 | i64
	floats         = f32 | f64
)

func (s typeSet) has(t loop.Type) bool { return s>>t&1 != 0 }

var rules = []rule{
	{loop.OpAdd, ints, "add.$s $D, $A, $B"},
	{loop.OpAdd, floats, "add.rn.$f $D, $A, $B"},
	{loop.OpSub, ints, "sub.$s $D, $A, $B"},
	{loop.OpSub, floats, "sub.rn.$f $D, $A, $B"},
	{loop.OpMul, ints, "mul.lo.$s $D, $A, $B"},
	{loop.OpMul, floats, "mul.rn.$f $D, $A, $B"},
	{loop.OpDiv, floats, "div.rn.$f $D, $A, $B"},
	{loop.OpFma, floats, "fma.rn.$f $D, $A, $B, $C"},
	{loop.OpSqrt, floats, "sqrt.rn.$f $D, $A"},
	{loop.OpFloor, floats, "cvt.rmi.$f.$f $D, $A"},
	{loop.OpCeil, floats, "cvt.rpi.$f.$f $D, $A"},
	{loop.OpTrunc, floats, "cvt.rzi.$f.$f $D, $A"},
	{loop.OpRint, floats, "cvt.rni.$f.$f $D, $A"},

	// neg and abs of floats leave the sign of a NaN open. grid.OpenSign allows that.
	{loop.OpNeg, ints, "neg.$s $D, $A"},
	{loop.OpNeg, f32, "xor.b32 $D, $A, 0x80000000"},
	{loop.OpNeg, f64, "xor.b64 $D, $A, 0x8000000000000000"},
	{loop.OpAbs, ints, "neg.$s $x1, $A; max.$s $D, $A, $x1"},
	{loop.OpAbs, f32, "and.b32 $D, $A, 0x7FFFFFFF"},
	{loop.OpAbs, f64, "and.b64 $D, $A, 0x7FFFFFFFFFFFFFFF"},

	// Of floats: a if it is less or NaN, else b.
	{loop.OpMin, ints, "min.$s $D, $A, $B"},
	{loop.OpMin, floats, "setp.lt.$f $p1, $A, $B; setp.nan.or.$f $p2, $A, $A, $p1; selp.$b $D, $A, $B, $p2"},
	{loop.OpMax, ints, "max.$s $D, $A, $B"},
	{loop.OpMax, floats, "setp.gt.$f $p1, $A, $B; setp.nan.or.$f $p2, $A, $A, $p1; selp.$b $D, $A, $B, $p2"},
	{loop.OpMinU, ints, "min.$u $D, $A, $B"},
	{loop.OpMaxU, ints, "max.$u $D, $A, $B"},

	// The exponent's bits stand in the low end of the fraction of 2^23 or 2^52, from which that
	// and the bias are subtracted exactly.
	{loop.OpLogB, f32, "shr.u32 $r1, $A, 23; or.b32 $r2, $r1, 0x4B000000; sub.rn.f32 $D, $r2, 0f4B00007F"},
	{loop.OpLogB, f64, "mov.b64 {$r1, $r2}, $A; shr.u32 $r3, $r2, 20; mov.b64 $d1, {$r3, 0x43300000}; sub.rn.f64 $D, $d1, 0d43300000000003FF"},

	// B plus 3*2^22 or 3*2^51, and twice the bias of an exponent, has B and that in its low bits. The
	// two factors are 2 to half of B, rounded down and up: halves of the sum are their exponents with
	// the bias. The first product is exact, because it is a normal number.
	{loop.OpScaleB, f32, "add.rn.f32 $r1, $B, 0f4B4000FE; shr.s32 $r2, $r1, 1; sub.s32 $r3, $r1, $r2;" +
		"shl.b32 $r4, $r2, 23; shl.b32 $r5, $r3, 23; mul.rn.f32 $r6, $A, $r4; mul.rn.f32 $D, $r6, $r5"},
	{loop.OpScaleB, f64, "add.rn.f64 $d1, $B, 0d43380000000007FE; cvt.u32.u64 $r1, $d1; shr.s32 $r2, $r1, 1; sub.s32 $r3, $r1, $r2;" +
		"shl.b32 $r4, $r2, 20; mov.b64 $d2, {0, $r4}; shl.b32 $r5, $r3, 20; mov.b64 $d3, {0, $r5};" +
		"mul.rn.f64 $d4, $A, $d2; mul.rn.f64 $D, $d4, $d3"},

	// Division by zero and by -1 divides by 1 instead, which is the remainder's result as well.
	{loop.OpQuo, ints, "setp.eq.$s $p1, $B, 0; setp.eq.$s $p2, $B, -1; or.pred $p3, $p1, $p2; selp.$b $x1, 1, $B, $p3;" +
		"div.$s $x2, $A, $x1; neg.$s $x3, $A; selp.$b $x4, $x3, $x2, $p2; selp.$b $D, 0, $x4, $p1"},
	{loop.OpRem, ints, "setp.eq.$s $p1, $B, 0; setp.eq.$s $p2, $B, -1; or.pred $p3, $p1, $p2; selp.$b $x1, 1, $B, $p3; rem.$s $D, $A, $x1"},
	{loop.OpQuoU, ints, "setp.eq.$u $p1, $B, 0; selp.$b $x1, 1, $B, $p1; div.$u $x2, $A, $x1; selp.$b $D, 0, $x2, $p1"},
	{loop.OpRemU, ints, "setp.eq.$u $p1, $B, 0; selp.$b $x1, 1, $B, $p1; rem.$u $D, $A, $x1"},
	{loop.OpMulHi, ints, "mul.hi.$s $D, $A, $B"},
	{loop.OpMulHiU, ints, "mul.hi.$u $D, $A, $B"},

	// PTX takes the count as 32 bits without sign and clamps it to the width.
	{loop.OpShl, i32, "shl.b32 $D, $A, $B"},
	{loop.OpShr, i32, "shr.s32 $D, $A, $B"},
	{loop.OpShrU, i32, "shr.u32 $D, $A, $B"},
	{loop.OpShl, i64, "min.u64 $d1, $B, 64; cvt.u32.u64 $r1, $d1; shl.b64 $D, $A, $r1"},
	{loop.OpShr, i64, "min.u64 $d1, $B, 64; cvt.u32.u64 $r1, $d1; shr.s64 $D, $A, $r1"},
	{loop.OpShrU, i64, "min.u64 $d1, $B, 64; cvt.u32.u64 $r1, $d1; shr.u64 $D, $A, $r1"},
	{loop.OpRotL, i32, "shf.l.wrap.b32 $D, $A, $A, $B"},
	{loop.OpRotL, i64, "cvt.u32.u64 $r1, $B; and.b32 $r2, $r1, 63; sub.s32 $r3, 64, $r2; shl.b64 $d1, $A, $r2; shr.u64 $d2, $A, $r3; or.b64 $D, $d1, $d2"},
	{loop.OpPopCount, i32, "popc.b32 $D, $A"},
	{loop.OpPopCount, i64, "popc.b64 $r1, $A; cvt.u64.u32 $D, $r1"},
	{loop.OpLzCnt, i32, "clz.b32 $D, $A"},
	{loop.OpLzCnt, i64, "clz.b64 $r1, $A; cvt.u64.u32 $D, $r1"},
	{loop.OpTzCnt, i32, "brev.b32 $r1, $A; clz.b32 $D, $r1"},
	{loop.OpTzCnt, i64, "brev.b64 $d1, $A; clz.b64 $r1, $d1; cvt.u64.u32 $D, $r1"},

	{loop.OpAnd, ints | b, "and.$b $D, $A, $B"},
	{loop.OpOr, ints | b, "or.$b $D, $A, $B"},
	{loop.OpXor, ints | b, "xor.$b $D, $A, $B"},
	{loop.OpNot, ints | b, "not.$b $D, $A"},

	{loop.OpEq, b, "xor.pred $p1, $A, $B; not.pred $D, $p1"},
	{loop.OpEq, ints, "setp.eq.$s $D, $A, $B"},
	{loop.OpEq, floats, "setp.eq.$f $D, $A, $B"},
	{loop.OpNe, b, "xor.pred $D, $A, $B"},
	{loop.OpNe, ints, "setp.ne.$s $D, $A, $B"},
	{loop.OpNe, floats, "setp.neu.$f $D, $A, $B"},
	{loop.OpLt, ints, "setp.lt.$s $D, $A, $B"},
	{loop.OpLt, floats, "setp.lt.$f $D, $A, $B"},
	{loop.OpLe, ints, "setp.le.$s $D, $A, $B"},
	{loop.OpLe, floats, "setp.le.$f $D, $A, $B"},
	{loop.OpLtU, ints, "setp.lt.$u $D, $A, $B"},
	{loop.OpLeU, ints, "setp.le.$u $D, $A, $B"},

	{loop.OpSelect, ints | floats, "selp.$b $D, $B, $C, $A"},
	{loop.OpSelect, b, "and.pred $p1, $A, $B; not.pred $p2, $A; and.pred $p3, $p2, $C; or.pred $D, $p1, $p3"},

	{loop.OpBits, ints | floats, "mov.$b $D, $A"},
}

// rounding has the rules of OpRound, by the type rounded to. sm_80 cannot convert from bfloat16,
// which is the high half of a float32.
var rounding = map[array.DType]string{
	array.Float16:  "cvt.rn.f16.f32 $h1, $A; cvt.f32.f16 $D, $h1",
	array.BFloat16: "cvt.rn.bf16.f32 $h1, $A; mov.b32 $D, {0, $h1}",
}

// A conversion is a rule of OpCvt. $from and $to have the sign that the operation says.
type conversion struct {
	from, to typeSet
	text     string
}

// Floats saturate as integers. A NaN gives 0 by itself only where neither type has 64 bits.
var conversions = []conversion{
	{b, i32, "selp.b32 $D, 1, 0, $A"},
	{b, i64, "selp.b64 $D, 1, 0, $A"},
	{b, f32, "selp.b32 $D, 0x3F800000, 0, $A"},
	{b, f64, "selp.b64 $D, 0x3FF0000000000000, 0, $A"},
	{i32, i32, "mov.b32 $D, $A"},
	{i64, i64, "mov.b64 $D, $A"},
	{f32, f32, "mov.b32 $D, $A"},
	{f64, f64, "mov.b64 $D, $A"},
	{i32, i64, "cvt.s64.$from $D, $A"},
	{i64, i32, "cvt.u32.u64 $D, $A"},
	{ints, floats, "cvt.rn.$to.$from $D, $A"},
	{f32, f64, "cvt.f64.f32 $D, $A"},
	{f64, f32, "cvt.rn.f32.f64 $D, $A"},
	{f32, i32, "cvt.rzi.$to.f32 $D, $A"},
	{f32, i64, "cvt.rzi.$to.f32 $d1, $A; setp.num.f32 $p1, $A, $A; selp.b64 $D, $d1, 0, $p1"},
	{f64, i32, "cvt.rzi.$to.f64 $r1, $A; setp.num.f64 $p1, $A, $A; selp.b32 $D, $r1, 0, $p1"},
	{f64, i64, "cvt.rzi.$to.f64 $d1, $A; setp.num.f64 $p1, $A, $A; selp.b64 $D, $d1, 0, $p1"},
}
