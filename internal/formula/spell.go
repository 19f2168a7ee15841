package formula

import (
	"go/token"
	"strconv"
	"strings"
	"sync"

	"weft/internal/array"
	"weft/internal/op"
)

// A Spelling is how a formula writes an operation.
type Spelling struct {
	Name string // of the operator or function
	// Operator tells the two apart; its Precedence is that of Go, and with one operand
	// it stands in front.
	Operator   bool
	Precedence int
}

// spellings is the inverse of the table of functions and of the operators.
var spellings = sync.OnceValue(func() map[*op.Def]Spelling {
	t := map[*op.Def]Spelling{}
	for name, f := range functions() {
		// Of several names the operation's own.
		if f.def != nil && f.maxAxes == 0 && (t[f.def].Name == "" || name == f.def.Name) {
			t[f.def] = Spelling{Name: name}
		}
	}
	for name, f := range hidden {
		if f.def != nil {
			t[f.def] = Spelling{Name: name}
		}
	}
	for tok, d := range operators {
		if tok != token.AND_NOT {
			t[*d] = Spelling{tok.String(), true, tok.Precedence()}
		}
	}
	for tok, d := range map[token.Token]*op.Def{token.SUB: op.Neg, token.NOT: op.LogicalNot, token.XOR: op.BitNot} {
		t[d] = Spelling{tok.String(), true, token.UnaryPrec}
	}
	t[op.MatMul2] = Spelling{Name: "dot"}
	t[op.Lookup("select")] = Spelling{Name: "where"} // what where is made of
	return t
})

// Spell returns how formulas write an operation of arrays without attributes, and false
// where they have no way to.
func Spell(d *op.Def) (Spelling, bool) {
	s, ok := spellings()[d]
	return s, ok
}

// Labels returns what the arrays and numbers that [Variant.Def] takes are called: names, and
// formulas in parentheses for numbers that are computed.
func (v *Variant) Labels() (arrays, numbers []string) {
	for _, k := range v.arrays {
		arrays = append(arrays, v.Formula.Names[k])
	}
	for _, n := range v.Numbers {
		numbers = append(numbers, n.text(v.Formula.Names))
	}
	return arrays, numbers
}

// text writes a node of numbers alone.
func (n *Node) text(names []string) string {
	switch n.kind {
	case name:
		return names[n.name]
	case number:
		if n.num.Kind == array.CatFloat {
			s := strconv.FormatFloat(n.num.Float, 'g', -1, 64)
			if !strings.ContainsAny(s, ".eNI") {
				s += ".0"
			}
			return s
		}
		return strconv.FormatInt(n.num.Int, 10)
	}
	var args []string
	for _, a := range n.args {
		args = append(args, a.text(names))
	}
	s, ok := Spell(n.def)
	switch {
	case ok && s.Operator && len(args) == 1:
		return "(" + s.Name + args[0] + ")"
	case ok && s.Operator:
		return "(" + strings.Join(args, " "+s.Name+" ") + ")"
	case ok:
		return s.Name + "(" + strings.Join(args, ", ") + ")"
	}
	return n.def.Name + "(" + strings.Join(args, ", ") + ")"
}
