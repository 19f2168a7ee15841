package sym_test

import (
	"path/filepath"
	"testing"

	"weft"
	"weft/sym"
)

// TestSavedSizes: a file holds sizes that follow from shapes, and refuses others.
func TestSavedSizes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.weft")
	x, n := sym.Vector("x", weft.Float64), sym.Scalar("n", weft.Int64)
	ahead := sym.IfElse(x.Sum().Gt(0), func() []*sym.Var { return []*sym.Var{x.Mul(2)} }, func() []*sym.Var { return []*sym.Var{x} })[0]
	f := function(t, sym.In(x), sym.Out(ahead.Add(sym.OnesOf(weft.Float64, x.Len(0)))))
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*weft.Tensor{floats(1, 2), floats(-1, -2, 3)} {
		out, err := p.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the loaded function", out[0], results(t, f, x)[0])
	}
	misuse(t, "a bound that is an element", function(t, sym.In(x, n), sym.Out(x.Slice(sym.Range(0, n)))).Save(path), "elements")
	w := sym.Shared("w", floats(1), sym.Any)
	misuse(t, "an open variable", function(t, sym.In(), sym.Out(w.Sum())).Save(path), "w", "sizes may change")
}
