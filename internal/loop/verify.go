package loop

import (
	"fmt"
	"slices"
	"sync"

	"weft/internal/array"
	"weft/internal/numbers"
)

// An Error is a fault that [Verify] found.
type Error struct {
	Program string
	Value   Value // the instruction at fault, NoValue if none
	Msg     string
}

func (e *Error) Error() string {
	if e.Value == NoValue {
		return fmt.Sprintf("loop: %s: %s", e.Program, e.Msg)
	}
	return fmt.Sprintf("loop: %s: v%d: %s", e.Program, e.Value, e.Msg)
}

type verifier struct {
	p       *Program
	visible []bool // by value
	stack   []Value
	defined []bool // every instruction stands in one place
	serial  []bool // serial axes being walked
	pass    bool   // inside a pass
	nest    int    // loops and ifs around
}

// Verify checks that a program obeys the rules of the language. Backends may
// rely on it.
func Verify(p *Program) (err error) {
	v := verifiers.Get().(*verifier)
	*v = verifier{p: p, visible: cleared(v.visible, len(p.Ins)), defined: cleared(v.defined, len(p.Ins)),
		serial: cleared(v.serial, len(p.Axes)), stack: v.stack[:0]}
	defer func() {
		v.p = nil
		verifiers.Put(v)
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	v.args()
	v.block(p.Body, nil)
	return nil
}

// verifiers keeps the memory of verifiers.
var verifiers = sync.Pool{New: func() any { return new(verifier) }}

// cleared returns n times false, in the memory of b if it is large enough.
func cleared(b []bool, n int) []bool {
	if cap(b) < n {
		return make([]bool, n)
	}
	b = b[:n]
	clear(b)
	return b
}

func (v *verifier) fail(x Value, format string, args ...any) {
	panic(&Error{v.p.Name, x, fmt.Sprintf(format, args...)})
}

func (v *verifier) args() {
	p := v.p
	if len(p.Bufs) > MaxBufs {
		v.fail(NoValue, "%d buffers, at most %d", len(p.Bufs), MaxBufs)
	}
	if len(p.Axes) > MaxAxes || len(p.Axes) == 0 {
		v.fail(NoValue, "%d axes, 1 to %d", len(p.Axes), MaxAxes)
	}
	if p.Words() > MaxWords {
		v.fail(NoValue, "%d argument words, at most %d", p.Words(), MaxWords)
	}
	if p.Lane < 0 || p.Lane >= len(p.Axes) {
		v.fail(NoValue, "lane axis %d of %d", p.Lane, len(p.Axes))
	}
	for i, a := range p.Axes {
		switch {
		case i < p.Lane && a.Kind != Parallel:
			v.fail(NoValue, "outer axis %d is %s", i, a.Kind)
		case i == p.Lane && a.Kind == Serial:
			v.fail(NoValue, "the lane axis is serial")
		case i > p.Lane && a.Kind != Serial:
			v.fail(NoValue, "axis %d behind the lane axis is %s", i, a.Kind)
		}
		if a.Extent != 0 && (i != p.Lane || a.Offsets != 0 || a.Extent < 0 || a.Extent > numbers.Block) {
			v.fail(NoValue, "axis %d is made for %d elements", i, a.Extent)
		}
		if a.Offsets != 0 {
			v.ragged(i, a)
		}
	}
	if p.Wide != None && p.Wide != I16 && p.Wide != I32 {
		v.fail(NoValue, "narrow integers are %s", p.Wide)
	}
	for i, b := range p.Bufs {
		if TypeOf(b.DType) == None {
			v.fail(NoValue, "buffer %d has element type %s", i, b.DType)
		}
		if len(b.Steps) != len(p.Axes) {
			v.fail(NoValue, "buffer %d has %d steps for %d axes", i, len(b.Steps), len(p.Axes))
		}
		for a, s := range b.Steps {
			if s > Back4 || s.Elements() != 0 && a != p.Lane {
				v.fail(NoValue, "buffer %d: step %d on axis %d", i, s, a)
			}
		}
		if b.Pair == 0 {
			continue
		}
		if b.Pair < 0 || b.Pair > len(p.Bufs) || b.Pair-1 == i {
			v.fail(NoValue, "buffer %d is behind buffer %d", i, b.Pair-1)
		}
		if o := p.Bufs[b.Pair-1]; o.DType != b.DType || !o.Write || !b.Write || !slices.Equal(o.Steps, b.Steps) || b.Steps[p.Lane].Elements() < 2 {
			v.fail(NoValue, "buffers %d and %d are not a pair", b.Pair-1, i)
		}
	}
	for i, t := range p.Scalars {
		if t == None || t >= numTypes {
			v.fail(NoValue, "scalar %d has no type", i)
		}
	}
	for i, t := range p.Tables {
		if !t.Type.Float() || len(t.Bits)*t.Type.Size() != TableBytes {
			v.fail(NoValue, "table %d has %d entries of type %s", i, len(t.Bits), t.Type)
		}
		for _, x := range t.Bits {
			if t.Type == F32 && x>>32 != 0 {
				v.fail(NoValue, "table %d: %#x does not fit %s", i, x, t.Type)
			}
		}
	}
}

// ragged checks a ragged axis, whose extent differs by row. A program has at most one. Its offsets
// move along the first axis alone.
func (v *verifier) ragged(i int, a Axis) {
	p := v.p
	if a.Offsets < 0 || a.Offsets > len(p.Bufs) || p.Ragged() != i || p.Lane == 0 || i == 0 || a.Kind == Parallel || a.Bound != 0 {
		v.fail(NoValue, "axis %d has the offsets of buffer %d", i, a.Offsets-1)
	}
	b := &p.Bufs[a.Offsets-1]
	if b.DType != array.Int64 || b.Write || len(b.Steps) != len(p.Axes) {
		v.fail(NoValue, "buffer %d does not hold offsets", a.Offsets-1)
	}
	for axis, s := range b.Steps {
		if (s != Zero) != (axis == 0) {
			v.fail(NoValue, "offsets have step %d on axis %d", s, axis)
		}
	}
}

func (v *verifier) define(x Value) {
	if x < 0 || int(x) >= len(v.p.Ins) {
		v.fail(x, "no such instruction")
	}
	if v.defined[x] {
		v.fail(x, "stands in two places")
	}
	v.defined[x] = true
	v.show(x)
}

func (v *verifier) show(x Value) {
	v.visible[x] = true
	v.stack = append(v.stack, x)
}

// block checks instructions in order and then runs inside, which sees them;
// afterwards they are out of reach.
func (v *verifier) block(b []Value, inside func()) {
	mark := len(v.stack)
	for _, x := range b {
		v.ins(x)
	}
	if inside != nil {
		inside()
	}
	for _, x := range v.stack[mark:] {
		v.visible[x] = false
	}
	v.stack = v.stack[:mark]
}

func (v *verifier) use(at, x Value, t Type) {
	if x < 0 || int(x) >= len(v.p.Ins) {
		v.fail(at, "operand v%d does not exist", x)
	}
	if !v.visible[x] {
		v.fail(at, "operand v%d is not in reach", x)
	}
	if got := v.p.Ins[x].Type; got != t {
		v.fail(at, "operand v%d is %s, want %s", x, got, t)
	}
}

// ins checks one instruction. Ensures that what follows it in its block sees the result, but
// that of a reduction only behind the pass.
func (v *verifier) ins(x Value) {
	if x < 0 || int(x) >= len(v.p.Ins) {
		v.fail(x, "no such instruction")
	}
	in := &v.p.Ins[x]
	switch op := in.Op; {
	case op >= OpConst && op <= OpIndex:
		v.source(x, in)
	case op >= OpLoad && op <= OpStoreAt:
		v.access(x, in)
	case op >= OpAdd && op <= OpNot:
		v.arithmetic(x, in)
	case op >= OpEq && op <= OpBits:
		v.mixed(x, in)
	case op == OpReduce:
		v.reduce(x, in)
	case op >= OpPass && op <= OpIf || op == OpOut:
		v.structure(x, in)
	default:
		v.unknown(x, in)
	}
	for _, o := range in.Operands() {
		if o > x {
			v.fail(x, "operand v%d has a higher number", o)
		}
	}
	if in.Op == OpReduce {
		// Visible only behind its pass.
		if v.defined[x] {
			v.fail(x, "stands in two places")
		}
		v.defined[x] = true
		return
	}
	v.define(x)
}

// unknown refuses an operation that has no rule, or none in a block.
func (v *verifier) unknown(x Value, in *Ins) {
	v.fail(x, "operation %d does not belong here", in.Op)
}

// numeric reports an integer or float type.
func numeric(t Type) bool { return t.Float() || t.Int() }

// typ refuses the type of x unless ok.
func (v *verifier) typ(x Value, in *Ins, ok bool) {
	if !ok {
		v.fail(x, "%s of type %s", in.Op, in.Type)
	}
}

// operands checks that x has n operands of type t.
func (v *verifier) operands(x Value, in *Ins, n int, t Type) {
	for i, o := range [3]Value{in.A, in.B, in.C} {
		if i < n {
			v.use(x, o, t)
		} else if o != NoValue {
			v.fail(x, "%s has a surplus operand", in.Op)
		}
	}
}

// source checks a constant, scalar argument or index.
func (v *verifier) source(x Value, in *Ins) {
	switch in.Op {
	case OpConst:
		v.operands(x, in, 0, None)
		v.typ(x, in, in.Type != None)
		if in.Type == B && in.Imm > 1 || in.Type != B && in.Type.Size() < 8 && in.Imm>>(8*in.Type.Size()) != 0 {
			v.fail(x, "constant %#x does not fit %s", in.Imm, in.Type)
		}
	case OpScalar:
		v.operands(x, in, 0, None)
		if in.Imm >= uint64(len(v.p.Scalars)) || v.p.Scalars[in.Imm] != in.Type {
			v.fail(x, "scalar %d of type %s does not exist", in.Imm, in.Type)
		}
	case OpIndex:
		v.operands(x, in, 0, None)
		v.typ(x, in, in.Type == I64)
		v.axis(x, int(in.Imm))
	}
}

// access checks a load or store.
func (v *verifier) access(x Value, in *Ins) {
	switch in.Op {
	case OpLoad, OpLoadAt:
		if in.Op == OpLoadAt {
			v.operands(x, in, 1, v.offset(x, in.A))
		} else {
			v.operands(x, in, 0, None)
		}
		v.buf(x, in.Imm)
		v.typ(x, in, in.Type == v.p.TypeOf(int(in.Imm)))
	case OpStore, OpStoreAt:
		v.buf(x, in.Imm)
		t := v.p.TypeOf(int(in.Imm))
		if !v.p.Bufs[in.Imm].Write {
			v.fail(x, "store into buffer %d, which is read-only", in.Imm)
		}
		v.use(x, in.A, t)
		if in.Op == OpStoreAt {
			v.use(x, in.B, v.offset(x, in.B))
		} else {
			if in.B != NoValue {
				v.fail(x, "store has a surplus operand")
			}
			v.steps(x, int(in.Imm))
		}
		v.typ(x, in, in.Type == None)
	}
}

// arithmetic checks an operation on operands of the type of its result.
func (v *verifier) arithmetic(x Value, in *Ins) {
	switch in.Op {
	case OpAdd, OpSub, OpMul, OpMin, OpMax:
		v.typ(x, in, numeric(in.Type))
		v.operands(x, in, 2, in.Type)
	case OpNeg, OpAbs:
		v.typ(x, in, numeric(in.Type))
		v.operands(x, in, 1, in.Type)
	case OpDiv, OpScaleB:
		v.typ(x, in, in.Type.Float())
		v.operands(x, in, 2, in.Type)
	case OpFma:
		v.typ(x, in, in.Type.Float())
		v.operands(x, in, 3, in.Type)
	case OpRound:
		d := array.DType(in.Imm)
		v.typ(x, in, in.Type == F32 && (d == array.Float16 || d == array.BFloat16) && in.Imm == uint64(d))
		v.operands(x, in, 1, in.Type)
	case OpSqrt, OpFloor, OpCeil, OpTrunc, OpRint, OpLogB:
		v.typ(x, in, in.Type.Float())
		v.operands(x, in, 1, in.Type)
	case OpQuo, OpRem, OpQuoU, OpRemU, OpMinU, OpMaxU, OpMulHi, OpMulHiU, OpShl, OpShr, OpShrU, OpRotL:
		v.typ(x, in, in.Type.Int())
		v.operands(x, in, 2, in.Type)
	case OpAnd, OpOr, OpXor:
		v.typ(x, in, in.Type.Int() || in.Type == B)
		v.operands(x, in, 2, in.Type)
	case OpPopCount, OpLzCnt, OpTzCnt:
		v.typ(x, in, in.Type.Int())
		v.operands(x, in, 1, in.Type)
	case OpNot:
		v.typ(x, in, in.Type.Int() || in.Type == B)
		v.operands(x, in, 1, in.Type)
	default:
		v.unknown(x, in)
	}
}

// mixed checks an operation whose operands have another type than its result.
func (v *verifier) mixed(x Value, in *Ins) {
	switch in.Op {
	case OpEq, OpNe, OpLt, OpLe, OpLtU, OpLeU:
		v.typ(x, in, in.Type == B)
		t := v.typeOf(x, in.A)
		if t == None || t == B && in.Op > OpNe || in.Op > OpLe && !t.Int() {
			v.fail(x, "%s compares %s", in.Op, t)
		}
		v.operands(x, in, 2, t)
	case OpSelect:
		v.typ(x, in, in.Type != None)
		v.use(x, in.A, B)
		v.use(x, in.B, in.Type)
		v.use(x, in.C, in.Type)
	case OpLookup:
		v.typ(x, in, in.Type.Float())
		if in.Imm >= uint64(len(v.p.Tables)) || v.p.Tables[in.Imm].Type != in.Type {
			v.fail(x, "table %d of type %s does not exist", in.Imm, in.Type)
		}
		v.operands(x, in, 1, [...]Type{F32: I32, F64: I64}[in.Type])
	case OpCvt:
		t := v.typeOf(x, in.A)
		v.typ(x, in, numeric(in.Type) && t != None && t != in.Type)
		if in.Imm&^(FromUnsigned|ToUnsigned) != 0 || in.Imm&FromUnsigned != 0 && !t.Int() || in.Imm&ToUnsigned != 0 && !in.Type.Int() {
			v.fail(x, "conversion of kind %d from %s to %s", in.Imm, t, in.Type)
		}
		v.operands(x, in, 1, t)
	case OpBits:
		t := v.typeOf(x, in.A)
		v.typ(x, in, t != B && t != in.Type && t.Size() == in.Type.Size() && t.Size() > 0)
		v.operands(x, in, 1, t)
	default:
		v.unknown(x, in)
	}
}

// reduce checks a reduction, which stands directly in a pass.
func (v *verifier) reduce(x Value, in *Ins) {
	if !v.pass || v.nest > 0 {
		v.fail(x, "reduce does not stand directly in a pass")
	}
	if v.p.Axes[v.p.Lane].Kind != Reduce {
		v.fail(x, "reduce over a lane axis that is %s", v.p.Axes[v.p.Lane].Kind)
	}
	k := Reduction(in.Imm)
	v.typ(x, in, k <= Max && numeric(in.Type) || (k == And || k == Or) && in.Type == B || (k == MinU || k == MaxU) && in.Type.Int())
	v.operands(x, in, 1, in.Type)
}

// structure checks an instruction with a region, or a result of one.
func (v *verifier) structure(x Value, in *Ins) {
	if in.Op != OpOut && in.Imm >= uint64(len(v.p.Regions)) {
		v.fail(x, "region %d of %d", in.Imm, len(v.p.Regions))
	}
	switch in.Op {
	case OpPass:
		if v.pass {
			v.fail(x, "pass inside a pass")
		}
		if v.nest > 0 {
			v.fail(x, "pass inside a loop or an if")
		}
		v.pass = true
		v.block(v.p.Region(in).Body, nil)
		v.pass = false
		for _, y := range v.p.Region(in).Body {
			if v.p.Ins[y].Op == OpReduce {
				v.show(y)
			}
		}
	case OpLoop, OpIf:
		v.nest++
		v.region(x, in)
		v.nest--
	case OpOut:
		v.out(x, in)
	}
}

func (v *verifier) typeOf(at, x Value) Type {
	if x < 0 || int(x) >= len(v.p.Ins) {
		v.fail(at, "operand v%d does not exist", x)
	}
	return v.p.Ins[x].Type
}

// offset returns the type that an offset has, or should have.
func (v *verifier) offset(at, x Value) Type {
	if v.typeOf(at, x) == I32 {
		return I32
	}
	return I64
}

func (v *verifier) axis(at Value, a int) {
	switch {
	case a < 0 || a >= len(v.p.Axes):
		v.fail(at, "axis %d of %d", a, len(v.p.Axes))
	case a == v.p.Lane && !v.pass:
		v.fail(at, "the lane axis outside a pass")
	case a > v.p.Lane && !v.serial[a]:
		v.fail(at, "serial axis %d outside its loop", a)
	}
}

// buf checks that the axes on which a buffer moves are being walked.
func (v *verifier) buf(at Value, imm uint64) {
	if imm >= uint64(len(v.p.Bufs)) {
		v.fail(at, "buffer %d of %d", imm, len(v.p.Bufs))
	}
	b := &v.p.Bufs[imm]
	for a, s := range b.Steps {
		if s != Zero {
			v.axis(at, a)
		}
	}
}

// steps checks that a buffer that is stored into moves on every parallel axis: else iterations
// that may run at once would write one element.
func (v *verifier) steps(at Value, buf int) {
	b, ragged := &v.p.Bufs[buf], v.p.Ragged()
	if ragged >= 0 && b.Steps[ragged] != Zero {
		return // its rows begin where the offsets say
	}
	for a, x := range v.p.Axes {
		if a == v.p.Lane && !v.pass {
			continue // what stands in the row is done once for all lanes
		}
		if x.Kind == Parallel && x.Bound != 1 && b.Steps[a] == Zero {
			v.fail(at, "store into buffer %d, which does not step on parallel axis %d", buf, a)
		}
	}
}

func (v *verifier) region(x Value, in *Ins) {
	r := v.p.Region(in)
	if in.Op == OpIf {
		v.use(x, r.Cond, B)
		if len(r.Next) != len(r.ElseNext) {
			v.fail(x, "if yields %d and %d values", len(r.Next), len(r.ElseNext))
		}
		v.block(r.Body, func() {
			for _, y := range r.Next {
				v.use(x, y, v.typeOf(x, y))
			}
		})
		v.block(r.Else, func() {
			for i, y := range r.ElseNext {
				v.use(x, y, v.typeOf(x, r.Next[i]))
			}
		})
		return
	}
	if len(r.Init) != len(r.Params) || len(r.Init) != len(r.Next) {
		v.fail(x, "loop carries %d, %d, %d values", len(r.Init), len(r.Params), len(r.Next))
	}
	if r.Axis < 0 && r.Cond == NoValue {
		v.fail(x, "loop without end")
	}
	if r.Cond == NoValue && len(r.Head) > 0 {
		v.fail(x, "loop head without condition")
	}
	if r.Axis >= 0 {
		if r.Axis >= len(v.p.Axes) || v.p.Axes[r.Axis].Kind != Serial || v.serial[r.Axis] {
			v.fail(x, "loop over axis %d, which is not a free serial axis", r.Axis)
		}
		v.serial[r.Axis] = true
		defer func() { v.serial[r.Axis] = false }()
	}
	for _, y := range r.Init {
		v.use(x, y, v.typeOf(x, y))
	}
	mark := len(v.stack)
	for i, y := range r.Params {
		if y < 0 || int(y) >= len(v.p.Ins) || v.p.Ins[y].Op != OpParam || v.p.Ins[y].Imm != uint64(i) {
			v.fail(x, "v%d is not parameter %d", y, i)
		}
		if v.p.Ins[y].Type != v.p.Ins[r.Init[i]].Type {
			v.fail(x, "parameter v%d starts as %s", y, v.p.Ins[r.Init[i]].Type)
		}
		v.define(y)
	}
	v.block(r.Head, func() {
		if r.Cond != NoValue {
			v.use(x, r.Cond, B)
		}
		v.block(r.Body, func() {
			for i, y := range r.Next {
				v.use(x, y, v.p.Ins[r.Params[i]].Type)
			}
		})
	})
	for _, y := range v.stack[mark:] {
		v.visible[y] = false
	}
	v.stack = v.stack[:mark]
}

func (v *verifier) out(x Value, in *Ins) {
	if in.A < 0 || int(in.A) >= len(v.p.Ins) || !v.visible[in.A] {
		v.fail(x, "v%d is not in reach", in.A)
	}
	of := &v.p.Ins[in.A]
	if of.Op != OpLoop && of.Op != OpIf {
		v.fail(x, "result of v%d, which is %s", in.A, of.Op)
	}
	n := v.p.Region(of).Next
	if in.Imm >= uint64(len(n)) || v.p.Ins[n[in.Imm]].Type != in.Type {
		v.fail(x, "result %d of type %s of v%d does not exist", in.Imm, in.Type, in.A)
	}
}
