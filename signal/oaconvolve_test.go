package signal_test

import (
	"math"
	"testing"

	"weft"
	"weft/signal"
)

// TestConvolveChoosesByCost holds Auto to the bits of sums for short filters, and of transforms for long ones.
func TestConvolveChoosesByCost(t *testing.T) {
	for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Complex64} {
		x := wave(weft.Float32, 20000).To(d)
		for _, c := range []struct {
			m      int
			method signal.Method
		}{{8, signal.Direct}, {64, signal.Direct}, {1500, signal.FFT}, {20000, signal.FFT}} {
			y := wave(weft.Float32, c.m).To(d)
			auto, want := signal.Convolve(x, y), signal.Convolve(x, y, signal.ConvolveOpts{Method: c.method})
			if weft.Digest(auto) != weft.Digest(want) {
				t.Errorf("%s of %d by %d is not computed by method %s", d, x.Size(), c.m, c.method)
			}
			if c.method == signal.Direct {
				continue
			}
			if corr := signal.Correlate(x, y); weft.Digest(corr) != weft.Digest(signal.Correlate(x, y, signal.ConvolveOpts{Method: c.method})) {
				t.Errorf("correlation of %s of %d by %d is not computed by method %s", d, x.Size(), c.m, c.method)
			}
		}
	}
}

// TestBlocksOverlap compares transforms of blocks, which begin and end within the signal, with sums: results and
// gradients.
func TestBlocksOverlap(t *testing.T) {
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		for _, c := range [][2]int{{20000, 300}, {300, 20000}, {17000, 1}, {9001, 513}} {
			x, y := wave(weft.Float64, c[0]).To(d), wave(weft.Float64, c[1]).Flip(0).To(d)
			if d.Complex() {
				x, y = weft.Complex(x.Real(), x.Real().Flip(0)), weft.Complex(y.Real(), y.Real().Mul(-0.3))
			}
			x, y = x.RequireGrad(), y.RequireGrad()
			got, want := signal.OAConvolve(x, y), signal.Convolve(x, y, signal.ConvolveOpts{Method: signal.Direct})
			near(t, "result", got, want)
			w := wave(weft.Float64, got.Size()).To(d)
			a := weft.Grad(got.Mul(w).Abs().Square().Sum(), []*weft.Tensor{x, y})
			b := weft.Grad(want.Mul(w).Abs().Square().Sum(), []*weft.Tensor{x, y})
			near(t, "gradient of a", a[0], b[0])
			near(t, "gradient of b", a[1], b[1])
		}
	}
}

// near compares tensors within 1e-12 of the greatest element.
func near(t *testing.T, name string, got, want *weft.Tensor) {
	t.Helper()
	most, apart := want.Abs().Max().Item(), got.Sub(want).Abs().Max().Item()
	if !(apart <= 1e-12*most) {
		t.Errorf("%s of %s %v: apart by %g of %g", name, got.DType(), got.Shape(), apart, most)
	}
}

// TestInfinitiesStayInTheirBlock puts an infinity into one of several blocks.
func TestInfinitiesStayInTheirBlock(t *testing.T) {
	x := wave(weft.Float32, 40000)
	x.Slice(weft.Range(20000, 20001)).Fill(math.Inf(1))
	y := signal.OAConvolve(x, wave(weft.Float32, 300))
	finite := y.IsFinite().To(weft.Float32)
	for _, c := range [][2]int{{0, 12000}, {28300, 40299}} {
		if n := finite.Slice(weft.Range(c[0], c[1])).Sum().Item(); n != float64(c[1]-c[0]) {
			t.Errorf("of results %d to %d, %v are finite", c[0], c[1], n)
		}
	}
	if finite.At(20100).Item() != 0 {
		t.Error("a result whose window has an infinity is finite")
	}
}
