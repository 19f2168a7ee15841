package weft

import (
	"testing"

	"weft/internal/cpu"
	"weft/internal/par"
)

// Products that do not depend on each other, none of them worth a thread, are computed side by
// side in a compiled function, forwards and backwards, with the bits of eager ones.
func TestCompiledProductsSideBySide(t *testing.T) {
	defer par.SetThreads(par.SetThreads(3))
	const m = 16
	var ws, bs []*Tensor
	for i := range uint32(m) {
		ws, bs = append(ws, noise(i+2, .1, 128, 64).RequireGrad()), append(bs, noise(i+90, .1, 64).RequireGrad())
	}
	heads := func(x *Tensor) *Tensor {
		var out []*Tensor
		for i := range ws {
			out = append(out, x.MatMul(ws[i]).Add(bs[i]).Tanh())
		}
		y := Cat(out, 1)
		all := []*Tensor{y.Flatten(0)}
		for _, d := range Grad(y.Square().Sum(), ws) {
			all = append(all, d.Flatten(0))
		}
		return Cat(all, 0)
	}
	x := noise(1, 1, 64, 128)
	want := heads(x)
	f := Compile(heads)
	for range 3 {
		before := cpu.Counters.Grouped.Load()
		res, err := f.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		if got := cpu.Counters.Grouped.Load() - before; got < m {
			t.Errorf("%d products and kernels side by side, want %d and more", got, m)
		}
		if Digest(res) != Digest(want) {
			t.Fatal("other bits than eagerly")
		}
	}
}
