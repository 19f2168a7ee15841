// Package kernel compiles Go functions of scalars and runs them over arrays.
//
// A kernel is an ordinary Go function in an ordinary file:
//
//	func Escape(cr, ci float32) int32 { ... }
//
// Its source comes in as text, usually embedded, and is compiled for the processor when it
// first runs:
//
//	//go:embed kernels.go
//	var source string
//	var kernels = kernel.MustParse(source)
//
//	n := kernels.Func("Escape").Map(cr, ci)
//
// The function stays callable as plain Go, which is how it is tested. The examples are
// lessons, in order of their numbers.
//
// # What runs
//
//   - [Func.Map]: the function for each element of arguments that broadcast
//   - [Func.Stencil], [Func.Iterate]: for each neighbourhood ([Near1] to [Near6]), once or many times
//   - [Func.Reduce], [MapReduce], [Func.Scan]: as a combination of elements along axes
//   - [PageMap]: over the pages of arrays
//   - in formulas, by the name that it has in weft.Vars
//
// A kernel is an operation like others: it fuses with elementwise operations around it, it
// has gradients, and its results are the same bits on every backend and number of threads.
//
// # Bounds
//
// Source may come from anyone, so its cost is bounded. Exceeding a bound is an [*Error] that names
// the bound. A source has at most 16 MiB, a function and what it needs 1 MiB. A function that is
// run has at most 128 parameters and 1024 results. Constants lie below 2^16384, constant strings
// have at most 64 KiB. Calls nest at most 100 deep, ifs and cases 1000 deep. An element makes at
// most 2^20 calls, loops counted once. A program has at most 65536 instructions.
//
// # The language
//
// Only the function that is asked for, and what it calls, is checked; anything else may
// stand in the file. A kernel may use
//   - bool, integers, floats and complex numbers, types named over them, and structs and
//     arrays of them as variables;
//   - type parameters;
//   - all of Go's statements but goto, go, defer and select;
//   - calls of other functions, which must not be recursive;
//   - the packages math, math/bits, math/cmplx and this one.
//
// Pointers, Go's slices, maps, strings, interfaces, closures and variables of the package are
// refused. What is refused is an [*Error] with file, line and column.
//
// The body of a function stands in place of each call. A function that grows beyond about
// 65,000 instructions in this way is refused, with an [*Error] that names it.
//
// Values equal Go's, bit for bit, with these rules where Go has none or panics:
//
//   - an integer divided by 0 gives 0, as quotient and as remainder
//   - an index outside of an array variable reads its first element and writes none; where it is
//     proven to be outside whatever the arguments, and stands under no condition and in no loop
//     that may not run, the kernel is refused
//   - a float that an integer type does not hold becomes its nearest, NaN becomes 0
//   - a product and a sum are never contracted into one rounding; math.FMA is one
//   - float32(math.Exp(float64(x))) of a float32 is computed in float32, and so are other
//     functions that are good to 1 unit in the last place there
//   - functions of package math are as exact as package weft's, mostly more than Go's
//
// Arrays are parameters. [Array1] to [Array6] are read where every index is proven to lie
// inside before anything runs; [Clamped1], [Wrapped1], [Zeroed1] and their kin say what
// lies outside. An [Elem] gives the element's own index and random numbers. Row gives an array its
// first index; Slice gives the elements between bounds, a [Seq]. [Digamma], [GammaInc] and others are
// functions that Go's math has not.
package kernel
