package tile

import (
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
)

// BenchmarkGenerate measures making the largest tile kernel, mapping included.
func BenchmarkGenerate(b *testing.B) {
	isa := jit.Chosen().ISA
	if isa == jit.Portable {
		b.Skip("SKIPPED: no machine code here")
	}
	for b.Loop() {
		tileCode{isa, array.Float32, Key{Mr: MaxRows(isa, 2), Nv: 2, Masked: true}}.Generate()
	}
}
