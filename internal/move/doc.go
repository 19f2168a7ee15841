// Package move moves and finds elements on the CPU: copies between different axes
// (transposes), elements under a mask, rows at computed places, and the places of
// extremes. What is done to memory at large is machine code from internal/x86/asm,
// entered through internal/jit; around it and instead of it, where there is none,
// is Go. Bits are moved, or added in an order that does not depend on either, so
// that both give the same.
//
// # Rules for the kernels
//
// A kernel has a frame of its own and keeps nothing that is not in it. Where a
// frame's pointers move, they do so in fields of type uintptr: behind the end of
// an array is another object, which the collector must not take for one in use.
// Nothing is read or written outside of the arrays; where a vector does not fit
// into what is left, the last one overlaps the one before.
package move
