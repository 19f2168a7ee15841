//go:build 386 || arm || mips || mipsle

package array

// Sizes and offsets are ints, and many are larger than 32 bits hold.
const _ = weft_needs_a_64_bit_processor
