package signal_test

import (
	"testing"

	"weft"
	"weft/signal"
)

// TestDesignsHaveOneDigest pins the bits of designs, windows and filters.
func TestDesignsHaveOneDigest(t *testing.T) {
	var all []*weft.Tensor
	for _, n := range []int{1, 4, 7} {
		for _, band := range [][]float64{{0.3}, {0.2, 0.45}} {
			for _, f := range []signal.ZPK{signal.Butter(n, band), signal.Cheby1(n, 1, band), signal.Cheby2(n, 40, band)} {
				b, a := f.TF()
				all = append(all, b, a, f.SOS())
			}
		}
	}
	all = append(all, signal.FirWin(21, []float64{0.3}), signal.GetWindow("kaiser", 33, signal.WindowOpts{Beta: new(8.6)}))
	if got, want := weft.Digest(all...), "b5db5e98e73aefb580a19736a894165f21d2d49f1987d7c6a3d07c466679bdc8"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}
