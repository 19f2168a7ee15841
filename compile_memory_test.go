package weft

import "testing"

// The compiled step of LeNet takes at most a fifth more than what is alive at once, which is more
// than half of what it takes eagerly.
func TestCompiledMemory(t *testing.T) {
	const n = 60
	x, y := noise(1, 1, n, 1, 32, 32), Arange(n).Mod(10).To(Int64)
	w1, b1 := noise(2, .2, 6, 1, 5, 5), noise(3, .2, 6)
	w2, b2 := noise(4, .1, 16, 6, 5, 5), noise(5, .1, 16)
	w3, b3 := noise(6, .05, 120, 400), noise(7, .05, 120)
	w4, b4 := noise(8, .1, 84, 120), noise(9, .1, 84)
	w5, b5 := noise(10, .1, 10, 84), noise(11, .1, 10)
	params := []*Tensor{w1, b1, w2, b2, w3, b3, w4, b4, w5, b5}
	for _, p := range params {
		p.RequireGrad()
	}
	pool := PoolOpts{Window: [2]int{2, 2}}
	step := func(x, y *Tensor) *Tensor {
		h := x.Conv2d(w1, b1, ConvOpts{}).Tanh().MaxPool2d(pool)
		h = h.Conv2d(w2, b2, ConvOpts{}).Tanh().MaxPool2d(pool).Flatten(1)
		loss := CrossEntropy(h.Linear(w3, b3).Tanh().Linear(w4, b4).Tanh().Linear(w5, b5), y)
		loss.Backward()
		for _, p := range params {
			p.NoGrad().SubAssign(p.Grad().Mul(0.01))
			p.SetGrad(nil)
		}
		return loss
	}
	peak := func(f func()) int64 {
		p := StartProfile(ProfileOpts{})
		defer p.Stop()
		f()
		return p.Peak()
	}
	eagerly := func() {
		s := NewScope()
		defer s.Close()
		step(s.Track(x), y)
	}
	c := Compile(step)
	compiled := func() {
		if _, err := c.Call(x, y); err != nil {
			t.Fatal(err)
		}
	}
	eagerly() // what is kept is there
	compiled()
	p := (*c.c.entries.Load())[0].code.Plan
	eager, got := peak(eagerly), peak(compiled)
	t.Logf("arena %d bytes, alive at once %d; peak %d, eagerly %d", p.Arena, p.Live, got, eager)
	if 5*p.Arena > 6*p.Live {
		t.Errorf("the arena has %d bytes, %d are alive at once", p.Arena, p.Live)
	}
	if got >= eager {
		t.Errorf("a call takes %d bytes, eagerly %d", got, eager)
	}
}
