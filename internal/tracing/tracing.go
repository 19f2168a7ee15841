// Package tracing is how packages beside weft compile functions over its tensors: what
// weft.Compile is for users, for package sym and others of this module. Package weft sets
// how it is done; T is *weft.Tensor, which this package must not name.
//
// A [Func] is a Go function of tensors. Calling it, or preparing it for some types, runs the
// function once on abstract tensors: they have types and shapes and no memory, and everything
// that is done with them, eager operations, backward passes, writes, draws, updates of
// optimizers, is noted in one graph instead of computed. Tensors that the function captures
// are inputs by reference, and are written back if it writes into them. The graph is rewritten
// as far as [Options.Level] allows, planned and compiled; the program is kept with up to 31
// others, one for each set of types, shapes, strides and sharing of memory of the arguments.
// A second run of the function, for other shapes, must do the same with the tensors that it
// captures; what it does to Go values happens once a trace.
//
// Whoever replays expressions says to which line of the user each operation belongs by writing
// the program counter, as runtime.Callers gives it, to [Options.Line] before it applies the
// operation; 0 is the nearest caller outside the module. Errors name that line: of shapes and
// types while the function is traced, of values (an index out of range) when it is called.
package tracing

import (
	"context"
	"reflect"

	"weft/internal/ir"
)

// Options are those of [Compile].
type Options struct {
	Name  string   // for Why and profiles
	Line  *uintptr // see the package's text; nil: always the nearest caller
	Level Level
	Debug any // a *weft.DebugOpts, for functions that show what happens inside; nil: none
	// Private says that the function uses no memory that others may change: tracing it waits for no
	// other trace.
	Private bool
	Hold    bool // calls leave generators where they are: each draws the same
}

// A Level is which rules rewrite the graph.
type Level uint8

const (
	Exact  Level = iota // the bits of eager execution
	Stable              // also forms that are more accurate
	Fast                // also forms that may round otherwise
)

// A Func is a compiled function of tensors. It is safe for concurrent use.
type Func[T any] interface {
	// Call runs the program for the arguments and returns new tensors, or arguments and captured
	// tensors that the function returns as they are. A ctx that is not nil ends it. The error is
	// an *array.Error.
	Call(ctx context.Context, args []T) ([]T, error)
	// Prepare makes the program for arguments in row-major order of these types without
	// running it.
	Prepare(types []ir.Type) error
	// Graph returns the outputs of the latest program's graph as it was planned: results that
	// are computed, then gradients left in leaves, then what is written into captured tensors.
	Graph() []*ir.Node
	// Why says why the function was traced, a line each time.
	Why() string
}

// New is what [Compile] does. Package weft sets it: a func(f func([]T) []T, o Options) Func[T].
var New any

// Compile returns f compiled. What f returns may be nil where there is no result.
func Compile[T any](f func(args []T) []T, o Options) Func[T] {
	return New.(func(func([]T) []T, Options) Func[T])(f, o)
}

// A Kind says how the tensors of a value are found and replaced that no exported field shows, as
// those of a list of another package. Tensors are given as any.
type Kind struct {
	// Split returns them and what else the value depends on, which is compared by ==.
	Split func(x any) (tensors []any, static any)
	// Join makes a value of other tensors.
	Join func(tensors []any, static any) any
}

// Kinds are those that arguments and results of compiled functions may have besides tensors
// and what shows them. Packages add theirs when they are initialised.
var Kinds = map[reflect.Type]Kind{}

// Active reports that the calling goroutine traces a function. Package weft sets it.
var Active func() bool

// Refuse panics with an error that names the user's line if the calling goroutine traces a
// function: what is done on the host now would not be done again by later calls. Package weft
// sets it.
var Refuse func(opName, what string)

// Outside runs f as if nothing were traced: what it makes is memory that outlives the trace,
// such as the state of an optimizer before its first step. Package weft sets it.
var Outside func(f func())

// Do runs do, and in a compiled function lets each call run it again, in the order in which the
// function used [Live] and Do; undo takes it back, after the trace and where a call fails.
// Package weft sets it.
var Do func(do, undo func())

// Drawn is what [Draw] does; package weft sets it: a func(g G) (seed, draw any).
var Drawn any

// Draw makes one draw of a generator, G is *weft.Generator, and returns its seed and the low 32
// bits of its number as arguments of operations; a compiled function makes one in each call.
func Draw[G any](g G) (seed, draw any) { return Drawn.(func(G) (any, any))(g) }

// Check is what [Within] does; package weft sets it: a func(t T, opName, arg string, lo, hi
// int64, text string) T.
var Check any

// Within returns t, integers, or panics with an error of that operation and argument if an
// element does not lie from lo to hi; text, with a verb for it, says what is wrong. In a
// compiled function each call looks.
func Within[T any](t T, opName, arg string, lo, hi int64, text string) T {
	return Check.(func(T, string, string, int64, int64, string) T)(t, opName, arg, lo, hi, text)
}
