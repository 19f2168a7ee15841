package models_test

import (
	"maps"
	"testing"

	"weft"
	"weft/models"
)

func smallVision() map[string]torchCase {
	return map[string]torchCase{
		"resnet basic":      of(models.NewResNet([4]int{1, 2, 1, 1}, false, models.ResNetOpts{Width: new(8), Classes: new(5)}), 2, 3, 40, 40),
		"resnet bottleneck": of(models.NewResNet([4]int{1, 1, 2, 1}, true, models.ResNetOpts{Width: new(8), Classes: new(5)}), 2, 3, 40, 40),
		"resnet groups":     of(models.NewResNet([4]int{1, 1, 1, 1}, true, models.ResNetOpts{Width: new(16), Classes: new(5), Groups: new(4), GroupWidth: new(32)}), 2, 3, 33, 47),
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
	all := references(t, "vision")
	for name, make := range map[string]func() any{
		"resnet18":         func() any { return models.NewResNet18(res) },
		"resnet34":         func() any { return models.NewResNet34(res) },
		"resnet50":         func() any { return models.NewResNet50(res) },
		"resnet101":        func() any { return models.NewResNet101(res) },
		"resnet152":        func() any { return models.NewResNet152(res) },
		"resnext50_32x4d":  func() any { return models.NewResNet50(wide(32, 4)) },
		"resnext101_32x8d": func() any { return models.NewResNet101(wide(32, 8)) },
		"wide_resnet50_2":  func() any { return models.NewResNet50(wide(1, 128)) },
	} {
		t.Run(name, func(t *testing.T) {
			m, want := make(), all[name]
			if got := parameters(m); got != want.Parameters {
				t.Errorf("%d parameters, want %d", got, want.Parameters)
			}
			if got := fingerprint(models.State(m, "")); got != want.Names {
				t.Error("names or shapes differ")
			}
		})
	}
}
