// Package formula reads formulas over named arrays, such as
// "exp(-x*x) + sum(y, 1)", and turns them into tensor graphs.
//
// A formula is a Go expression, parsed with go/parser, of names, numbers,
// operators and calls. Package weft documents the language at Expr; the table of
// functions is in functions.go.
//
// # Numbers
//
// What is computed from numbers alone, written in the formula or given by the
// caller, is computed once a call in int64 and float64, as Go would. It enters
// the graph as one scalar. In 2*lr*x the product 2*lr is not computed for each
// element, and is rounded to the type of x once. Only operations that IEEE 754
// defines exactly are computed so; exp(2) is left to the graph, because its bits
// must not depend on the math package of the machine.
package formula

import (
	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
)

// Limits of a formula. They keep hostile text from costing more than some
// milliseconds.
const (
	MaxText  = 16 << 10 // bytes
	MaxDepth = 400      // of nested expressions; a+b+c is one level
	MaxNodes = 2000
	MaxNames = 64 // distinct names
)

// A Formula is a formula that was read without errors. It is immutable.
type Formula struct {
	Text  string
	Names []string // in order of first appearance
	// Constants are the names such as pi that the text uses.
	Constants []string
	root      *Node
	funcs     map[string]*Func
}

// A Func is a function that formulas call: a value of weft.Vars is one if it has the method
// ExprFunc, without arguments, which returns a *Func as any.
type Func struct {
	Name  string
	Attrs ir.Attrs // whose key says, with their type, what Compose computes
	// Compose returns the one result of arguments, arrays or numbers.
	Compose func(args []*ir.Node) []*ir.Node
}

type kind uint8

const (
	number kind = iota
	name
	call // def of args
	cast // args[0] converted to a type
	user // fun of args
	made // made of args
)

// A Node is one operation of a formula.
type Node struct {
	kind kind
	at   int // byte offset in the text that messages point at
	num  exec.Number
	name int
	def  *op.Def
	over op.Reduction // of a def over axes
	cast array.DType
	fun  *Func
	made *function // that is written or composed
	args []*Node

	names uint64 // the names inside, by bit
	exact bool   // of numbers alone, compute can compute it
}

// A Variant is a formula with one choice of names that stand for numbers. Its
// Def takes the arrays, in order of Names, and then the Numbers.
type Variant struct {
	Formula *Formula
	Mask    uint64 // the names that stand for numbers, by bit
	Def     *op.Def
	Numbers []*Node // what is computed from numbers alone

	arrays []int         // by argument of Def: the name
	slot   map[*Node]int // by node: which of Numbers it is
	byName map[int]int   // by name of a number: which of Numbers it is
}

// Variant prepares the formula for numbers in the place of the names in mask.
func (f *Formula) Variant(mask uint64) *Variant {
	v := &Variant{Formula: f, Mask: mask, slot: map[*Node]int{}, byName: map[int]int{}}
	for i := range f.Names {
		if mask>>i&1 == 0 {
			v.arrays = append(v.arrays, i)
		}
	}
	v.collect(f.root)
	if len(v.arrays)+len(v.Numbers) == 0 {
		// The graph of an operation hangs on its arguments.
		v.Numbers = append(v.Numbers, &Node{num: exec.Number{Kind: array.CatInt}})
	}
	v.Def = &op.Def{Name: "expr", Class: op.Composite, Arity: len(v.arrays) + len(v.Numbers),
		Doc:      "The formula " + f.Text + ".",
		Composed: op.Composed{Compose: v.compose}}
	return v
}

// collect finds the largest parts that are computed from numbers alone.
func (v *Variant) collect(n *Node) {
	if n.names == 0 || n.names&v.Mask == 0 {
		return
	}
	if n.exact && n.names&^v.Mask == 0 {
		if n.kind == name {
			if i, ok := v.byName[n.name]; ok {
				v.slot[n] = i
				return
			}
			v.byName[n.name] = len(v.Numbers)
		}
		v.slot[n] = len(v.Numbers)
		v.Numbers = append(v.Numbers, n)
		return
	}
	for _, a := range n.args {
		v.collect(a)
	}
}

// Number computes number i from the values of the names.
func (v *Variant) Number(i int, names []exec.Number) exec.Number {
	return v.Numbers[i].value(names)
}
