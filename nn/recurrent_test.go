package nn_test

import (
	"testing"

	"weft"
	"weft/nn"
)

// Second derivatives of recurrent networks equal finite differences, in float64, and recorded
// gradients equal unrecorded ones.
func TestRecurrentSecondDerivative(t *testing.T) {
	for name, l := range map[string]nn.Layer{
		"lstm": nn.NewLSTM(2, 3, nn.RNNOpts{Bidirectional: true}),
		"gru":  nn.NewGRU(2, 3, nn.RNNOpts{Layers: new(2)}),
	} {
		var names []string
		state := nn.State(l)
		for name := range nn.Params(l) {
			names = append(names, name)
		}
		params := map[string]*weft.Tensor{}
		for _, name := range names {
			params[name] = nn.Param(state[name].Detach().To(weft.Float64).Clone())
		}
		switch l := l.(type) {
		case *nn.LSTM:
			l.Params = params
		case *nn.GRU:
			l.Params = params
		}
		v := []float64{0.3, -1, 0.7, 1.1, 0.2, -0.4, 0.9, -0.8}
		at := func(v []float64) *weft.Tensor { return weft.FromSlice(v, 2, 2, 2).Clone().RequireGrad() }
		weights := params["weight_hh_l0"]
		f := func(x *weft.Tensor) *weft.Tensor { return l.Forward(x).Sin().Sum() }
		grads := func(v []float64, o weft.GradOpts) []*weft.Tensor {
			x := at(v)
			return append(weft.Grad(f(x), []*weft.Tensor{x, weights}, o), x)
		}
		plain, recorded := grads(v, weft.GradOpts{}), grads(v, weft.GradOpts{Create: true})
		for i := range 2 {
			if d := plain[i].Sub(recorded[i].Detach()).Abs().Max().Item(); !(d < 1e-14) {
				t.Errorf("%s: gradient %d differs by %v when it is recorded", name, i, d)
			}
		}
		// The squares of both gradients, so that mixed derivatives count.
		squares := func(g []*weft.Tensor) *weft.Tensor { return g[0].Square().Sum().Add(g[1].Square().Sum()) }
		second := weft.Data[float64](weft.Grad(squares(recorded), []*weft.Tensor{recorded[2]})[0])
		const step = 1e-5
		for i := range v {
			moved := func(by float64) float64 {
				m := append([]float64(nil), v...)
				m[i] += by
				return squares(grads(m, weft.GradOpts{})).Item()
			}
			near(t, name+": second derivative", second[i], (moved(step)-moved(-step))/(2*step), 1e-8)
		}
	}
}
