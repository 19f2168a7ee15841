package kernel_test

import (
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/kernel"
)

// Looking a function up gives one Func, from any number of goroutines.
func TestLookupReturnsOneFunc(t *testing.T) {
	s := kernel.MustParse("package k\nfunc Twice(x float32) float32 { return 2 * x }\nfunc Bad(x float32) float32 { return y }\n")
	first := s.Func("Twice")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if f, err := s.Lookup("Twice"); err != nil || f != first || s.Func("Twice") != first {
				t.Errorf("Lookup returned %p, %v, want %p", f, err, first)
			}
			if got := s.Func("Twice").Map(weft.Ones(3)).Sum().Item(); got != 6 {
				t.Errorf("the sum is %v, want 6", got)
			}
			if _, err := s.Lookup("Bad"); err == nil {
				t.Error("no error for a function with a fault")
			}
		})
	}
	wg.Wait()
}

// A sum of many terms is flat in the text, so no bound of nesting holds for it. x - x/2 - x/2 ... of
// n operators is x*(1 - n/2), exactly in float64 as all values are multiples of x/2.
func TestSumOfThirtyThousandTerms(t *testing.T) {
	const n = 30000
	f := kernel.MustParse("package k\nfunc F(x float64) float64 { return x" + strings.Repeat("-x/2", n) + " }").Func("F")
	x := weft.FromSlice([]float64{1, -3}).RequireGrad()
	y := f.Map(x)
	y.Sum().Backward()
	for i, v := range []float64{1, -3} {
		if got, want := weft.At[float64](y, i), v*(1-n/2.0); got != want {
			t.Errorf("F(%v) = %v, want %v", v, got, want)
		}
		if got, want := weft.At[float64](x.Grad(), i), 1-n/2.0; got != want {
			t.Errorf("the gradient at %v is %v, want %v", v, got, want)
		}
	}
}

// A chain of constant strings is bounded by its bytes alone.
func TestConstantStringOfManyTerms(t *testing.T) {
	run := func(terms int, value string) (y *weft.Tensor, err error) {
		src := "package k\nconst s = \"\"" + strings.Repeat("+\"a\"", terms) + "\nfunc F(x float64) float64 { return x + float64(" + value + ") }"
		err = weft.Try(func() { y = kernel.MustParse(src).Func("F").Map(weft.FromSlice([]float64{1})) })
		return y, err
	}
	if y, err := run(20000, "len(s)"); err != nil || weft.At[float64](y, 0) != 20001 {
		t.Errorf("F(1) = %v, %v, want 20001", y, err)
	}
	if _, err := run(25000, "len(s)"); err == nil || !strings.Contains(err.Error(), "constant string") {
		t.Errorf("25000 terms: %v, want an error of a constant string", err)
	}
	if _, err := run(1, "len(s)"+strings.Repeat("*(len(s)+len(s))", 2000)); err == nil || !strings.Contains(err.Error(), "may be as large as") {
		t.Errorf("a product of lengths: %v, want an error of a large constant", err)
	}
}
