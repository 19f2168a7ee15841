package weft_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/half"
)

// Complex numbers are values of names as they are arguments of methods.
func TestExprOfComplexNumbers(t *testing.T) {
	z := weft.From([]complex64{1 + 2i, -3})
	wide := weft.From([]complex128{1 + 2i, -3})
	x, y := weft.From([]float32{1, 2}), weft.From([]float64{1, 2})
	for _, c := range []struct {
		got, want *weft.Tensor
	}{
		{weft.Expr("z*b", weft.Vars{"z": z, "b": 1i}), z.Mul(1i)},
		{weft.Expr("z*b", z, complex64(1i)), z.Mul(1i)},
		{weft.Expr("z*b + c", weft.Vars{"z": wide, "b": 0.1i, "c": 2}), wide.Mul(0.1i).Add(2)},
		{weft.Expr("x - b", x, 2i), x.Sub(2i)},
		{weft.Expr("y - b", y, 0.1i), y.Sub(weft.From(0.1i))},
		{weft.Expr("a*b", 2, 1i), weft.From(2i)},
		{weft.Expr("x*h", x, half.NewFloat16(0.5)), x.Mul(0.5)},
	} {
		if c.got.DType() != c.want.DType() || weft.Digest(c.got) != weft.Digest(c.want) {
			t.Errorf("%v of %s, want %v of %s", c.got, c.got.DType(), c.want, c.want.DType())
		}
	}
	dst := weft.Zeros(2).To(weft.Complex64)
	f, err := weft.ParseExpr("z*b")
	if err == nil {
		err = f.EvalInto(dst, z, 1i)
	}
	if err != nil || weft.Digest(dst) != weft.Digest(z.Mul(1i)) {
		t.Errorf("EvalInto gives %v, %v", dst, err)
	}
}

// What is called and is not a function is refused with what is wanted.
func TestExprCallsValue(t *testing.T) {
	x := weft.Ones(2)
	for _, f := range []any{"abc", x, 2.0, new(struct{})} {
		want := fmt.Sprintf("expr: soft: is called as a function in \"1+soft(x)\": want a *kernel.Func, got %T", f)
		if err := weft.Try(func() { weft.Expr("1+soft(x)", weft.Vars{"soft": f, "x": x}) }); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
