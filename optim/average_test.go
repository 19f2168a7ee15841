package optim_test

import (
	"math"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// TestAveragesAsPyTorch averages with equal weights and with a decay, eagerly and compiled. After the
// fifth update another Average goes on from the state.
func TestAveragesAsPyTorch(t *testing.T) {
	v := pytorch(t)
	for i, o := range []optim.AverageOpts{{}, {Decay: new(0.9)}} {
		for _, compiled := range []bool{false, true} {
			w, count := nn.Param(weft.ZerosOf(weft.Float64, 2)), weft.Scalar(0)
			into := map[string]*weft.Tensor{"w": nn.Param(weft.FullOf(weft.Float64, math.NaN(), 2)), "n": weft.Scalar(7)}
			into["w"].Detach().Assign(weft.OnesOf(weft.Float64, 2))
			of := map[string]*weft.Tensor{"w": w, "n": count}
			create := func() (*optim.Average, func()) {
				a := optim.NewAverage(all(into), all(of), o)
				if !compiled {
					return a, a.Update
				}
				f := weft.Compile(func() *weft.Tensor { a.Update(); return into["w"].Detach() })
				return a, func() { f.Func()() }
			}
			a, update := create()
			for k, want := range v.Averages[i] {
				w.Detach().Fill(*v.Metrics[k])
				count.AddAssign(1)
				update()
				if got := into["w"].At(1).Item(); math.Abs(got-want) > 1e-14 {
					t.Errorf("%+v, compiled %v, update %d: %v, want %v", o, compiled, k, got, want)
				}
				if got := into["n"].ItemInt(); got != int64(k+1) {
					t.Errorf("an integer is %d, want %d", got, k+1)
				}
				if k == 4 {
					saved := a.State()
					a, update = create()
					if err := a.LoadState(saved); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

func all(m map[string]*weft.Tensor) func(func(string, *weft.Tensor) bool) {
	return func(yield func(string, *weft.Tensor) bool) {
		for name, x := range m {
			if !yield(name, x) {
				return
			}
		}
	}
}

func TestAverageErrors(t *testing.T) {
	net := nn.NewLinear(2, 3)
	for want, f := range map[string]func(){
		`average: into: "weight" is its own average: nn.Copy copies a module`: func() { optim.NewAverage(nn.Params(net), nn.Params(net)) },
		`average: into: "weight" is float32[4 2], want float32[3 2]`:          func() { optim.NewAverage(nn.Params(nn.NewLinear(2, 4)), nn.Params(net)) },
		`average: into: "bias" is not there in both`: func() {
			optim.NewAverage(nn.Params(nn.NewLinear(2, 3, nn.Opts{NoBias: true})), nn.Params(net))
		},
		`average: of: has 1 tensors, into 2: want the same names`: func() {
			optim.NewAverage(nn.Params(net), nn.Params(nn.NewLinear(2, 3, nn.Opts{NoBias: true})))
		},
		`average: Decay: is 1, want at least 0 and less than 1`:     func() { optim.NewAverage(nn.Params(nn.Copy(net)), nn.Params(net), optim.AverageOpts{Decay: new(1.0)}) },
		`average: the Average is nil or was not made by NewAverage`: func() { (*optim.Average)(nil).Update() },
		`clip_norm: Power: is 0, want more than 0`:                  func() { optim.ClipNorm(nn.Params(net), 1, optim.ClipNormOpts{Power: new(0.0)}) },
	} {
		if err := weft.Try(f); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestClipNormMustBeFinite leaves gradients that are not finite as they are, by an error.
func TestClipNormMustBeFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, power := range []float64{1, 2, 3, math.Inf(1)} {
			w := nn.Param(weft.Zeros(2))
			w.SetGrad(weft.FromSlice([]float32{3, float32(bad)}))
			err := weft.Try(func() { optim.ClipNorm(one(w), 1, optim.ClipNormOpts{Power: &power, MustBeFinite: true}) })
			if err == nil || w.Grad().At(0).Item() != 3 {
				t.Errorf("power %v of %v: error %v, gradient %v", power, bad, err, w.Grad())
			}
		}
	}
}
