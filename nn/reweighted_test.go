package nn_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// Values, gradients and states of layers with computed weights are PyTorch's, and so are masks.
func TestReweightedMatchesPyTorch(t *testing.T) { compareWithTorch(t, "reweighted", reweightedCases) }
func TestCompiledReweightedMatchesPyTorch(t *testing.T) {
	compareCompiled(t, "reweighted", reweightedCases)
}

func reweightedCases(map[string]*weft.Tensor) map[string]torchCase {
	cases := map[string]torchCase{}
	linear := func() *nn.Linear { return nn.NewLinear(3, 2) }
	for name, l := range map[string]nn.Layer{
		"weight norm":              nn.NewWeightNorm(linear()),
		"weight norm axis":         nn.NewWeightNorm(linear(), nn.WeightNormOpts{Axis: -1}),
		"weight norm all":          nn.NewWeightNorm(linear(), nn.WeightNormOpts{All: true}),
		"weight norm conv":         nn.NewWeightNorm(nn.NewConv2d(2, 3, 3)),
		"spectral norm":            nn.NewSpectralNorm(linear(), nn.SpectralNormOpts{Iterations: new(2)}),
		"spectral norm conv":       nn.NewSpectralNorm(nn.NewConv2d(2, 3, 3)),
		"spectral norm transposed": nn.NewSpectralNorm(nn.NewConvTranspose2d(2, 3, 3)),
		"spectral norm eval":       nn.NewSpectralNorm(linear()),
		"pruned":                   nn.Prune(linear(), weft.Ones(2, 3)),
	} {
		c := fromLayer(l)
		c.eval, c.tolerance = strings.HasSuffix(name, "eval"), 32
		cases[name] = c
	}
	for kind, m := range map[string]nn.OrthogonalMap{"householder": nn.Householder, "matrix_exp": nn.MatrixExp, "cayley": nn.Cayley} {
		for side, out := range map[string]int{"": 3, " wide": 2, " tall": 5} {
			c := fromLayer(nn.NewOrthogonalized(nn.NewLinear(3, out), nn.OrthogonalizedOpts{Map: m}))
			c.tolerance = 64
			cases["orthogonal "+kind+side] = c
		}
	}
	conv := fromLayer(nn.NewOrthogonalized(nn.NewConv2d(2, 3, 0, nn.Conv2dOpts{Size: &[2]int{3, 2}})))
	conv.tolerance = 64
	cases["orthogonal conv"] = conv
	for name, f := range map[string]func(w ...*weft.Tensor) []*weft.Tensor{
		"mask l1":                 func(w ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{nn.L1Mask(w[0], 0.35)} },
		"mask half":               func(w ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{nn.L1Mask(w[0], 0.5)} },
		"mask structured":         func(w ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{nn.StructuredMask(w[0], 0.5, 2, 0)} },
		"mask structured columns": func(w ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{nn.StructuredMask(w[0], 0.4, 1, -1)} },
		"mask global":             func(w ...*weft.Tensor) []*weft.Tensor { return nn.GlobalL1Masks(w, 0.3) },
	} {
		cases[name] = torchCase{f: func(w ...*weft.Tensor) (out []*weft.Tensor) {
			for i, mask := range f(w...) {
				out = append(out, w[i].Mul(mask))
			}
			return out
		}}
	}
	return cases
}

// Weights stay as they are when a layer gets a norm or a mask and loses it again, and training keeps
// what the norm or the mask promises.
func TestReweightedLayersTrain(t *testing.T) {
	x := weft.Rand(8, 4)
	for _, c := range []struct {
		name  string
		make  func(l nn.Layer) nn.Layer
		same  bool // it computes what the layer did
		holds func(t *testing.T, w *weft.Tensor, l nn.Layer)
	}{
		{"weight norm", func(l nn.Layer) nn.Layer { return nn.NewWeightNorm(l) }, true, func(t *testing.T, w *weft.Tensor, l nn.Layer) {
			if d := w.NormKeep(2, 1).Sub(l.(*nn.WeightNorm).Magnitude.Abs()).Abs().Max().Item(); d > 1e-5 {
				t.Errorf("norms are off by %v", d)
			}
		}},
		{"spectral norm", func(l nn.Layer) nn.Layer {
			return nn.NewSpectralNorm(l, nn.SpectralNormOpts{Iterations: new(20), Generator: weft.NewGenerator(1)})
		}, false, func(t *testing.T, w *weft.Tensor, _ nn.Layer) {
			v := weft.Ones(4)
			for range 200 {
				v = w.T().MatMul(w.MatMul(v))
				v = v.Div(v.Norm(2))
			}
			if s := w.MatMul(v).Norm(2).Item(); math.Abs(s-1) > 0.02 {
				t.Errorf("the greatest singular value is %v, want 1", s)
			}
		}},
		{"orthogonal", func(l nn.Layer) nn.Layer { return nn.NewOrthogonalized(l) }, false, func(t *testing.T, w *weft.Tensor, _ nn.Layer) {
			if d := w.MatMul(w.T()).Sub(weft.Eye(3)).Abs().Max().Item(); d > 1e-5 {
				t.Errorf("rows are %v from orthogonal", d)
			}
		}},
		{"pruned", func(l nn.Layer) nn.Layer { return nn.Prune(l, nn.L1Mask(l.(*nn.Linear).Weight, 0.5)) }, false, func(t *testing.T, w *weft.Tensor, _ nn.Layer) {
			if zeros := w.Eq(0).Sum().ItemInt(); zeros != 6 {
				t.Errorf("%d weights are 0, want 6", zeros)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := nn.NewLinear(4, 3, nn.Opts{Generator: weft.NewGenerator(2)})
			before := l.Forward(x).Detach()
			m := c.make(l)
			if y := m.Forward(x); c.same && y.Sub(before).Abs().Max().Item() > 1e-5 {
				t.Errorf("%v, want %v", y, before)
			}
			net := nn.Sequential{m}
			opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)})
			step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				loss := net.Forward(x).Sub(1).Square().Mean()
				loss.Backward()
				opt.Step()
				opt.ZeroGrad()
				return loss
			})
			var first, last float64
			for i := range 30 {
				loss, err := step.Call(x)
				if err != nil {
					t.Fatal(err)
				}
				if last = loss.Item(); i == 0 {
					first = last
				}
			}
			if !(last < first) {
				t.Errorf("the loss went from %v to %v", first, last)
			}
			w := m.(interface{ Weight() *weft.Tensor }).Weight().Detach()
			nn.Eval(net)
			c.holds(t, w, m)
			y := m.Forward(x)
			plain := m.(interface{ Remove() nn.Layer }).Remove()
			if !plain.(*nn.Linear).Weight.RequiresGrad() || plain.Forward(x).Sub(y).Abs().Max().Item() > 1e-5 {
				t.Error("the layer computes something else without the norm or the mask")
			}
		})
	}
}

// A new spectral norm divides by nearly the greatest singular value. Calls in training write the vectors,
// others leave them.
func TestSpectralNormVectors(t *testing.T) {
	n := nn.NewSpectralNorm(nn.NewLinear(4, 3, nn.Opts{Generator: weft.NewGenerator(2)}), nn.SpectralNormOpts{Generator: weft.NewGenerator(1)})
	w, v := n.Weight().Detach(), weft.Ones(4)
	for range 200 {
		v = w.T().MatMul(w.MatMul(v))
		v = v.Div(v.Norm(2))
	}
	if s := w.MatMul(v).Norm(2).Item(); math.Abs(s-1) > 0.02 {
		t.Errorf("the greatest singular value is %v, want 1", s)
	}
	first := weft.FromSlice([]float32{1, 0, 0})
	n.U.Assign(first)
	nn.Eval(n)
	n.Forward(weft.Ones(2, 4))
	if n.U.Sub(first).Abs().Max().Item() != 0 {
		t.Errorf("outside of training the vector becomes %v", n.U)
	}
	nn.Train(n)
	n.Forward(weft.Ones(2, 4))
	if n.U.Sub(first).Abs().Max().Item() == 0 {
		t.Error("in training the vector stays")
	}
}

func TestReweightedRefuse(t *testing.T) {
	w := weft.Rand(4, 3)
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"weight_norm", "layer", func() { nn.NewWeightNorm(nil) }},
		{"weight_norm", "layer", func() { nn.NewWeightNorm(nn.Relu{}) }},
		{"weight_norm", "layer", func() { nn.NewWeightNorm(&nn.Linear{}) }},
		{"weight_norm", "axis", func() { nn.NewWeightNorm(nn.NewLinear(2, 2), nn.WeightNormOpts{Axis: 2}) }},
		{"weight_norm", "", func() { (&nn.WeightNorm{}).Forward(w) }},
		{"spectral_norm", "Iterations", func() { nn.NewSpectralNorm(nn.NewLinear(2, 2), nn.SpectralNormOpts{Iterations: new(0)}) }},
		{"spectral_norm", "Eps", func() { nn.NewSpectralNorm(nn.NewLinear(2, 2), nn.SpectralNormOpts{Eps: new(-1.0)}) }},
		{"spectral_norm", "layer", func() { nn.NewSpectralNorm(nn.NewPRelu()) }},
		{"spectral_norm", "", func() { (&nn.SpectralNorm{}).Forward(w) }},
		{"prune", "mask", func() { nn.Prune(nn.NewLinear(2, 2), nil) }},
		{"prune", "mask", func() { nn.Prune(nn.NewLinear(2, 2), w) }},
		{"prune", "", func() { (&nn.Pruned{}).Forward(w) }},
		{"l1mask", "fraction", func() { nn.L1Mask(w, 1.5) }},
		{"l1mask", "w", func() { nn.L1Mask(nil, 0.5) }},
		{"structuredmask", "axis", func() { nn.StructuredMask(w, 0.5, 2, 2) }},
		{"randommask", "fraction", func() { nn.RandomMask(w, -1, nil) }},
		{"randomstructuredmask", "axis", func() { nn.RandomStructuredMask(w, 0.5, 2, nil) }},
		{"linear", "x", func() { nn.NewWeightNorm(nn.NewLinear(2, 2)).Forward(w) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || c.arg != "" && !strings.EqualFold(e.Arg, c.arg) {
			t.Errorf("%v, want an error of %s: %s", err, c.op, c.arg)
		}
	}
}

func ExampleNewWeightNorm() {
	net := nn.Sequential{nn.NewWeightNorm(nn.NewLinear(3, 2)), nn.Relu{}}
	fmt.Println(slices.Sorted(maps.Keys(nn.State(net))))
	// Output: [0.bias 0.parametrizations.weight.original0 0.parametrizations.weight.original1]
}

func ExampleNewOrthogonalized() {
	cell := nn.NewOrthogonalized(nn.NewLinear(4, 4))
	w := cell.Weight()
	fmt.Println(w.MatMul(w.T()).AllClose(weft.Eye(4), weft.CloseOpts{Absolute: new(1e-6)}), slices.Sorted(maps.Keys(nn.State(cell))))
	// Output: true [bias parametrizations.weight.0.base parametrizations.weight.original]
}

func ExampleNewSpectralNorm() {
	critic := nn.NewSpectralNorm(nn.NewConv2d(3, 8, 3))
	fmt.Println(critic.Forward(weft.Zeros(1, 3, 5, 5)).Shape())
	// Output: [1 8 3 3]
}

func ExamplePrune() {
	fc := nn.NewLinear(3, 2)
	fc.Weight = nn.Param(weft.From([][]float32{{0.1, -3, 2}, {-0.2, 0.3, 5}}))
	pruned := nn.Prune(fc, nn.L1Mask(fc.Weight, 0.5))
	fmt.Println(pruned.Weight().Detach())
	fmt.Println(pruned.Remove().(*nn.Linear).Weight.RequiresGrad())
	// Output:
	// [[ 0. -3.  2.]
	//  [-0.  0.  5.]]
	// true
}

func ExampleGlobalL1Masks() {
	masks := nn.GlobalL1Masks([]*weft.Tensor{weft.FromSlice([]float32{1, 5}), weft.FromSlice([]float32{2, 6})}, 0.5)
	fmt.Println(masks[0], masks[1])
	// Output: [0. 1.] [0. 1.]
}

func TestOrthogonalizedRefuses(t *testing.T) {
	for what, f := range map[string]func(){
		"Map":   func() { nn.NewOrthogonalized(nn.NewLinear(2, 2), nn.OrthogonalizedOpts{Map: 9}) },
		"layer": func() { nn.NewOrthogonalized(nn.NewLayerNorm([]int{3})) },
		"Layer": func() {
			l := nn.NewLinear(3, 2)
			l.Weight = nn.Param(weft.Zeros(2, 3))
			defer func() {
				if l.Weight == nil || !l.Weight.RequiresGrad() {
					t.Error("the layer that is refused has lost its weight")
				}
			}()
			nn.NewOrthogonalized(l)
		},
		"Base": func() {
			l := nn.NewOrthogonalized(nn.NewLinear(2, 3))
			l.Base = weft.Eye(2)
			l.Weight()
		},
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || !strings.EqualFold(e.Arg, what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
