package jit

import (
	"strings"
	"testing"
)

// TestChosenISA has what each value of WEFT_JIT gives on each kind of processor.
func TestChosenISA(t *testing.T) {
	all := []ISA{Portable, AVX2, AVX512}
	for _, c := range []struct {
		wish string
		have []ISA
		want ISA
		note string
	}{
		{"", all, AVX512, ""},
		{"", all[:2], AVX2, ""},
		{"off", all, Portable, ""},
		{"AVX2", all, AVX2, ""},
		{"avx512", all, AVX512, ""},
		{"avx512", all[:2], AVX2, "avx512 is not available here, avx2 runs"},
		{"avx2", all[:1], Portable, "avx2 is not available here, off runs"},
		{"sse", all, AVX512, "sse is none of off, avx2, avx512"},
	} {
		got := choose(c.wish, c.have)
		if got.ISA != c.want || got.Wish != c.wish || (got.Note == "") != (c.note == "") || !strings.Contains(got.Note, c.note) {
			t.Errorf("%q with %v: %+v, want %s and a note with %q", c.wish, c.have, got, c.want, c.note)
		}
	}
}

// Nobody else can write to the list.
func TestISAs(t *testing.T) {
	ISAs()[0] = AVX512
	if have := ISAs(); have[0] != Portable || len(have) > 1 && !Available() {
		t.Error(have)
	}
}
