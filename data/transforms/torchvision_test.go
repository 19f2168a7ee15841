package transforms_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	tr "weft/data/transforms"
	"weft/nn"
	"weft/safetensors"
)

// deterministic are the cases of testdata/cases.py.
var deterministic = map[string]func(x *weft.Tensor) *weft.Tensor{
	"resize short":         apply(tr.Resize{Size: []int{5}}),
	"resize max":           apply(tr.Resize{Size: []int{7}, MaxSize: new(8)}),
	"resize up":            apply(tr.Resize{Size: []int{13, 17}}),
	"resize plain":         apply(tr.Resize{Size: []int{5, 6}, Antialias: new(false)}),
	"resize cubic":         apply(tr.Resize{Size: []int{6, 5}, Interpolation: new(nn.ModeCubic)}),
	"resize cubic plain":   apply(tr.Resize{Size: []int{12, 5}, Interpolation: new(nn.ModeCubic), Antialias: new(false)}),
	"resize nearest":       apply(tr.Resize{Size: []int{5, 16}, Interpolation: new(nn.ModeNearest)}),
	"resize nearest exact": apply(tr.Resize{Size: []int{5, 16}, Interpolation: new(nn.ModeNearestExact)}),
	"center crop":          apply(tr.CenterCrop{Size: []int{4, 5}}),
	"center crop larger":   apply(tr.CenterCrop{Size: []int{13, 6}}),
	"pad":                  apply(tr.Pad{Padding: []int{1, 2, 3, 0}, Fill: []float64{1}}),
	"pad channels":         apply(tr.Pad{Padding: []int{1, 2}, Fill: []float64{1, 0, 1}}),
	"pad reflect":          apply(tr.Pad{Padding: []int{2}, Mode: nn.PadReflect}),
	"pad edge":             apply(tr.Pad{Padding: []int{2, 1, 0, 3}, Mode: nn.PadReplicate}),
	"affine":               affine(tr.AffineOpts{Angle: 25, Translate: [2]float64{1, -2}, Scale: new(1.3), Shear: [2]float64{10, -5}, Interpolation: nn.ModeLinear}),
	"affine nearest":       affine(tr.AffineOpts{Translate: [2]float64{2, 1}}),
	"affine center":        affine(tr.AffineOpts{Angle: -40, Scale: new(0.8), Center: &[2]float64{2, 3}, Interpolation: nn.ModeLinear, Fill: []float64{1}}),
	"affine fill":          affine(tr.AffineOpts{Angle: 10, Translate: [2]float64{3, 0}, Shear: [2]float64{20, 0}, Fill: []float64{0, 1, 0}}),
	"rotate":               rotate(33, tr.RotateOpts{Interpolation: nn.ModeLinear}),
	"rotate expand":        rotate(-70, tr.RotateOpts{Interpolation: nn.ModeLinear, Expand: true}),
	"rotate 90":            rotate(90, tr.RotateOpts{Expand: true}),
	"rotate 270":           rotate(-90, tr.RotateOpts{Expand: true}),
	"rotate 180":           rotate(180, tr.RotateOpts{}),
	"rotate 90 inside":     rotate(90, tr.RotateOpts{Interpolation: nn.ModeLinear}),
	"normalize": apply(tr.Compose{tr.ToDtype{DType: weft.Float32, Scale: true},
		tr.Normalize{Mean: []float64{0.4, 0.5, 0.6}, Std: []float64{0.2, 0.3, 0.4}}}),
	"to uint8":       apply(tr.ToDtype{DType: weft.Uint8, Scale: true}),
	"to int16":       apply(tr.ToDtype{DType: weft.Int16, Scale: true}),
	"to float64":     apply(tr.ToDtype{DType: weft.Float64, Scale: true}),
	"grayscale":      apply(tr.Grayscale{}),
	"grayscale 3":    apply(tr.Grayscale{Channels: new(3)}),
	"brightness":     by(tr.AdjustBrightness, 1.7),
	"contrast":       by(tr.AdjustContrast, 0.4),
	"contrast up":    by(tr.AdjustContrast, 1.8),
	"saturation":     by(tr.AdjustSaturation, 0.3),
	"saturation up":  by(tr.AdjustSaturation, 2.5),
	"hue":            by(tr.AdjustHue, 0.2),
	"hue down":       by(tr.AdjustHue, -0.45),
	"gamma":          func(x *weft.Tensor) *weft.Tensor { return tr.AdjustGamma(x, 0.6, 1.2) },
	"sharpness":      by(tr.AdjustSharpness, 1.9),
	"sharpness down": by(tr.AdjustSharpness, 0.2),
	"invert":         tr.Invert,
	"solarize": func(x *weft.Tensor) *weft.Tensor {
		return tr.Solarize(x, map[bool]float64{true: 0.6, false: 150}[x.DType().Float()])
	},
	"posterize":    func(x *weft.Tensor) *weft.Tensor { return tr.Posterize(x, 3) },
	"autocontrast": tr.AutoContrast,
	"equalize":     func(x *weft.Tensor) *weft.Tensor { return tr.Equalize(x.Tile(1, 2, 3)) },
	"perspective":  func(x *weft.Tensor) *weft.Tensor { return tr.Perspective(x, before, after) },
	"perspective back": func(x *weft.Tensor) *weft.Tensor {
		return tr.Perspective(x, after, before, tr.WarpOpts{Fill: []float64{1}})
	},
	"perspective fill": func(x *weft.Tensor) *weft.Tensor {
		return tr.Perspective(x, before, after, tr.WarpOpts{Interpolation: new(nn.ModeNearest), Fill: []float64{0, 1, 0}})
	},
	"elastic": func(x *weft.Tensor) *weft.Tensor { return tr.Elastic(x, displacement(x, 1)) },
	"elastic fill": func(x *weft.Tensor) *weft.Tensor {
		return tr.Elastic(x, displacement(x, 2), tr.WarpOpts{Interpolation: new(nn.ModeNearest), Fill: []float64{1}})
	},
	"shear": affine(tr.AffineOpts{Shear: [2]float64{0, 17}, Center: &[2]float64{}}),
	"blur":  apply(tr.GaussianBlur{KernelSize: []int{5, 3}, Sigma: &[2]float64{1.1, 1.1}}),
}

// before and after are corners that move.
var before, after = [4][2]float64{{0, 0}, {7, 0}, {7, 8}, {0, 8}}, [4][2]float64{{1, 2}, {6, 0}, {7, 7}, {0, 6}}

func displacement(x *weft.Tensor, by float64) *weft.Tensor {
	h, w := x.Dim(x.Rank()-2), x.Dim(x.Rank()-1)
	v := weft.Vars{"i": weft.Arange(0.0, h).Reshape(h, 1), "j": weft.Arange(0.0, w), "by": by}
	return weft.Stack([]*weft.Tensor{weft.Expr("sin(i+2*j)*0.3*by", v), weft.Expr("cos(3*i-j)*0.2*by", v)}, 2)
}

func apply(t tr.Transform) func(x *weft.Tensor) *weft.Tensor {
	return func(x *weft.Tensor) *weft.Tensor { return t.Apply(x, nil) }
}

func affine(o tr.AffineOpts) func(x *weft.Tensor) *weft.Tensor {
	return func(x *weft.Tensor) *weft.Tensor { return tr.Affine(x, o) }
}

func rotate(degrees float64, o tr.RotateOpts) func(x *weft.Tensor) *weft.Tensor {
	return func(x *weft.Tensor) *weft.Tensor { return tr.Rotate(x, degrees, o) }
}

func by(f func(x *weft.Tensor, by float64) *weft.Tensor, factor float64) func(x *weft.Tensor) *weft.Tensor {
	return func(x *weft.Tensor) *weft.Tensor { return f(x, factor) }
}

// alike compares floats within 4e-6. Integers may differ by 1 in a fiftieth of the pixels, where rounding
// decides; resized ones are equal.
func alike(t *testing.T, what string, got, want *weft.Tensor) {
	t.Helper()
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%s is %s%v, want %s%v", what, got.DType(), got.Shape(), want.DType(), want.Shape())
		return
	}
	most, off := 4e-6, 0
	if !want.DType().Float() {
		most = 1
	}
	wants := weft.Data[float64](want.To(weft.Float64))
	for i, v := range weft.Data[float64](got.Detach().To(weft.Float64).Contiguous()) {
		d := math.Abs(v - wants[i])
		if !(d <= most) {
			t.Errorf("%s: element %d is %v, want %v", what, i, v, wants[i])
			return
		}
		if d > 0 {
			off++
		}
	}
	rare := len(wants) / 50
	if strings.HasPrefix(what, "u/resize") {
		rare = 0
	}
	if most == 1 && off > rare {
		t.Errorf("%s: %d of %d elements differ by 1", what, off, len(wants))
	}
}

// TestTransformsMatchTorchvision: also of batches, whose pictures are transformed alike, and of views.
func TestTransformsMatchTorchvision(t *testing.T) {
	want, _, err := safetensors.ReadFile("testdata/torchvision.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != 2+2*len(deterministic) {
		t.Errorf("the file has %d tensors, and there are %d cases", len(want), len(deterministic))
	}
	for _, kind := range []string{"f/", "u/"} {
		x := want[kind+"x"]
		view := x.Transpose(1, 2).Contiguous().Transpose(1, 2)
		for name, f := range deterministic {
			alike(t, kind+name, f(x), want[kind+name])
			alike(t, kind+name+" of a view", f(view), want[kind+name])
			if name == "equalize" {
				continue
			}
			alike(t, kind+name+" of a batch", f(weft.Stack([]*weft.Tensor{x.Mul(0).To(x.DType()), x}, 0)).At(1), want[kind+name])
		}
	}
}
