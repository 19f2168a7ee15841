package sym_test

import (
	"context"
	"errors"
	"testing"

	"weft"
	"weft/sym"
)

// TestCallContextBetweenOperations cancels inside an operation of each kind of call: what
// comes behind it is not run, and the error is that of the context.
func TestCallContextBetweenOperations(t *testing.T) {
	x := weft.Ones(4, 4)
	for name, build := range map[string]func(v *sym.Var, own, after *sym.Op) *sym.Var{
		"operation": func(v *sym.Var, own, after *sym.Op) *sym.Var { return after.Apply(own.Apply(v)[0])[0] },
		"product": func(v *sym.Var, own, after *sym.Op) *sym.Var {
			y := own.Apply(v)[0]
			return after.Apply(y.MatMul(y))[0]
		},
	} {
		cancel, ran := func() {}, 0
		same := func(x []*weft.Tensor) ([]*weft.Tensor, error) { return []*weft.Tensor{x[0].Add(1)}, nil }
		own := &sym.Op{Name: "own", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) { cancel(); return same(x) }}
		after := &sym.Op{Name: "after", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) { ran++; return same(x) }}
		v := sym.Matrix("v", weft.Float32)
		f, err := sym.Function(sym.In(v), sym.Out(build(v, own, after)))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // traced, and run
			if _, err := f.Call(x); err != nil {
				t.Fatal(err)
			}
		}
		ran = 0
		ctx, end := context.WithCancel(t.Context())
		defer end()
		cancel = end
		var e *weft.Error
		if _, err := f.CallContext(ctx, x); !errors.Is(err, context.Canceled) || !errors.As(err, &e) {
			t.Errorf("%s: the error is %v, want an *Error that wraps context.Canceled", name, err)
		}
		if ran > 0 {
			t.Errorf("%s: what is behind the end of the context ran", name)
		}
	}
}
