package optim_test

import (
	"errors"
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/optim"
)

// TestScalerTrajectory: the scales and weights of torch.amp.GradScaler 2.15 with clipping, where losses and
// gradients of some passes are infinite or NaN; the loss is part of a compiled function the second time.
func TestScalerTrajectory(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	factors := []float64{1, 2, inf, 1, nan, 0.5, 0.25, 1, inf, inf, 1, 1, 1}
	scales := []float64{1024, 3072, 768, 768, 192, 192, 576, 576, 144, 36, 36, 108, 108}
	first := []float64{0.9329179525375366, 0.8658359050750732, 0.8658359050750732, 0.7987538576126099, 0.7987538576126099, 0.7316718697547913, 0.695088267326355, 0.6280062198638916, 0.6280062198638916, 0.6280062198638916, 0.5609241724014282, 0.49384215474128723, 0.42676013708114624}
	for _, compiled := range []bool{false, true} {
		w := weft.FromSlice([]float32{1, -2}).RequireGrad()
		params := func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
		opt := optim.NewSGD(params, optim.SGDOpts{LR: new(0.1)})
		s := optim.NewScaler(optim.ScalerOpts{Init: new(1024.0), Growth: new(3.0), Backoff: new(0.25), Interval: new(2)})
		pass := func(f *weft.Tensor) { s.Scale(w.Square().Sum().Mul(f)).Backward() }
		if compiled {
			pass = weft.Compile(pass).Func()
		}
		for i, f := range factors {
			opt.ZeroGrad()
			pass(weft.ScalarOf(weft.Float32, f))
			finite := s.Unscale(opt, params)
			optim.ClipNorm(params, 1.5)
			if taken := s.Step(opt, params); taken != finite || taken == (math.IsInf(f, 0) || f != f) {
				t.Errorf("pass %d: finite %v, taken %v", i, finite, taken)
			}
			s.Update()
			if i == 6 { // in the middle of an interval
				again := optim.NewScaler(optim.ScalerOpts{Growth: new(3.0), Backoff: new(0.25), Interval: new(2)})
				if err := again.LoadState(s.State()); err != nil {
					t.Fatal(err)
				}
				if !compiled {
					s = again
				}
			}
			if got := w.At(0).Item(); s.Value() != scales[i] || math.Abs(got-first[i]) > 2e-6 {
				t.Errorf("pass %d, compiled %v: scale %v and weight %v, want %v and %v", i, compiled, s.Value(), got, scales[i], first[i])
			}
		}
	}
}

// TestScalerRefuses: what the order of calls, options and states must not be.
func TestScalerRefuses(t *testing.T) {
	w := weft.Ones(2).RequireGrad()
	params := func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
	half := weft.Ones(2).To(weft.Float16).RequireGrad()
	halves := func(yield func(string, *weft.Tensor) bool) { yield("w", half) }
	half.Sum().Backward()
	opt := optim.NewSGD(params)
	for what, f := range map[string]func(s *optim.Scaler){
		"nil":           func(*optim.Scaler) { (*optim.Scaler)(nil).Update() },
		"zero":          func(*optim.Scaler) { new(optim.Scaler).Scale(w) },
		"nothing":       func(s *optim.Scaler) { s.Update() },
		"twice":         func(s *optim.Scaler) { s.Unscale(opt, params); s.Unscale(opt, params) },
		"two steps":     func(s *optim.Scaler) { s.Step(opt, params); s.Step(opt, params) },
		"no optimizer":  func(s *optim.Scaler) { s.Step(nil, params) },
		"no parameters": func(s *optim.Scaler) { s.Step(opt, nil) },
		"float16":       func(s *optim.Scaler) { s.Unscale(opt, halves) },
		"nil loss":      func(s *optim.Scaler) { s.Scale(nil) },
		"integer loss":  func(s *optim.Scaler) { s.Scale(weft.Arange(2)) },
		"init":          func(*optim.Scaler) { optim.NewScaler(optim.ScalerOpts{Init: new(0.0)}) },
		"growth":        func(*optim.Scaler) { optim.NewScaler(optim.ScalerOpts{Growth: new(1.0)}) },
		"backoff":       func(*optim.Scaler) { optim.NewScaler(optim.ScalerOpts{Backoff: new(1.0)}) },
		"interval":      func(*optim.Scaler) { optim.NewScaler(optim.ScalerOpts{Interval: new(0)}) },
		"compiled": func(s *optim.Scaler) {
			weft.Compile(func() *weft.Tensor { s.Step(opt, params); return w.Detach() }).Func()()
		},
	} {
		var e *weft.Error
		if err := tensortest.Try(func() { f(optim.NewScaler()) }); !errors.As(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, state := range []map[string]*weft.Tensor{nil, {"scale": weft.Scalar(2.0)}, {"scale": weft.Scalar(-2.0), "growth_tracker": weft.Scalar(int64(1))}} {
		var e *optim.StateError
		if s := optim.NewScaler(); !errors.As(s.LoadState(state), &e) || s.Value() != 65536 {
			t.Errorf("a state of %d entries gives %v", len(state), e)
		}
	}
}
