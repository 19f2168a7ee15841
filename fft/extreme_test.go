package fft_test

import (
	"errors"
	"math"
	"testing"

	"weft"
	"weft/fft"
)

func TestHugeSizesGiveErrors(t *testing.T) {
	x := weft.Arange(16).To(weft.Float64)
	for name, f := range map[string]func(){
		"frequencies":      func() { fft.FFTFreq(1 << 62) },
		"half frequencies": func() { fft.RFFTFreq(math.MaxInt) },
		"memory":           func() { fft.FFTFreq(1 << 45) },
		"frame":            func() { fft.STFT(x, fft.STFTOpts{NFFT: math.MaxInt32}) },
		"inverse frame":    func() { fft.ISTFT(weft.Ones(3, 5), fft.STFTOpts{NFFT: math.MaxInt32}) },
		"hop":              func() { fft.ISTFT(weft.Ones(3, 5), fft.STFTOpts{NFFT: 4, HopLength: 1 << 61}) },
		"zero window":      func() { fft.STFT(x, fft.STFTOpts{NFFT: 4, Window: &weft.Tensor{}}) },
	} {
		var typed *weft.Error
		if err := weft.Try(f); !errors.As(err, &typed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
