package interpolate

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"weft"
)

// TestCurveMethods compares derivatives, antiderivatives, integrals and solutions with what SciPy's PPoly gives, within
// the points and outside of them.
func TestCurveMethods(t *testing.T) {
	var s struct {
		X, Y, At []float64
		Curves   map[Kind]struct {
			Second, Slope, Anti, Anti2, Integrals []float64
			Solutions                             map[string][2][]float64
		}
	}
	text, err := os.ReadFile("testdata/curves.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || len(s.Curves) != 4 {
		t.Fatal(err, len(s.Curves))
	}
	x, y, at := weft.From(s.X), weft.From(s.Y), weft.From(s.At)
	for kind, want := range s.Curves {
		c, inside := New(x, y, Opts{Kind: kind, Extrapolate: true}), New(x, y, Opts{Kind: kind})
		for what, d := range map[string]float64{
			"value":                 apart(c.BSpline().At(at), c.At(at)),
			"second derivative":     apart(c.BSpline().Derivative(2).At(at), weft.From(want.Second)),
			"derivative":            apart(c.BSpline().Derivative(1).At(at), weft.From(want.Slope)),
			"antiderivative":        apart(c.Antiderivative(1).At(at), weft.From(want.Anti)),
			"second antiderivative": apart(c.Antiderivative(2).At(at), weft.From(want.Anti2)),
		} {
			if !(d < 1e-12) {
				t.Errorf("%s: the %s is off by %g", kind, what, d)
			}
		}
		for i, ends := range [][2]float64{{0, 5.5}, {0.3, 3.7}, {3.7, 0.3}, {-1, 7}, {2, 2}} {
			v, w := c.Integrate(ends[0], ends[1]).Item(), inside.Integrate(ends[0], ends[1]).Item()
			if math.Abs(v-want.Integrals[i]) > 1e-12 || w != v && (i != 3 || !math.IsNaN(w)) {
				t.Errorf("%s: the integral over %v is %v and %v, not %v", kind, ends, v, w, want.Integrals[i])
			}
		}
		for text, solutions := range want.Solutions {
			v, err := strconv.ParseFloat(text, 64)
			for i, got := range []*weft.Tensor{inside.Solve(v), c.Solve(v)} {
				if w := weft.FromSlice(solutions[i]); err != nil || w.Size() != got.Size() || w.Size() > 0 && !(apart(got, w) < 1e-9) {
					t.Errorf("%s: the solutions for %v are %v, not %v", kind, v, got, w)
				}
			}
		}
		if d := c.Roots().Sub(c.Solve(0)).Abs().Sum().Item(); d != 0 {
			t.Errorf("%s: the roots are off by %g", kind, d)
		}
	}
}

// TestCurveSolve holds that solutions at points, and at places where the curve touches the value, are found once, and
// that flat and straight ends give none at infinity.
func TestCurveSolve(t *testing.T) {
	x := weft.From([]float64{-2, -1, 0, 1, 2})
	o := Opts{Extrapolate: true}
	for _, c := range []struct {
		y    *weft.Tensor
		at   float64
		want []float64
	}{
		{x.Square(), 0, []float64{0}},
		{x.Square(), 4, []float64{-2, 2}},
		{x.Square(), 9, []float64{-3, 3}},
		{x, 5, []float64{5}},
		{x, -2, []float64{-2}},
		{x.Mul(0), 1, nil},
		{x.Mul(x).Mul(x), -1e6, []float64{-100}},
	} {
		got := New(x, c.y, o).Solve(c.at)
		ok := got.Size() == len(c.want)
		for i := 0; ok && i < len(c.want); i++ {
			ok = math.Abs(got.At(i).Item()-c.want[i]) < 1e-7
		}
		if !ok {
			t.Errorf("%v is at %v, not at %v", c.at, got, c.want)
		}
	}
	text := fmt.Sprint(New(x, x).Solve(7))
	if text != "[]" {
		t.Error(text)
	}
}

// TestCurveMistakes compares what is said of bad arguments.
func TestCurveMistakes(t *testing.T) {
	x := weft.From([]float64{0, 1, 2, 3})
	c := New(x, x)
	for want, f := range map[string]func(){
		"interpolate.curve.solve: y: is NaN: want a finite number":             func() { c.Solve(math.NaN()) },
		"interpolate.curve.roots: c: has values that are not finite":           func() { New(x, x.Mul(math.NaN())).Roots() },
		"interpolate.curve.integrate: high: is +Inf: want a finite number":     func() { c.Integrate(0, math.Inf(1)) },
		"interpolate.curve.antiderivative: order: is -1: want 0 to 61":         func() { c.Antiderivative(-1) },
		"interpolate.bspline.derivative: order: is 3: the spline jumps at kno": func() { c.BSpline().Derivative(3) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func ExampleCurve_Solve() {
	x := weft.From([]float64{0, 1, 2, 3})
	c := New(x, x.Square())
	fmt.Println(c.Solve(4), c.Roots())
	// Output: [2.] [0.]
}

func ExampleCurve_Integrate() {
	x := weft.From([]float64{0, 1, 2, 3})
	c := New(x, x.Square())
	fmt.Printf("%.4f %.4f\n", c.Integrate(0, 3).Item(), c.Antiderivative(1).At(weft.From([]float64{3})).Item())
	// Output: 9.0000 9.0000
}

func ExampleCurve_BSpline() {
	x := weft.From([]float64{0, 1, 2, 3})
	second := New(x, x.Square()).BSpline().Derivative(2)
	fmt.Printf("%.4f\n", second.At(weft.From([]float64{0.5})).Item())
	// Output: 2.0000
}
