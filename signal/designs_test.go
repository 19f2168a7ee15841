package signal_test

import (
	"errors"
	"math"
	"testing"

	"weft"
	"weft/signal"
)

// The computations of testdata/designs.py.
func init() {
	for name, f := range map[string]func(w0, q float64, opts ...signal.NotchOpts) (b, a *weft.Tensor){"iirnotch": signal.IIRNotch, "iirpeak": signal.IIRPeak} {
		computations[name] = func([]*weft.Tensor) []*weft.Tensor {
			y := both(f(0.3, 30))
			y = append(y, both(f(60, 2.5, signal.NotchOpts{FS: new(1000.0)}))...)
			return append(y, both(f(0.5, 0.6))...)
		}
	}
	computations["iircomb"] = func([]*weft.Tensor) (y []*weft.Tensor) {
		for _, peak := range []bool{false, true} {
			for _, zero := range []bool{false, true} {
				y = append(y, both(signal.IIRComb(50, 7, signal.CombOpts{Peak: peak, PassZero: zero, FS: new(350.0)}))...)
			}
		}
		return append(y, both(signal.IIRComb(0.5, 1.5))...)
	}
	computations["group_delay"] = func(x []*weft.Tensor) []*weft.Tensor {
		y := both(signal.GroupDelay(x[0], x[1]))
		y = append(y, both(signal.GroupDelay(x[0], x[1], signal.FreqZOpts{N: new(9), Whole: true, FS: new(100.0)}))...)
		return append(y, both(signal.GroupDelay(x[0], x[1], signal.FreqZOpts{W: weft.From([]float64{0.1, 0.9, 2.5})}))...)
	}
	computations["delay16"] = func(x []*weft.Tensor) []*weft.Tensor {
		return both(signal.GroupDelay(x[0], x[1], signal.FreqZOpts{N: new(16)}))
	}
}

// TestDesignMistakesAreTyped holds errors of designs to the argument that they name.
func TestDesignMistakesAreTyped(t *testing.T) {
	nan, x := math.NaN(), wave(weft.Float64, 3)
	for name, c := range map[string]struct {
		arg string
		f   func()
	}{
		"frequency":        {"w0", func() { signal.IIRNotch(1, 3) }},
		"NaN":              {"w0", func() { signal.IIRPeak(nan, 3) }},
		"quality":          {"q", func() { signal.IIRNotch(0.3, 0) }},
		"NaN quality":      {"q", func() { signal.IIRPeak(0.3, nan) }},
		"wide":             {"q", func() { signal.IIRNotch(0.9, 0.5) }},
		"narrow":           {"q", func() { signal.IIRPeak(0.9, 1e20) }},
		"rate":             {"FS", func() { signal.IIRPeak(0.9, 3, signal.NotchOpts{FS: &nan}) }},
		"no divisor":       {"w0", func() { signal.IIRComb(0.3, 3) }},
		"many teeth":       {"w0", func() { signal.IIRComb(1e-300, 3) }},
		"wide teeth":       {"q", func() { signal.IIRComb(0.5, 1) }},
		"comb's rate":      {"FS", func() { signal.IIRComb(0.5, 3, signal.CombOpts{FS: new(-1.0)}) }},
		"no coefficients":  {"a", func() { signal.GroupDelay(x, weft.Zeros(0)) }},
		"no delays":        {"N", func() { signal.GroupDelay(x, x, signal.FreqZOpts{N: new(0)}) }},
		"complex delay":    {"W", func() { signal.GroupDelay(x, x, signal.FreqZOpts{W: wave(weft.Complex64, 3)}) }},
		"matrix of delays": {"b", func() { signal.GroupDelay(weft.Ones(2, 2), x) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Arg != c.arg {
			t.Errorf("%s: %v, want an error of %s", name, err, c.arg)
		}
	}
}

// TestNotchesHaveTheirBands measures gains: 0 and 1 at the frequencies of the design, 1/sqrt(2) at the edges of the band.
func TestNotchesHaveTheirBands(t *testing.T) {
	gain := func(b, a *weft.Tensor, f float64) float64 {
		_, h := signal.FreqZ(b, a, signal.FreqZOpts{W: weft.From([]float64{f}), FS: new(2.0)})
		return h.Abs().Item()
	}
	for _, q := range []float64{0.7, 4, 1e6} {
		const w0 = 0.4
		nb, na := signal.IIRNotch(w0, q)
		pb, pa := signal.IIRPeak(w0, q)
		// The middle of both edges, which are w0/q apart: Orfanidis, equation 11.3.5.
		edge := math.Acos(math.Cos(math.Pi*w0)*math.Cos(math.Pi*w0/q/2)) / math.Pi
		for _, f := range []float64{edge - w0/q/2, edge + w0/q/2} {
			for name, g := range map[string]float64{"notch": gain(nb, na, f), "peak": gain(pb, pa, f)} {
				if math.Abs(g-math.Sqrt(0.5)) > 1e-8 {
					t.Errorf("%s of q %v: gain %v at %v", name, q, g, f)
				}
			}
		}
		for name, d := range map[string]float64{"notch": gain(nb, na, w0), "notch at 0": gain(nb, na, 0) - 1, "peak": gain(pb, pa, w0) - 1, "peak at 0": gain(pb, pa, 0)} {
			if math.Abs(d) > 1e-8 {
				t.Errorf("%s of q %v is off by %v", name, q, d)
			}
		}
	}
}

// TestGroupDelayAtTheCircle has zeros on the unit circle, coefficients that are NaN, and every type of elements.
func TestGroupDelayAtTheCircle(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.Float32, weft.Float64, weft.Complex64, weft.Complex128, weft.Int32} {
		want := weft.Float32
		if d == weft.Float64 || d == weft.Complex128 {
			want = weft.Float64
		}
		b := weft.From([]float64{1, 2, 1}).To(d)
		_, gd := signal.GroupDelay(b, weft.OnesOf(d, 1), signal.FreqZOpts{W: weft.From([]float64{0, 1, math.Pi})})
		got := values(gd.To(weft.Float64))
		if gd.DType() != want || math.Abs(got[0]-1) > 1e-15 || math.Abs(got[1]-1) > 1e-15 || got[2] != 0 {
			t.Errorf("%s: delays %v, want 1, 1 and 0", d, gd)
		}
	}
	_, gd := signal.GroupDelay(weft.From([]float64{1, math.NaN()}), weft.Ones(1), signal.FreqZOpts{N: new(2)})
	if !math.IsNaN(values(gd)[0]) || !math.IsNaN(values(gd)[1]) {
		t.Errorf("delays of NaN: %v", gd)
	}
}
