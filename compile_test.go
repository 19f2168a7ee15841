package weft_test

import (
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// same fails unless two tensors are the same bits.
func sameBits(t *testing.T, what string, got, want *weft.Tensor) {
	t.Helper()
	if weft.Digest(got) != weft.Digest(want) {
		t.Errorf("%s: compiled %v, eager %v", what, got, want)
	}
}

func TestCompileForward(t *testing.T) {
	g := weft.NewGenerator(1)
	w, b := g.Randn(5, 3), g.Randn(3)
	f := func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Add(b).Tanh().Mul(0.3).Softmax(1) }
	c := weft.Compile(f)
	for _, n := range []int{4, 4, 7, 4} {
		x := g.Randn(n, 5)
		y, err := c.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, "forward", y, f(x))
	}
	w.MulAssign(2) // read where it is
	x := g.Randn(4, 5)
	y, _ := c.Call(x)
	sameBits(t, "after a write", y, f(x))
	if got := strings.Count(c.Why(), "traced"); got != 2 {
		t.Errorf("traced %d times:\n%s", got, c.Why())
	}
}

type mlp struct {
	A, B *nn.Linear
}

func newMLP(seed uint64) (*mlp, *optim.SGD) {
	g := weft.NewGenerator(seed)
	m := &mlp{nn.NewLinear(6, 8, nn.Opts{Generator: g}), nn.NewLinear(8, 3, nn.Opts{Generator: g})}
	return m, optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1)})
}

func TestCompileStep(t *testing.T) {
	step := func(seed uint64) (func(x, y *weft.Tensor) *weft.Tensor, *mlp) {
		m, opt := newMLP(seed)
		return func(x, y *weft.Tensor) *weft.Tensor {
			loss := m.B.Forward(m.A.Forward(x).Tanh()).Sub(y).Square().Mean()
			opt.ZeroGrad()
			loss.Backward()
			opt.Step()
			return loss
		}, m
	}
	f, m := step(3)
	h, n := step(3)
	c := weft.Compile(h)
	g := weft.NewGenerator(5)
	for i := range 5 {
		x, y := g.Randn(10, 6), g.Randn(10, 3)
		want := f(x, y)
		got, err := c.Call(x, y)
		if err != nil {
			t.Fatal(i, err)
		}
		sameBits(t, "loss", got, want)
		sameBits(t, "gradient", n.A.Weight.Grad(), m.A.Weight.Grad())
	}
	sameBits(t, "weight", n.A.Weight, m.A.Weight)
	sameBits(t, "bias", n.B.Bias, m.B.Bias)
}

// What a trace cannot do is refused with the line that asks for it, and the function works
// eagerly after that.
func TestCompileRefuses(t *testing.T) {
	w := weft.Ones(3)
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"branch": func(x *weft.Tensor) *weft.Tensor {
			if x.Sum().Item() > 0 {
				return x
			}
			return x.Neg()
		},
		"captured": func(x *weft.Tensor) *weft.Tensor { return x.Mul(w.Sum().Item()) },
		"data":     func(x *weft.Tensor) *weft.Tensor { return weft.FromSlice(weft.Data[float32](x)) },
		"borrow": func(x *weft.Tensor) *weft.Tensor {
			weft.Borrow(x, func([]float32) {})
			return x
		},
		"mask":    func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(x.Gt(0)) },
		"release": func(x *weft.Tensor) *weft.Tensor { w.Release(); return x },
	} {
		_, err := weft.Compile(f).Call(weft.Ones(3))
		if err == nil || !strings.Contains(err.Error(), "compile_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.Sum().Item() != 3 {
		t.Error("eager work is disturbed")
	}
	var kept *weft.Tensor
	c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { kept = x.Add(1); return kept })
	if _, err := c.Call(w); err != nil {
		t.Fatal(err)
	}
	if err := weft.Try(func() { kept.Add(1) }); err == nil {
		t.Error("a tensor of a trace lives on")
	}
	v := weft.Ones(3)
	d := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Add(v) })
	d.Call(w)
	v.Release()
	if _, err := d.Call(w); err == nil || !strings.Contains(err.Error(), "released") {
		t.Errorf("a captured tensor that was released: %v", err)
	}
}
