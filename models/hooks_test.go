package models_test

import (
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
)

// TestHooksSeeTheLayersOfModels hooks each layer of a model that has a pointer and a path: a call of the model reaches
// all of them, but for layers that only hold others, and Summary misses none with tensors.
func TestHooksSeeTheLayersOfModels(t *testing.T) {
	g := weft.NewGenerator(1)
	tokens := weft.From([][]int64{{3, 1, 4}})
	size := func(n int) *weft.Tensor { return g.Randn(1, 3, n, n) }
	for name, c := range map[string]struct {
		net    any
		inputs []*weft.Tensor
		apart  []string // layers that this call does not reach
	}{
		"alexnet":   {models.NewAlexNet(models.AlexNetOpts{Hidden: new(8), Classes: new(2)}), []*weft.Tensor{size(64)}, nil},
		"vgg":       {models.NewVGG([5]int{1, 1, 1, 1, 1}, models.VGGOpts{Width: new(4), Hidden: new(8), Classes: new(2)}), []*weft.Tensor{size(32)}, nil},
		"resnet":    {models.NewResNet18(models.ResNetOpts{Width: new(4)}), []*weft.Tensor{size(32)}, nil},
		"mobilenet": {models.NewMobileNetV1(models.MobileNetOpts{Width: new(0.25), Classes: new(2)}), []*weft.Tensor{size(33)}, nil},
		"inverted":  {models.NewMobileNetV2(models.MobileNetOpts{Width: new(0.25), Classes: new(2)}), []*weft.Tensor{size(32)}, nil},
		"vit":       {models.NewViT(8, 1, 2, 8, 16, models.ViTOpts{Size: new(16), Classes: new(2)}), []*weft.Tensor{size(16)}, nil},
		"unet":      {models.NewUNet(models.UNetOpts{Width: new(4)}), []*weft.Tensor{size(16)}, []string{"outc"}},
		"ddpm":      {models.NewDDPM(models.DDPMOpts{Widths: []int{4, 4}, Blocks: new(1), Groups: new(2)}), []*weft.Tensor{size(8), weft.From([]int64{3})}, []string{"down_blocks.0", "down_blocks.1", "up_blocks.0", "up_blocks.1", "mid_block", "down_blocks.0.downsamplers.0", "up_blocks.0.upsamplers.0"}},
		"ncf":       {models.NewNCF(4, 5), []*weft.Tensor{weft.From([]int64{1}), weft.From([]int64{2})}, nil},
		"gpt2":      {models.NewGPT2(models.GPT2Opts{Vocab: new(9), Context: new(4), Width: new(8), Layers: new(1), Heads: new(2)}), []*weft.Tensor{tokens}, []string{"transformer.h.0.attn.attn_drop"}},
		"llama":     {models.NewLlama(models.LlamaOpts{Vocab: new(9), Context: new(4), Width: new(8), Inner: new(8), Layers: new(1), Heads: new(2)}), []*weft.Tensor{tokens}, nil},
		"bert":      {models.NewBertMaskedLM(models.BertOpts{Vocab: new(9), Context: new(4), Width: new(8), Layers: new(1), Heads: new(2)}), []*weft.Tensor{tokens}, []string{"cls", "cls.predictions", "cls.predictions.transform", "bert.encoder.layer.0.attention.self.drop"}},
	} {
		t.Run(name, func(t *testing.T) {
			nn.Eval(c.net)
			missed := map[string]bool{}
			for path, layer := range nn.Modules(c.net) {
				weft.Try(func() { // a layer that is a value cannot be hooked
					remove := nn.HookForward(layer, func(_, _ []*weft.Tensor) []*weft.Tensor {
						delete(missed, path)
						return nil
					})
					t.Cleanup(remove)
					missed[path] = true
				})
			}
			_ = nn.Summary(c.net, c.inputs...)
			for _, path := range c.apart {
				if !missed[path] {
					t.Errorf("%s is called", path)
				}
				delete(missed, path)
			}
			for path := range missed {
				t.Errorf("%s: no hook ran", path)
			}
		})
	}
}
