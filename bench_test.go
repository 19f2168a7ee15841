package weft_test

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
	"time"

	"weft"
	"weft/internal/plan"
	"weft/internal/tensortest"
)

func BenchmarkAdd16(b *testing.B) {
	x := weft.FromSlice(make([]float32, 16))
	y := weft.FromSlice(make([]float32, 16))
	b.ReportAllocs()
	for b.Loop() {
		x.Add(y)
	}
}

// BenchmarkItem reads the one element of a tensor.
func BenchmarkItem(b *testing.B) {
	x := weft.Scalar(2.5)
	var sum float64
	b.ReportAllocs()
	for b.Loop() {
		sum += x.Item()
	}
}

// BenchmarkExpr16 runs a formula that is in the cache on 16 floats.
func BenchmarkExpr16(b *testing.B) {
	x, y := weft.Ones(16), weft.Ones(16)
	vars := weft.Vars{"a": x, "b": y}
	b.ReportAllocs()
	for b.Loop() {
		weft.Expr("a+b", vars)
	}
}

// BenchmarkCall16 calls a compiled function of 16 floats, which captures no arrays or four more
// arrays.
//
// Where the linker places functions moves it and the other small calls by up to a quarter: one commit took
// 223 to 280 ns with six orders of functions. So commits are compared by means over several orders:
//
//	go test -c -ldflags=-randlayout=1 -o small1 . && ./small1 -test.run xxx -test.bench 'Item|Add16|Expr16|Call16'
func BenchmarkCall16(b *testing.B) {
	x := weft.Ones(16)
	c := []*weft.Tensor{weft.Ones(16), weft.Ones(16), weft.Ones(16), weft.Ones(16)}
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"argument": func(x *weft.Tensor) *weft.Tensor { return x.Mul(2).Add(1) },
		"captured": func(x *weft.Tensor) *weft.Tensor { return x.Add(c[0]).Add(c[1]).Add(c[2]).Add(c[3]) },
	} {
		b.Run(name, func(b *testing.B) {
			f := weft.Compile(f)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Call(x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMLPStep(b *testing.B) {
	x := tensortest.Noise(1, .1, 60, 784)
	y := weft.FromSlice(make([]int64, 60))
	w1, b1 := tensortest.Noise(1, .1, 500, 784).RequireGrad(), tensortest.Noise(1, .1, 500).RequireGrad()
	w2, b2 := tensortest.Noise(1, .1, 10, 500).RequireGrad(), tensortest.Noise(1, .1, 10).RequireGrad()
	b.ReportAllocs()
	for b.Loop() {
		sc := weft.NewScope()
		h := sc.Track(x).Linear(w1, b1).Tanh().Linear(w2, b2)
		loss := weft.CrossEntropy(h, y)
		loss.Backward()
		for _, p := range []*weft.Tensor{w1, b1, w2, b2} {
			weft.WithoutGrad(func() { p.SubAssign(p.Grad().Mul(0.1)) })
			p.SetGrad(nil)
		}
		sc.Close()
	}
}

func BenchmarkLeNetStep(b *testing.B) {
	x := tensortest.Noise(1, .1, 60, 1, 32, 32)
	y := weft.FromSlice(make([]int64, 60))
	ps := []*weft.Tensor{tensortest.Noise(1, .1, 6, 1, 5, 5), tensortest.Noise(1, .1, 6), tensortest.Noise(1, .1, 16, 6, 5, 5), tensortest.Noise(1, .1, 16), tensortest.Noise(1, .1, 120, 400), tensortest.Noise(1, .1, 120), tensortest.Noise(1, .1, 84, 120), tensortest.Noise(1, .1, 84), tensortest.Noise(1, .1, 10, 84), tensortest.Noise(1, .1, 10)}
	for _, p := range ps {
		p.RequireGrad()
	}
	pool := weft.PoolOpts{Window: [2]int{2, 2}}
	b.ReportAllocs()
	for b.Loop() {
		sc := weft.NewScope()
		h := sc.Track(x).Conv2d(ps[0], ps[1], weft.ConvOpts{}).Tanh().MaxPool2d(pool)
		h = h.Conv2d(ps[2], ps[3], weft.ConvOpts{}).Tanh().MaxPool2d(pool).Flatten(1)
		h = h.Linear(ps[4], ps[5]).Tanh().Linear(ps[6], ps[7]).Tanh().Linear(ps[8], ps[9])
		weft.CrossEntropy(h, y).Backward()
		for _, p := range ps {
			weft.WithoutGrad(func() { p.SubAssign(p.Grad().Mul(0.1)) })
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
	for _, d := range []weft.DType{weft.Float32, weft.Float64} {
		b.Run(d.String(), func(b *testing.B) {
			x := weft.Vars{"x": weft.FullOf(d, 0.5, 16)}
			b.ReportAllocs()
			for b.Loop() {
				weft.Expr(unseenFormula(), x)
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

// fastest runs f b.N times and reports the shortest, as a rate if flops is not 0.
func fastest(b *testing.B, flops float64, f func()) {
	f()
	best := math.Inf(1)
	for b.Loop() {
		t := time.Now()
		f()
		best = min(best, float64(time.Since(t)))
	}
	b.ReportMetric(best/1e3, "best-us")
	if flops > 0 {
		b.ReportMetric(flops/best, "GFLOP/s")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkConv measures a convolution and with both gradients, whose seed is given
// or, as a training step would have it, comes from operations behind.
func BenchmarkConv(b *testing.B) {
	for _, c := range []struct{ n, c, size, o, k, stride, pad int }{
		{60, 1, 32, 6, 5, 1, 0}, {60, 6, 14, 16, 5, 1, 0}, {60, 1, 256, 6, 7, 1, 0},
		{16, 64, 56, 64, 3, 1, 1}, {16, 256, 14, 256, 3, 1, 1}, {16, 3, 224, 64, 7, 2, 3}, {16, 64, 56, 256, 1, 1, 0},
	} {
		x, w := tensortest.Noise(1, .1, c.n, c.c, c.size, c.size).RequireGrad(), tensortest.Noise(1, .1, c.o, c.c, c.k, c.k).RequireGrad()
		o := weft.ConvOpts{Stride: new([2]int{c.stride, c.stride}), Padding: [2]int{c.pad, c.pad}}
		y := x.Detach().Conv2d(w.Detach(), nil, o)
		seed := tensortest.Noise(1, .1, y.Shape()...)
		flops := 2 * float64(y.Size()*c.c*c.k*c.k)
		name := fmt.Sprintf("%dx%dx%d-%d-%d", c.n, c.c, c.size, c.o, c.k)
		b.Run(name+"/forward", func(b *testing.B) {
			fastest(b, flops, func() { x.Detach().Conv2d(w.Detach(), nil, o).Release() })
		})
		backward := func(name string, f func(y *weft.Tensor)) {
			b.Run(name, func(b *testing.B) {
				fastest(b, 3*flops, func() {
					s := weft.NewScope()
					f(s.Track(x).Conv2d(w, nil, o))
					x.SetGrad(nil)
					w.SetGrad(nil)
					s.Close()
				})
			})
		}
		backward(name+"/seeded", func(y *weft.Tensor) { weft.BackwardWith([]*weft.Tensor{y}, weft.GradOpts{Seeds: []*weft.Tensor{seed}}) })
		backward(name+"/summed", func(y *weft.Tensor) { y.Mul(seed).Sum().Backward() })
	}
}

func BenchmarkMaxPool(b *testing.B) {
	x := tensortest.Noise(1, .1, 16, 64, 112, 112)
	o := weft.PoolOpts{Window: [2]int{3, 3}, Stride: new([2]int{2, 2}), Padding: [2]int{1, 1}}
	b.Run("forward", func(b *testing.B) { fastest(b, 0, func() { x.MaxPool2d(o).Release() }) })
}
