// Package product computes matrix products over raw memory.
//
// # Bits
//
// An element of a product has the same bits on every path: portable Go, AVX2 or
// AVX-512, inside or at the edge of a tile, alone or in a batch, with any strides
// and any number of threads. The sum over k is cut into blocks of
// numbers.KBlock terms.
// A block is one chain of fused multiply-adds in ascending k that starts from +0;
// the blocks are added in ascending order, ((b0+b1)+b2)+....
// So a part of a product equals the product of the parts, and a row does not depend on
// what else is in the batch. With k = 0 the sum is +0. NaN payloads are not part of the
// promise.
//
// # Memory
//
// Operands are pointers with element strides of any sign; nothing outside the
// elements that the strides name is read or written. C must not overlap an
// operand and no two of its elements may share memory. The caller keeps the
// memory alive during the call.
//
// # How
//
// Tiles of C, up to 14 rows and two vectors, or fewer rows and more vectors, are
// computed in registers by code that internal/x86/asm assembles when a tile of that
// shape is first needed (some 35 µs). Operands are read where they lie if that is
// as fast, and otherwise packed, by generated code too: B in strips that stay in the
// L1 cache, A in blocks of half the second. A few rows times a large B take other
// kernels, which read B once in long runs, or transpose it in registers. Few results of many
// terms, such as a dot product, have blocks of terms in the lanes (blocks.go).
//
// Threads share tasks that are rectangles of C. Where several would pack the same columns of B, all threads pack B
// once before the tasks, which are then whole rows of C (share.go). One entry into machine code takes at most
// some 100 µs.
package product
