package fft_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"weft"
	"weft/fft"
	"weft/internal/tensortest"
	"weft/sym"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// A vector is a result of NumPy, SciPy or PyTorch: testdata/make.py writes them.
type vector struct {
	Shape   []int
	Complex bool
	X       []float64
}

func vectors(t *testing.T) (v map[string]vector) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// reals and complexes are the arguments of make.py.
func reals(shape ...int) *weft.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i*7919%1009)/1009 - 0.5
	}
	return weft.FromSlice(x, shape...)
}

func complexes(shape ...int) *weft.Tensor {
	re := reals(shape...)
	x := make([]float64, re.Size())
	for i := range x {
		x[i] = float64(i*104729%997)/997 - 0.5
	}
	return weft.Complex(re, weft.FromSlice(x, shape...))
}

// numbers are the elements, parts by turns.
func numbers(x *weft.Tensor) []float64 {
	if !x.DType().Complex() {
		return weft.Data[float64](x.To(weft.Float64).Contiguous())
	}
	return numbers(weft.Stack([]*weft.Tensor{x.Real(), x.Imag()}, -1))
}

func compare(t *testing.T, name string, got *weft.Tensor, want vector, within float64) {
	t.Helper()
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape) || got.DType().Complex() != want.Complex {
		t.Errorf("%s: %v %v, want %v, complex %v", name, got.DType(), got.Shape(), want.Shape, want.Complex)
		return
	}
	scale := 0.0
	for _, x := range want.X {
		scale = max(scale, math.Abs(x))
	}
	for i, x := range numbers(got) {
		if !(math.Abs(x-want.X[i]) <= within*scale) {
			t.Errorf("%s: number %d is %v, want %v", name, i, x, want.X[i])
			return
		}
	}
}

func axis(i int) *int { return &i }
func no() *bool       { b := false; return &b }

// calls are the functions of make.py's vectors, of real and complex arguments [2 3 8].
func calls() map[string]func(x, z *weft.Tensor) *weft.Tensor {
	c := map[string]func(x, z *weft.Tensor) *weft.Tensor{
		"fft axis 1":       func(x, z *weft.Tensor) *weft.Tensor { return fft.FFT(z, fft.Opts{Axis: axis(1)}) },
		"fft axis 0, n 4":  func(x, z *weft.Tensor) *weft.Tensor { return fft.FFT(z, fft.Opts{N: 4, Axis: axis(0)}) },
		"fft n 6":          func(x, z *weft.Tensor) *weft.Tensor { return fft.FFT(z, fft.Opts{N: 6}) },
		"rfft n 11":        func(x, z *weft.Tensor) *weft.Tensor { return fft.RFFT(x, fft.Opts{N: 11}) },
		"irfft n 7 axis 1": func(x, z *weft.Tensor) *weft.Tensor { return fft.IRFFT(z, fft.Opts{N: 7, Axis: axis(1)}) },
		"fft2":             func(x, z *weft.Tensor) *weft.Tensor { return fft.FFT2(x) },
		"ifft2":            func(x, z *weft.Tensor) *weft.Tensor { return fft.IFFT2(z, fft.NOpts{N: []int{4, 6}}) },
		"rfft2":            func(x, z *weft.Tensor) *weft.Tensor { return fft.RFFT2(x, fft.NOpts{Axes: []int{0, 1}}) },
		"irfft2":           func(x, z *weft.Tensor) *weft.Tensor { return fft.IRFFT2(z) },
		"ifftn":            func(x, z *weft.Tensor) *weft.Tensor { return fft.IFFTN(z, fft.NOpts{Axes: []int{0, 2}}) },
		"rfftn":            func(x, z *weft.Tensor) *weft.Tensor { return fft.RFFTN(x) },
		"irfftn":           func(x, z *weft.Tensor) *weft.Tensor { return fft.IRFFTN(z, fft.NOpts{N: []int{3, 5, 9}}) },
		"fftshift":         func(x, z *weft.Tensor) *weft.Tensor { return fft.FFTShift(x) },
		"ifftshift":        func(x, z *weft.Tensor) *weft.Tensor { return fft.IFFTShift(x, 1) },
	}
	for _, norm := range []fft.Norm{fft.Backward, fft.Ortho, fft.Forward} {
		o := fft.Opts{Norm: norm}
		put := func(name string, f func(x, z *weft.Tensor) *weft.Tensor) { c[name+" "+string(norm)] = f }
		put("fft", func(x, z *weft.Tensor) *weft.Tensor { return fft.FFT(z, o) })
		put("ifft", func(x, z *weft.Tensor) *weft.Tensor { return fft.IFFT(z, o) })
		put("rfft", func(x, z *weft.Tensor) *weft.Tensor { return fft.RFFT(x, o) })
		put("irfft", func(x, z *weft.Tensor) *weft.Tensor { return fft.IRFFT(z, o) })
		put("hfft", func(x, z *weft.Tensor) *weft.Tensor { return fft.HFFT(z, o) })
		put("ihfft", func(x, z *weft.Tensor) *weft.Tensor { return fft.IHFFT(x, o) })
		put("fftn", func(x, z *weft.Tensor) *weft.Tensor { return fft.FFTN(z, fft.NOpts{Norm: norm}) })
		for kind := 1; kind <= 4; kind++ {
			p, q := fft.CosineOpts{Type: &kind, Norm: norm, Axis: axis(1)}, fft.CosineOpts{Type: &kind, Norm: norm}
			put(fmt.Sprint("dct", kind), func(x, z *weft.Tensor) *weft.Tensor { return fft.DCT(x, p) })
			put(fmt.Sprint("idct", kind), func(x, z *weft.Tensor) *weft.Tensor { return fft.IDCT(x, q) })
			put(fmt.Sprint("dst", kind), func(x, z *weft.Tensor) *weft.Tensor { return fft.DST(x, p) })
			put(fmt.Sprint("idst", kind), func(x, z *weft.Tensor) *weft.Tensor { return fft.IDST(x, q) })
		}
	}
	return c
}

// TestVectors compares every function with NumPy and SciPy: float64, float32, and of views.
func TestVectors(t *testing.T) {
	v := vectors(t)
	x, z := reals(2, 3, 8), complexes(2, 3, 8)
	turn := func(t *weft.Tensor) *weft.Tensor { return t.Permute(2, 0, 1).Contiguous().Permute(1, 2, 0) }
	for name, f := range calls() {
		want, ok := v[name]
		if !ok {
			t.Errorf("%s has no vector", name)
		}
		compare(t, name, f(x, z), want, 1e-15*20)
		compare(t, name+" of float32", f(x.To(weft.Float32), z.To(weft.Complex64)), want, 1e-6)
		compare(t, name+" of a view", f(turn(x), turn(z)), want, 1e-15*20)
	}
	spacing := 0.25
	compare(t, "fftfreq 7", fft.FFTFreq(7, fft.FreqOpts{Spacing: &spacing}), v["fftfreq 7"], 1e-15)
	compare(t, "fftfreq 8", fft.FFTFreq(8), v["fftfreq 8"], 0)
	spacing = 2
	compare(t, "rfftfreq 9", fft.RFFTFreq(9, fft.FreqOpts{Spacing: &spacing}), v["rfftfreq 9"], 1e-15)
}

// TestSTFT compares short-time transforms with PyTorch.
func TestSTFT(t *testing.T) {
	v := vectors(t)
	s := reals(2, 50)
	w := weft.ArangeOf[int](weft.Float64, 12).Cos().Add(2)
	o := fft.STFTOpts{NFFT: 15, HopLength: 5, Window: w, Normalized: true}
	z := fft.STFT(s, o)
	compare(t, "stft", fft.STFT(s, fft.STFTOpts{NFFT: 16}), v["stft"], 1e-14)
	compare(t, "stft window", z, v["stft window"], 1e-14)
	p := fft.STFTOpts{NFFT: 16, HopLength: 6, Window: w, PadMode: "constant"}
	compare(t, "stft constant", fft.STFT(s, p), v["stft constant"], 1e-14)
	p.PadMode = ""
	compare(t, "stft complex", fft.STFT(complexes(40), p), v["stft complex"], 1e-14)
	p.Center, p.Onesided = no(), no()
	compare(t, "stft plain", fft.STFT(s, p), v["stft plain"], 1e-14)
	compare(t, "istft", fft.ISTFT(z.Mul(2), o), v["istft"], 1e-14)
	o.Length = 47
	compare(t, "istft length", fft.ISTFT(z.Mul(2), o), v["istft length"], 1e-14)
}

// TestGradients compares gradients with PyTorch, eager and compiled, and second ones with differences.
func TestGradients(t *testing.T) {
	v := vectors(t)
	cases := []struct {
		name string
		x    *weft.Tensor
		loss func(x *weft.Tensor) *weft.Tensor
	}{
		{"gradient rfft", reals(3, 7), func(x *weft.Tensor) *weft.Tensor { return fft.RFFT(x, fft.Opts{Norm: fft.Ortho}).Abs().Pow(3).Sum() }},
		{"gradient irfft", complexes(3, 6), func(x *weft.Tensor) *weft.Tensor { return fft.IRFFT(x, fft.Opts{N: 9}).Pow(3).Sum() }},
		{"gradient fft", complexes(3, 6), func(x *weft.Tensor) *weft.Tensor { return fft.FFT(x, fft.Opts{N: 9}).Abs().Pow(3).Sum() }},
	}
	for _, c := range cases {
		grad := func(x *weft.Tensor) *weft.Tensor {
			x = x.Detach().RequireGrad()
			return weft.Grad(c.loss(x), []*weft.Tensor{x})[0]
		}
		g := grad(c.x)
		compare(t, c.name, g, v[c.name], 1e-13)
		f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return grad(x) })
		y, err := f.Call(c.x)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(numbers(y)) != fmt.Sprint(numbers(g)) {
			t.Errorf("%s: the compiled function has other bits", c.name)
		}
		secondOrder(t, c.name, c.x, c.loss)
	}
}

// secondOrder compares the gradient of a sum of a gradient with differences of the gradient.
func secondOrder(t *testing.T, name string, x *weft.Tensor, loss func(x *weft.Tensor) *weft.Tensor) {
	t.Helper()
	weights := func(g *weft.Tensor) *weft.Tensor {
		if g.DType().Complex() {
			return g.Real().Mul(0.3).Add(g.Imag().Mul(0.7)).Sum()
		}
		return g.Mul(0.3).Sum()
	}
	first := func(x *weft.Tensor) *weft.Tensor {
		return weights(weft.Grad(loss(x), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0])
	}
	leaf := x.Detach().RequireGrad()
	second := numbers(weft.Grad(first(leaf), []*weft.Tensor{leaf})[0])
	flat := numbers(x)
	const h = 1e-5
	for _, i := range []int{0, 1, 4, len(flat) - 1} {
		at := func(d float64) float64 {
			y := append([]float64{}, flat...)
			y[i] += d
			moved := weft.FromSlice(y, len(y))
			if x.DType().Complex() {
				parts := moved.Reshape(append(append([]int{}, x.Shape()...), 2)...)
				moved = weft.Complex(parts.Slice(weft.Ellipsis, weft.Index(0)), parts.Slice(weft.Ellipsis, weft.Index(1)))
			} else {
				moved = moved.Reshape(x.Shape()...)
			}
			return first(moved.Detach().RequireGrad()).Item()
		}
		if slope := (at(h) - at(-h)) / (2 * h); math.Abs(slope-second[i]) > 1e-6*(1+math.Abs(slope)) {
			t.Errorf("%s: second derivative %d is %v, differences %v", name, i, second[i], slope)
		}
	}
}

// TestVmapAndSym compares a batch by Vmap, and a function of package sym, with plain calls.
func TestVmapAndSym(t *testing.T) {
	x := reals(2, 3, 8)
	f := func(x ...*weft.Tensor) *weft.Tensor { return fft.RFFT(x[0], fft.Opts{Axis: axis(0)}).Abs() }
	y := weft.Vmap(f)(x)
	want := fmt.Sprint(numbers(fft.RFFT(x, fft.Opts{Axis: axis(1)}).Abs()))
	if fmt.Sprint(numbers(y)) != want {
		t.Error("Vmap of RFFT has other numbers than RFFT of the batch")
	}
	v := sym.Matrix("x", weft.Float64)
	g, err := sym.Function(sym.In(v), sym.Out(sym.Apply(fft.RFFT, v)[0]))
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.Call(x.Slice(weft.Index(0)))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(numbers(out[0])) != fmt.Sprint(numbers(fft.RFFT(x.Slice(weft.Index(0))))) {
		t.Error("sym.Apply of RFFT has other numbers")
	}
}

// TestMistakes names the argument at fault.
func TestMistakes(t *testing.T) {
	x, z := reals(3, 8), complexes(3, 8)
	for want, f := range map[string]func(){
		"fft.fft: axis":             func() { fft.FFT(z, fft.Opts{Axis: axis(2)}) },
		"fft.fft: N: is -1":         func() { fft.FFT(z, fft.Opts{N: -1}) },
		"fft.fft: Norm":             func() { fft.FFT(z, fft.Opts{Norm: "unit"}) },
		"fft.rfft: x: has elements": func() { fft.RFFT(z) },
		"fft.fftn: N: has 1":        func() { fft.FFTN(z, fft.NOpts{N: []int{2}, Axes: []int{0, 1}}) },
		"fft.irfft: N: is 0":        func() { fft.IRFFT(z.Slice(weft.All, weft.Range(0, 1))) },
		"fft.dct: Type":             func() { fft.DCT(x, fft.CosineOpts{Type: new(5)}) },
		"fft.stft: NFFT":            func() { fft.STFT(x, fft.STFTOpts{}) },
		"fft.stft: x: has 8":        func() { fft.STFT(x, fft.STFTOpts{NFFT: 16}) },
		"fft.istft: z":              func() { fft.ISTFT(z, fft.STFTOpts{NFFT: 16}) },
	} {
		err := weft.Try(f)
		if err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
