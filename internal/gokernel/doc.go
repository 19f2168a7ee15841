// Package gokernel is the front end of kernels: it takes Go source, checks that a function
// keeps to the language of kernels, and lowers it into the loop language.
//
//	src, err := gokernel.Parse(gokernel.File{Name: "k.go", Src: text})
//	f, err := src.Func("Escape")
//	inst, err := f.Instantiate([]array.DType{array.Float32, array.Float32})
//	results := inst.Emit(e)
//
// [Source.Func] checks the named function and what it calls, and nothing else of the
// files. [Func.Instantiate] settles type parameters by the element types of arguments and
// lowers the function once on trial, so that [Instance.Emit] cannot fail. Faults are of
// type [*Error] and point at the source.
//
// # The language
//
// What the function computes is what the same function computes as Go, with these
// exceptions, where Go panics or leaves the result to the implementation:
//   - Division of integers by zero gives 0, and so does the remainder.
//   - An index outside of an array variable reads its first element and writes none. Where it is
//     outside for every element that the kernel runs for, and no condition or loop stands
//     around it, it is an error.
//   - A shift by a negative count shifts everything out.
//   - Floats become integers toward zero; what the integer type does not hold becomes its
//     least or greatest value, and NaN 0.
//   - A product and a sum are never contracted to one rounding; math.FMA is one rounding.
//   - A function of package math has the error of weft's formula, not that of Go's. Written
//     float32(math.F(float64(x))) it is computed in float32 where that formula is within one
//     unit in the last place.
package gokernel
