package weft

import (
	"testing"
)

func TestFirstSteps(t *testing.T) {
	x := FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	y := x.Add(1)
	got := Data[float32](y)
	for i, v := range got {
		if v != float32(i)+2 {
			t.Fatalf("a+1: %v", got)
		}
	}
	if s := Data[float32](x.T().Add(x.T()).Sum(0)); s[0] != 12 || s[1] != 30 {
		t.Fatalf("sum: %v", s)
	}
	if s := x.Sum().Item(); s != 21 {
		t.Fatalf("sum: %v", s)
	}
	if s := Data[float32](x.Mean(1)); s[0] != 2 || s[1] != 5 {
		t.Fatalf("mean: %v", s)
	}
	if s := Data[int64](x.ArgMax(1)); s[0] != 2 || s[1] != 2 {
		t.Fatalf("argmax: %v", s)
	}
	w := FromSlice([]float64{1, 2, 3}).RequireGrad()
	loss := w.Mul(w).Mul(2).Sum()
	loss.Backward()
	if g := Data[float64](w.Grad()); g[0] != 4 || g[2] != 12 {
		t.Fatalf("grad: %v", g)
	}
	g := Grad(w.Mul(w).Mul(w).Sum(), []*Tensor{w}, GradOpts{Create: true})[0]
	gg := Grad(g.Sum(), []*Tensor{w})[0]
	if d := Data[float64](gg); d[1] != 12 {
		t.Fatalf("second: %v", d)
	}
}

// What Grad returns is an ordinary tensor: gradients flow from computing with it.
func TestGradResultRecords(t *testing.T) {
	x := FromSlice([]float64{1, 2}).RequireGrad()
	g := Grad(x.Mul(x).Add(x).Sum(), []*Tensor{x})[0]
	w := FromSlice([]float64{3, 4}).RequireGrad()
	g.Mul(w).Sum().Backward()
	if got := Data[float64](w.Grad()); got[0] != 3 || got[1] != 5 {
		t.Errorf("gradient through a result of Grad: %v", got)
	}
}
