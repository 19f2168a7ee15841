package signal_test

import (
	"errors"
	"math"
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
