package ndimage_test

import (
	"testing"

	"weft"
	"weft/ndimage"
)

// TestMorphologyIsCompiled holds compiled filters by structures, which are read when they are traced, to the eager
// results, and refuses structures that only a call knows.
func TestMorphologyIsCompiled(t *testing.T) {
	x := weft.From([][]float64{{1, 1, 1, 0}, {1, 0, 1, 2}, {1, 1, 1, 0}})
	s := weft.From([][]float64{{0, 1, 0}, {1, 1, 0}, {0, 0, 0}})
	type unary = func(x *weft.Tensor) *weft.Tensor
	for name, f := range map[string]unary{
		"erosion":  func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryErosion(x) },
		"dilation": func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryDilation(x, ndimage.BinaryOpts{Structure: s}) },
		"to the end": func(x *weft.Tensor) *weft.Tensor {
			return ndimage.BinaryErosion(x, ndimage.BinaryOpts{Iterations: new(0)})
		},
		"holes":       func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryFillHoles(x) },
		"hit or miss": func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryHitOrMiss(x, ndimage.HitOpts{Hit: s}) },
		"grey":        func(x *weft.Tensor) *weft.Tensor { return ndimage.GreyErosion(x, nil, ndimage.GreyOpts{Footprint: s}) },
		"structure":   func(x *weft.Tensor) *weft.Tensor { return ndimage.GreyDilation(x, nil, ndimage.GreyOpts{Structure: s}) },
		"median": func(x *weft.Tensor) *weft.Tensor {
			return ndimage.MedianFilter(x, nil, ndimage.WindowOpts{Footprint: s})
		},
	} {
		got, err := weft.Compile(f).Call(x)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if want := f(x); weft.Digest(got) != weft.Digest(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	refused := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		return ndimage.BinaryErosion(x, ndimage.BinaryOpts{Structure: x})
	})
	if _, err := refused.Call(s); err == nil {
		t.Error("a structure that a call gives is accepted")
	}
}
