//go:build amd64 && (unix || windows)

package jit

// fill copies code to the start of mem and pads the rest with INT3, so that a
// jump past the end traps instead of running zeroes as instructions.
func fill(mem, code []byte) {
	tail := mem[copy(mem, code):]
	for i := range tail {
		tail[i] = 0xCC
	}
}
