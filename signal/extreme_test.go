package signal_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/cmplx"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/signal"
)

func TestHostileArgumentsGiveErrors(t *testing.T) {
	inf, nan := complex(math.Inf(1), 0), complex(math.NaN(), 1)
	for name, f := range map[string]func(){
		"infinite pole":  func() { signal.ZPK{P: []complex128{inf}}.SOS() },
		"infinite zero":  func() { signal.ZPK{P: []complex128{0.5}, Z: []complex128{inf}}.SOS() },
		"pair of NaN":    func() { signal.ZPK{P: []complex128{nan, complex(math.NaN(), -1)}}.SOS() },
		"NaN in tf":      func() { signal.ZPK{P: []complex128{nan, complex(math.NaN(), -1)}}.TF() },
		"savgol's order": func() { signal.SavgolCoeffs(1<<20-1, 1<<20-2) },
	} {
		var typed *weft.Error
		if err := weft.Try(f); !errors.As(err, &typed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEllipOfEqualLosses: the poles of losses that are equal but for rounding would be on the unit circle.
func TestEllipOfEqualLosses(t *testing.T) {
	for _, rs := range []float64{40 + 1e-7, 40 + 1e-13} {
		if err := weft.Try(func() { signal.Ellip(3, 40, rs, []float64{0.3}) }); err == nil || !strings.Contains(err.Error(), "signal.ellip: rs: ") {
			t.Error(rs, err)
		}
	}
}

// TestEllipOfNearLosses compares designs whose poles nearly reach the unit circle with testdata/elliptic.py, which computes
// them in 60 digits.
func TestEllipOfNearLosses(t *testing.T) {
	var cases []struct {
		N          int
		Rp, Rs, Wn float64
		Z, P       [][2]float64
		K          float64
	}
	text, err := os.ReadFile("testdata/elliptic.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		f := signal.Ellip(c.N, c.Rp, c.Rs, []float64{c.Wn})
		if math.Abs(f.K-c.K) > 1e-14*c.K || len(f.Z) != c.N || len(f.P) != c.N {
			t.Errorf("order %d, losses %v and %v: gain %v, want %v", c.N, c.Rp, c.Rs, f.K, c.K)
		}
		for _, list := range []struct {
			got  []complex128
			want [][2]float64
		}{{f.Z, c.Z}, {f.P, c.P}} {
			for _, v := range list.want {
				if !slices.ContainsFunc(list.got, func(x complex128) bool { return cmplx.Abs(x-complex(v[0], v[1])) < 5e-15 }) {
					t.Errorf("order %d, losses %v and %v: %v lacks %v", c.N, c.Rp, c.Rs, list.got, v)
				}
			}
		}
	}
}

// TestWienerOfZeros: neither variance nor noise is left, and SciPy gives NaN.
func TestWienerOfZeros(t *testing.T) {
	if y := signal.Wiener(weft.Zeros(4)); y.Abs().Sum().Item() != 0 {
		t.Error(y)
	}
}

// A window of 2001 samples took minutes with a fit for each sample of both ends. A polynomial of the fitted
// degree is its own result, at the ends as well.
func TestSavgolFilterOfLongWindow(t *testing.T) {
	const n = 3000
	x := weft.ArangeOf[int](weft.Float64, n).Mul(1.0 / n)
	x = x.Mul(x).Mul(x).Mul(x).Sub(x)
	y := signal.SavgolFilter(x, 2001, 8)
	if d := y.Sub(x).Abs().Max().Item(); !(d < 1e-12) {
		t.Errorf("differs by %g", d)
	}
}
