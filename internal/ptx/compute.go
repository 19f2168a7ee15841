package ptx

import (
	"fmt"
	"strings"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// ruleOf and conversionOf hold the tables by operation and type, "" for none.
var (
	ruleOf       = indexRules()
	conversionOf = indexConversions()
)

const numTypes = int(loop.F64) + 1

func indexRules() (out [loop.NumOps][numTypes]string) {
	for _, r := range rules {
		for t := range numTypes {
			if r.types.has(loop.Type(t)) {
				out[r.op][t] = r.text
			}
		}
	}
	return out
}

func indexConversions() (out [numTypes][numTypes]string) {
	for _, c := range conversions {
		for from := range numTypes {
			for to := range numTypes {
				if c.from.has(loop.Type(from)) && c.to.has(loop.Type(to)) {
					out[from][to] = c.text
				}
			}
		}
	}
	return out
}

// compute prints an operation of package loop.
func (p *printer) compute(in *grid.Ins) {
	if int(in.Loop) >= loop.NumOps {
		p.fail("not an operation")
	}
	to := p.typeOf(in.Dst)
	switch in.Loop {
	case loop.OpConst:
		p.constant(in, to)
		return
	case loop.OpLookup:
		p.lookup(in)
		return
	}
	t := p.typeOf(in.A)
	var text string
	switch in.Loop {
	case loop.OpCvt:
		text = conversionOf[t][to]
	case loop.OpRound:
		if t == loop.F32 {
			text = rounding[array.DType(in.Imm)]
		}
	case loop.OpNeg:
		if text = ruleOf[in.Loop][t]; floats.has(t) && in.Imm == grid.OpenSign {
			text = "neg.$f $D, $A"
		}
	case loop.OpSelect:
		p.typed(in.A, b)
		t = to
		text = ruleOf[in.Loop][t]
	default:
		text = ruleOf[in.Loop][t]
	}
	if text == "" {
		p.fail("no rule for type %s", t)
	}
	p.checkTypes(in, t, to)
	p.expand(in, t, to, text)
}

// checkTypes checks the result and the operands behind the first, for a rule of type t.
func (p *printer) checkTypes(in *grid.Ins, t, to loop.Type) {
	result := t
	switch {
	case in.Loop >= loop.OpEq && in.Loop <= loop.OpLeU:
		result = loop.B
	case in.Loop == loop.OpCvt:
		result = to
	case in.Loop == loop.OpBits:
		if result = to; to.Size() != t.Size() {
			p.fail("from type %s to %s", t, to)
		}
	}
	if to != result {
		p.fail("the result has type %s, not %s", to, result)
	}
	for _, r := range []grid.Reg{in.B, in.C} {
		if r != grid.NoReg {
			p.typed(r, 1<<t)
		}
	}
}

// constant prints a constant.
func (p *printer) constant(in *grid.Ins, t loop.Type) {
	bits := uint64(in.Imm)
	if t == loop.B {
		p.line("setp.eq.u32 %s, %d, 1", p.reg(in.Dst), bits&1)
		return
	}
	if t.Size() == 4 {
		bits = uint64(uint32(bits))
	}
	p.line("mov.%s %s, 0x%X", classTypes[classOf(t)], p.reg(in.Dst), bits)
}

// expand prints the instructions of a rule for type t.
func (p *printer) expand(in *grid.Ins, t, to loop.Type, text string) {
	temps := map[string]string{}
	w := &p.body
	for ins := range strings.SplitSeq(text, ";") {
		w.WriteByte('\t')
		rest := strings.TrimSpace(ins)
		for {
			before, after, found := strings.Cut(rest, "$")
			w.WriteString(before)
			if !found {
				break
			}
			n := 0
			for n < len(after) && (after[n]|0x20 >= 'a' && after[n]|0x20 <= 'z' || after[n] >= '0' && after[n] <= '9') {
				n++
			}
			w.WriteString(p.placeholder(in, t, to, after[:n], temps))
			rest = after[n:]
		}
		w.WriteString(";\n")
	}
}

// placeholder returns what stands for a placeholder of a rule.
func (p *printer) placeholder(in *grid.Ins, t, to loop.Type, name string, temps map[string]string) string {
	switch name {
	case "A":
		return p.reg(in.A)
	case "B":
		return p.reg(in.B)
	case "C":
		return p.reg(in.C)
	case "D":
		return p.reg(in.Dst)
	case "s", "u", "f":
		return fmt.Sprintf("%s%d", name, 8*t.Size())
	case "b":
		return classTypes[classOf(t)]
	case "from":
		return typeName(t, in.Imm&loop.FromUnsigned != 0)
	case "to":
		return typeName(to, in.Imm&loop.ToUnsigned != 0)
	}
	r, ok := temps[name]
	if !ok {
		c := map[byte]class{'p': predicate, 'h': bits16, 'r': bits32, 'd': bits64, 'x': classOf(t)}[name[0]]
		r = p.temp(c)
		temps[name] = r
	}
	return r
}

// typeName returns a type of numbers as PTX has it.
func typeName(t loop.Type, unsigned bool) string {
	letter := 's'
	switch {
	case t.Float():
		letter = 'f'
	case unsigned:
		letter = 'u'
	}
	return fmt.Sprintf("%c%d", letter, 8*t.Size())
}
