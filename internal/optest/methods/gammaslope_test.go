package methods_test

import (
	"fmt"
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// gammaSlopes are the first numbers of a generator of seed 1 by concentration, one draw for each, and
// -(dP/da)/p there, by mpmath's quadrature with 40 decimal digits.
var gammaSlopes = []struct {
	a    float64
	x, d []float64
}{
	{0.02, []float64{0.0009109182141627562, 5.748526200276746e-12, 2.1810158286991443e-25}, []float64{0.29435924418065346, 7.2826032808659326e-09, 6.1330216650958045e-22}},
	{0.3, []float64{0.36397630075333876, 0.4686538682616615, 0.02219907677765042}, []float64{1.6933421452317816, 1.9288388174844493, 0.27486786847156675}},
	{0.9, []float64{0.39719563543261266, 0.2765700079914606, 0.16531102230385722}, []float64{0.7618569124541751, 0.6130040412923357, 0.44178955249154944}},
	{1.0, []float64{2.0441993499864957, 0.1693297694525611, 3.402629064877893}, []float64{1.6475280797768743, 0.4135631978857844, 2.0380584485528117}},
	{1.7, []float64{0.42104902424526475, 4.238542377443172, 3.1607104461389435}, []float64{0.5012682916385645, 1.680347750608851, 1.4792256880257155}},
	{4.0, []float64{0.8848223929257082, 2.0898501862361876, 5.081096315570618}, []float64{0.44508839466849154, 0.7398031356259259, 1.1722790582726565}},
	{7.9, []float64{5.715077655434276, 8.548843585857432, 5.502253631845132}, []float64{0.8648140809360056, 1.0621899858726755, 0.8476214332715583}},
	{8.0, []float64{8.224686182165229, 10.74037789543003, 8.55686798535882}, []float64{1.0352841163859774, 1.1788092879804337, 1.055821219497214}},
	{30.0, []float64{30.233734368558196, 30.14010474853584, 27.778264803988968}, []float64{1.009480930602071, 1.0079182042554922, 0.967381830134162}},
	{1000.0, []float64{993.3738814890361, 1034.2342530640358, 926.0436035791186}, []float64{0.9968457283979726, 1.017094570537207, 0.9622352573528312}},
	{1000000.0, []float64{997876.1974425325, 1000716.3760650338, 1001892.2678493661}, []float64{0.9989375126552887, 1.0003582692570603, 1.000945704533327}},
}

// TestGammaSlope: draws of the gamma distribution have a gradient by the concentration.
func TestGammaSlope(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		g := weft.NewGenerator(1)
		for _, c := range gammaSlopes {
			a := weft.FullOf(weft.Float64, c.a, 6).RequireGrad()
			x := g.GammaOf(weft.Float64, a, 1)
			got := weft.Grad(x.Sum(), list(a))[0]
			for i := range c.x {
				if y := weft.Data[float64](x)[i]; math.Abs(y/c.x[i]-1) > 1e-12 {
					t.Errorf("number %d of concentration %v is %v, want %v", i, c.a, y, c.x[i])
				}
				if d := weft.Data[float64](got)[i]; !(math.Abs(d/c.d[i]-1) < 1e-12) {
					t.Errorf("slope at %v by %v is %v, want %v", c.x[i], c.a, d, c.d[i])
				}
			}
		}
	})
}

// TestGammaSlopeCompiled: the gradient has the same bits compiled, in each type of floats; numbers that are 0 or
// NaN, and no numbers.
func TestGammaSlopeCompiled(t *testing.T) {
	for _, d := range []weft.DType{weft.Float64, weft.Float32, weft.Float16} {
		a, r := weft.FromSlice([]float64{0.4, 3, 20}).To(d), weft.ScalarOf(d, 2)
		f := func(x []*weft.Tensor) []*weft.Tensor {
			a, r := x[0].Detach().RequireGrad(), x[1].Detach().RequireGrad()
			y := weft.DefaultGenerator().Gamma(a, r, 4, 3)
			return append(weft.Grad(y.Square().Sum(), list(a, r)), y.Detach())
		}
		weft.Seed(5)
		plain := f(list(a, r))
		weft.Seed(5)
		for i, c := range weft.Compile(f).Func()(list(a, r)) {
			tensortest.SameBits(t, fmt.Sprint(d, " result ", i), c, plain[i])
		}
	}
	nan := math.NaN()
	a := weft.FromSlice([]float64{0, 1e-9, nan, -1, math.Inf(1)}).RequireGrad()
	y := weft.NewGenerator(1).GammaOf(weft.Float64, a, 1)
	tensortest.Near(t, "outside", weft.Grad(y.Sum(), list(a))[0], []float64{0, 0, nan, nan, nan}, 0)
	none := weft.Zeros(0, 3).RequireGrad()
	if d := weft.Grad(weft.NewGenerator(1).Gamma(none, 1).Sum(), list(none))[0]; d.Size() != 0 {
		t.Errorf("the gradient of no numbers is %v", d)
	}
}

// TestGammaSlopeMean: the slopes average to the derivatives of the moments.
func TestGammaSlopeMean(t *testing.T) {
	const n = 20000
	g := weft.NewGenerator(3)
	for _, a := range []float64{0.3, 2, 40} {
		c := weft.ScalarOf(weft.Float64, a).RequireGrad()
		x := g.GammaOf(weft.Float64, c, 1, n)
		// The mean of x is a, of x*x a*(a+1).
		d := weft.Grad(x.Mean(), list(c), weft.GradOpts{Retain: true})[0].Item()
		d2 := weft.Grad(x.Square().Mean(), list(c))[0].Item()
		if math.Abs(d-1) > 0.04 || math.Abs(d2/(2*a+1)-1) > 0.06 {
			t.Errorf("concentration %v: the gradients of the moments are %v and %v, want 1 and %v", a, d, d2, 2*a+1)
		}
	}
}
