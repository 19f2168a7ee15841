package nn_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// A rooted is a layer whose gradient has NaN at 0.
type rooted struct{ Scale *weft.Tensor }

func (r *rooted) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(r, x, func(r *rooted, x *weft.Tensor) *weft.Tensor { return x.Mul(0).Sqrt().Mul(r.Scale) })
}

// TestDetectAnomalyNamesLayers: errors of backward passes have the path of the layer, in a module whose
// parameters were asked for or in the layer that was called.
func TestDetectAnomalyNamesLayers(t *testing.T) {
	for _, asked := range []bool{false, true} {
		net := nn.Sequential{nn.NewLinear(2, 2), nn.Sequential{nn.Relu{}, &rooted{weft.Zeros(2).RequireGrad()}}}
		model := &struct{ Body nn.Sequential }{net}
		want := "1.1"
		if asked {
			for range nn.Params(model) {
			}
			want = "body.1.1"
		}
		err := weft.Try(func() { weft.DetectAnomaly(func() { net.Forward(weft.Ones(3, 2)).Sum().Backward() }) })
		var e *weft.Error
		if !errors.As(err, &e) || e.Layer != want || !strings.Contains(e.Error(), "sqrt backward gives NaN") || !strings.Contains(e.Error(), "anomaly_test.go:") {
			t.Errorf("%v: %v at %q", asked, err, want)
		}
		runtime.KeepAlive(model)
		if err := weft.Try(func() { net.Forward(weft.Ones(3, 2)).Sum().Backward() }); err != nil {
			t.Error(err)
		}
	}
}
