package gokernel_test

import (
	"strings"
	"testing"

	"weft/internal/array"
	. "weft/internal/gokernel"
)

// callsOfLarge is a source whose F calls a function of 300 lines n times, each under a condition.
func callsOfLarge(n int) string {
	return "package k\nfunc large(x, y float64) float64 {\n" + strings.Repeat("if x > y { x = x*0.5 - y*x }\n", 298) + "return x\n}\n" +
		"func F(x, y float64) float64 {\n" + strings.Repeat("if x > 1 { x = large(x, y) }\n", n) + "return x\n}"
}

// TestLargeFunctionCalledOften: ten calls of a function of 300 lines compile, and where calls
// take too much the error names the function, its size, the calls and the limit.
func TestLargeFunctionCalledOften(t *testing.T) {
	compile := func(n int) error {
		s, err := Parse(File{Name: "k.go", Src: []byte(callsOfLarge(n))})
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Func("F")
		if err == nil {
			_, err = f.Instantiate([]array.DType{array.Float64, array.Float64})
		}
		return err
	}
	if err := compile(10); err != nil {
		t.Errorf("10 calls: %v", err)
	}
	err := compile(100)
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("100 calls: %v", err)
	}
	if want := "large is about 1490 instructions and stands in place of each of 100 calls in F; what a function calls may take 65536 at most"; e.Msg != want || e.Line != 2 {
		t.Errorf("line %d: %s, want line 2: %s", e.Line, e.Msg, want)
	}
}
