package loop

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"

	"weft/internal/array"
)

var opNames = [numOps]string{
	OpInvalid: "invalid", OpConst: "const", OpScalar: "scalar", OpIndex: "index",
	OpLoad: "load", OpStore: "store", OpLoadAt: "loadat", OpStoreAt: "storeat",
	OpAdd: "add", OpSub: "sub", OpMul: "mul", OpNeg: "neg", OpAbs: "abs", OpMin: "min", OpMax: "max",
	OpDiv: "div", OpFma: "fma", OpSqrt: "sqrt", OpFloor: "floor", OpCeil: "ceil", OpTrunc: "trunc", OpRint: "rint",
	OpRound: "round", OpLogB: "logb", OpScaleB: "scaleb",
	OpQuo: "quo", OpRem: "rem", OpQuoU: "quou", OpRemU: "remu", OpMinU: "minu", OpMaxU: "maxu", OpMulHi: "mulhi", OpMulHiU: "mulhiu",
	OpShl: "shl", OpShr: "shr", OpShrU: "shru", OpRotL: "rotl", OpPopCount: "popcount", OpLzCnt: "lzcnt", OpTzCnt: "tzcnt",
	OpAnd: "and", OpOr: "or", OpXor: "xor", OpNot: "not",
	OpEq: "eq", OpNe: "ne", OpLt: "lt", OpLe: "le", OpLtU: "ltu", OpLeU: "leu",
	OpSelect: "select", OpLookup: "lookup", OpCvt: "cvt", OpBits: "bits", OpReduce: "reduce",
	OpPass: "pass", OpLoop: "loop", OpIf: "if", OpParam: "param", OpOut: "out",
}

// NumOps is the number of operations; valid ones are 1 to NumOps-1.
const NumOps = int(numOps)

func (o Op) String() string {
	if o < numOps {
		return opNames[o]
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

var stepNames = [...]string{"0", "1", "s", "2", "3", "4", "-1", "-2", "-3", "-4"}

// String prints the program. Values are renumbered in the order in which they
// stand, so equal programs print equally.
func (p *Program) String() string {
	w := &printer{p: p, num: map[Value]int{}}
	fmt.Fprintf(&w.b, "kernel %s\n", p.Name)
	for i, a := range p.Axes {
		lane := ""
		if i == p.Lane {
			lane = " lane"
		}
		if a.Bound > 0 {
			lane += fmt.Sprintf(" <=%d", a.Bound)
		}
		if a.Extent > 0 {
			lane += fmt.Sprintf(" =%d", a.Extent)
		}
		if a.Offsets > 0 {
			lane += fmt.Sprintf(" by the offsets in buf %d", a.Offsets-1)
		}
		fmt.Fprintf(&w.b, "  axis %d: %s%s\n", i, a.Kind, lane)
	}
	for i, b := range p.Bufs {
		mode := "read"
		if b.Write {
			mode = "write"
		}
		var steps []string
		for _, s := range b.Steps {
			steps = append(steps, stepNames[s])
		}
		fmt.Fprintf(&w.b, "  buf %d: %s %s [%s]", i, b.DType, mode, strings.Join(steps, " "))
		if b.Pair > 0 {
			fmt.Fprintf(&w.b, " behind %d", b.Pair-1)
		}
		w.b.WriteByte('\n')
	}
	if p.Wide != None {
		fmt.Fprintf(&w.b, "  narrow integers are %s\n", p.Wide)
	}
	for i, t := range p.Scalars {
		fmt.Fprintf(&w.b, "  scalar %d: %s\n", i, t)
	}
	for i, t := range p.Tables {
		var entries []string
		for _, x := range t.Bits {
			entries = append(entries, constString(t.Type, x))
		}
		fmt.Fprintf(&w.b, "  table %d: %s [%s]\n", i, t.Type, strings.Join(entries, " "))
	}
	w.block(p.Body, 1)
	return w.b.String()
}

// Canonical returns [Program.String] without what is not part of the key: the name and the
// lines of the source.
func (p *Program) Canonical() string {
	q := *p
	q.Name, q.Lines = "", nil
	_, text, _ := strings.Cut(q.String(), "\n")
	return text
}

type printer struct {
	p   *Program
	b   strings.Builder
	num map[Value]int

	last int // line of the source
}

func (w *printer) name(v Value) string {
	n, ok := w.num[v]
	if !ok {
		n = len(w.num)
		w.num[v] = n
	}
	return fmt.Sprintf("v%d", n)
}

func (w *printer) names(vs []Value) string {
	var s []string
	for _, v := range vs {
		s = append(s, w.name(v))
	}
	return strings.Join(s, ", ")
}

func (w *printer) block(b []Value, depth int) {
	for _, v := range b {
		w.ins(v, depth)
	}
}

func (w *printer) line(depth int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *printer) ins(v Value, depth int) {
	in := &w.p.Ins[v]
	if n := w.p.Line(v); n > 0 && n != w.last {
		w.last = n
		w.line(depth, "; line %d", n)
	}
	r := w.p.Region(in)
	switch in.Op {
	case OpPass:
		w.line(depth, "pass {")
		w.block(r.Body, depth+1)
		w.line(depth, "}")
	case OpIf:
		w.line(depth, "%s = if %s {", w.name(v), w.name(r.Cond))
		w.block(r.Body, depth+1)
		w.line(depth+1, "yield %s", w.names(r.Next))
		if len(r.Else) > 0 || len(r.ElseNext) > 0 {
			w.line(depth, "} else {")
			w.block(r.Else, depth+1)
			w.line(depth+1, "yield %s", w.names(r.ElseNext))
		}
		w.line(depth, "}")
	case OpLoop:
		axis := ""
		if r.Axis >= 0 {
			axis = fmt.Sprintf(" axis %d", r.Axis)
		}
		w.line(depth, "%s = loop%s (%s) from (%s) {", w.name(v), axis, w.names(r.Params), w.names(r.Init))
		if r.Cond != NoValue {
			w.block(r.Head, depth+1)
			w.line(depth+1, "while %s", w.name(r.Cond))
		}
		w.block(r.Body, depth+1)
		w.line(depth+1, "next %s", w.names(r.Next))
		w.line(depth, "}")
	case OpConst:
		w.line(depth, "%s = const.%s %s", w.name(v), in.Type, constString(in.Type, in.Imm))
	case OpScalar, OpIndex, OpLoad:
		w.line(depth, "%s = %s.%s %d", w.name(v), in.Op, in.Type, in.Imm)
	case OpLoadAt:
		w.line(depth, "%s = loadat.%s %d, %s", w.name(v), in.Type, in.Imm, w.name(in.A))
	case OpStore:
		w.line(depth, "store %d, %s", in.Imm, w.name(in.A))
	case OpStoreAt:
		w.line(depth, "storeat %d, %s, %s", in.Imm, w.name(in.A), w.name(in.B))
	case OpLookup:
		w.line(depth, "%s = lookup.%s %d, %s", w.name(v), in.Type, in.Imm, w.name(in.A))
	case OpReduce:
		w.line(depth, "%s = reduce.%s %s %s", w.name(v), in.Type, Reduction(in.Imm), w.name(in.A))
	case OpOut:
		w.line(depth, "%s = out.%s %s #%d", w.name(v), in.Type, w.name(in.A), in.Imm)
	default:
		var ops []Value
		for _, o := range [3]Value{in.A, in.B, in.C} {
			if o != NoValue {
				ops = append(ops, o)
			}
		}
		args := w.names(ops)
		switch in.Op {
		case OpRound:
			args += " " + array.DType(in.Imm).String()
		case OpCvt:
			args += [...]string{"", " from unsigned", " to unsigned", " unsigned"}[in.Imm]
		}
		w.line(depth, "%s = %s.%s %s", w.name(v), in.Op, in.Type, args)
	}
}

func constString(t Type, bits uint64) string {
	switch t {
	case F32:
		return fmt.Sprintf("%v (%#08x)", math.Float32frombits(uint32(bits)), bits)
	case F64:
		return fmt.Sprintf("%v (%#016x)", math.Float64frombits(bits), bits)
	case I32:
		return fmt.Sprint(int32(bits))
	case I64:
		return fmt.Sprint(int64(bits))
	case I16:
		return fmt.Sprint(int16(bits))
	case I8:
		return fmt.Sprint(int8(bits))
	}
	return fmt.Sprint(bits != 0)
}

// Key returns the content of a program as bytes: equal keys mean equal kernels.
// The name is not part of it.
func (p *Program) Key() string {
	w := keyWorks.Get().(*keyWork)
	defer keyWorks.Put(w)
	if len(w.num) <= len(p.Ins) {
		w.num = make([]uint64, len(p.Ins)+1)
	}
	w.p, w.key, w.next = p, w.key[:0], 0
	w.put(uint64(len(p.Axes)))
	w.put(uint64(p.Lane))
	for _, a := range p.Axes {
		w.put(uint64(a.Kind))
		w.put(uint64(a.Bound))
		w.put(uint64(a.Extent))
		w.put(uint64(a.Offsets))
	}
	w.put(uint64(len(p.Bufs)))
	for _, b := range p.Bufs {
		w.put(uint64(b.DType))
		if b.Write {
			w.put(1)
		} else {
			w.put(0)
		}
		for _, s := range b.Steps {
			w.key = append(w.key, byte(s))
		}
		w.put(uint64(b.Pair))
	}
	w.put(uint64(p.Wide))
	w.put(uint64(len(p.Scalars)))
	for _, t := range p.Scalars {
		w.put(uint64(t))
	}
	w.put(uint64(len(p.Tables)))
	for _, t := range p.Tables {
		w.key = append(w.key, byte(t.Type), byte(len(t.Bits)))
		for _, x := range t.Bits {
			w.key = binary.LittleEndian.AppendUint64(w.key, x)
		}
	}
	w.block(p.Body)
	w.p = nil
	return string(w.key)
}

// keyWork is what Key needs.
type keyWork struct {
	p    *Program
	key  []byte
	num  []uint64 // by value plus one: its number in the key, from 1; 0 for NoValue
	next uint64
}

func (w *keyWork) put(x uint64) {
	for x >= 0x80 {
		w.key = append(w.key, byte(x)|0x80)
		x >>= 7
	}
	w.key = append(w.key, byte(x))
}

func (w *keyWork) define(v Value) {
	w.next++
	w.num[v+1] = w.next
}

func (w *keyWork) refs(vs []Value) {
	w.put(uint64(len(vs)))
	for _, v := range vs {
		w.put(w.num[v+1])
	}
}

func (w *keyWork) block(b []Value) {
	w.put(uint64(len(b)))
	for _, v := range b {
		in := &w.p.Ins[v]
		w.key = append(w.key, byte(in.Op), byte(in.Type))
		if in.Op == OpConst {
			w.key = binary.LittleEndian.AppendUint64(w.key, in.Imm)
			w.define(v)
			continue
		}
		w.put(w.num[in.A+1])
		w.put(w.num[in.B+1])
		w.put(w.num[in.C+1])
		w.put(in.Imm)
		if r := w.p.Region(in); r != nil {
			w.put(uint64(r.Axis + 1))
			w.refs(r.Init)
			for _, x := range r.Params {
				w.define(x)
			}
			if in.Op == OpIf {
				w.put(w.num[r.Cond+1])
			}
			w.block(r.Head)
			if in.Op == OpLoop {
				w.put(w.num[r.Cond+1])
			}
			w.block(r.Body)
			w.refs(r.Next)
			w.block(r.Else)
			w.refs(r.ElseNext)
		}
		w.define(v)
	}
}

var keyWorks = sync.Pool{New: func() any { return new(keyWork) }}
