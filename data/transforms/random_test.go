package transforms_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"weft"
	tr "weft/data/transforms"
	"weft/nn"
)

// random are transforms that draw, each with the shape that it makes of [3, 9, 12].
var random = map[string]struct {
	t     tr.Transform
	shape []int
}{
	"crop":           {tr.RandomCrop{Size: []int{4, 5}}, []int{3, 4, 5}},
	"crop padded":    {tr.RandomCrop{Size: []int{9, 12}, Padding: []int{2}, Fill: []float64{1, 0, 1}}, []int{3, 9, 12}},
	"crop if needed": {tr.RandomCrop{Size: []int{11, 10}, PadIfNeeded: true, Mode: nn.PadReplicate}, []int{3, 11, 10}},
	"resized crop":   {tr.RandomResizedCrop{Size: []int{6}}, []int{3, 6, 6}},
	"horizontal":     {tr.RandomHorizontalFlip{}, []int{3, 9, 12}},
	"vertical":       {tr.RandomVerticalFlip{}, []int{3, 9, 12}},
	"rotation":       {tr.RandomRotation{Degrees: 30}, []int{3, 9, 12}},
	"affine": {tr.RandomAffine{Degrees: 10, Translate: [2]float64{0.3, 0.3}, Scale: &[2]float64{0.8, 1.2},
		Shear: [2]float64{5, 5}, Interpolation: nn.ModeLinear}, []int{3, 9, 12}},
	"jitter":      {tr.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}, []int{3, 9, 12}},
	"grayscale":   {tr.RandomGrayscale{P: new(0.5)}, []int{3, 9, 12}},
	"blur":        {tr.GaussianBlur{KernelSize: []int{3}}, []int{3, 9, 12}},
	"erasing":     {tr.RandomErasing{}, []int{3, 9, 12}},
	"augment":     {tr.RandAugment{}, []int{3, 9, 12}},
	"trivial":     {tr.TrivialAugmentWide{}, []int{3, 9, 12}},
	"imagenet":    {tr.AutoAugment{}, []int{3, 9, 12}},
	"cifar10":     {tr.AutoAugment{Policy: tr.PolicyCIFAR10}, []int{3, 9, 12}},
	"svhn":        {tr.AutoAugment{Policy: tr.PolicySVHN, Interpolation: nn.ModeLinear, Fill: []float64{1}}, []int{3, 9, 12}},
	"augmix":      {tr.AugMix{}, []int{3, 9, 12}},
	"augmix 2":    {tr.AugMix{Severity: new(10), Width: new(1), Depth: new(4), Alpha: new(0.3), WithoutColors: true}, []int{3, 9, 12}},
	"perspective": {tr.RandomPerspective{}, []int{3, 9, 12}},
	"elastic":     {tr.ElasticTransform{Sigma: []float64{1, 0.5}}, []int{3, 9, 12}},
	"choice":      {tr.RandomChoice{Transforms: []tr.Transform{tr.RandomVerticalFlip{P: new(1.0)}, tr.Compose{}}}, []int{3, 9, 12}},
	"order":       {tr.RandomOrder{tr.RandomVerticalFlip{}, tr.RandomGrayscale{P: new(0.3)}}, []int{3, 9, 12}},
	"apply":       {tr.RandomApply{Transforms: tr.Compose{tr.RandomVerticalFlip{P: new(1.0)}}}, []int{3, 9, 12}},
}

// TestRandomTransforms: the same numbers for a seed, others for another one, and pictures stay pictures:
// of their type, from 0 to full intensity.
func TestRandomTransforms(t *testing.T) {
	f := weft.NewGenerator(5).Rand(3, 9, 12)
	for _, x := range []*weft.Tensor{f, f.Mul(255).To(weft.Uint8)} {
		for name, r := range random {
			run := func(seed uint64) (out []float64) {
				g := weft.NewGenerator(seed)
				for range 25 {
					y := r.t.Apply(x, g)
					if y.DType() != x.DType() || !slices.Equal(y.Shape(), r.shape) {
						t.Fatalf("%s of %s gives %s%v", name, x.DType(), y.DType(), y.Shape())
					}
					out = append(out, weft.Data[float64](y.To(weft.Float64).Contiguous())...)
				}
				return out
			}
			first := run(1)
			if !slices.Equal(first, run(1)) {
				t.Errorf("%s of %s: one seed gives several results", name, x.DType())
			}
			if slices.Equal(first, run(2)) {
				t.Errorf("%s of %s: two seeds give one result", name, x.DType())
			}
			if x == f && (slices.Min(first) < -1e-6 || slices.Max(first) > 1+1e-6) {
				t.Errorf("%s: intensities from %v to %v", name, slices.Min(first), slices.Max(first))
			}
		}
	}
}

// TestRandomErasingCoversARectangle whose area and proportion are in their intervals.
func TestRandomErasingCoversARectangle(t *testing.T) {
	x := weft.Zeros(2, 40, 60)
	e := tr.RandomErasing{P: new(1.0), Scale: &[2]float64{0.1, 0.2}, Ratio: &[2]float64{0.5, 2}, Value: []float64{1, 2}}
	g := weft.NewGenerator(1)
	for range 50 {
		y := e.Apply(x, g)
		rows, columns := y.At(0).MaxKeep(1).Sum().Item(), y.At(0).MaxKeep(0).Sum().Item()
		if area := y.At(0).Sum().Item(); area != rows*columns || area < 0.09*2400 || area > 0.21*2400 || rows/columns < 0.45 || rows/columns > 2.2 {
			t.Errorf("%v pixels are covered in %v rows and %v columns", area, rows, columns)
		}
		if !y.At(1).AllClose(y.At(0).Mul(2)) {
			t.Error("the second channel is covered otherwise")
		}
	}
	if noise := (tr.RandomErasing{P: new(1.0), Noise: true}).Apply(x, g); noise.Std().Item() == 0 {
		t.Error("no noise")
	}
}

// TestResizedCropsAreParts of the area and proportion asked for: crops of a ramp have its values, and
// their differences tell their size.
func TestResizedCropsAreParts(t *testing.T) {
	const h, w, n = 60, 80, 10
	ramp := weft.Cat([]*weft.Tensor{weft.Arange(0.0, h).Reshape(1, h, 1).Expand(1, h, w), weft.Arange(0.0, w).Reshape(1, 1, w).Expand(1, h, w)}, 0)
	c := tr.RandomResizedCrop{Size: []int{n}, Scale: &[2]float64{0.2, 0.5}, Ratio: &[2]float64{0.5, 2}, Antialias: new(false)}
	g := weft.NewGenerator(1)
	for range 50 {
		y := c.Apply(ramp, g)
		ch := (y.At(0, 5, 5).Item() - y.At(0, 4, 5).Item()) * n
		cw := (y.At(1, 5, 5).Item() - y.At(1, 5, 4).Item()) * n
		if part := ch * cw / (h * w); part < 0.17 || part > 0.53 || cw/ch < 0.45 || cw/ch > 2.2 {
			t.Errorf("a crop of %v times %v pixels", ch, cw)
		}
	}
}

// TestMixedBatches: pictures and labels keep the same part.
func TestMixedBatches(t *testing.T) {
	const n, classes = 4, 5
	labels := weft.FromSlice([]int64{1, 4, 0, 2})
	x := labels.Add(1).To(weft.Float32).Reshape(n, 1, 1, 1).Expand(n, 2, 20, 30)
	g := weft.NewGenerator(1)
	for range 20 {
		for _, y := range []*weft.Tensor{labels, nn.OneHot(labels, classes)} {
			mixed, p := tr.MixUp{Classes: classes}.Apply(x, y, g)
			cut, q := tr.CutMix{Classes: classes, Alpha: new(0.7)}.Apply(x, y, g)
			number := weft.Arange(1.0, classes+1).To(weft.Float32)
			if want := p.Mul(number).Sum(1); !mixed.Mean(1, 2, 3).AllClose(want) || !p.Sum(1).AllClose(weft.Ones(n)) {
				t.Errorf("mixup: means %v, labels %v", mixed.Mean(1, 2, 3), want)
			}
			if want := q.Mul(number).Sum(1); !cut.Mean(1, 2, 3).AllClose(want) || !q.Sum(1).AllClose(weft.Ones(n)) {
				t.Errorf("cutmix: means %v, labels %v", cut.Mean(1, 2, 3), want)
			}
			if whole := cut.Round().Sub(cut).Abs().Max().Item(); whole != 0 {
				t.Error("cutmix: pixels are mixed")
			}
		}
	}
}

func TestSequenceTransforms(t *testing.T) {
	x := weft.Arange(6).Reshape(3, 2)
	fit := tr.Compose{tr.Truncate{Length: 4}, tr.PadTo{Length: 4, Value: 9}}
	if y := fit.Apply(x, nil); !slices.Equal(weft.Data[int64](y), []int64{0, 1, 2, 3, 4, 5, 9, 9}) {
		t.Errorf("%v", y)
	}
	if y := fit.Apply(weft.Arange(7), nil); !slices.Equal(weft.Data[int64](y.Contiguous()), []int64{0, 1, 2, 3}) {
		t.Errorf("%v", y)
	}
}

// TestGradientsFlowThroughTransforms: the mean of a resized, turned and blurred picture depends on pixels.
func TestGradientsFlowThroughTransforms(t *testing.T) {
	x := weft.NewGenerator(1).Rand(3, 8, 8).RequireGrad()
	train := tr.Compose{tr.Resize{Size: []int{12}}, tr.RandomRotation{Degrees: 20, RotateOpts: tr.RotateOpts{Interpolation: nn.ModeLinear}},
		tr.ColorJitter{Brightness: 0.2, Contrast: 0.2, Saturation: 0.2}, tr.GaussianBlur{KernelSize: []int{3}}, tr.RandomCrop{Size: []int{9}},
		tr.Normalize{Mean: []float64{0.5}, Std: []float64{0.5}}}
	train.Apply(x, weft.NewGenerator(2)).Sum().Backward()
	if n := x.Grad().CountNonZero().ItemInt(); n < 100 || x.Grad().IsFinite().All().ItemInt() != 1 {
		t.Errorf("%d of 192 pixels have a gradient", n)
	}
}

// TestTransformsRefuse names the transform and the argument.
func TestTransformsRefuse(t *testing.T) {
	x, label := weft.Zeros(3, 8, 8), weft.Zeros(3)
	of := func(t tr.Transform) func() { return func() { t.Apply(x, nil) } }
	for want, f := range map[string]func(){
		"resize Size":                   of(tr.Resize{}),
		"resize MaxSize":                of(tr.Resize{Size: []int{8}, MaxSize: new(4)}),
		"resize Interpolation":          of(tr.Resize{Size: []int{8}, Interpolation: new(nn.ModeArea)}),
		"resize x":                      func() { tr.Resize{Size: []int{8}}.Apply(weft.Zeros(3, 0, 8), nil) },
		"center_crop x":                 func() { tr.CenterCrop{Size: []int{8}}.Apply(label, nil) },
		"crop top":                      func() { tr.Crop(x, 1, 0, 8, 8) },
		"random_crop Size":              of(tr.RandomCrop{Size: []int{9}}),
		"random_crop Padding":           of(tr.RandomCrop{Size: []int{9}, Padding: []int{-1}}),
		"random_crop Fill":              of(tr.RandomCrop{Size: []int{9}, Padding: []int{1}, Fill: []float64{1, 2}}),
		"pad Pads":                      of(tr.Pad{Padding: []int{8}, Mode: nn.PadReflect}),
		"random_resized_crop Scale":     of(tr.RandomResizedCrop{Size: []int{4}, Scale: &[2]float64{1, 0.5}}),
		"random_resized_crop Ratio":     of(tr.RandomResizedCrop{Size: []int{4}, Ratio: &[2]float64{}}),
		"random_horizontal_flip P":      of(tr.RandomHorizontalFlip{P: new(1.5)}),
		"random_choice Transforms":      of(tr.RandomChoice{}),
		"random_choice Weights":         of(tr.RandomChoice{Transforms: []tr.Transform{tr.Compose{}}, Weights: []float64{-1}}),
		"compose ":                      of(tr.Compose{nil}),
		"lambda ":                       of(tr.Lambda(nil)),
		"perspective to":                func() { tr.Perspective(x, before, [4][2]float64{{0, 0}, {1, 1}, {2, 2}, {0, 3}}) },
		"perspective Interpolation":     func() { tr.Perspective(x, before, after, tr.WarpOpts{Interpolation: new(nn.ModeCubic)}) },
		"random_perspective Distortion": of(tr.RandomPerspective{Distortion: new(1.5)}),
		"elastic displacement":          func() { tr.Elastic(x, weft.Zeros(8, 8)) },
		"elastic_transform Sigma":       of(tr.ElasticTransform{}),
		"elastic_transform Alpha":       of(tr.ElasticTransform{Alpha: []float64{-1}}),
		"auto_augment Policy":           of(tr.AutoAugment{Policy: 3}),
		"aug_mix Severity":              of(tr.AugMix{Severity: new(11)}),
		"aug_mix Alpha":                 of(tr.AugMix{Alpha: new(0.0)}),
		"adjust_gamma gain":             func() { tr.AdjustGamma(x, 1, -1) },
		"affine Scale":                  func() { tr.Affine(x, tr.AffineOpts{Scale: new(0.0)}) },
		"affine Interpolation":          func() { tr.Affine(x, tr.AffineOpts{Interpolation: nn.ModeCubic}) },
		"rotate degrees":                func() { tr.Rotate(x, math.NaN()) },
		"random_rotation Degrees":       of(tr.RandomRotation{Degrees: -1}),
		"random_affine Translate":       of(tr.RandomAffine{Translate: [2]float64{2, 0}}),
		"random_affine Scale":           of(tr.RandomAffine{Scale: &[2]float64{}}),
		"color_jitter Hue":              of(tr.ColorJitter{Hue: 0.6}),
		"color_jitter Contrast":         of(tr.ColorJitter{Contrast: -1}),
		"adjust_hue by":                 func() { tr.AdjustHue(x, math.NaN()) },
		"adjust_brightness by":          func() { tr.AdjustBrightness(x, -1) },
		"adjust_brightness x":           func() { tr.AdjustBrightness(weft.Zeros(2, 8, 8), 1) },
		"posterize bits":                func() { tr.Posterize(x, 9) },
		"solarize threshold":            func() { tr.Solarize(x, 2) },
		"gaussian_blur KernelSize":      of(tr.GaussianBlur{KernelSize: []int{4}}),
		"random_erasing Value":          of(tr.RandomErasing{Value: []float64{1, 2}}),
		"random_erasing Noise":          func() { tr.RandomErasing{Noise: true}.Apply(x.To(weft.Uint8), nil) },
		"rand_augment Magnitude":        of(tr.RandAugment{Magnitude: new(31)}),
		"trivial_augment_wide Bins":     of(tr.TrivialAugmentWide{Bins: new(1)}),
		"to_dtype DType":                of(tr.ToDtype{DType: weft.Int64, Scale: true}),
		"normalize Mean":                of(tr.Normalize{Std: []float64{1}}),
		"normalize Std":                 of(tr.Normalize{Mean: []float64{1}, Std: []float64{0}}),
		"normalize x":                   func() { tr.Normalize{Mean: []float64{1}, Std: []float64{1}}.Apply(x.To(weft.Uint8), nil) },
		"mix_up x":                      func() { tr.MixUp{}.Apply(x, label, nil) },
		"mix_up Classes":                func() { tr.MixUp{}.Apply(weft.Zeros(2, 3, 8, 8), weft.Zeros(2), nil) },
		"cut_mix y":                     func() { tr.CutMix{}.Apply(weft.Zeros(2, 3, 8, 8), label, nil) },
		"cut_mix Alpha":                 func() { tr.CutMix{Alpha: new(0.0)}.Apply(weft.Zeros(2, 3, 8, 8), weft.Zeros(2, 4), nil) },
		"pad_to x":                      func() { tr.PadTo{}.Apply(weft.Scalar(1), nil) },
		"truncate Length":               of(tr.Truncate{Length: -1}),
		"grayscale Channels":            of(tr.Grayscale{Channels: new(2)}),
		"random_vertical_flip x":        func() { tr.RandomVerticalFlip{}.Apply(nil, nil) },
		"trivial_augment_wide x":        func() { tr.TrivialAugmentWide{}.Apply(label, nil) },
		"random_resized_crop Size":      of(tr.RandomResizedCrop{Size: []int{1, 2, 3}}),
		"adjust_gamma gamma":            func() { tr.AdjustGamma(x, -1, 1) },
		"random_erasing Scale":          of(tr.RandomErasing{Scale: &[2]float64{0, 2}}),
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Op+" "+e.Arg != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestMovedPixelsAreAsFarAsAsked: a perspective moves corners to their places, and elastic displacements stay
// below the strength; 0 leaves a picture as it is.
func TestMovedPixelsAreAsFarAsAsked(t *testing.T) {
	const h, w = 40, 60
	ramp := weft.Cat([]*weft.Tensor{weft.Arange(0.0, w).Reshape(1, 1, w).Expand(1, h, w), weft.Arange(0.0, h).Reshape(1, h, 1).Expand(1, h, w)}, 0)
	g := weft.NewGenerator(1)
	inside := func(y *weft.Tensor) *weft.Tensor { return y.Slice(weft.All, weft.Range(8, h-8), weft.Range(8, w-8)) }
	for range 10 {
		y := tr.ElasticTransform{Alpha: []float64{4, 2}, Sigma: []float64{2, 0}}.Apply(ramp, g)
		far := inside(y.Sub(ramp).Abs()).Max(1, 2)
		if dx, dy := far.At(0).Item(), far.At(1).Item(); dx > 2 || dx < 0.1 || dy > 1 || dy < 0.9 {
			t.Errorf("pixels move by %v and %v", dx, dy)
		}
	}
	if y := (tr.ElasticTransform{Alpha: []float64{0}, Sigma: []float64{0}}).Apply(ramp, g); !y.AllClose(ramp, weft.CloseOpts{Absolute: new(1e-9)}) {
		t.Error("displacements of 0 move pixels")
	}
	if y := (tr.RandomPerspective{P: new(1.0), Distortion: new(0.0)}).Apply(ramp, g); !inside(y).AllClose(inside(ramp), weft.CloseOpts{Absolute: new(1e-4)}) {
		t.Error("a perspective of no distortion moves pixels")
	}
}

// TestExtremeFactorsGiveColours: a factor as large as float64 has gives intensities, brightness and gain the same
// ones as a smaller factor that reaches the bounds too.
func TestExtremeFactorsGiveColours(t *testing.T) {
	// Gray, black, white and coloured pixels, and one channel's mean among them.
	x := weft.From([][]float64{{0.5, 0, 1, 0.25, 0.5}, {0.5, 0, 1, 0.5, 0.5}, {0.5, 0, 1, 0.75, 0.5}}).Reshape(3, 1, 5).Tile(1, 4, 1)
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Uint8} {
		p := tr.ToDtype{DType: d, Scale: true}.Apply(x.To(weft.Float32), nil)
		for name, f := range map[string]func(x *weft.Tensor, by float64) *weft.Tensor{
			"brightness": tr.AdjustBrightness, "contrast": tr.AdjustContrast, "saturation": tr.AdjustSaturation, "sharpness": tr.AdjustSharpness,
			"gain": func(x *weft.Tensor, by float64) *weft.Tensor { return tr.AdjustGamma(x, 2, by) },
		} {
			want := f(p, 9e3)
			for _, by := range []float64{2e4, 1e6, 1e30, 1e300, math.MaxFloat64} {
				y := f(p, by)
				v := y.To(weft.Float64)
				off := (name == "brightness" || name == "gain") && v.Sub(want.To(weft.Float64)).Abs().Max().Item() != 0
				if y.DType() != d || off || !(v.Min().Item() >= 0 && v.Max().Item() <= 255) {
					t.Errorf("%s of %s by %g is %v, by 9000 %v", name, d, by, y, want)
				}
			}
		}
	}
}
