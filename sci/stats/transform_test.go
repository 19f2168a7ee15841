package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"weft"
	"weft/special"
)

// TestTransformsAsSciPy compares ranks and Box and Cox's transformation with what testdata/transform.py wrote.
func TestTransformsAsSciPy(t *testing.T) {
	var want struct {
		X     []float64
		Ranks map[Ties][]float64
		Boxes []struct {
			X, Y   []float64
			Lambda float64
		}
	}
	text, err := os.ReadFile("testdata/transform.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for ties, ranks := range want.Ranks {
		if got := RankData(weft.From(want.X), RankOpts{Ties: ties}); got.DType() != weft.Float64 || fmt.Sprint(weft.Data[float64](got)) != fmt.Sprint(ranks) {
			t.Errorf("%s: ranks %v, want %v", ties, got, ranks)
		}
	}
	for i, box := range want.Boxes {
		y, lambda := BoxCox(weft.From(box.X))
		if !(math.Abs(lambda-box.Lambda) <= 1e-6*(1+math.Abs(box.Lambda))) {
			t.Errorf("sample %d: lambda %v, SciPy's %v", i, lambda, box.Lambda)
		}
		given := weft.Data[float64](special.BoxCox(weft.From(box.X), lambda))
		for j, v := range weft.Data[float64](y) {
			if v != given[j] || !(math.Abs(v-box.Y[j]) <= 1e-4*math.Abs(box.Y[j])) {
				t.Errorf("sample %d: element %d is %v, SciPy's %v", i, j, v, box.Y[j])
			}
		}
	}
}

// TestTransformsAtTheEdges asks for transformations of empty, single, NaN and huge samples.
func TestTransformsAtTheEdges(t *testing.T) {
	if r := RankData(weft.Zeros(0)); r.Size() != 0 || r.DType() != weft.Float64 {
		t.Errorf("ranks of nothing: %v", r)
	}
	if r := weft.Data[float64](RankData(weft.From([]float64{1, math.NaN()}))); !math.IsNaN(r[0]) || !math.IsNaN(r[1]) {
		t.Errorf("ranks with NaN: %v", r)
	}
	if y, lambda := BoxCox(weft.From([]float64{1, math.NaN()})); !math.IsNaN(lambda) || !math.IsNaN(weft.Data[float64](y)[0]) {
		t.Errorf("Box and Cox with NaN: %v, %v", y, lambda)
	}
	// A factor changes the transformation, not lambda.
	x := []float64{1, 1.5, 4, 9, 11, 30}
	_, lambda := BoxCox(weft.From(x))
	for _, scale := range []float64{1e-200, 1e150} {
		scaled := make([]float64, len(x))
		for i, v := range x {
			scaled[i] = v * scale
		}
		if _, l := BoxCox(weft.From(scaled)); !(math.Abs(l-lambda) < 1e-6) {
			t.Errorf("scaled by %g: lambda %v, want %v", scale, l, lambda)
		}
	}
	for name, f := range map[string]func(){
		"stats.rankdata: Ties: ": func() { RankData(weft.From(x), RankOpts{Ties: "first"}) },
		"stats.rankdata: x: ":    func() { RankData(weft.Zeros(2, 2)) },
		"stats.boxcox: x: ":      func() { BoxCox(weft.From([]float64{1, 0})) },
		"stats.boxcox: x: has 3": func() { BoxCox(weft.From([]float64{3, 3})) },
	} {
		err := weft.Try(f)
		if err == nil || len(err.Error()) < len(name) || err.Error()[:len(name)] != name {
			t.Errorf("%v, want %s...", err, name)
		}
	}
}

func ExampleRankData() {
	x := weft.From([]float64{30, 10, 20, 10})
	fmt.Println(RankData(x))
	fmt.Println(RankData(x, RankOpts{Ties: DenseRank}))
	// Output:
	// [4.  1.5 3.  1.5]
	// [3. 1. 2. 1.]
}

func ExampleBoxCox() {
	x := weft.From([]float64{1, 2, 3, 5, 8, 13, 21})
	_, lambda := BoxCox(x)
	fmt.Printf("%.3f\n", lambda)
	// Output: 0.056
}
