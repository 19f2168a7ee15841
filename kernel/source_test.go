package kernel_test

import (
	"sync"
	"testing"

	"weft"
	"weft/kernel"
)

// Looking a function up gives one Func, from any number of goroutines.
func TestLookupsGiveOneFunc(t *testing.T) {
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
