//go:build amd64

package x86

import (
	"regexp"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
)

// wideOnly matches the names of instructions on vectors of floats and integers that came
// with AVX-512 (Intel's manual, volume 2): AVX2 has nothing that does the same. Those that
// work under masks, choose and move are not among them.
var wideOnly = regexp.MustCompile(`(?i)\b(vpmullq|vpabsq|vpminsq|vpmaxsq|vpsravq|vpsraq|vgetexpp[sd]|vscalefp[sd]|vcvtqq2p[sd]|vcvttp[sd]2qq|vpminuq|vpmaxuq|vcvtudq2p[sd]|vcvtuqq2p[sd]|vcvttp[sd]2u[dq]q|vprolv?[dq]|vplzcnt[dq])\b`)

// Wide names exactly the operations whose AVX-512 code has such an instruction, and those
// that make integers of floats, or bfloat16, or truth values.
func TestWide(t *testing.T) {
	found := 0
	for _, o := range operations() {
		p := o.program(t, 0, false)
		text, err := Explain(p, jit.AVX512)
		if err != nil {
			t.Fatal(err)
		}
		want := wideOnly.MatchString(text) || o.op == loop.OpCvt && o.args[0].Float() && o.t.Int() || o.half == array.BFloat16
		if want {
			found++
		}
		want = want || o.t == loop.B // which is written
		if got := Wide(p); got != want {
			t.Errorf("%s: Wide %v, want %v", p.Name, got, want)
		}
		if p := o.program(t, 1<<len(o.args)-1, true); Wide(p) && o.t != loop.B {
			t.Errorf("%s once a row: Wide", p.Name)
		}
	}
	// Integers, exponents, conversions; without sign: minima, quotients, conversions; bits, bits of
	// narrow integers; other conversions of floats to integers, and to bfloat16.
	if found != 5+4+4+2+6+8+7+4+10+1 {
		t.Errorf("%d operations with such instructions", found)
	}
}
