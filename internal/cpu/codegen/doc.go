// Package codegen is what the CPU's routines are made with: a writer of machine code that
// names instructions and registers by what they do, for both instruction sets and
// element types, the way to find code that was written before ([Kernel]), and the sizes
// by which work is cut.
//
// # Rules for the kernels
//
// A kernel has a frame of its own and keeps nothing that is not in it. Where a
// frame's pointers move, they do so in fields of type uintptr: behind the end of
// an array is another object, which the collector must not take for one in use.
// Nothing is read or written outside of the arrays; where a vector does not fit
// into what is left, the last one overlaps the one before, or is masked.
package codegen
