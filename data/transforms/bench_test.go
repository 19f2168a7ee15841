package transforms_test

import (
	"testing"

	"weft"
	tr "weft/data/transforms"
	"weft/nn"
)

// BenchmarkTransforms takes pictures of the size that training uses; resizing begins from 375x500.
func BenchmarkTransforms(b *testing.B) {
	f := weft.NewGenerator(1).Rand(3, 375, 500)
	u := f.Mul(255).To(weft.Uint8)
	for _, c := range []struct {
		name string
		t    tr.Transform
		x    *weft.Tensor
	}{
		{"resize u8", tr.Resize{Size: []int{224, 224}}, u}, {"resize f32", tr.Resize{Size: []int{224, 224}}, f},
		{"resize cubic u8", tr.Resize{Size: []int{224, 224}, Interpolation: new(nn.ModeCubic)}, u},
		{"resize plain f32", tr.Resize{Size: []int{224, 224}, Antialias: new(false)}, f}, {"resize plain u8", tr.Resize{Size: []int{224, 224}, Antialias: new(false)}, u},
		{"crop u8", tr.RandomResizedCrop{Size: []int{224}}, u}, {"crop f32", tr.RandomResizedCrop{Size: []int{224}}, f},
		{"brightness f32", tr.ColorJitter{Brightness: 0.2}, tr.Crop(f, 0, 0, 224, 224).Contiguous()}, {"contrast f32", tr.ColorJitter{Contrast: 0.2}, tr.Crop(f, 0, 0, 224, 224).Contiguous()},
		{"hue f32", tr.ColorJitter{Hue: 0.2}, tr.Crop(f, 0, 0, 224, 224).Contiguous()}, {"hue u8", tr.ColorJitter{Hue: 0.2}, tr.Crop(u, 0, 0, 224, 224).Contiguous()},
		{"affine f32", tr.RandomAffine{Degrees: 20}, tr.Crop(f, 0, 0, 224, 224).Contiguous()},
		{"affine linear f32", tr.RandomAffine{Degrees: 20, Interpolation: nn.ModeLinear}, tr.Crop(f, 0, 0, 224, 224).Contiguous()},
		{"blur f32", tr.GaussianBlur{KernelSize: []int{5}}, tr.Crop(f, 0, 0, 224, 224).Contiguous()},
		{"cifar", tr.Compose{tr.RandomCrop{Size: []int{32}, Padding: []int{4}}, tr.RandomHorizontalFlip{}, tr.ToDtype{DType: weft.Float32, Scale: true},
			tr.Normalize{Mean: []float64{.5, .5, .5}, Std: []float64{.2, .2, .2}}}, tr.Crop(u, 0, 0, 32, 32).Contiguous()},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := weft.NewGenerator(1)
			for b.Loop() {
				y := c.t.Apply(c.x, g)
				if y != c.x {
					y.Sum() // waits
				}
			}
		})
	}
}

// BenchmarkResizeOfSizes resizes pictures of 200 sizes in turn: pictures of a data set have their own.
func BenchmarkResizeOfSizes(b *testing.B) {
	g := weft.NewGenerator(1)
	for _, d := range []weft.DType{weft.Uint8, weft.Float32} {
		var xs []*weft.Tensor
		for i := range 200 {
			xs = append(xs, g.Rand(3, 330+i%91, 450+i%101).Mul(255).To(d))
		}
		b.Run(d.String(), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				tr.Resize{Size: []int{224, 224}}.Apply(xs[i%200], nil)
			}
		})
	}
}
