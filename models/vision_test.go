package models_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
	"weft/optim"
)

func smallDDPM(headWidth *int) torchCase {
	m := models.NewDDPM(models.DDPMOpts{Channels: new(2), Widths: []int{8, 16, 16}, Attention: []bool{false, true, true}, Blocks: new(1), Groups: new(4), HeadWidth: headWidth})
	x, step := counter("x", 2, 2, 8, 12), weft.FromSlice([]int64{3, 977})
	return torchCase{model: m, run: func(d weft.DType) *weft.Tensor { return m.Forward(x.To(d), step) }}
}

func smallVision() map[string]torchCase {
	v1 := models.NewMobileNetV1(models.MobileNetOpts{Width: new(0.125), Classes: new(5), Dropout: new(0.0)})
	for _, l := range append(v1.Layers, v1.Stem) {
		l.Normalization.Momentum = 0.9997 // in transformers; TensorFlow has 0.0003
	}
	// Many normalisations of a few numbers each amplify rounding: PyTorch's own gradients of float32 are
	// up to 8e-5 away from its float64.
	amplifies := func(c torchCase) torchCase { c.tolerance = 20; return c }
	transformers := of(models.NewViT(8, 2, 4, 16, 24, models.ViTOpts{Size: new(32), Classes: new(5), Eps: new(1e-12)}), 2, 3, 32, 32)
	transformers.form = "transformers"
	ncf := models.NewNCF(7, 5, models.NCFOpts{Factors: new(3), Layers: []int{8, 6, 4}})
	return map[string]torchCase{
		"small resnet basic":      of(models.NewResNet([4]int{1, 2, 1, 1}, false, models.ResNetOpts{Width: new(8), Classes: new(5)}), 2, 3, 40, 40),
		"small resnet bottleneck": of(models.NewResNet([4]int{1, 1, 2, 1}, true, models.ResNetOpts{Width: new(8), Classes: new(5)}), 2, 3, 40, 40),
		"small resnet groups":     of(models.NewResNet([4]int{1, 1, 1, 1}, true, models.ResNetOpts{Width: new(16), Classes: new(5), Groups: new(4), GroupWidth: new(32)}), 2, 3, 33, 47),
		"small alexnet":           of(models.NewAlexNet(models.AlexNetOpts{Width: new(4), Hidden: new(256), Classes: new(5), Dropout: new(0.0)}), 2, 3, 67, 71),
		"small vgg":               of(models.NewVGG11(models.VGGOpts{Width: new(4), Hidden: new(256), Classes: new(5), Dropout: new(0.0)}), 2, 3, 32, 48),
		"small vgg norm":          of(models.NewVGG16(models.VGGOpts{Width: new(4), Hidden: new(256), Classes: new(5), Dropout: new(0.0), BatchNorm: true}), 2, 3, 37, 33),
		"small mobilenet v1":      amplifies(of(v1, 2, 3, 36, 45)),
		"small mobilenet v2":      amplifies(of(models.NewMobileNetV2(models.MobileNetOpts{Width: new(0.15), Classes: new(5), Dropout: new(0.0)}), 2, 3, 40, 33)),
		"small vit":               of(models.NewViT(8, 3, 2, 16, 24, models.ViTOpts{Size: new(32), Classes: new(5)}), 2, 3, 32, 32),
		"small vit transformers":  transformers,
		"small unet":              of(models.NewUNet(models.UNetOpts{Width: new(4), Classes: new(4)}), 2, 3, 35, 48),
		"small unet bilinear":     of(models.NewUNet(models.UNetOpts{Width: new(4), Channels: new(1), Bilinear: true}), 2, 1, 32, 33),
		"small ncf": {model: ncf, run: func(weft.DType) *weft.Tensor {
			return ncf.Forward(weft.FromSlice([]int64{0, 6, 3, 3}), weft.FromSlice([]int64{1, 4, 4, 0}))
		}},
		"small ddpm":       smallDDPM(nil),
		"small ddpm heads": smallDDPM(new(8)),
	}
}

// Results, gradients, running statistics, names and shapes are torchvision's.
func TestVisionMatchesTorch(t *testing.T) {
	compareAll(t, "vision", maps.All(smallVision()))
}

// Published models have torchvision's names, shapes and numbers of parameters. Their weights are views
// of one zero, so that they take no memory.
func TestPublishedSizes(t *testing.T) {
	empty := func(_ *weft.Generator, shape ...int) *weft.Tensor { return weft.Zeros().Expand(shape...) }
	res := models.ResNetOpts{Weight: empty}
	wide := func(groups, width int) models.ResNetOpts {
		return models.ResNetOpts{Weight: empty, Groups: &groups, GroupWidth: &width}
	}
	vgg := func(norm bool) models.VGGOpts { return models.VGGOpts{Weight: empty, BatchNorm: norm} }
	vit := models.ViTOpts{Weight: empty}
	all := references(t, "vision")
	for name, make := range map[string]func() any{
		"resnet18":             func() any { return models.NewResNet18(res) },
		"resnet34":             func() any { return models.NewResNet34(res) },
		"resnet50":             func() any { return models.NewResNet50(res) },
		"resnet101":            func() any { return models.NewResNet101(res) },
		"resnet152":            func() any { return models.NewResNet152(res) },
		"resnext50_32x4d":      func() any { return models.NewResNet50(wide(32, 4)) },
		"resnext101_32x8d":     func() any { return models.NewResNet101(wide(32, 8)) },
		"wide_resnet50_2":      func() any { return models.NewResNet50(wide(1, 128)) },
		"alexnet":              func() any { return models.NewAlexNet(models.AlexNetOpts{Weight: empty}) },
		"vgg11":                func() any { return models.NewVGG11(vgg(false)) },
		"vgg13":                func() any { return models.NewVGG13(vgg(false)) },
		"vgg16":                func() any { return models.NewVGG16(vgg(false)) },
		"vgg19":                func() any { return models.NewVGG19(vgg(false)) },
		"vgg11_bn":             func() any { return models.NewVGG11(vgg(true)) },
		"vgg13_bn":             func() any { return models.NewVGG13(vgg(true)) },
		"vgg16_bn":             func() any { return models.NewVGG16(vgg(true)) },
		"vgg19_bn":             func() any { return models.NewVGG19(vgg(true)) },
		"mobilenet_v1":         func() any { return models.NewMobileNetV1(models.MobileNetOpts{Weight: empty}) },
		"mobilenet_v2":         func() any { return models.NewMobileNetV2(models.MobileNetOpts{Weight: empty}) },
		"vit_b_16":             func() any { return models.NewViTB16(vit) },
		"vit_b_32":             func() any { return models.NewViTB32(vit) },
		"vit_l_16":             func() any { return models.NewViTL16(vit) },
		"vit_l_32":             func() any { return models.NewViTL32(vit) },
		"vit_h_14":             func() any { return models.NewViTH14(vit) },
		"vit transformers b16": func() any { return models.NewViTB16(vit) },
		"unet":                 func() any { return models.NewUNet(models.UNetOpts{Weight: empty}) },
		"unet bilinear":        func() any { return models.NewUNet(models.UNetOpts{Weight: empty, Bilinear: true}) },
		"ddpm":                 func() any { return models.NewDDPM(models.DDPMOpts{Weight: empty}) },
		"ncf":                  func() any { return models.NewNCF(138493, 26744, models.NCFOpts{Weight: empty}) },
	} {
		t.Run(name, func(t *testing.T) {
			m, want := make(), all[name]
			if got := parameters(m); got != want.Parameters {
				t.Errorf("%d parameters, want %d", got, want.Parameters)
			}
			form := ""
			if strings.Contains(name, "transformers") {
				form = "transformers"
			}
			if got := fingerprint(models.State(m, form)); got != want.Names {
				t.Error("names or shapes differ")
			}
		})
	}
}

// A compiled step gives the bits of the eager one.
func TestCompiledStepsEqualEager(t *testing.T) {
	for name, c := range smallVision() {
		t.Run(name, c.compareCompiled)
	}
}

// Training gives the same bits on every backend: CI runs this test on three.
func TestTrainingDigest(t *testing.T) {
	net := models.NewResNet([4]int{1, 1, 1, 1}, true, models.ResNetOpts{Width: new(4), Classes: new(3), SmallStem: true, Generator: weft.NewGenerator(1)})
	opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1), Momentum: 0.9})
	x, y := counter("x", 4, 3, 12, 12), weft.FromSlice([]int64{0, 1, 2, 1})
	for range 3 {
		opt.ZeroGrad()
		nn.CrossEntropy(net.Forward(x), y).Backward()
		opt.Step()
	}
	if got, want := weft.DigestNamed(nn.Params(net)), "375e37eb231f77bfbf344df59f9a9a7faf0440cea55b8825faf476e86e310c97"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Models of published sizes give PyTorch's results and gradients. It takes minutes and some GB.
func TestPublishedModelsMatchTorch(t *testing.T) {
	if os.Getenv("WEFT_MODELS") != "full" {
		t.Skip("SKIPPED: models of published sizes; WEFT_MODELS=full runs them")
	}
	v1 := models.NewMobileNetV1(models.MobileNetOpts{Dropout: new(0.0)})
	for _, l := range append(v1.Layers, v1.Stem) {
		l.Normalization.Momentum = 0.9997
	}
	all := references(t, "vision_full")
	for name, c := range map[string]func() torchCase{
		"alexnet":      func() torchCase { return of(models.NewAlexNet(models.AlexNetOpts{Dropout: new(0.0)}), 1, 3, 224, 224) },
		"vgg11":        func() torchCase { return of(models.NewVGG11(models.VGGOpts{Dropout: new(0.0)}), 1, 3, 224, 224) },
		"resnet18":     func() torchCase { return of(models.NewResNet18(), 2, 3, 224, 224) },
		"resnet50":     func() torchCase { return of(models.NewResNet50(), 2, 3, 224, 224) },
		"vit_b_16":     func() torchCase { return of(models.NewViTB16(), 2, 3, 224, 224) },
		"mobilenet_v1": func() torchCase { return of(v1, 2, 3, 224, 224) },
		"mobilenet_v2": func() torchCase {
			return of(models.NewMobileNetV2(models.MobileNetOpts{Dropout: new(0.0)}), 2, 3, 224, 224)
		},
		"unet": func() torchCase { return of(models.NewUNet(), 1, 3, 96, 96) },
		"ddpm": func() torchCase {
			m, x, step := models.NewDDPM(), counter("x", 1, 3, 32, 32), weft.FromSlice([]int64{500})
			return torchCase{model: m, run: func(d weft.DType) *weft.Tensor { return m.Forward(x.To(d), step) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := c()
			// Of millions of activations, some are so close to 0 that rounding decides whether relu lets
			// their gradient through, and all gradients before them differ.
			c.rounded, c.tolerance = func(string) bool { return true }, 10
			c.compare(t, all[name])
		})
	}
}
