package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
)

// TestLinRegressAsSciPy compares lines, p-values and errors with what testdata/linregress.py wrote, also of points that
// are scaled by powers of two at the ends of float64's range.
func TestLinRegressAsSciPy(t *testing.T) {
	var cases []struct {
		X, Y        []float64
		Alternative Alternative
		Want        [6]*float64 // nil for NaN
	}
	text, err := os.ReadFile("testdata/linregress.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for i, c := range cases {
		for _, scale := range [][2]float64{{1, 1}, {0x1p900, 0x1p880}, {0x1p-900, 0x1p-910}} {
			r := LinRegress(weft.From(c.X).Mul(scale[0]), weft.From(c.Y).Mul(scale[1]), TestOpts{Alternative: c.Alternative})
			ratio := scale[1] / scale[0]
			for j, got := range [6]float64{r.Slope / ratio, r.Intercept / scale[1], r.RValue, r.PValue, r.StdErr / ratio, r.InterceptStdErr / scale[1]} {
				want := c.Want[j]
				if want == nil && math.IsNaN(got) || want != nil && math.Abs(got-*want) <= 1e-11*math.Abs(*want) {
					continue
				}
				t.Errorf("case %d times %v, number %d: %v, want %v", i, scale, j, got, want)
			}
		}
	}
}

// TestLinRegressAtTheEdges asks for lines through points that lie on one, have NaN or infinities, or are none.
func TestLinRegressAtTheEdges(t *testing.T) {
	x := weft.From([]float64{1, 2, 3, 4})
	if r := LinRegress(x, x.Mul(2).Add(1)); r != (Regression{Slope: 2, Intercept: 1, RValue: 1}) {
		t.Error(r)
	}
	if r := LinRegress(x, x.Neg(), TestOpts{Alternative: Greater}); r.PValue != 1 || r.RValue != -1 {
		t.Error(r)
	}
	for n := 3; n < 12; n++ {
		same := weft.From(slices.Repeat([]float64{0.1}, n))
		want := Regression{Intercept: 0.1, RValue: math.NaN(), PValue: math.NaN(), StdErr: math.NaN(), InterceptStdErr: math.NaN()}
		if r := LinRegress(weft.Arange(n), same); r.String() != want.String() {
			t.Errorf("%d times 0.1: %v", n, r)
		}
		if r := PearsonR(weft.Arange(n), same); !math.IsNaN(r.Statistic) {
			t.Errorf("correlation with %d times 0.1: %v", n, r)
		}
		if r := TTest1Samp(same, 0.1); !math.IsNaN(r.Statistic) {
			t.Errorf("mean of %d times 0.1: %v", n, r)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, n := range []int{2, 4} {
			y := weft.From([]float64{bad, 5, 1, 2}[:n])
			for _, r := range []Regression{LinRegress(x.Slice(weft.Range(0, n)), y), LinRegress(y, x.Slice(weft.Range(0, n)))} {
				if !math.IsNaN(r.RValue) || !math.IsNaN(r.PValue) || !math.IsNaN(r.StdErr) || !math.IsNaN(r.InterceptStdErr) {
					t.Errorf("%d points, one %v: %v", n, bad, r)
				}
			}
		}
	}
	for want, f := range map[string]func(){
		"stats.linregress: x: has the one value 3": func() { LinRegress(weft.Full(3, 4), x) },
		"stats.linregress: y: has 4 elements, x 5": func() { LinRegress(weft.Arange(5), x) },
		"stats.linregress: x: has 1 elements":      func() { LinRegress(weft.Ones(1), weft.Ones(1)) },
		"stats.linregress: y: is nil":              func() { LinRegress(x, nil) },
		"stats.linregress: Alternative: \"more\"":  func() { LinRegress(x, x, TestOpts{Alternative: "more"}) },
	} {
		if err := weft.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s...", err, want)
		}
	}
}

func ExampleLinRegress() {
	x := weft.From([]float64{0, 1, 2, 3, 4})
	y := weft.From([]float64{1, 3, 4, 8, 9})
	r := LinRegress(x, y)
	fmt.Printf("y = %.2f + %.2f x, r = %.3f, p = %.4f\n", r.Intercept, r.Slope, r.RValue, r.PValue)
	fmt.Println(r)
	// Output:
	// y = 0.80 + 2.10 x, r = 0.979, p = 0.0036
	// Slope: 2.1, Intercept: 0.8, RValue: 0.97913, PValue: 0.00360788, StdErr: 0.251661, InterceptStdErr: 0.616441
}
