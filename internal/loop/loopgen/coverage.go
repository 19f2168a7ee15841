package loopgen

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/loop"
)

// A Where says where an instruction stands in a program.
type Where uint8

const (
	Row    Where = iota // outside passes: once a row
	Dense               // in a pass: all lanes take part
	Masked              // in an if that lanes do not take together, or a loop that they leave one by one
)

var whereNames = [...]string{"row", "dense", "masked"}

func (w Where) String() string { return whereNames[w] }

// An Item is a kind of instruction. Type is the type of its result, of the value that a store writes,
// or of the operands of a comparison.
type Item struct {
	Op      loop.Op
	Type    loop.Type
	From    loop.Type      // of OpCvt and OpBits; I32 of OpLoadAt and OpStoreAt if the offset is that
	Sign    uint64         // of OpCvt: its Imm
	DType   array.DType    // of loads and stores, and what OpRound rounds to
	Step    loop.Step      // of loads and stores: along the lane axis
	Kind    loop.Reduction // of OpReduce
	Cond    bool           // of OpLoop: it has a condition
	Axis    bool           // of OpLoop: it has an axis
	Uniform bool           // of OpIf, OpLoop and OpLoadAt: condition or offset are uniform, while the buffer moves
	Where   Where
}

func (i Item) String() string {
	s := i.Op.String()
	if i.Type != loop.None {
		s += "." + i.Type.String()
	}
	switch i.Op {
	case loop.OpCvt, loop.OpBits:
		s += " from " + i.From.String() + []string{"", " without sign", " to unsigned", " unsigned"}[i.Sign]
	case loop.OpRound:
		s += " " + i.DType.String()
	case loop.OpLoad, loop.OpStore, loop.OpLoadAt, loop.OpStoreAt:
		s += fmt.Sprintf(" %s step %s", i.DType, []string{"0", "1", "any", "2", "3", "4", "-1", "-2", "-3", "-4"}[i.Step])
	case loop.OpReduce:
		s += " " + i.Kind.String()
	case loop.OpLoop:
		s += fmt.Sprintf(" axis %t cond %t", i.Axis, i.Cond)
	}
	if i.From == loop.I32 && (i.Op == loop.OpLoadAt || i.Op == loop.OpStoreAt) {
		s += " by i32"
	}
	if i.Uniform {
		s += " uniform"
	}
	return s + " " + i.Where.String()
}

// covers reports that x has the fields of i that are not zero.
func (i Item) covers(x Item) bool {
	return (i.Op == 0 || i.Op == x.Op) && (i.Type == 0 || i.Type == x.Type || i.Type == x.From) && (i.From == 0 || i.From == x.From) &&
		(i.Sign == 0 || i.Sign == x.Sign) && (i.DType == 0 || i.DType == x.DType) && (i.Step == 0 || i.Step == x.Step) && (i.Kind == 0 || i.Kind == x.Kind)
}

// signOf returns what counts of the sign of a conversion, as in an Imm.
func signOf(to, from loop.Type, sign int) uint64 {
	if !from.Int() || to.Int() && to.Size() < from.Size() {
		sign &^= loop.FromUnsigned
	}
	if !from.Float() || !to.Int() {
		sign &^= loop.ToUnsigned
	}
	return uint64(sign)
}

// A Histogram counts instructions by kind.
type Histogram map[Item]int

// Count adds the instructions of a program.
func (h Histogram) Count(p *loop.Program) {
	h.block(p, p.Uniform(p.Lane, true), p.Body, Row)
}

func (h Histogram) block(p *loop.Program, uniform []bool, block []loop.Value, w Where) {
	for _, v := range block {
		in := &p.Ins[v]
		i := Item{Op: in.Op, Type: in.Type, Where: w}
		r := p.Region(in)
		switch in.Op {
		case loop.OpPass:
			h.block(p, uniform, r.Body, Dense)
		case loop.OpIf:
			inside := w
			if i.Uniform = uniform[r.Cond]; !i.Uniform {
				inside = Masked
			}
			h.block(p, uniform, r.Body, inside)
			h.block(p, uniform, r.Else, inside)
		case loop.OpLoop:
			i.Axis, i.Cond = r.Axis >= 0, r.Cond != loop.NoValue
			inside := w
			if i.Uniform = !i.Cond || uniform[r.Cond]; !i.Uniform {
				inside = Masked
			}
			for _, q := range r.Params {
				h[Item{Op: loop.OpParam, Type: p.Ins[q].Type, Where: inside}]++
			}
			h.block(p, uniform, r.Head, inside)
			h.block(p, uniform, r.Body, inside)
		case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
			i.Type = p.Ins[in.A].Type
		case loop.OpCvt, loop.OpBits:
			i.From = p.Ins[in.A].Type
			i.Sign = in.Imm
		case loop.OpRound:
			i.DType = array.DType(in.Imm)
		case loop.OpLoad, loop.OpStore, loop.OpLoadAt, loop.OpStoreAt:
			b := &p.Bufs[in.Imm]
			i.DType, i.Step = b.DType, b.Steps[p.Lane]
			i.Type = loop.TypeOf(b.DType)
			off := in.A
			if in.Op == loop.OpStoreAt {
				off = in.B
			}
			if in.Op == loop.OpLoadAt && i.Step != loop.Zero && uniform[off] {
				h[Item{Op: in.Op, Type: i.Type, DType: i.DType, Uniform: true, Where: w}]++
			}
			if (in.Op == loop.OpLoadAt || in.Op == loop.OpStoreAt) && p.Ins[off].Type == loop.I32 {
				h[Item{Op: in.Op, From: loop.I32, Step: i.Step, Where: w}]++
			}
		case loop.OpReduce:
			i.Kind = loop.Reduction(in.Imm)
		}
		h[i]++
	}
}

// Combinations lists every kind of instruction that a language has, in all
// surroundings in which it may stand. Left out are stores that all lanes would make to
// one place: their order is not defined.
func Combinations(l Language) []Item {
	var out []Item
	add := func(i Item, at ...Where) {
		for _, w := range at {
			i.Where = w
			if l.has(i) {
				out = append(out, i)
			}
		}
	}
	everywhere := []Where{Row, Dense, Masked}
	inPass := []Where{Dense, Masked}
	pure := func(ts []loop.Type, ops ...loop.Op) {
		for _, op := range ops {
			for _, t := range ts {
				add(Item{Op: op, Type: t}, everywhere...)
			}
		}
	}
	numbers, ints, floats := types[1:], types[1:5], types[5:]
	pure(types, loop.OpConst, loop.OpScalar, loop.OpSelect, loop.OpEq, loop.OpNe)
	pure(numbers, loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpNeg, loop.OpAbs, loop.OpMin, loop.OpMax, loop.OpLt, loop.OpLe)
	pure(floats, loop.OpDiv, loop.OpFma, loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint, loop.OpLogB, loop.OpScaleB, loop.OpLookup)
	pure(ints, loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU, loop.OpMinU, loop.OpMaxU, loop.OpMulHi, loop.OpMulHiU, loop.OpLtU, loop.OpLeU)
	pure(ints, loop.OpShl, loop.OpShr, loop.OpShrU, loop.OpRotL, loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt)
	pure(types[:5], loop.OpAnd, loop.OpOr, loop.OpXor, loop.OpNot)
	pure([]loop.Type{loop.I64}, loop.OpIndex)
	for _, d := range []array.DType{array.Float16, array.BFloat16} {
		add(Item{Op: loop.OpRound, Type: loop.F32, DType: d}, everywhere...)
	}
	for _, t := range numbers {
		for _, from := range types {
			for sign := range 4 {
				if from != t && signOf(t, from, sign) == uint64(sign) {
					add(Item{Op: loop.OpCvt, Type: t, From: from, Sign: uint64(sign)}, everywhere...)
				}
			}
			if from != t && from != loop.B && from.Size() == t.Size() {
				add(Item{Op: loop.OpBits, Type: t, From: from}, everywhere...)
			}
		}
		for _, k := range []loop.Reduction{loop.Sum, loop.Prod, loop.Min, loop.Max, loop.MinU, loop.MaxU} {
			if k <= loop.Max || t.Int() {
				add(Item{Op: loop.OpReduce, Type: t, Kind: k}, Dense)
			}
		}
	}
	add(Item{Op: loop.OpReduce, Type: loop.B, Kind: loop.And}, Dense)
	add(Item{Op: loop.OpReduce, Type: loop.B, Kind: loop.Or}, Dense)
	for _, d := range l.dtypes() {
		t := loop.TypeOf(d)
		for _, op := range []loop.Op{loop.OpLoad, loop.OpLoadAt, loop.OpStore, loop.OpStoreAt} {
			i := Item{Op: op, Type: t, DType: d}
			if op == loop.OpStore {
				add(i, Row)
			} else {
				add(i, everywhere...)
			}
			for _, i.Step = range []loop.Step{loop.Unit, loop.Any, loop.By2, loop.By3, loop.By4, loop.Back} {
				add(i, inPass...)
			}
		}
		add(Item{Op: loop.OpLoadAt, Type: t, DType: d, Uniform: true}, inPass...)
	}
	for step := loop.Zero; step <= loop.Back; step++ {
		add(Item{Op: loop.OpLoadAt, From: loop.I32, Step: step}, inPass...)
		add(Item{Op: loop.OpStoreAt, From: loop.I32, Step: step}, inPass...)
	}
	add(Item{Op: loop.OpPass}, Row)
	add(Item{Op: loop.OpIf}, inPass...)
	add(Item{Op: loop.OpIf, Uniform: true}, everywhere...)
	for _, t := range types {
		add(Item{Op: loop.OpParam, Type: t}, everywhere...)
		add(Item{Op: loop.OpOut, Type: t}, everywhere...)
	}
	add(Item{Op: loop.OpLoop, Axis: true, Uniform: true}, everywhere...)
	for _, axis := range []bool{false, true} {
		add(Item{Op: loop.OpLoop, Axis: axis, Cond: true}, inPass...)
		add(Item{Op: loop.OpLoop, Axis: axis, Cond: true, Uniform: true}, everywhere...)
	}
	return out
}

// Missing lists the combinations that were not counted.
func (h Histogram) Missing(l Language) []Item {
	var out []Item
	for _, i := range Combinations(l) {
		if h[i] == 0 {
			out = append(out, i)
		}
	}
	return out
}

// Print writes the counts, the rarest first.
func (h Histogram) Print(w io.Writer, l Language) {
	items := Combinations(l)
	slices.SortStableFunc(items, func(a, b Item) int { return h[a] - h[b] })
	for _, i := range items {
		fmt.Fprintf(w, "%9d  %s\n", h[i], i)
	}
	fmt.Fprintf(w, "%s\n%d combinations\n", strings.Repeat("-", 30), len(items))
}
