// Package sym builds expressions of symbolic variables and compiles functions of them, as
// Theano does.
//
//	x := sym.Vector("x", weft.Float64)
//	y := x.Pow(3).Sum()
//	f, err := sym.Function(sym.In(x), sym.Out(y, sym.Grad(y, []*sym.Var{x})[0]))
//	out, err := f.Call(weft.FromSlice([]float64{1, 2})) // 9, [3 12]
//
// A variable has a name, an element type and a number of dimensions. An operation on variables
// gives a variable. A function has variables as its arguments and results.
package sym

//go:generate go run ./gen
