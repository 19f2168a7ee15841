package special_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"weft"
)

// campaignBounds are measured errors above 4 units where SciPy's at the same point is less.
var campaignBounds = map[string]float64{"Digamma": 1.4e5, "Hyp2F1": 9}

// TestCampaign compares results at random points with mpmath's: errors are at most 4 units, or about SciPy's at the same
// point, or what campaignBounds says. WEFT_SPECIAL names a file of more points, which testdata/campaign.py writes; of that the
// worst points of each function are listed.
func TestCampaign(t *testing.T) {
	file, listed := os.Getenv("WEFT_SPECIAL"), 5
	if file == "" {
		file, listed = "testdata/campaign.txt", 0
	}
	compareVectors(t, file, listed, campaignBounds)
}

// besideBounds are 1.5 times measured errors above 4 units where SciPy's at the same point is less.
var besideBounds = map[string]float64{"GammaIncC": 16, "Hyp1F1": 14, "ModStruve": 9.5}

// TestBeside compares results with mpmath's where terms cancel, orders lose a digit or powers overflow, with the bounds
// of TestCampaign. testdata/beside.py says what arguments these are.
func TestBeside(t *testing.T) { compareVectors(t, "testdata/beside.txt", 0, besideBounds) }

// compareVectors compares results with the vectors in a file. It lists that many points of each function whose errors are
// above 4 units and SciPy's, or reports those above the bounds if listed is 0.
func compareVectors(t *testing.T, file string, listed int, bounds map[string]float64) {
	t.Helper()
	vectors := readVectors(t, file)
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		f := gridFunction(name)
		if f == nil {
			t.Errorf("no function %s", name)
			continue
		}
		v := vectors[name]
		args := make([]any, len(v.args))
		for i := range args {
			args[i] = weft.FromSlice(slices.Clone(v.args[i]))
		}
		got := weft.Data[float64](f(args))
		errs, worst := make([]float64, len(got)), []int{}
		for i, y := range got {
			errs[i] = min(ulps(y, v.hi[i], v.lo[i], 53), 1e18) // as SciPy's where it has no number
			if e := errs[i]; e > 4 && e > 1.1*v.scipy[i] {
				worst = append(worst, i)
			}
		}
		slices.SortFunc(worst, func(i, j int) int { return cmp.Compare(errs[j], errs[i]) })
		describe := func(i int) string {
			where := ""
			for k := range v.args {
				where += fmt.Sprint(" ", v.args[k][i])
			}
			return fmt.Sprintf("%s errs by %.3g ULP at%s: %v, want %v; SciPy by %.3g", name, errs[i], where, got[i], v.hi[i], v.scipy[i])
		}
		t.Logf("%-14s %4d of %5d points above 4 ULP and SciPy; %.3g ULP, SciPy %.3g", name, len(worst), len(got), slices.Max(errs), slices.Max(v.scipy))
		for n, i := range worst {
			if n < listed {
				t.Log(describe(i))
			} else if listed == 0 && !(errs[i] <= bounds[name]) {
				t.Error(describe(i))
			}
		}
	}
}

// TestNarrowHypergeometric compares float32 results, whose sums end earlier and allow more cancellation, with float64's of the
// same arguments: they are those rounded, but for points next to the middle of two float32.
func TestNarrowHypergeometric(t *testing.T) {
	for name, file := range map[string]string{"Hyp1F1": "testdata/beside.txt", "Hyp2F1": "testdata/vectors.txt"} {
		v := readVectors(t, file)[name]
		narrow, wide := make([]any, len(v.args)), make([]any, len(v.args))
		for i := range v.args {
			x := weft.FromSlice(slices.Clone(v.args[i])).To(weft.Float32)
			narrow[i], wide[i] = x, x.To(weft.Float64)
		}
		got, want := weft.Data[float32](gridFunction(name)(narrow)), weft.Data[float64](gridFunction(name)(wide))
		for i, y := range got {
			if !(float64(y) == float64(float32(want[i])) || ulps(float64(y), want[i], 0, 24) < 0.501) {
				t.Errorf("%s of float32, point %d: %v, want %v", name, i, y, want[i])
			}
		}
	}
}
