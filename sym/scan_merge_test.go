package sym_test

import (
	"os"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// Loops over the same steps whose steps compute something alike become one, with the same bits, in gradients
// too. Two loops stay two where one needs the other.
func TestScansMerge(t *testing.T) {
	const steps, n = 6, 5
	g := weft.NewGenerator(1)
	X, H := g.RandnOf(weft.Float32, steps, n), g.RandnOf(weft.Float32, n)
	x, h0 := sym.New("x", weft.Float32, steps, n), sym.New("h0", weft.Float32, n)
	loop := func(h0 *sym.Var, by float64) *sym.Var {
		return sym.FoldL(func(e, h *sym.Var) *sym.Var { return e.Exp().Add(1).Sqrt().Add(h.Mul(by)).Tanh() }, x, h0)
	}
	for name, c := range map[string]struct {
		y     *sym.Var
		loops int
	}{
		"apart":      {loop(h0, 0.5).Add(loop(h0, 0.7)).Sum(), 1},
		"one by one": {loop(loop(h0, 0.5), 0.7).Sum(), 2},
	} {
		outs := append(sym.Grad(c.y, []*sym.Var{x, h0}), c.y)
		value, err := sym.Function(sym.In(x, h0), sym.Out(c.y))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := value.Call(X, H); err != nil {
			t.Fatal(err)
		}
		if os.Getenv("WEFT_COMPILE") != "off" {
			if got := strings.Count(value.Explain(), ": routine loop "); got != c.loops {
				t.Errorf("%s: %d loops, want %d", name, got, c.loops)
			}
		}
		got := fn(t, sym.In(x, h0), sym.Out(outs...))(X, H)
		want := fn(t, sym.In(x, h0), sym.Out(outs...), sym.Excluding("loops over the same steps"))(X, H)
		for i := range outs {
			tensortest.Near(t, name, got[i], weft.Data[float64](want[i].To(weft.Float64)), 0)
		}
	}
}
