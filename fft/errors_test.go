package fft

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"weft"
)

// TestErrors compares the errors of transforms, relative to the values' length, with SciPy's; testdata/errors.py computed both with mpmath.
func TestErrors(t *testing.T) {
	var cases []struct {
		Name       string
		N          int
		At         []int
		Real, Imag [][2]float64
		SciPy      [2]float64 // of float64 and float32
	}
	text, err := os.ReadFile("testdata/errors.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	signal := func(n, salt int) *weft.Tensor {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(float32(float64(i*salt%1009)/1009 - 0.5))
		}
		return weft.From(x)
	}
	for _, c := range cases {
		x := signal(c.N, 7919)
		if c.Name == "fft" || c.Name == "ifft" {
			x = weft.Complex(x, signal(c.N, 104729))
		}
		for i, d := range [][2]weft.DType{{weft.Float64, weft.Complex128}, {weft.Float32, weft.Complex64}} {
			var in *weft.Tensor
			if x.DType().Complex() {
				in = x.To(d[1])
			} else {
				in = x.To(d[0])
			}
			var y *weft.Tensor
			switch c.Name {
			case "fft":
				y = FFT(in)
			case "ifft":
				y = IFFT(in)
			case "rfft":
				y = RFFT(in)
			case "dct":
				y = DCT(in)
			}
			y = y.To(weft.Complex128)
			re, im := weft.Data[float64](y.Real().Contiguous()), weft.Data[float64](y.Imag().Contiguous())
			wrong, size := 0.0, 0.0
			for j, k := range c.At {
				add := func(got float64, want [2]float64) {
					d := got - want[0] - want[1]
					wrong, size = wrong+d*d, size+want[0]*want[0]
				}
				if add(re[k], c.Real[j]); len(c.Imag) > 0 {
					add(im[k], c.Imag[j])
				}
			}
			got := math.Sqrt(wrong / size)
			t.Logf("%-5s %5d %-8v %.2g, SciPy %.2g", c.Name, c.N, d[0], got, c.SciPy[i])
			if got > 1.5*c.SciPy[i] {
				t.Errorf("%s of %d, %v: error %.2g, SciPy's %.2g", c.Name, c.N, d[0], got, c.SciPy[i])
			}
		}
	}
}
