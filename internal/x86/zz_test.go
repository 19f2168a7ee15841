//go:build amd64

package x86

import (
	"fmt"
	"testing"
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
)

func TestZZ(t *testing.T) {
	for _, h := range []halfProgram{{from: array.Float16, to: array.BFloat16, step: loop.Unit}, {from: array.BFloat16, to: array.Float16, step: loop.Unit}} {
		s, err := Explain(h.build(t), jit.AVX512)
		fmt.Println(s, err)
	}
}
