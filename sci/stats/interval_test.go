package stats

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

// TestConfidenceInterval compares intervals of all alternatives and several levels with SciPy's.
func TestConfidenceInterval(t *testing.T) {
	var s struct {
		Intervals map[string]map[string][2]string
	}
	text, err := os.ReadFile("testdata/scipy.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || len(s.Intervals) != 9 {
		t.Fatal(err, len(s.Intervals))
	}
	x, y, z := weft.From(scipy.X), weft.From(scipy.Y), weft.From(scipy.Z)
	three := weft.Range(0, 3)
	for key, wants := range s.Intervals {
		of, number, _ := strings.Cut(key, " ")
		level, err := strconv.ParseFloat(number, 64)
		o := TestOpts{Alternative: Alternative(of)}
		for name, r := range map[string]Result{
			"TTest1Samp": TTest1Samp(x, 0.1, o), "TTestInd": TTestInd(x, y, o), "Welch": TTestInd(x, y, TestOpts{Alternative: o.Alternative, Unequal: true}), "TTestRel": TTestRel(x, z, o),
			"Three": TTest1Samp(x.Slice(three), 0, o), "PearsonR": PearsonR(x, z, o), "PearsonThree": PearsonR(x.Slice(three), z.Slice(three), o),
		} {
			low, high := r.ConfidenceInterval(level)
			for i, got := range []float64{low, high} {
				want, err2 := strconv.ParseFloat(wants[name][i], 64)
				if err != nil || err2 != nil || got != want && !(math.Abs(got-want) < 1e-11*(1+math.Abs(want))) {
					t.Errorf("%s, %s: %v to %v, SciPy's %v", key, name, low, high, wants[name])
				}
			}
		}
	}
}

// TestConfidenceIntervalEdges covers levels 0 and 1, samples without a spread, NaN and what is refused.
func TestConfidenceIntervalEdges(t *testing.T) {
	x := weft.From([]float64{1, 2, 4, 3.5})
	for i, c := range []struct {
		r         Result
		level     float64
		low, high float64
	}{
		{TTest1Samp(x, 0), 0, 2.625, 2.625},
		{TTest1Samp(x, 0), 1, math.Inf(-1), math.Inf(1)},
		{TTest1Samp(weft.Ones(3), 0), 0.9, 1, 1},
		{PearsonR(x, x), 0.9, 1, 1},
		{PearsonR(x, x), 1, -1, 1},
	} {
		if low, high := c.r.ConfidenceInterval(c.level); low != c.low && !(math.Abs(low-c.low) < 1e-12) || high != c.high && !(math.Abs(high-c.high) < 1e-12) {
			t.Error(i, low, high)
		}
	}
	nan := weft.From([]float64{1, 2, math.NaN(), 4})
	for _, r := range []Result{TTest1Samp(nan, 0, TestOpts{Alternative: Less}), PearsonR(nan, x)} {
		if low, high := r.ConfidenceInterval(0.9); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Error(low, high)
		}
	}
	for want, f := range map[string]func(){
		"stats.confidenceinterval: level: is 95: want a probability from 0 to 1": func() { TTest1Samp(x, 0).ConfidenceInterval(95) },
		"stats.confidenceinterval: r: is not a result of TTest1Samp":             func() { SpearmanR(x, x).ConfidenceInterval(0.5) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func ExampleResult_ConfidenceInterval() {
	low, high := TTestInd(weft.From([]float64{5, 6, 7, 8}), weft.From([]float64{1, 3, 2, 4})).ConfidenceInterval(0.95)
	fmt.Printf("%.4f to %.4f\n", low, high)
	// Output: 1.7663 to 6.2337
}
