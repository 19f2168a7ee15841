package fft_test

import (
	"slices"
	"testing"

	"weft"
	"weft/fft"
)

// The results are NumPy's.
func TestFrequencies(t *testing.T) {
	for n, want := range map[int][]float64{1: {0}, 2: {0, -0.5}, 3: {0, 1. / 3, -1. / 3}, 4: {0, 0.25, -0.5, -0.25}, 5: {0, 0.2, 0.4, -0.4, -0.2}} {
		if got := weft.Data[float64](fft.FFTFreq(n)); !slices.Equal(got, want) {
			t.Errorf("FFTFreq(%d) is %v, want %v", n, got, want)
		}
	}
	for n, want := range map[int][]float64{1: {0}, 2: {0, 0.5}, 3: {0, 1. / 3}, 4: {0, 0.25, 0.5}, 5: {0, 0.2, 0.4}} {
		if got := weft.Data[float64](fft.RFFTFreq(n)); !slices.Equal(got, want) {
			t.Errorf("RFFTFreq(%d) is %v, want %v", n, got, want)
		}
	}
}
