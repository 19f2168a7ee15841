package saved

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Numbers that a call computes before it runs, such as a learning rate that falls with the steps.

// A Formula is a number computed from variables of the program, in float64.
type Formula struct {
	Do       Do         `json:"do"`
	Of       []*Formula `json:"of,omitempty"`
	Value    string     `json:"value,omitempty"`    // of a constant, as [ConstantText] writes it
	Variable int        `json:"variable,omitempty"` // its number
}

// A Variable is a number that a program keeps from call to call, such as a count of steps.
type Variable struct {
	Value string `json:"value"`
}

// A Set says that calls give a variable a new value, after the first At numbers of the call were
// computed.
type Set struct {
	At       int      `json:"at"`
	Variable int      `json:"variable"`
	To       *Formula `json:"to"`
}

// A Do is what a formula does.
type Do uint8

// What formulas do. Power multiplies; its exponent is a count. Pow has any exponent. AtMost is 1 where the first number is at
// most the second, and 0 elsewhere. Choose is its second number where the first one is not 0, and the
// third elsewhere.
const (
	DoConstant Do = iota
	DoVariable
	DoAdd
	DoSub
	DoMul
	DoDiv
	DoSqrt
	DoPower
	DoFloor
	DoMin
	DoMod
	DoCos
	DoPow
	DoAtMost
	DoChoose
)

// dos are the names of operations in files, and the number of their arguments.
var dos = [...]struct {
	name  string
	arity int
}{
	DoConstant: {"constant", 0}, DoVariable: {"variable", 0}, DoAdd: {"add", 2}, DoSub: {"sub", 2}, DoMul: {"mul", 2}, DoDiv: {"div", 2}, DoSqrt: {"sqrt", 1},
	DoPower: {"power", 2}, DoFloor: {"floor", 1}, DoMin: {"min", 2}, DoMod: {"mod", 2}, DoCos: {"cos", 1}, DoPow: {"pow", 2}, DoAtMost: {"at most", 2}, DoChoose: {"choose", 3},
}

// MarshalJSON writes the name.
func (d Do) MarshalJSON() ([]byte, error) { return json.Marshal(dos[d].name) }

// UnmarshalJSON reads a name that MarshalJSON wrote.
func (d *Do) UnmarshalJSON(b []byte) error {
	var name string
	if err := json.Unmarshal(b, &name); err != nil {
		return err
	}
	for i := range dos {
		if dos[i].name == name {
			*d = Do(i)
			return nil
		}
	}
	return fmt.Errorf("%.40q is not what a formula does", name)
}

// maxFormula bounds the operations of a formula, and how deep they nest.
const maxFormula = 10000

// check panics with *array.Error unless the formula is one of a program with some variables.
func (f *Formula) check(variables int) {
	left := maxFormula
	var walk func(f *Formula, depth int)
	walk = func(f *Formula, depth int) {
		if left--; left < 0 || depth > maxDepth {
			malformed("a formula has more than %d operations, or nests more than %d deep", maxFormula, maxDepth)
		}
		if f == nil || len(f.Of) != dos[f.Do].arity {
			malformed("a formula lacks an argument")
		}
		if _, err := parseFloat(f.Value); f.Do == DoConstant && err != nil {
			malformed("a formula has the constant %.40q", f.Value)
		}
		if f.Do == DoVariable && (f.Variable < 0 || f.Variable >= variables) {
			malformed("a formula reads variable %d, which is not there", f.Variable)
		}
		for _, x := range f.Of {
			walk(x, depth+1)
		}
	}
	walk(f, 0)
}

// CheckFormula returns an error where a formula is larger than what a file can hold.
func CheckFormula(f *Formula, variables int) error {
	return guard(func() { f.check(variables) })
}

// checkNumbers checks what calls compute before they run.
func (p *Program) checkNumbers() {
	for i := range p.Variables {
		if _, err := parseFloat(p.Variables[i].Value); err != nil {
			malformed("variable %d is %.40q", i, p.Variables[i].Value)
		}
	}
	for i, n := range p.Numbers {
		ok := false
		switch n.Kind {
		case "constant":
			_, err := parseFloat(n.Value)
			ok = err == nil
		case "formula":
			n.Formula.check(len(p.Variables))
			ok = true
		case "seed":
			ok = i+1 < len(p.Numbers) && p.Numbers[i+1].Kind == "draw" && n.Generator >= 0 && n.Generator < len(p.Generators) && n.Count >= 0
		case "draw":
			ok = i > 0 && p.Numbers[i-1].Kind == "seed"
		}
		if !ok {
			malformed("number %d is %q", i, n.Kind)
		}
	}
	for i, s := range p.Sets {
		if s.At < 0 || s.At > len(p.Numbers) || i > 0 && s.At < p.Sets[i-1].At || s.Variable < 0 || s.Variable >= len(p.Variables) {
			malformed("variable %d is set at number %d, and one of them is not there", s.Variable, s.At)
		}
		if s.At > 0 && p.Numbers[s.At-1].Kind == "seed" {
			malformed("variable %d is set between a seed and its draw", s.Variable)
		}
		s.To.check(len(p.Variables))
	}
}

// same reports whether two formulas are equal.
func (f *Formula) same(g *Formula) bool {
	if f == nil || g == nil {
		return f == g
	}
	return f.Do == g.Do && f.Value == g.Value && f.Variable == g.Variable && slices.EqualFunc(f.Of, g.Of, (*Formula).same)
}

// sameNumbers reports whether two programs compute the same numbers before they run.
func (p *Program) sameNumbers(q *Program) bool {
	return slices.EqualFunc(p.Numbers, q.Numbers, func(a, b Number) bool {
		f, g := a.Formula, b.Formula
		a.Formula, b.Formula = nil, nil
		return a == b && f.same(g)
	}) && slices.EqualFunc(p.Sets, q.Sets, func(a, b Set) bool {
		return a.At == b.At && a.Variable == b.Variable && a.To.same(b.To)
	})
}
