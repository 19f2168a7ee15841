// Package sym builds expressions of symbolic variables and compiles functions of them, as
// Theano does: a variable has a name, an element type and a number of dimensions; what is
// computed of variables is a variable; and a function is made of the variables that it takes
// and those that it returns.
package sym

//go:generate go run ./gen
