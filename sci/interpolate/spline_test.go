package interpolate

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
)

// scipy is what testdata/make.py wrote.
var scipy = func() (s struct {
	X, Y, At []float64
	Outside  float64
	Curves   map[Kind][2][]float64
}) {
	text, err := os.ReadFile("testdata/scipy.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// TestCurves compares values and derivatives with SciPy's.
func TestCurves(t *testing.T) {
	x, y, at := weft.From(scipy.X), weft.From(scipy.Y), weft.From(scipy.At)
	for kind, want := range scipy.Curves {
		c := New(x, y, Opts{Kind: kind})
		if d := c.At(at).Sub(weft.From(want[0])).Abs().Max().Item(); !(d < 1e-12) {
			t.Errorf("%s is off by %g", kind, d)
		}
		if d := c.Derivative(at).Sub(weft.From(want[1])).Abs().Max().Item(); !(d < 1e-11) {
			t.Errorf("the derivative of %s is off by %g", kind, d)
		}
	}
	if v := New(x, y, Opts{Extrapolate: true}).At(weft.From([]float64{6.5})).Item(); math.Abs(v-scipy.Outside) > 1e-10 {
		t.Error(v, scipy.Outside)
	}
	if v := New(x, y).At(weft.From([][]float64{{-1, 6.5, math.NaN()}})); v.IsNaN().Sum().Item() != 3 || v.Rank() != 2 {
		t.Error(v)
	}
}

// TestMonotone holds that a monotone curve goes through the points and does not turn between them.
func TestMonotone(t *testing.T) {
	x, y := weft.From([]float64{0, 1, 2, 3, 4}), weft.From([]float64{0, 0, 1, 10, 10})
	c := New(x, y, Opts{Kind: Monotone})
	v := c.At(weft.LinspaceOf(weft.Float64, 0, 4, 401))
	if c.At(x).Sub(y).Abs().Max().Item() > 1e-15 || v.Diff(0, 1).Min().Item() < -1e-14 {
		t.Error(v)
	}
}

// TestGradient compares the gradient with the derivative, and the gradient of the derivative with differences.
func TestGradient(t *testing.T) {
	c := New(weft.From(scipy.X), weft.From(scipy.Y))
	at := weft.From([]float64{0.3, 1.5, 5}).RequireGrad(true)
	g := weft.Grad(c.At(at).Sum(), []*weft.Tensor{at})[0]
	if d := g.Sub(c.Derivative(at)).Abs().Max().Item(); d > 1e-13 {
		t.Error(d)
	}
	if err := weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return c.Derivative(x[0]) }, []*weft.Tensor{at}); err != nil {
		t.Error(err)
	}
}

// TestMistakes compares what is said of bad arguments.
func TestMistakes(t *testing.T) {
	x := weft.From([]float64{0, 1, 2, 3})
	for want, f := range map[string]func(){
		"interpolate.new: x: is nil":                                func() { New(nil, x) },
		"interpolate.new: y: has 2 elements, x 4":                   func() { New(x, weft.Zeros(2)) },
		"interpolate.new: x: has 2 elements: want 4":                func() { New(weft.From([]float64{0, 1}), weft.Zeros(2)) },
		"interpolate.new: x: has 0 at 1: want finite numbers":       func() { New(weft.Zeros(4), x) },
		"interpolate.new: Kind: \"no\" is unknown: want not-a-knot": func() { New(x, x, Opts{Kind: "no"}) },
		"interpolate.new: x: is float64 of shape [1 4]: want a v":   func() { New(x.Reshape(1, 4), x) },
		"interpolate.at: x: is nil":                                 func() { New(x, x).At(nil) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func ExampleNew() {
	x := weft.From([]float64{0, 1, 2, 3})
	c := New(x, x.Square())
	fmt.Println(c.At(weft.From([][]float64{{0.5, 1.5}, {2.5, 3}})))
	// Output:
	// [[0.25 2.25]
	//  [6.25 9.  ]]
}

func ExampleCurve_Derivative() {
	x := weft.From([]float64{0, 1, 2, 3})
	fmt.Println(New(x, x.Square()).Derivative(weft.From([]float64{0.5, 2})))
	// Output: [1. 4.]
}
