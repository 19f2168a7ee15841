//go:build amd64 && (unix || windows)

package jit

import "bytes"

var int3 = bytes.Repeat([]byte{0xCC}, 4096)

// fill copies code to the start of mem and pads the rest with INT3, so that a
// jump past the end traps instead of running zeroes as instructions.
func fill(mem, code []byte) {
	for tail := mem[copy(mem, code):]; len(tail) > 0; {
		tail = tail[copy(tail, int3):]
	}
}
