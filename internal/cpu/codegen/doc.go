// Package codegen generates machine code for the CPU's routines. [Gen] names instructions and
// registers by what they do, for both instruction sets and element types. [Kernel] finds code
// that was generated before. The package also has the sizes by which work is cut.
//
// # Rules for the kernels
//
// A kernel has a frame of its own and keeps all its state there. A pointer that the kernel
// advances is a frame field of type uintptr: behind the end of an array is another object,
// which the garbage collector must not keep alive. Kernels never read or write outside of
// their arrays. Where less than a vector is left, the last vector overlaps the one before or
// is masked.
package codegen
