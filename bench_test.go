package weft

import (
	"math/bits"
	"testing"

	"weft/internal/plan"
)

func BenchmarkAdd16(b *testing.B) {
	x := FromSlice(make([]float32, 16))
	y := FromSlice(make([]float32, 16))
	b.ReportAllocs()
	for b.Loop() {
		x.Add(y)
	}
}

func BenchmarkMLPStep(b *testing.B) {
	x := noise(1, .1, 60, 784)
	y := FromSlice(make([]int64, 60))
	w1, b1 := noise(1, .1, 784, 500).RequireGrad(), noise(1, .1, 500).RequireGrad()
	w2, b2 := noise(1, .1, 500, 10).RequireGrad(), noise(1, .1, 10).RequireGrad()
	b.ReportAllocs()
	for b.Loop() {
		sc := NewScope()
		h := sc.Track(x).Linear(w1, b1).Tanh().Linear(w2, b2)
		loss := CrossEntropy(h, y)
		loss.Backward()
		for _, p := range []*Tensor{w1, b1, w2, b2} {
			p.NoGrad().SubAssign(p.Grad().Mul(0.1))
			p.SetGrad(nil)
		}
		sc.Close()
	}
}

func BenchmarkLeNetStep(b *testing.B) {
	x := noise(1, .1, 60, 1, 32, 32)
	y := FromSlice(make([]int64, 60))
	ps := []*Tensor{noise(1, .1, 6, 1, 5, 5), noise(1, .1, 6), noise(1, .1, 16, 6, 5, 5), noise(1, .1, 16), noise(1, .1, 400, 120), noise(1, .1, 120), noise(1, .1, 120, 84), noise(1, .1, 84), noise(1, .1, 84, 10), noise(1, .1, 10)}
	for _, p := range ps {
		p.RequireGrad()
	}
	pool := PoolOpts{Window: [2]int{2, 2}}
	b.ReportAllocs()
	for b.Loop() {
		sc := NewScope()
		h := sc.Track(x).Conv2d(ps[0], ps[1], ConvOpts{}).Tanh().MaxPool2d(pool)
		h = h.Conv2d(ps[2], ps[3], ConvOpts{}).Tanh().MaxPool2d(pool).Flatten(1)
		h = h.Linear(ps[4], ps[5]).Tanh().Linear(ps[6], ps[7]).Tanh().Linear(ps[8], ps[9])
		CrossEntropy(h, y).Backward()
		for _, p := range ps {
			p.NoGrad().SubAssign(p.Grad().Mul(0.1))
			p.SetGrad(nil)
		}
		sc.Close()
	}
}

// BenchmarkColdCompile goes from the text of a formula that was never seen to its
// first result.
func BenchmarkColdCompile(b *testing.B) {
	plan.Verify = false
	defer func() { plan.Verify = true }()
	for _, d := range []DType{Float32, Float64} {
		b.Run(d.String(), func(b *testing.B) {
			x := Vars{"x": Full(0.5, d, 16)}
			b.ReportAllocs()
			for b.Loop() {
				Expr(unseenFormula(), x)
			}
		})
	}
}

var formulasMade int

// unseenFormula returns a formula whose structure no other has: the digits of a
// running number to the base of four choose the operations of a chain.
func unseenFormula() string {
	text := []byte("exp(-x*x)*sin(x)+2*log1p(abs(x))+")
	n := (bits.Len(uint(formulasMade)) + 1) / 2
	for range n {
		text = append(text, '(')
	}
	text = append(text, 'x')
	for i := n - 1; i >= 0; i-- {
		text = append(text, "+-*/"[formulasMade>>(2*i)&3], 'x', ')')
	}
	formulasMade++
	return string(text)
}
