package onnx

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/internal/wire"
	"weft/optim"
)

// A model has the same results and trains to the same weights wherever the file has its weights, and the file
// stays as it is. Goroutines share it.
func TestWeightsAtAnyAddress(t *testing.T) {
	g := weft.NewGenerator(5)
	w, filters, x := g.Normal(0, 1, 12*12*16, 20), g.Normal(0, 1, 16, 128, 3, 3), g.Normal(0, 1, 2, 128, 12, 12)
	f := func(x *weft.Tensor) *weft.Tensor {
		y := x.Conv2d(filters, nil, weft.ConvOpts{Padding: [2]int{1, 1}}).Relu()
		return y.Reshape(2, -1).MatMul(w)
	}
	var b bytes.Buffer
	if err := Write(&b, f, []any{x}, SaveOpts{Weights: map[string]*weft.Tensor{"w": w, "filters": filters}}); err != nil {
		t.Fatal(err)
	}
	want := weft.Data[float32](f(x))
	var trained [][]float32
	for shift := range 4 {
		file := append(wire.AppendBytes(nil, 2, make([]byte, shift)), b.Bytes()...) // the producer's name, which comes again
		path := filepath.Join(t.TempDir(), "m.onnx")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		run := func() []float32 {
			out, err := m.Run(map[string]*weft.Tensor{m.Inputs()[0].Name: x})
			if err != nil {
				t.Error(err)
				return want
			}
			return weft.Data[float32](out[m.Outputs()[0].Name])
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 3 {
					if got := run(); !slices.Equal(got, want) {
						t.Errorf("shift %d: other results", shift)
					}
				}
			})
		}
		all.Wait()
		opt := optim.NewSGD(func(yield func(string, *weft.Tensor) bool) {
			_ = yield("w", m.Weights["w"]) && yield("filters", m.Weights["filters"])
		}, optim.SGDOpts{LR: new(1e-3), Momentum: 0.9})
		for range 2 {
			m.Forward(x).Square().Mean().Backward()
			opt.Step()
			opt.ZeroGrad()
		}
		trained = append(trained, append(run(), weft.Data[float32](m.Weights["filters"].Detach())...))
		if slices.Equal(trained[shift][:len(want)], want) || !slices.Equal(trained[shift], trained[0]) {
			t.Errorf("shift %d: trained to other weights, or not at all", shift)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, file) {
			t.Errorf("shift %d: the file was written", shift)
		}
	}
}
