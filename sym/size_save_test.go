package sym_test

import (
	"path/filepath"
	"testing"

	"weft"
	"weft/sym"
)

// TestSavedSizes: a file holds sizes that follow from shapes, and refuses variables of any size.
func TestSavedSizes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.weft")
	x := sym.Vector("x", weft.Float64)
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
	w := sym.Shared("w", floats(1), sym.Any)
	misuse(t, "an open variable", function(t, sym.In(), sym.Out(w.Sum())).Save(path), "w", "sizes may change")
}

// TestSavedSizesFarAndShort: a file gives what the function gives, for long axes and for empty ones.
func TestSavedSizesFarAndShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.weft")
	x := sym.New("x", weft.Float64, sym.Any, 3)
	n := x.Len(0)
	misuse(t, "a slice up to 50", function(t, sym.In(x), sym.Out(x.Slice(weft.Range(0, 50)))).Save(path), "result 0 is float64[50 3]")
	rs := sym.NewRandomStreams(1)
	for what, y := range map[string]*sym.Var{
		"at least 5":  sym.Zeros(n.Maximum(5)),
		"every fifth": x.Slice(weft.Range(0, weft.End, 5)), "every eighth": x.Slice(weft.Range(0, weft.End, 8)),
		"reversed": x.Flip(0), "joined": sym.Cat([]*sym.Var{x, x}, 0), "half": x.Slice(sym.Range(n.FloorDiv(2), n)), "transposed": x.T(),
		"choice": rs.Choice(x, n, nil, false), "draws": rs.Normal(weft.Float64, 0, 1, n, 3),
	} {
		f := function(t, sym.In(x), sym.Out(y))
		if err := f.Save(path); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		p, err := weft.LoadProgram(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range []int{9, 0, 1, 2, 3, 29, 400} {
			in := weft.Arange(3*length).To(weft.Float64).Reshape(length, 3)
			out, err := p.Call(in)
			if err != nil {
				t.Errorf("%s of %d: %v", what, length, err)
				break
			}
			same(t, what, out[0], results(t, f, in)[0])
		}
	}
}
