package optimize

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
)

// TestIsotonicRegressionAsSciPy compares sequences with what testdata/isotonic.py wrote.
func TestIsotonicRegressionAsSciPy(t *testing.T) {
	var cases []struct {
		Y, W, X    []float64
		Decreasing bool
	}
	text, err := os.ReadFile("testdata/isotonic.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		o := IsotonicOpts{Decreasing: c.Decreasing}
		if c.W != nil {
			o.Weights = weft.From(c.W)
		}
		for i, v := range weft.Data[float64](IsotonicRegression(weft.From(c.Y), o)) {
			if !(math.Abs(v-c.X[i]) <= 1e-13*(1+math.Abs(c.X[i]))) {
				t.Errorf("%d elements, %v: element %d is %v, SciPy's %v", len(c.Y), o, i, v, c.X[i])
			}
		}
	}
	for want, f := range map[string]func(){
		"optimize.isotonicregression: y: has shape [2 2]":           func() { IsotonicRegression(weft.Zeros(2, 2)) },
		"optimize.isotonicregression: y: has shape [0]":             func() { IsotonicRegression(weft.Zeros(0)) },
		"optimize.isotonicregression: y: has NaN":                   func() { IsotonicRegression(weft.From([]float64{1, math.NaN()})) },
		"optimize.isotonicregression: Weights: has 0 at 1":          func() { IsotonicRegression(weft.Ones(2), IsotonicOpts{Weights: weft.From([]float64{1, 0})}) },
		"optimize.isotonicregression: Weights: has shape [3]: want": func() { IsotonicRegression(weft.Ones(2), IsotonicOpts{Weights: weft.Ones(3)}) },
	} {
		if err := weft.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func ExampleIsotonicRegression() {
	fmt.Println(IsotonicRegression(weft.From([]float64{1, 3, 2, 4, 3.5, 6})))
	// Output: [1.   2.5  2.5  3.75 3.75 6.  ]
}
