package loop

import (
	"math"
	"slices"
	"sync"

	"weft/internal/array"
)

// A Builder makes a program. Its methods panic on misuse; [Builder.Done]
// verifies what was built and ends it. Pure instructions that repeat within reach
// are shared.
type Builder struct {
	p      *Program
	Line   int // of the source, which instructions that come next are from; 0 for none
	depth  int // blocks around the instruction that comes next, beyond the row
	inPass bool
	*work
}

// work is the memory that a Builder needs until it is done.
type work struct {
	ins    []Ins
	blocks []Value // of the blocks that are open, the innermost last
	// Pure instructions within reach, in the order in which they were added, and
	// by hash: one more than the value, 0 for none. The table is at least twice
	// as long as the list, and a power of two.
	shared []Value
	table  []Value
}

var works = sync.Pool{New: func() any { return &work{table: make([]Value, 1024)} }}

// NewBuilder starts a program with the given axes and lane axis.
func NewBuilder(name string, axes []Axis, lane int) *Builder {
	w := works.Get().(*work)
	return &Builder{p: &Program{Name: name, Axes: axes, Lane: lane, Ins: w.ins[:0]}, work: w}
}

// Done verifies and returns the program.
func (b *Builder) Done() (*Program, error) {
	p := b.Finish()
	if err := Verify(p); err != nil {
		return nil, err
	}
	return p, nil
}

// Finish returns the program without verifying it.
func (b *Builder) Finish() *Program {
	if w := b.work; w != nil {
		b.forget(0)
		w.ins = b.p.Ins
		b.p.Ins = slices.Clone(w.ins)
		b.work = nil
		works.Put(w)
	}
	return b.p
}

// Program returns the program as it stands.
func (b *Builder) Program() *Program { return b.p }

// Buf adds a buffer argument.
func (b *Builder) Buf(d array.DType, write bool, steps ...Step) int {
	b.p.Bufs = append(b.p.Bufs, Buf{DType: d, Write: write, Steps: steps})
	return len(b.p.Bufs) - 1
}

// ScalarArg adds a scalar argument and returns its number.
func (b *Builder) ScalarArg(t Type) int {
	b.p.Scalars = append(b.p.Scalars, t)
	return len(b.p.Scalars) - 1
}

// Type returns the type of a value.
func (b *Builder) Type(v Value) Type { return b.p.Ins[v].Type }

// Name says for people that a variable of the source has the value v. The first name stays.
// Of numbers that [Narrow] does not look at there is no name.
func (b *Builder) Name(v Value, name string) {
	if name == "" || v == NoValue || b.p.Ins[v].Type != I64 || b.p.Ins[v].Op == OpConst {
		return
	}
	if b.p.Names == nil {
		b.p.Names = map[Value]string{}
	}
	if b.p.Names[v] == "" {
		b.p.Names[v] = name
	}
}

func (b *Builder) add(in Ins) Value {
	b.p.Ins = append(b.p.Ins, in)
	return b.place()
}

// place puts the newest instruction into its block.
func (b *Builder) place() Value {
	v := Value(len(b.p.Ins) - 1)
	if b.Line > 0 {
		for len(b.p.Lines) < len(b.p.Ins) {
			b.p.Lines = append(b.p.Lines, 0)
		}
		b.p.Lines[v] = int32(b.Line)
	}
	if b.depth == 0 {
		b.p.Body = append(b.p.Body, v)
	} else {
		b.blocks = append(b.blocks, v)
	}
	return v
}

// pure adds an instruction without effect unless an equal one is in reach.
func (b *Builder) pure(op Op, t Type, x, y, z Value, imm uint64) Value {
	// Field by field, and where it may stay: a copy of what was just written would
	// wait for it.
	n := len(b.p.Ins)
	b.p.Ins = append(b.p.Ins, Ins{})
	in := &b.p.Ins[n]
	in.Op, in.Type, in.A, in.B, in.C, in.Imm = op, t, x, y, z, imm
	i := hash(op, t, x, y, z, imm)
	for ; ; i++ {
		v := b.table[i&uint64(len(b.table)-1)] - 1
		if v < 0 {
			break
		}
		if o := &b.p.Ins[v]; o.Imm == imm && o.A == x && o.B == y && o.C == z && o.Op == op && o.Type == t {
			b.p.Ins = b.p.Ins[:n]
			return v
		}
	}
	v := b.place()
	b.shared = append(b.shared, v)
	b.table[i&uint64(len(b.table)-1)] = v + 1
	if 2*len(b.shared) > len(b.table) {
		b.grow()
	}
	return v
}

// hash returns the hash of a pure instruction in the table.
func hash(op Op, t Type, x, y, z Value, imm uint64) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := imm*k ^ uint64(op)<<8 ^ uint64(t)
	h = (h ^ uint64(uint32(x)) ^ uint64(uint32(y))<<32) * k
	h = (h ^ h>>32 ^ uint64(uint32(z))) * k
	return h >> 32
}

func (in *Ins) hash() uint64 { return hash(in.Op, in.Type, in.A, in.B, in.C, in.Imm) }

// grow doubles the table.
func (b *Builder) grow() {
	b.table = make([]Value, 2*len(b.table))
	for _, v := range b.shared {
		i := b.p.Ins[v].hash()
		for b.table[i&uint64(len(b.table)-1)] != 0 {
			i++
		}
		b.table[i&uint64(len(b.table)-1)] = v + 1
	}
}

// forget removes all but the first n pure instructions from the table. It removes the newest first,
// so that no probe misses an older one.
func (b *Builder) forget(n int) {
	if n == 0 {
		clear(b.table)
		b.shared = b.shared[:0]
	}
	for len(b.shared) > n {
		last := len(b.shared) - 1
		v := b.shared[last]
		i := b.p.Ins[v].hash()
		for b.table[i&uint64(len(b.table)-1)] != v+1 {
			i++
		}
		b.table[i&uint64(len(b.table)-1)] = 0
		b.shared = b.shared[:last]
	}
}

// in runs f with its instructions going to block.
func (b *Builder) in(block *[]Value, f func()) {
	open, reach := len(b.blocks), len(b.shared)
	b.depth++
	f()
	b.depth--
	*block = slices.Clone(b.blocks[open:])
	b.blocks = b.blocks[:open]
	b.forget(reach)
}

// ConstBits is the constant of type t with these bits.
func (b *Builder) ConstBits(t Type, bits uint64) Value {
	return b.pure(OpConst, t, NoValue, NoValue, NoValue, bits)
}

// Float is the constant x rounded to t, F32 or F64.
func (b *Builder) Float(t Type, x float64) Value { return b.ConstBits(t, floatBits(t, x)) }

// floatBits is x rounded to t, F32 or F64, as the bits of a constant.
func floatBits(t Type, x float64) uint64 {
	if t == F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// Int is the constant x, cut to the integer type t.
//
//go:noinline
func (b *Builder) Int(t Type, x int64) Value {
	return b.ConstBits(t, uint64(x)<<(64-8*t.Size())>>(64-8*t.Size()))
}

// Number is x as a constant of type t, rounded or truncated to it; B is x != 0.
func (b *Builder) Number(t Type, x float64) Value {
	switch {
	case t == B:
		return b.Bool(x != 0)
	case t.Int():
		return b.Int(t, int64(x))
	}
	return b.Float(t, x)
}

// Bool is a constant truth value.
func (b *Builder) Bool(x bool) Value {
	if x {
		return b.ConstBits(B, 1)
	}
	return b.ConstBits(B, 0)
}

// Scalar is the value of scalar argument i.
func (b *Builder) Scalar(i int) Value {
	return b.pure(OpScalar, b.p.Scalars[i], NoValue, NoValue, NoValue, uint64(i))
}

// Index is the logical index along an axis, of type I64.
func (b *Builder) Index(axis int) Value {
	return b.pure(OpIndex, I64, NoValue, NoValue, NoValue, uint64(axis))
}

// Load reads an element. Loads are never shared: a store may come between.
func (b *Builder) Load(buf int) Value {
	return b.add(Ins{Op: OpLoad, Type: b.p.TypeOf(buf), A: NoValue, B: NoValue, C: NoValue, Imm: uint64(buf)})
}

// LoadAt reads the element at offset off (I32 or I64, in elements).
func (b *Builder) LoadAt(buf int, off Value) Value {
	return b.add(Ins{Op: OpLoadAt, Type: b.p.TypeOf(buf), A: off, B: NoValue, C: NoValue, Imm: uint64(buf)})
}

// Store writes x.
func (b *Builder) Store(buf int, x Value) {
	b.add(Ins{Op: OpStore, A: b.unrounded(buf, x), B: NoValue, C: NoValue, Imm: uint64(buf)})
}

// StoreAt writes x at offset off (I32 or I64, in elements).
func (b *Builder) StoreAt(buf int, x, off Value) {
	b.add(Ins{Op: OpStoreAt, A: b.unrounded(buf, x), B: off, C: NoValue, Imm: uint64(buf)})
}

// unrounded is x without the rounding that a store to buf does anyway.
func (b *Builder) unrounded(buf int, x Value) Value {
	if in := &b.p.Ins[x]; in.Op == OpRound && in.Imm == uint64(b.p.Bufs[buf].DType) {
		return in.A
	}
	return x
}

// The methods below that add an instruction are not inlined: formulas call them 10,000 times, and each call inlined
// takes more code, and tables of the runtime and the debugger, than its time is worth (1 MB of cmd/weft).

// The methods below that add one instruction are not inlined. Formulas call them 10,000 times, and inlined calls took
// 0.9 MB of cmd/weft in code and in the tables of the runtime and the debugger.

// Unary adds a one-operand instruction of the operand's type.
//
//go:noinline
func (b *Builder) Unary(op Op, x Value) Value {
	return b.pure(op, b.Type(x), x, NoValue, NoValue, 0)
}

// Binary adds a two-operand instruction of the operands' type; comparisons give
// B.
func (b *Builder) Binary(op Op, x, y Value) Value {
	t := b.Type(x)
	if op >= OpEq && op <= OpLeU {
		t = B
	}
	return b.pure(op, t, x, y, NoValue, 0)
}

//go:noinline
func (b *Builder) Add(x, y Value) Value { return b.Binary(OpAdd, x, y) }

//go:noinline
func (b *Builder) Sub(x, y Value) Value { return b.Binary(OpSub, x, y) }

//go:noinline
func (b *Builder) Mul(x, y Value) Value { return b.Binary(OpMul, x, y) }

//go:noinline
func (b *Builder) Div(x, y Value) Value { return b.Binary(OpDiv, x, y) }

//go:noinline
func (b *Builder) Quo(x, y Value) Value { return b.Binary(OpQuo, x, y) }

//go:noinline
func (b *Builder) Rem(x, y Value) Value { return b.Binary(OpRem, x, y) }

//go:noinline
func (b *Builder) Min(x, y Value) Value { return b.Binary(OpMin, x, y) }

//go:noinline
func (b *Builder) Max(x, y Value) Value { return b.Binary(OpMax, x, y) }

//go:noinline
func (b *Builder) And(x, y Value) Value { return b.Binary(OpAnd, x, y) }

//go:noinline
func (b *Builder) Or(x, y Value) Value { return b.Binary(OpOr, x, y) }

//go:noinline
func (b *Builder) Xor(x, y Value) Value { return b.Binary(OpXor, x, y) }

//go:noinline
func (b *Builder) QuoU(x, y Value) Value { return b.Binary(OpQuoU, x, y) }

//go:noinline
func (b *Builder) RemU(x, y Value) Value { return b.Binary(OpRemU, x, y) }

//go:noinline
func (b *Builder) MinU(x, y Value) Value { return b.Binary(OpMinU, x, y) }

//go:noinline
func (b *Builder) MaxU(x, y Value) Value { return b.Binary(OpMaxU, x, y) }

//go:noinline
func (b *Builder) LtU(x, y Value) Value { return b.Binary(OpLtU, x, y) }

//go:noinline
func (b *Builder) LeU(x, y Value) Value { return b.Binary(OpLeU, x, y) }

//go:noinline
func (b *Builder) Shl(x, y Value) Value { return b.Binary(OpShl, x, y) }

//go:noinline
func (b *Builder) Shr(x, y Value) Value { return b.Binary(OpShr, x, y) }

//go:noinline
func (b *Builder) ShrU(x, y Value) Value { return b.Binary(OpShrU, x, y) }

//go:noinline
func (b *Builder) Eq(x, y Value) Value { return b.Binary(OpEq, x, y) }

//go:noinline
func (b *Builder) Ne(x, y Value) Value { return b.Binary(OpNe, x, y) }

//go:noinline
func (b *Builder) Lt(x, y Value) Value { return b.Binary(OpLt, x, y) }

//go:noinline
func (b *Builder) Le(x, y Value) Value { return b.Binary(OpLe, x, y) }

//go:noinline
func (b *Builder) Gt(x, y Value) Value { return b.Binary(OpLt, y, x) }

//go:noinline
func (b *Builder) Ge(x, y Value) Value { return b.Binary(OpLe, y, x) }

//go:noinline
func (b *Builder) Neg(x Value) Value { return b.Unary(OpNeg, x) }

//go:noinline
func (b *Builder) Abs(x Value) Value { return b.Unary(OpAbs, x) }

//go:noinline
func (b *Builder) Not(x Value) Value { return b.Unary(OpNot, x) }

//go:noinline
func (b *Builder) Sqrt(x Value) Value { return b.Unary(OpSqrt, x) }

//go:noinline
func (b *Builder) Floor(x Value) Value { return b.Unary(OpFloor, x) }

//go:noinline
func (b *Builder) Ceil(x Value) Value { return b.Unary(OpCeil, x) }

//go:noinline
func (b *Builder) Trunc(x Value) Value { return b.Unary(OpTrunc, x) }

//go:noinline
func (b *Builder) Rint(x Value) Value { return b.Unary(OpRint, x) }

//go:noinline
func (b *Builder) LogB(x Value) Value { return b.Unary(OpLogB, x) }

// ScaleB is x*2^k; see [OpScaleB].
//
//go:noinline
func (b *Builder) ScaleB(x, k Value) Value { return b.Binary(OpScaleB, x, k) }

// Fma is x*y+z rounded once.
//
//go:noinline
func (b *Builder) Fma(x, y, z Value) Value { return b.pure(OpFma, b.Type(x), x, y, z, 0) }

// Select is c ? x : y.
//
//go:noinline
func (b *Builder) Select(c, x, y Value) Value {
	if in := &b.p.Ins[c]; in.Op == OpConst {
		if in.Imm != 0 {
			return x
		}
		return y
	}
	return b.pure(OpSelect, b.Type(x), c, x, y, 0)
}

// Lookup is the entry of table that i, modulo its length, names: of type F32, to which
// entries are rounded, if i is I32, and of F64 if it is I64. The table takes
// [TableBytes] or a power of two times that, where bits of i choose between parts
// that have one instruction each.
func (b *Builder) Lookup(table []float64, i Value) Value {
	it, t := b.Type(i), Table{Type: F32}
	if it == I64 {
		t.Type = F64
	}
	if half := len(table) / 2; len(table)*t.Type.Size() > TableBytes {
		first := b.Eq(b.And(i, b.Int(it, int64(half))), b.Int(it, 0))
		return b.Select(first, b.Lookup(table[:half], i), b.Lookup(table[half:], i))
	}
	t.Bits = make([]uint64, len(table))
	for j, x := range table {
		t.Bits[j] = floatBits(t.Type, x)
	}
	at := slices.IndexFunc(b.p.Tables, func(o Table) bool { return o.Type == t.Type && slices.Equal(o.Bits, t.Bits) })
	if at < 0 {
		at = len(b.p.Tables)
		b.p.Tables = append(b.p.Tables, t)
	}
	return b.pure(OpLookup, t.Type, i, NoValue, NoValue, uint64(at))
}

// Cvt converts x to t; it is x itself when it has that type. Integers have a sign.
func (b *Builder) Cvt(t Type, x Value) Value { return b.CvtSigned(t, x, 0) }

// CvtSigned is Cvt of integers that have no sign as sign says, made of [FromUnsigned]
// and [ToUnsigned]; what does not matter to the types is left out.
func (b *Builder) CvtSigned(t Type, x Value, sign int) Value {
	from := b.Type(x)
	switch {
	case from == t:
		return x
	case t == B:
		return b.Ne(x, b.Number(from, 0))
	case !from.Int() || t.Int() && t.Size() < from.Size():
		sign &^= FromUnsigned
	}
	if !from.Float() || !t.Int() {
		sign &^= ToUnsigned
	}
	return b.pure(OpCvt, t, x, NoValue, NoValue, uint64(sign))
}

// Round is x, of type F32, rounded to d, Float16 or BFloat16; see [OpRound].
func (b *Builder) Round(d array.DType, x Value) Value {
	if b.p.Rounded(d, x) {
		return x
	}
	return b.pure(OpRound, F32, x, NoValue, NoValue, uint64(d))
}

// Half converts x, of any type, to the nearest value of d, Float16 or BFloat16, rounded once. For
// integers, sign is as in [Builder.CvtSigned]. A value with too many bits for F32 is first rounded
// to odd, after which a second rounding gives the same result as one rounding would (Boldo and
// Melquiond, 2008).
func (b *Builder) Half(d array.DType, x Value, sign int) Value {
	t := b.Type(x)
	// Of integers, small ones are exact as they are. Those that F32 rounds are infinite as
	// float16.
	if d == array.BFloat16 && (t == I32 || t == I64) {
		var exact Value
		low := int64(1<<8 - 1) // F32 holds what is left, and F64 of I64
		switch unsigned := sign&FromUnsigned != 0; {
		case t == I64:
			low = 1<<11 - 1
			above := x
			if !unsigned {
				above = b.Add(x, b.Int(t, 1<<52))
			}
			exact = b.Eq(b.ShrU(above, b.Int(t, 53)), b.Int(t, 0))
		case unsigned:
			exact = b.Eq(b.ShrU(x, b.Int(t, 24)), b.Int(t, 0))
		default:
			exact = b.Lt(b.Abs(x), b.Int(t, 1<<24))
		}
		x = b.Select(exact, x, b.odd(x, low))
		if t == I64 {
			x = b.CvtSigned(F64, x, sign)
		}
	}
	if b.Type(x) == F64 {
		low := int64(1<<29 - 1) // F32 holds what is left of all that float16 does not take for 0
		if d == array.BFloat16 {
			low = 1<<43 - 1 // ten bits that stay, which F32 holds down to 2^-140: bfloat16 takes that for 0
		}
		x = b.Bits(F64, b.odd(b.Bits(I64, x), low))
	}
	return b.Round(d, b.CvtSigned(F32, x, sign))
}

// odd rounds the integer x to odd: it clears the lowest bits, the mask low, and sets the bit above
// them if one of them was set.
func (b *Builder) odd(x Value, low int64) Value {
	l := b.Int(b.Type(x), low)
	return b.And(b.Or(x, b.Add(b.And(x, l), l)), b.Int(b.Type(x), ^low))
}

// Bits reinterprets x as t of the same size.
func (b *Builder) Bits(t Type, x Value) Value {
	if b.Type(x) == t {
		return x
	}
	if in := &b.p.Ins[x]; in.Op == OpBits {
		return in.A // there and back
	}
	return b.pure(OpBits, t, x, NoValue, NoValue, 0)
}

// Pass runs f for each index of the lane axis.
func (b *Builder) Pass(f func()) {
	r := &Region{Axis: -1, Cond: NoValue}
	b.inPass = true
	b.in(&r.Body, f)
	b.inPass = false
	b.region(OpPass, r)
}

func (b *Builder) region(op Op, r *Region) Value {
	b.p.Regions = append(b.p.Regions, r)
	return b.add(Ins{Op: op, A: NoValue, B: NoValue, C: NoValue, Imm: uint64(len(b.p.Regions) - 1)})
}

// InPass reports whether instructions go into a pass.
func (b *Builder) InPass() bool { return b.inPass }

// Reduce combines x over the lanes of the pass.
func (b *Builder) Reduce(kind Reduction, x Value) Value {
	return b.add(Ins{Op: OpReduce, Type: b.Type(x), A: x, B: NoValue, C: NoValue, Imm: uint64(kind)})
}

func (b *Builder) params(r *Region) {
	for i, v := range r.Init {
		p := Value(len(b.p.Ins))
		b.p.Ins = append(b.p.Ins, Ins{Op: OpParam, Type: b.Type(v), A: NoValue, B: NoValue, C: NoValue, Imm: uint64(i)})
		r.Params = append(r.Params, p)
	}
}

func (b *Builder) outs(op Op, r *Region, like []Value) []Value {
	v := b.region(op, r)
	out := make([]Value, len(like))
	for i, x := range like {
		out[i] = b.add(Ins{Op: OpOut, Type: b.Type(x), A: v, B: NoValue, C: NoValue, Imm: uint64(i)})
	}
	return out
}

// While repeats body while cond holds, on values that start as init: each of the
// two gets the current values; body returns the next ones. It returns the
// values at the end.
func (b *Builder) While(init []Value, cond func(v []Value) Value, body func(v []Value) []Value) []Value {
	r := &Region{Axis: -1, Init: init}
	b.params(r)
	b.in(&r.Head, func() {
		r.Cond = cond(r.Params)
		// The body sees what the head computed.
		b.in(&r.Body, func() { r.Next = body(r.Params) })
	})
	return b.outs(OpLoop, r, init)
}

// For repeats body for each index of a serial axis; see [Builder.While].
func (b *Builder) For(axis int, init []Value, body func(v []Value) []Value) []Value {
	r := &Region{Axis: axis, Init: init, Cond: NoValue}
	b.params(r)
	b.in(&r.Body, func() { r.Next = body(r.Params) })
	return b.outs(OpLoop, r, init)
}

// If runs then or els, whose results are the results of the if.
func (b *Builder) If(cond Value, then, els func() []Value) []Value {
	r := &Region{Axis: -1, Cond: cond}
	b.in(&r.Body, func() { r.Next = then() })
	if els != nil {
		b.in(&r.Else, func() { r.ElseNext = els() })
	}
	return b.outs(OpIf, r, r.Next)
}
