package weft

import (
	"math"
	"slices"
	"testing"
)

// What goes through exponentials and logarithms of sums, in float32 against float64:
// numbers far from 0 must cost no digits.
func TestLargeLogits(t *testing.T) {
	everyBackend(t, func(t *testing.T) {
		for _, scale := range []float64{0, 10, 20, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, -20, -1e4, -1e8} {
			row := make([]float32, 6)
			for i, d := range []float64{0, -10, -16, -8, -0.5, -1e3} {
				row[i] = float32(scale + d)
			}
			x := make([]float64, len(row))
			m := math.Inf(-1)
			for i := range row {
				x[i] = float64(row[i])
				m = math.Max(m, x[i])
			}
			sum := 0.0
			for _, v := range x {
				sum += math.Exp(v - m)
			}
			near := func(name string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= 3e-7*math.Max(1, math.Abs(want))) {
					t.Errorf("%s at %g: %v, want %v", name, scale, got, want)
				}
			}
			leaf := FromSlice(row).RequireGrad()
			lse := leaf.LogSumExp()
			near("logsumexp", lse.Item(), m+math.Log(sum))
			p := Grad(lse, []*Tensor{leaf})[0]
			soft, logs := FromSlice(row).Softmax(0), FromSlice(row).LogSoftmax(0)
			for i, v := range x {
				y := v - m - math.Log(sum)
				near("gradient of logsumexp", p.At(i).Item(), math.Exp(y))
				near("softmax", soft.At(i).Item(), math.Exp(y))
				near("log_softmax", logs.At(i).Item(), y)

				one := leaf.Unsqueeze(0)
				loss := CrossEntropy(one, From([]int{i}))
				near("cross_entropy", loss.Item(), -y)
				g := Grad(loss, []*Tensor{leaf})[0]
				for j := range x {
					want := math.Exp(x[j] - m - math.Log(sum))
					if i == j {
						want--
					}
					near("gradient of cross_entropy", g.At(j).Item(), want)
				}

				scalar := ScalarOf(Float32, v).RequireGrad()
				plus := scalar.Softplus()
				near("softplus", plus.Item(), math.Max(v, 0)+math.Log1p(math.Exp(-math.Abs(v))))
				near("gradient of softplus", Grad(plus, []*Tensor{scalar})[0].Item(), 1/(1+math.Exp(-v)))
				near("sigmoid", scalar.Sigmoid().Item(), 1/(1+math.Exp(-v)))
			}
		}
	})
	// A confident and right answer costs little, and how little counts.
	got := CrossEntropy(From([][]float32{{20, 10}}), From([]int{0})).Item()
	if want := math.Log1p(math.Exp(-10)); math.Abs(got-want) > 1e-7 {
		t.Errorf("cross_entropy of 20 beside 10: %v, want %v", got, want)
	}
}

// Softmax cross-entropy goes through memory once each way, however many passes over a row that
// lies in the cache: forward the logits are read, backward they are read and their gradient is
// written. Compiled, both are one kernel, which reads them once.
func TestCrossEntropyPasses(t *testing.T) {
	const rows, classes = 512, 1000
	const once = rows * classes * 4
	l := noise(1, 3, rows, classes).RequireGrad()
	y := Arange(rows).Mod(classes).To(Int64)
	moved := func(f func()) (kernels int64, bytes int64) {
		p := StartProfile(ProfileOpts{})
		defer p.Stop()
		f()
		for _, k := range p.Kernels() {
			if k.Bytes > once/2 { // those over rows, or one number, are not counted
				kernels += k.Calls
			}
			bytes += k.Bytes
		}
		return kernels, bytes
	}
	check := func(what string, times int64, f func()) {
		t.Helper()
		kernels, bytes := moved(f)
		if kernels != 1 || bytes < times*once || bytes > times*once+64*rows {
			t.Errorf("%s: %d kernels over all logits, %d bytes moved, want one kernel and %d bytes of them", what, kernels, bytes, times*once)
		}
	}
	var loss *Tensor
	check("forward", 1, func() { loss = CrossEntropy(l, y) })
	check("backward", 2, func() { loss.Backward() })
	want := l.Grad()
	l.SetGrad(nil)
	step := Compile(func(l, y *Tensor) (*Tensor, *Tensor) {
		loss := CrossEntropy(l, y)
		loss.Backward()
		g := l.Grad()
		l.SetGrad(nil)
		return loss, g
	}).Func()
	step(l, y)
	var got *Tensor
	check("compiled", 2, func() { _, got = step(l, y) })
	if !slices.Equal(Data[float32](got), Data[float32](want)) {
		t.Error("the gradient differs from that of eager code")
	}
}
