package nn_test

import (
	"errors"
	"reflect"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// retype converts all parameters of a module, which are in fields of its own.
func retype(v reflect.Value, d weft.DType) {
	tensor := reflect.TypeFor[*weft.Tensor]()
	convert := func(x reflect.Value) reflect.Value {
		t := x.Interface().(*weft.Tensor)
		if t == nil || !t.RequiresGrad() {
			return x
		}
		return reflect.ValueOf(nn.Param(t.Detach().To(d).Clone()))
	}
	switch {
	case v.Kind() == reflect.Pointer && v.Type() != tensor && !v.IsNil():
		retype(v.Elem(), d)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).IsExported() || v.Type().Field(i).Anonymous {
				if f.Type() == tensor {
					f.Set(convert(f))
				} else {
					retype(f, d)
				}
			}
		}
	case v.Kind() == reflect.Map && v.Type().Elem() == tensor:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(k, convert(v.MapIndex(k)))
		}
	}
}

// layersWithParameters makes each layer that has parameters, and says what it takes.
var layersWithParameters = []struct {
	name  string
	make  func() nn.Layer
	shape []int
}{
	{"Linear", func() nn.Layer { return nn.NewLinear(4, 3) }, []int{5, 4}},
	{"Conv1d", func() nn.Layer { return nn.NewConv1d(2, 3, 3) }, []int{2, 2, 7}},
	{"Conv2d", func() nn.Layer { return nn.NewConv2d(2, 3, 3) }, []int{2, 2, 5, 6}},
	{"ConvTranspose2d", func() nn.Layer { return nn.NewConvTranspose2d(2, 3, 3) }, []int{2, 2, 4, 3}},
	{"Conv3d", func() nn.Layer { return nn.NewConv3d(2, 3, 2) }, []int{2, 2, 3, 4, 2}},
	{"ConvTranspose1d", func() nn.Layer { return nn.NewConvTranspose1d(2, 3, 3) }, []int{2, 2, 5}},
	{"ConvTranspose3d", func() nn.Layer { return nn.NewConvTranspose3d(2, 3, 2) }, []int{2, 2, 3, 4, 2}},
	{"InstanceNorm1d", func() nn.Layer { return nn.NewInstanceNorm1d(4, nn.InstanceNormOpts{Affine: true}) }, []int{3, 4, 5}},
	{"BatchNorm3d", func() nn.Layer { return nn.NewBatchNorm3d(4) }, []int{3, 4, 2, 3, 2}},
	{"PRelu", func() nn.Layer { return nn.NewPRelu() }, []int{3, 4}},
	{"LayerNorm", func() nn.Layer { return nn.NewLayerNorm([]int{6}) }, []int{4, 6}},
	{"LayerNorm of two axes", func() nn.Layer { return nn.NewLayerNorm([]int{2, 6}, nn.NormOpts{NoBias: true}) }, []int{4, 2, 6}},
	{"RMSNorm", func() nn.Layer { return nn.NewRMSNorm([]int{6}) }, []int{4, 6}},
	{"GroupNorm", func() nn.Layer { return nn.NewGroupNorm(2, 4) }, []int{3, 4, 5}},
	{"GroupNorm without bias", func() nn.Layer { return nn.NewGroupNorm(2, 4, nn.NormOpts{NoBias: true}) }, []int{3, 4, 5}},
	{"BatchNorm1d", func() nn.Layer { return nn.NewBatchNorm1d(4) }, []int{6, 4}},
	{"BatchNorm2d", func() nn.Layer { return nn.NewBatchNorm2d(4) }, []int{3, 4, 2, 3}},
	{"BatchNorm2d evaluated", func() nn.Layer { b := nn.NewBatchNorm2d(4); nn.Eval(b); return b }, []int{3, 4, 2, 3}},
	{"LSTM", func() nn.Layer { return nn.NewLSTM(3, 2) }, []int{4, 2, 3}},
	{"LSTM both ways", func() nn.Layer {
		return nn.NewLSTM(3, 2, nn.RNNOpts{Bidirectional: true, Layers: new(2), BatchFirst: true})
	}, []int{2, 4, 3}},
	{"GRU", func() nn.Layer { return nn.NewGRU(3, 2) }, []int{4, 2, 3}},
	{"RNN", func() nn.Layer { return nn.NewRNN(3, 2) }, []int{4, 2, 3}},
	{"LSTM with projection", func() nn.Layer { return nn.NewLSTM(3, 2, nn.RNNOpts{Projection: 1, Layers: new(2)}) }, []int{4, 2, 3}},
	{"GRU without bias", func() nn.Layer { return nn.NewGRU(3, 2, nn.RNNOpts{NoBias: true}) }, []int{4, 2, 3}},
	{"MultiheadAttention", func() nn.Layer { return nn.NewMultiheadAttention(4, 2) }, []int{3, 2, 4}},
}

var floatTypes = []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64}

var epsilon = map[weft.DType]float64{weft.Float16: 0x1p-11, weft.BFloat16: 0x1p-8, weft.Float32: 0x1p-24, weft.Float64: 0x1p-53}

// Layers take data of another type than their parameters, or refuse it. Each gradient has its own
// type, and the value computed with float64 throughout. An optimizer takes a step.
func TestLayersOfOtherTypesThanTheirData(t *testing.T) {
	for _, c := range layersWithParameters {
		for _, dp := range floatTypes {
			for _, dx := range floatTypes {
				layer := c.make()
				retype(reflect.ValueOf(layer), dp)
				ref := nn.Copy(layer)
				retype(reflect.ValueOf(ref), weft.Float64)
				x := weft.NewGenerator(3).Randn(c.shape...).To(dx).RequireGrad()
				z := x.Detach().To(weft.Float64).Clone().RequireGrad()
				var y *weft.Tensor
				if err := weft.Try(func() { y = layer.Forward(x) }); err != nil {
					if dp == dx || dp == weft.Float32 && dx == weft.Float64 {
						t.Errorf("%s of %s on %s: %v", c.name, dp, dx, err)
					}
					continue
				}
				want := ref.Forward(z)
				w := weft.NewGenerator(4).RandOf(weft.Float64, y.Shape()...)
				if err := weft.Try(func() { y.To(weft.Float64).Mul(w).Sum().Backward() }); err != nil {
					t.Errorf("%s of %s on %s: %v", c.name, dp, dx, err)
					continue
				}
				want.Mul(w).Sum().Backward()
				limit := 60 * max(epsilon[dp], epsilon[dx], epsilon[weft.Float32])
				if dp == weft.Float64 && dx == weft.Float64 && c.name != "BatchNorm2d evaluated" {
					limit = 1e-11
				}
				check := func(what string, p, q *weft.Tensor) {
					t.Helper()
					if g := p.Grad(); g == nil || g.DType() != p.DType() {
						t.Errorf("%s of %s on %s: gradient of %s is %v, want %s", c.name, dp, dx, what, g, p.DType())
						return
					}
					r := q.Grad()
					if off := p.Grad().To(weft.Float64).Sub(r).Abs().Max().Item(); !(off <= limit*(1+r.Abs().Max().Item())) {
						t.Errorf("%s of %s on %s: gradient of %s is off by %v:\n%v\nwant\n%v", c.name, dp, dx, what, off, p.Grad(), r)
					}
				}
				check("the data", x, z)
				of := map[string]*weft.Tensor{}
				for name, q := range nn.Params(ref) {
					of[name] = q
				}
				for name, p := range nn.Params(layer) {
					check(name, p, of[name])
				}
				if err := weft.Try(func() {
					optim.NewSGD(nn.Params(layer), optim.SGDOpts{LR: new(0.1), Momentum: 0.9}).Step()
				}); err != nil {
					t.Errorf("%s of %s on %s: a step: %v", c.name, dp, dx, err)
				}
			}
		}
	}
}

// Losses take targets of another type than their predictions, with gradients as above.
func TestLossesOfOtherTypesThanTheirTargets(t *testing.T) {
	weight := weft.FromSlice([]float32{1, 2, 0.5})
	losses := map[string]func(x, y *weft.Tensor) *weft.Tensor{
		"MSE":                    func(x, y *weft.Tensor) *weft.Tensor { return nn.MSE(x, y) },
		"L1":                     func(x, y *weft.Tensor) *weft.Tensor { return nn.L1(x, y) },
		"SmoothL1":               func(x, y *weft.Tensor) *weft.Tensor { return nn.SmoothL1(x, y) },
		"BCE":                    func(x, y *weft.Tensor) *weft.Tensor { return nn.BCE(x, y) },
		"BCE with weight":        func(x, y *weft.Tensor) *weft.Tensor { return nn.BCE(x, y, nn.BCEOpts{Weight: weight}) },
		"BCEWithLogits":          func(x, y *weft.Tensor) *weft.Tensor { return nn.BCEWithLogits(x, y) },
		"BCEWithLogits weighted": func(x, y *weft.Tensor) *weft.Tensor { return nn.BCEWithLogits(x, y, nn.BCEOpts{PosWeight: weight}) },
		"KLDiv":                  func(x, y *weft.Tensor) *weft.Tensor { return nn.KLDiv(x, y) },
		"CrossEntropy":           func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y) },
		"CrossEntropy weighted": func(x, y *weft.Tensor) *weft.Tensor {
			return nn.CrossEntropy(x, y, nn.CrossEntropyOpts{Weight: weight, Smoothing: 0.1})
		},
		"CrossEntropy of classes": func(x, y *weft.Tensor) *weft.Tensor {
			return nn.CrossEntropy(x, y.Mul(2.9).To(weft.Int64).Slice(weft.All, weft.Index(0)), nn.CrossEntropyOpts{Weight: weight, Smoothing: 0.1})
		},
		"NLL": func(x, y *weft.Tensor) *weft.Tensor {
			return nn.NLL(x, y.Mul(2.9).To(weft.Int64).Slice(weft.All, weft.Index(0)), nn.CrossEntropyOpts{Weight: weight})
		},
		"attention": func(x, y *weft.Tensor) *weft.Tensor { return nn.ScaledDotProductAttention(x, y, x) },
		"cross entropy": func(x, y *weft.Tensor) *weft.Tensor {
			return weft.CrossEntropy(x, y.Mul(2.9).To(weft.Int64).Slice(weft.All, weft.Index(0)))
		},
	}
	for name, f := range losses {
		for _, dx := range floatTypes {
			for _, dy := range floatTypes {
				of := func(seed uint64, d weft.DType) (narrow, wide *weft.Tensor) {
					narrow = weft.NewGenerator(seed).Rand(4, 3).Mul(0.8).Add(0.1).To(d).RequireGrad()
					return narrow, narrow.Detach().To(weft.Float64).Clone().RequireGrad()
				}
				x, xw := of(1, dx)
				y, yw := of(2, dy)
				var l *weft.Tensor
				if err := weft.Try(func() { l = f(x, y) }); err != nil {
					var e *weft.Error
					if errors.As(err, &e); dx == dy {
						t.Errorf("%s of %s and %s: %v", name, dx, dy, err)
					}
					continue
				}
				grads := func(l, x, y *weft.Tensor) []*weft.Tensor {
					return weft.Grad(l.To(weft.Float64).Sum(), []*weft.Tensor{x, y}, weft.GradOpts{AllowUnused: true})
				}
				var got []*weft.Tensor
				if err := weft.Try(func() { got = grads(l, x, y) }); err != nil {
					t.Errorf("%s of %s and %s: %v", name, dx, dy, err)
					continue
				}
				want := grads(f(xw, yw), xw, yw)
				for i, g := range got {
					if g == nil && want[i] == nil {
						continue
					}
					if d := []weft.DType{dx, dy}[i]; g == nil || g.DType() != d {
						t.Errorf("%s of %s and %s: gradient %d is %v, want %s", name, dx, dy, i, g, d)
						continue
					}
					limit := 100 * max(epsilon[dx], epsilon[dy], epsilon[weft.Float32])
					if off := g.To(weft.Float64).Sub(want[i]).Abs().Max().Item(); !(off <= limit*(1+want[i].Abs().Max().Item())) {
						t.Errorf("%s of %s and %s: gradient %d is off by %v:\n%v\nwant\n%v", name, dx, dy, i, off, g, want[i])
					}
				}
			}
		}
	}
}
