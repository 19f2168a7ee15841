package sym_test

import (
	"fmt"
	"strings"
	"testing"

	"weft"
	"weft/linalg"
	"weft/sym"
)

func ExampleApply() {
	a, b := sym.New("a", weft.Float64, 2, 2), sym.New("b", weft.Float64, 2)
	x := sym.Apply(linalg.SolveTriangular, a, b, linalg.SolveTriangularOpts{Lower: true})[0]
	f := must(sym.Function(sym.In(a, b), sym.Out(x, sym.Grad(x.Sum(), []*sym.Var{b})[0])))
	out, err := f.Call(weft.From([][]float64{{2, 0}, {1, 4}}), weft.From([]float64{2, 9}))
	fmt.Println(out[0], out[1], err)
	// Output: [1. 2.] [0.375 0.25 ] <nil>
}

func TestApplyUnknownSizes(t *testing.T) {
	a := sym.New("a", weft.Float32, sym.Any, sym.Any)
	l := sym.Apply(linalg.Cholesky, a)[0]
	f := must(sym.Function(sym.In(a), sym.Out(l)))
	for _, n := range []int{1, 3, 70} {
		x := weft.Eye(n).Mul(4)
		if got := run(f, x); !got.AllClose(weft.Eye(n).Mul(2)) {
			t.Errorf("size %d: %v", n, got)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	x := sym.New("x", weft.Float32, 3, 3)
	for what, f := range map[string]func(){
		"want a function":   func() { sym.Apply(3, x) },
		"is <nil>":          func() { sym.Apply(nil) },
		"result of type":    func() { sym.Apply(func(*weft.Tensor) int { return 0 }, x) },
		"takes arguments":   func() { sym.Apply(linalg.SolveTriangular, x) },
		"argument 1 is int": func() { sym.Apply(linalg.Cholesky, x, 3) },
		"square matrices":   func() { sym.Apply(linalg.Cholesky, sym.New("y", weft.Float32, 2, 3)) },
		"nil variable":      func() { sym.Apply(linalg.Cholesky, (*sym.Var)(nil)) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
