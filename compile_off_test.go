package weft

import (
	"context"
	"errors"
	"testing"

	"weft/internal/core"
)

// With WEFT_COMPILE=off calls run the function itself.
func TestCompileOff(t *testing.T) {
	defer func(off bool) { core.CompileOff = off }(core.CompileOff)
	core.CompileOff = true
	runs := 0
	c := Compile(func(x *Tensor) *Tensor {
		if runs++; x.Item() > 0 {
			return x.Add(1)
		}
		return nil
	})
	for range 3 {
		y, err := c.Call(Scalar(1.0))
		if err != nil || y.Item() != 2 {
			t.Errorf("%v, %v", y, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.CallContext(ctx, Scalar(1.0)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if y := c.Func()(Scalar(-1.0)); y != nil || runs != 4 || c.Why() != "" {
		t.Errorf("%v after %d runs; %s", y, runs, c.Why())
	}
}
