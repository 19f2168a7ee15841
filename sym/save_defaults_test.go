package sym_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/sym"
)

// TestSavedDefaults: a file keeps the default values of inputs, also when it is saved again.
func TestSavedDefaults(t *testing.T) {
	a, x, b := sym.Scalar("a", weft.Float64), sym.Vector("x", weft.Float64), sym.Vector("b", weft.Float64)
	f := function(t, sym.In(sym.Param{Var: a, Value: 2}, x, sym.Param{Var: b, Value: floats(1, 2, 3)}), sym.Out(x.Mul(a).Add(b)))
	p := reload(t, f, weft.SaveOpts{Inputs: []string{"a", "x[n]", "b[n]"}})
	for range 2 {
		in := p.Inputs()
		if in[0].Default == nil || in[1].Default != nil || in[2].Default == nil {
			t.Fatal(in)
		}
		for _, c := range []struct{ args, want []*weft.Tensor }{
			{[]*weft.Tensor{nil, floats(1, 1, 1)}, []*weft.Tensor{floats(3, 4, 5)}},
			{[]*weft.Tensor{nil, floats(1, 1, 1), nil}, []*weft.Tensor{floats(3, 4, 5)}},
			{[]*weft.Tensor{weft.ScalarOf(weft.Float64, 3), floats(1, 1, 1)}, []*weft.Tensor{floats(4, 5, 6)}},
			{[]*weft.Tensor{nil, floats(5), floats(1)}, []*weft.Tensor{floats(11)}},
		} {
			got, err := p.Call(c.args...)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "with defaults", got[0], c.want[0])
		}
		for want, args := range map[string][]*weft.Tensor{"takes 3 arguments": {}, "argument 1": {nil, nil, nil}, "n is 3": {nil, floats(1)}} {
			var e *weft.Error
			if _, err := p.Call(args...); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, want %q", args, err, want)
			}
		}
		path := filepath.Join(t.TempDir(), "again.weft")
		if err := p.Save(path); err != nil {
			t.Fatal(err)
		}
		var err error
		if p, err = weft.LoadProgram(path); err != nil {
			t.Fatal(err)
		}
	}
}
