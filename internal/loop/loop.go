// Package loop is weft's loop language: the one form in which every kernel is
// written before a backend (interp, x86, later PTX) runs it.
//
// # Shape of a program
//
// A [Program] computes over a rectangle of axes. Axes before the lane axis are
// parallel outer axes; they are implicit loops around the whole body. One
// iteration of them is called a row. The body of a row holds uniform
// instructions (one value a row) and passes: an [OpPass] runs its block once
// for every index of the lane axis. Inside a pass an instruction has one value
// a lane. Axes after the lane axis are serial: an [OpLoop] inside a pass walks
// one of them.
//
//	row:   p0 = pass { x = load a; m = reduce max x }
//	       p1 = pass { e = exp(load a - m); s = reduce sum e }
//	       r  = div 1 s
//	       p2 = pass { store out, exp(load a - m) * r }
//
// Loops and ifs stand in passes or in the row, passes in the row alone.
//
// An axis can have another extent in each row: [Axis.Offsets].
//
// The language is scalar: what it says of one lane is exact, and a backend that
// runs many lanes at once must give the same bits.
//
// # Values
//
// Values are SSA: an index into [Program.Ins]. A value is visible in the block
// that defines it after its definition and in blocks nested there. The result of
// [OpReduce] is the exception: it is visible after its pass ends, as a uniform
// value, and not inside that pass.
//
// The types are B (a truth value: a mask of lanes), I8, I16, I32, I64, F32 and F64.
// Integers have no sign of their own: operations that depend on it come in two forms.
// Memory holds array.DType elements; loads of float16 and bfloat16 widen to F32, and
// stores of them round as [OpRound] does. A complex number is two values, and two
// buffers of its parts, each [By2] along the lane axis.
//
// # Exactness
//
// Every instruction is exactly specified; see [Op]. Nothing is contracted:
// mul then add rounds twice. No value depends on how many lanes run at once, on
// chunks or on threads: a reduction has its own fixed order, see [OpReduce].
package loop

import "weft/internal/array"

// A Type is the type of a value.
type Type uint8

const (
	None Type = iota
	B         // truth value
	I32       // two's complement, as all integers
	I64
	F32 // IEEE 754 binary32
	F64
	I8
	I16
	numTypes
)

var typeNames = [numTypes]string{"-", "b", "i32", "i64", "f32", "f64", "i8", "i16"}

func (t Type) String() string { return typeNames[t] }

// Size returns the bytes of a value; B has none.
func (t Type) Size() int { return [numTypes]int{0, 0, 4, 8, 4, 8, 1, 2}[t] }

// Float reports F32 and F64.
func (t Type) Float() bool { return t == F32 || t == F64 }

// Int reports the integer types.
func (t Type) Int() bool { return t == I32 || t == I64 || t == I8 || t == I16 }

// TypeOf returns the type in which elements of d are computed, where [Program.Wide] does
// not say otherwise.
func TypeOf(d array.DType) Type {
	switch d {
	case array.Bool:
		return B
	case array.Uint8, array.Int8:
		return I8
	case array.Int16, array.Uint16:
		return I16
	case array.Int32, array.Uint32:
		return I32
	case array.Int64, array.Uint64:
		return I64
	case array.Float32, array.Float16, array.BFloat16:
		return F32
	case array.Float64:
		return F64
	}
	return None
}

// A Value names the instruction that defines it. Operands have lower numbers than the
// instruction, but for what a region reads.
type Value int32

// NoValue stands for an absent operand.
const NoValue Value = -1

// An Op is an operation. Operands are A, B and C; the type of the instruction is
// that of its result, and operands have the same type unless said otherwise.
type Op uint8

const (
	OpInvalid Op = iota

	// Sources.
	OpConst  // the constant whose bits are Imm (F32 in the low 32 bits; B is 0 or 1)
	OpScalar // scalar argument number Imm
	OpIndex  // I64: the logical index along axis Imm (the frame's start is added)

	// Memory. Imm is the buffer. The address is the buffer's base plus, for each
	// axis, index times stride; axes on which the buffer has step Zero add
	// nothing. Lanes that are not active (beyond the end, outside an if, out of
	// their loop) touch no memory. A store outside passes writes once a row.
	OpLoad
	OpStore   // A is the value; the buffer steps on every parallel axis around the store that is not bound to one element
	OpLoadAt  // as OpLoad, plus A (I32 or I64) times the element size
	OpStoreAt // A is the value, B (I32 or I64) the element offset

	// Arithmetic on integers and floats. Integers wrap. Floats round to nearest, ties
	// to even.
	OpAdd
	OpSub
	OpMul
	OpNeg // floats: flips the sign bit, of NaN too
	OpAbs // floats: clears the sign bit; the least integer stays
	OpMin // a < b ? a : b; floats: NaN if either is, b when equal
	OpMax // a > b ? a : b; floats: NaN if either is (quiet), b when equal

	// Floats only.
	OpDiv
	OpFma // A*B+C rounded once
	OpSqrt
	OpFloor
	OpCeil
	OpTrunc
	OpRint // to nearest, ties to even

	// Floats only, the last two only for the operands named: of others the result is any.
	OpRound  // F32 only: the nearest value of array.DType(Imm), Float16 or BFloat16, ties to even, infinite beyond; NaN stays NaN. Other types: [Builder.Half]
	OpLogB   // the exponent of A: k with 2^k <= A < 2^(k+1); A is positive and normal
	OpScaleB // A*2^B rounded once; 1/4 <= |A| < 4 or A is NaN, B is whole and |B| <= ScaleBound

	// Integers only. Quo truncates toward zero. By zero both give 0; the least
	// integer by -1 gives itself and remainder 0. A U at the end of a name says
	// that the operands have no sign.
	OpQuo
	OpRem
	OpQuoU
	OpRemU
	OpMinU
	OpMaxU
	OpMulHi // the high half of the product of twice the width
	OpMulHiU
	OpShl  // B is the count; counts below 0 or from the width on give 0
	OpShr  // arithmetic; such counts give the sign
	OpShrU // logical; such counts give 0
	OpRotL // B is the count, modulo the width
	OpPopCount
	OpLzCnt // zeros above the highest bit that is set; the width for 0
	OpTzCnt // zeros below the lowest bit that is set; the width for 0

	// Integers and B.
	OpAnd
	OpOr
	OpXor
	OpNot

	// Comparisons give B. Operands are integers or floats; of Eq and Ne also B, of LtU and LeU
	// integers alone. With a NaN only Ne is true.
	OpEq
	OpNe
	OpLt
	OpLe
	OpLtU
	OpLeU

	OpSelect // A is B: A ? B : C; operands may be of type B

	// OpLookup is entry A modulo n of table Imm, which has n entries: only the low bits of
	// A count. The table has the type of the result. A is I32 if that is F32, and I64 if it
	// is F64.
	OpLookup

	// OpCvt converts A between integers and floats and from B (to 0 or 1). Int to
	// float and F64 to F32 round to nearest even. Float to int truncates,
	// saturates, and NaN gives 0. A narrower integer keeps the low bits. Imm is
	// [FromUnsigned], [ToUnsigned], both or neither.
	OpCvt
	OpBits // the same bits as another type of the same size: I32-F32, I64-F64

	// OpReduce combines A over all lanes of its pass in this order. Lanes are
	// numbered by their index along the lane axis counted from the start of the
	// pass. Elements are cut into blocks of numbers.Block. Inside a block, element i
	// goes to virtual lane i mod V, where V is numbers.VirtualBytes over the size of the
	// type. Each virtual lane starts from the identity and combines its
	// elements in ascending order as acc = acc op x. The V lanes are folded in
	// halves: lane l op lane l+V/2, then l+V/4, down to 1. Blocks are combined
	// by an aligned binary tree of neighbours (0,1), (2,3), then those pairs, in
	// which a missing right side passes through. Imm is a [Reduction]. A may be
	// of type B for And and Or, whose order does not matter. A lane that is not
	// active contributes nothing. OpReduce stands directly in a pass's block.
	OpReduce

	// Structure; each has a [Region], Imm is its number.
	OpPass // Body runs for each index of the lane axis
	OpLoop // see Region
	OpIf   // see Region
	OpParam
	OpOut // the result number Imm of the loop or if A
	numOps
)

// What the Imm of [OpCvt] says of integers.
const (
	FromUnsigned = 1 << iota // A has no sign: it widens by zeros
	ToUnsigned               // the result has none: floats saturate to 0 and the greatest
)

// ScaleBound returns the largest exponent that [OpScaleB] scales by.
func ScaleBound(t Type) int {
	if t == F32 {
		return 240
	}
	return 2040
}

// A Reduction is the operation of an [OpReduce].
type Reduction uint8

const (
	Sum  Reduction = iota // identity 0
	Prod                  // 1
	Min                   // +Inf or the greatest integer; acc op x is OpMin(acc, x)
	Max                   // -Inf or the least integer; OpMax(acc, x)
	And                   // B only: true
	Or                    // B only: false
	MinU                  // integers without sign: the greatest; OpMinU
	MaxU                  // 0; OpMaxU
)

var reductionNames = [...]string{"sum", "prod", "min", "max", "and", "or", "minu", "maxu"}

func (r Reduction) String() string { return reductionNames[r] }

// A Ins is one instruction.
type Ins struct {
	Op      Op
	Type    Type
	A, B, C Value
	Imm     uint64
}

// A Region holds the blocks of a structured instruction.
//
// Pass: Body.
//
// Loop: each active lane sets Params to Init and then repeats three steps: run Head and
// leave when Cond is false; run Body; set Params to Next. A loop without Head always goes
// on. With an Axis, a lane first leaves if the axis is used up.
// The results, [OpOut], are the Params when the lane leaves. Inside
// the loop OpIndex of the axis and the addresses of buffers that step on it
// follow the iteration. A lane that has left takes no part in stores of later
// iterations.
//
// If: lanes where Cond holds run Body and yield Next, the other active ones run
// Else and yield ElseNext. Cond stands before the region. The results are what
// was yielded.
type Region struct {
	Axis     int // OpLoop over a serial axis, else -1
	Init     []Value
	Params   []Value // OpParam instructions, Imm their number
	Head     []Value
	Cond     Value
	Body     []Value
	Next     []Value
	Else     []Value
	ElseNext []Value
}

// A Step says how a buffer moves along an axis.
type Step uint8

const (
	Zero Step = iota // not at all (broadcast)
	Unit             // by one element; only on the lane axis
	Any              // by the frame's stride, any number of bytes
	By2              // by two elements, only on the lane axis: a part of complex numbers, every other column
	By3              // three: a channel of pictures
	By4              // four
	Back             // by one element backward, and so on
	Back2
	Back3
	Back4
)

// Elements returns the number of elements by which a step moves, 0 for Zero and Any.
func (s Step) Elements() int { return [...]int{0, 1, 0, 2, 3, 4, -1, -2, -3, -4}[s] }

// StepOf returns the step of lanes with a stride of the given number of elements.
func StepOf(elements int) Step {
	switch {
	case elements == 0:
		return Zero
	case elements == 1:
		return Unit
	case elements >= 2 && elements <= 4:
		return By2 + Step(elements-2)
	case elements >= -4 && elements < 0:
		return Back + Step(-elements-1)
	}
	return Any
}

// A Buf is a buffer argument: an element type and how it moves along each axis.
// The same memory accessed in two ways is two buffers.
type Buf struct {
	DType array.DType
	Write bool
	Steps []Step // one an axis
	// Pair, if not 0, is one more than the number of a buffer whose elements lie just
	// before these, as the real part before the imaginary part. Requires that both are written
	// and have the same steps, By2 to By4 along the lanes. A backend may merge adjacent stores
	// to n such buffers with stride n into stores of whole vectors.
	Pair int
}

// An AxisKind says what may run at once.
type AxisKind uint8

const (
	Parallel AxisKind = iota // iterations are independent
	Reduce                   // the lane axis of a program with OpReduce: a row is one unit
	Serial                   // walked by an OpLoop
)

var axisNames = [...]string{"parallel", "reduce", "serial"}

func (k AxisKind) String() string { return axisNames[k] }

// An Axis is a dimension of the iteration; its extent is in the frame.
type Axis struct {
	Kind AxisKind
	// Bound is an extent that is never exceeded, 0 if unknown. A loop over an
	// axis with a small bound needs no fuel. Buffers that are stored into need not
	// step on a parallel axis with a bound of 1.
	Bound int
	// Extent, if not 0, is the extent that the frame holds too. Rows of few elements run by
	// code for exactly this extent.
	Extent int
	// Offsets, if not 0, makes the axis ragged: it is one more than the number of a buffer of
	// int64. In each row that buffer holds the element at which the axis begins, and its next
	// element holds the end. Buffers that step on the axis start at the begin; indices along the
	// axis count from 0 in each row. The extent of the axis in the frame is ignored.
	//
	// Requires of the caller that offsets ascend in the order of rows and lie within the
	// buffers, and that nothing outside the program reads elements of a row before the program
	// has computed that row. A backend computes rows in order, and until then may write
	// anything into the elements of later rows.
	Offsets int
}

// Ragged returns the ragged axis, whose extent differs by row, or -1 if there is none.
func (p *Program) Ragged() int {
	for a := range p.Axes {
		if p.Axes[a].Offsets != 0 {
			return a
		}
	}
	return -1
}

// A Table holds TableBytes bytes of constants of F32 or F64, from which [OpLookup] selects, as bits.
type Table struct {
	Type Type
	Bits []uint64
}

// TableBytes is the size of a table: the widest vector register, in which one instruction
// finds an entry for each lane.
const TableBytes = 64

// A Program is one kernel.
type Program struct {
	Name    string
	Bufs    []Buf
	Scalars []Type // each in a word of 8 bytes: bits of the value in the low end
	Tables  []Table
	Axes    []Axis
	Lane    int  // index of the lane axis in Axes; axes before it are outer
	Wide    Type // if not None, loads widen narrower integers to this type, by the sign of the element type
	Ins     []Ins
	Regions []*Region
	Body    []Value // the row

	// For people; not part of the key:
	Lines    []int32          // by value: the line of the source that it comes from, 0 or beyond the end for none
	Names    map[Value]string // of variables of the source that are these values, integers of 8 bytes
	Narrowed int              // how many integers [Narrow] found to fit in 4 bytes
	Kept     []Kept           // variables that it left in 8 bytes
}

// Line is the line of the source that a value comes from, 0 for none.
func (p *Program) Line(v Value) int {
	if int(v) < len(p.Lines) {
		return int(p.Lines[v])
	}
	return 0
}

// TypeOf returns the type of the values of a buffer.
func (p *Program) TypeOf(buf int) Type {
	t := TypeOf(p.Bufs[buf].DType)
	if t.Int() && t.Size() < p.Wide.Size() {
		return p.Wide
	}
	return t
}

// Region returns the region of a structured instruction, nil for others.
func (p *Program) Region(in *Ins) *Region {
	if in.Op < OpPass || in.Op > OpIf {
		return nil
	}
	return p.Regions[in.Imm]
}

// SmallBound is the largest Axis.Bound whose loops run without fuel.
const SmallBound = 4096

// Fuel reports whether a loop must burn fuel: one unit for each trip.
func (p *Program) Fuel(r *Region) bool {
	if r.Axis < 0 {
		return true
	}
	b := p.Axes[r.Axis].Bound
	return b == 0 || b > SmallBound
}
