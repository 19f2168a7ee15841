package optim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// trajectories are what testdata/methods.py computes.
type trajectories struct {
	Kept []int // the steps that values are kept of
	Rows []struct {
		Kind     string
		Opts     json.RawMessage
		Values   [][][]float64
		Averages [][]float64
	}
}

// methodShapes are the parameters of methods.py.
var methodShapes = [][]int{{3}, {2, 3}, {4, 2}}

// methodParams returns parameters with the values of methods.py, and methodGrads sets the gradients
// of a step.
func methodParams(kind string, d weft.DType) (w []*weft.Tensor, first int) {
	if kind == "muon" {
		first = 1
	}
	for i := first; i < len(methodShapes); i++ {
		w = append(w, fromShape(methodShapes[i], func(j int) float64 { return float64((37*i+23*j)%11)/4 - 1.25 }).To(d).RequireGrad())
	}
	return w, first
}

func methodGrads(w []*weft.Tensor, first, step int) {
	for k, p := range w {
		i := k + first
		p.SetGrad(fromShape(methodShapes[i], func(j int) float64 {
			n := (31*step*step + 17*step + 29*i + 13*j) % 101
			if n%7 == 0 {
				return 0
			}
			return float64(n)/101*4 - 2
		}).To(p.DType()))
	}
}

func fromShape(shape []int, f func(j int) float64) *weft.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	v := make([]float64, n)
	for j := range v {
		v[j] = f(j)
	}
	return weft.FromSlice(v, shape...)
}

// TestMethodsAsReference takes 100 steps of each optimizer. After the sixth and the sixtieth step
// another optimizer loads the state and goes on. ASGD's averages are in its state.
func TestMethodsAsReference(t *testing.T) {
	var v trajectories
	b, err := os.ReadFile("testdata/methods.json")
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Rows {
		for _, d := range []weft.DType{weft.Float64, weft.Float32} {
			what := fmt.Sprintf("%s %s %s", c.Kind, d, c.Opts)
			bound := 1e-11
			if d == weft.Float32 {
				bound = 1e-4
			}
			w, first := methodParams(c.Kind, d)
			opt := newOptimizer(t, c.Kind, named(w...), nil, c.Opts, nil)
			for step := range 100 {
				methodGrads(w, first, step)
				if step == 4 {
					w[1].SetGrad(nil)
				}
				opt.Step()
				if step == 50 {
					opt.SetLR(opt.LR() * 0.5)
				}
				if k := slices.Index(v.Kept, step); k >= 0 {
					for i := range w {
						tensortest.Near(t, fmt.Sprintf("%s, step %d, parameter %d", what, step, i), w[i].Flatten(0), c.Values[k][i], bound)
					}
				}
				if step == 5 || step == 59 {
					saved := opt.State()
					opt = newOptimizer(t, c.Kind, named(w...), nil, c.Opts, nil)
					if err := opt.LoadState(saved); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
			}
			for i, want := range c.Averages {
				tensortest.Near(t, fmt.Sprintf("%s, average %d", what, i), opt.State()[fmt.Sprint("average.w", i, w[i].Rank())].Flatten(0), want, bound)
			}
		}
	}
}

// TestCompiledMethods compares compiled steps with eager ones, bit for bit.
func TestCompiledMethods(t *testing.T) {
	for kind, opts := range map[string]string{
		"radam": `{"LR":0.1,"Beta2":0.9}`, "adamax": `{}`, "adadelta": `{}`, "asgd": `{"Start":2}`, "rprop": `{}`,
		"adafactor": `{"LR":0.3}`, "lion": `{"WeightDecay":0.1}`, "lamb": `{"LR":0.1}`, "muon": `{}`,
	} {
		var digests [2]string
		for compiled := range digests {
			w, _ := methodParams(kind, weft.Float32)
			opt := newOptimizer(t, kind, named(w...), nil, json.RawMessage(opts), nil)
			x := weft.NewGenerator(5).Randn(8)
			step := func(in *weft.Tensor) *weft.Tensor {
				opt.ZeroGrad()
				loss := in.Sum()
				for _, p := range w {
					loss = loss.Add(p.Square().Mul(in.At(p.Rank())).Sum())
				}
				loss.Backward()
				opt.Step()
				return loss
			}
			run := step
			if compiled == 1 {
				run = weft.Compile(step).Func()
			}
			for n := range 6 {
				run(x.Mul(n + 1))
				if n == 2 {
					opt.SetLR(opt.LR() / 4)
				}
			}
			digests[compiled] = fmt.Sprint(weft.DigestNamed(named(w...)))
		}
		if digests[0] != digests[1] {
			t.Errorf("%s: compiled steps give %s, eager ones %s", kind, digests[1], digests[0])
		}
	}
}
