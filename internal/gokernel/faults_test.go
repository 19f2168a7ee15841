package gokernel_test

import (
	"testing"

	"weft/internal/loop"
)

// TestValuesUsedOutOfScope lowers functions whose values were once used where they are out of reach.
func TestValuesUsedOutOfScope(t *testing.T) {
	for _, text := range []string{
		"func F(p, q int32) int32 { switch { case p == 0: for v := p; v > 0; v-- {}; case p == 1:  }; return 0 }",
		"func F(p, q int32) int32 { switch { case p == 0: v := q+3; v /= q; case p == 1:  }; return 0 }",
		"func F(p0 int32, p1 float32) float32 { for range 3 { for p1 < 0 { p1 = -p1; for range 4 { p0++ } }; return 1 }; return 0 }",
		"func F(p, q int32) int32 { if p > 0 { v := q; v /= p; q = v } else { v := p; for v > q { v-- }; q = v }; for range q { w := p; w /= q; p += w }; return q }",
	} {
		f := kernelOf(t, "", text)
		inst, err := f.Instantiate(nil)
		if err != nil {
			t.Fatal(err)
		}
		b := loop.NewBuilder("f", []loop.Axis{{}}, 0)
		b.Pass(func() { inst.EmitKernel(emitter(b, inst)) })
		if _, err := b.Done(); err != nil {
			t.Errorf("%s: %v\n%s", text, err, b.Program())
		}
	}
}
