package models_test

import (
	"errors"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/models"
)

// Sizes, types and options that do not fit give an error that names the model and the argument.
func TestMisuse(t *testing.T) {
	d := models.NewDiffusion()
	res := tinyResNet(3)
	vit := models.NewViT(8, 1, 2, 16, 24, models.ViTOpts{Size: new(32)})
	ddpm := models.NewDDPM(models.DDPMOpts{Widths: []int{4, 4}, Groups: new(2)})
	unet := models.NewUNet(models.UNetOpts{Width: new(2)})
	ncf := models.NewNCF(3, 4, models.NCFOpts{Factors: new(2), Layers: []int{4, 2}})
	ids := weft.FromSlice([]int64{0, 1})
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { res.Forward(nil) }, "resnet: x: is nil"},
		{func() { res.Forward(weft.Zeros(1, 4, 32, 32)) }, "resnet: x: is float32[1 4 32 32], want floats [batch 3 height width]"},
		{func() { res.Forward(weft.ZerosOf(weft.Int64, 1, 3, 32, 32)) }, "resnet: x: is int64[1 3 32 32]"},
		{func() { models.NewResNet([4]int{1, 0, 1, 1}, true) }, "resnet: blocks: are [1 0 1 1]"},
		{func() { models.NewResNet18(models.ResNetOpts{Groups: new(2)}) }, "resnet: Groups: are of bottlenecks"},
		{func() { models.NewResNet18(models.ResNetOpts{Classes: new(-1)}) }, "resnet: Classes: is -1, want 1 or more"},
		{func() { models.NewVGG([5]int{1, 1, 1, 1, 0}) }, "vgg: stages: are [1 1 1 1 0]"},
		{func() { models.NewVGG11(models.VGGOpts{Dropout: new(1.5)}) }, "vgg: Dropout: 1.5 is not a probability"},
		{func() { models.NewMobileNetV1(models.MobileNetOpts{Width: new(-0.5)}) }, "mobilenet_v1: Width: is -0.5"},
		{func() { models.NewViT(9, 1, 2, 16, 24) }, "vit: Size: is 224, which patches of 9 do not divide"},
		{func() { models.NewViT(0, 1, 2, 16, 24) }, "vit: patch: is 0, want 1 or more"},
		{func() { models.NewViT(8, 1, 3, 16, 24) }, "heads: is 3, which does not divide the width 16"},
		{func() { vit.Forward(weft.Zeros(1, 3, 40, 32)) }, "vit: x: has shape [1 3 40 32]: want 16 patches of 8x8 in a square"},
		{func() { unet.Forward(weft.Zeros(1, 3, 15, 32)) }, "unet: x: has shape [1 3 15 32], want 16 rows and columns or more"},
		{func() { models.NewUNet(models.UNetOpts{Width: new(3), Bilinear: true}) }, "unet: Width: is 3, want an even number"},
		{func() { models.NewDDPM(models.DDPMOpts{Widths: []int{20}}) }, "ddpm: Widths: are [20], want multiples of 32 groups"},
		{func() { models.NewDDPM(models.DDPMOpts{Widths: []int{}}) }, "ddpm: Attention: has 0 levels"},
		{func() { models.NewDDPM(models.DDPMOpts{Attention: []bool{true}}) }, "ddpm: Attention: has 1 levels, Widths has 4"},
		{func() { models.NewDDPM(models.DDPMOpts{HeadWidth: new(5)}) }, "ddpm: HeadWidth: is 5, which does not divide 256 channels"},
		{func() { ddpm.Forward(weft.Zeros(2, 3, 5, 4), ids) }, "ddpm: x: has shape [2 3 5 4], want multiples of 2"},
		{func() { ddpm.Forward(weft.Zeros(2, 3, 4, 4), weft.Zeros(2)) }, "ddpm: step: is float32[2], want integers [2]"},
		{func() { ddpm.Forward(weft.Zeros(2, 3, 4, 4), nil) }, "ddpm: step: is nil, want integers [2]"},
		{func() { models.NewNCF(3, 0) }, "ncf: items: is 0, want 1 or more"},
		{func() { models.NewNCF(3, 4, models.NCFOpts{Layers: []int{5, 2}}) }, "ncf: Layers: are [5 2]"},
		{func() { ncf.Forward(ids, weft.FromSlice([]int64{1})) }, "ncf: items: is int64[1], want integers [batch]"},
		{func() { ncf.Forward(ids, weft.FromSlice([]int64{1, 4})) }, "index"},
		{func() { ncf.Forward(nil, ids) }, "ncf: users: is nil"},
		{func() { models.NewDiffusion(models.DiffusionOpts{First: new(1.0)}) }, "diffusion: First: is 1, want a number between 0 and 1"},
		{func() { d.Kept(1000) }, "diffusion: step: is 1000, want -1 to 999"},
		{func() { d.AddNoise(weft.Zeros(2, 3), weft.Zeros(2), ids) }, "addnoise: noise: has shape [2], x has [2 3]"},
		{func() { d.AddNoise(weft.Zeros(3, 3), weft.Zeros(3, 3), ids) }, "addnoise: step: is int64[2]"},
		{func() { d.Denoise(weft.Zeros(1), weft.Zeros(1), 3, 3, 0, false, nil) }, "denoise: to: is step 3, want one before 3"},
		{func() { d.Denoise(weft.Zeros(1), weft.Zeros(1), 3, 2, 1, false, nil) }, "denoise: fresh: is nil"},
		{func() { models.State(res, "x") }, `state: form: is "x", the model has names`},
	} {
		err := tensortest.Try(c.f)
		var e *weft.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
