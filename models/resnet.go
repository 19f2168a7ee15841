package models

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// ResNetOpts are the options of residual networks.
type ResNetOpts struct {
	Classes  *int // nil means 1000
	Channels *int // of the pictures; nil means 3
	Width    *int // channels of the first stage; each stage has twice the last one's; nil means 64
	// Groups and GroupWidth are the groups of the 3x3 convolutions of bottlenecks, and the width of one
	// where Width is 64. ResNeXt-50 32x4d has 32 and 4, ResNeXt-101 32x8d 32 and 8. nil means 1 and 64;
	// a GroupWidth of 128 alone gives a wide network.
	Groups, GroupWidth *int
	// SmallStem begins with a 3x3 convolution of stride 1 and no pooling, for pictures of 32x32.
	SmallStem bool
	// ZeroResidual draws zeros as the last normalisation's weight of each block, so that blocks begin
	// as identities (Goyal et al., Accurate, large minibatch SGD, 2017).
	ZeroResidual bool
	Weight       nn.Init         // draws all matrices and filters; nil means as torchvision does
	Generator    *weft.Generator // what they are drawn from; nil is the default generator
}

// ResNet is a residual network (He et al., Deep residual learning for image recognition, 2015), or a
// ResNeXt or wide one, with torchvision's names. In bottlenecks the 3x3 convolution has the stride.
type ResNet struct {
	Conv1                          *nn.Conv2d
	BN1                            *nn.BatchNorm2d
	Layer1, Layer2, Layer3, Layer4 nn.Sequential // of *ResNetBlock
	FC                             *nn.Linear

	smallStem bool
}

// ResNetBlock adds convolutions to its input, which Downsample brings to their shape: two of 3x3, or a
// bottleneck of 1x1, 3x3 and 1x1.
type ResNetBlock struct {
	Conv1      *nn.Conv2d
	BN1        *nn.BatchNorm2d
	Conv2      *nn.Conv2d
	BN2        *nn.BatchNorm2d
	Conv3      *nn.Conv2d      // nil where there is no bottleneck
	BN3        *nn.BatchNorm2d // the same
	Downsample nn.Sequential   // empty where the input has the shape of the result
}

// NewResNet18 returns a network with stages of 2, 2, 2 and 2 blocks.
func NewResNet18(opts ...ResNetOpts) *ResNet { return NewResNet([4]int{2, 2, 2, 2}, false, opts...) }

// NewResNet34 returns a network with stages of 3, 4, 6 and 3 blocks.
func NewResNet34(opts ...ResNetOpts) *ResNet { return NewResNet([4]int{3, 4, 6, 3}, false, opts...) }

// NewResNet50 returns a network with stages of 3, 4, 6 and 3 bottlenecks.
func NewResNet50(opts ...ResNetOpts) *ResNet { return NewResNet([4]int{3, 4, 6, 3}, true, opts...) }

// NewResNet101 returns a network with stages of 3, 4, 23 and 3 bottlenecks.
func NewResNet101(opts ...ResNetOpts) *ResNet { return NewResNet([4]int{3, 4, 23, 3}, true, opts...) }

// NewResNet152 returns a network with stages of 3, 8, 36 and 3 bottlenecks.
func NewResNet152(opts ...ResNetOpts) *ResNet { return NewResNet([4]int{3, 8, 36, 3}, true, opts...) }

// NewResNet returns a network with stages of these numbers of blocks, with bottlenecks or without. It
// panics with *weft.Error if a number is below 1, or if groups are asked for without bottlenecks.
func NewResNet(blocks [4]int, bottleneck bool, opts ...ResNetOpts) *ResNet {
	const name = "resnet"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	width, classes, channels := m.count("Width", o.Width, 64), m.count("Classes", o.Classes, 1000), m.count("Channels", o.Channels, 3)
	groups, groupWidth := m.count("Groups", o.Groups, 1), m.count("GroupWidth", o.GroupWidth, 64)
	if !bottleneck && (groups != 1 || groupWidth != 64) {
		array.Failf(name, "Groups", "are of bottlenecks, which the network does not have")
	}
	if slices.Min(blocks[:]) < 1 {
		array.Failf(name, "blocks", "are %v, want 1 or more in each stage", blocks)
	}
	r := &ResNet{smallStem: o.SmallStem, BN1: nn.NewBatchNorm2d(width)}
	if o.SmallStem {
		r.Conv1 = m.conv(channels, width, 3, 1, 1)
	} else {
		r.Conv1 = m.conv(channels, width, 7, 2, 1)
	}
	in := width
	for i, stage := range []*nn.Sequential{&r.Layer1, &r.Layer2, &r.Layer3, &r.Layer4} {
		inner, out := width<<i, width<<i
		if bottleneck {
			inner, out = inner*groupWidth/64*groups, 4*out
		}
		for j := range blocks[i] {
			stride := 1
			if i > 0 && j == 0 {
				stride = 2
			}
			*stage = append(*stage, m.resNetBlock(in, inner, out, stride, groups, bottleneck, o.ZeroResidual))
			in = out
		}
	}
	r.FC = m.linear(in, classes)
	return r
}

func (m maker) resNetBlock(in, inner, out, stride, groups int, bottleneck, zero bool) *ResNetBlock {
	b := &ResNetBlock{BN1: nn.NewBatchNorm2d(inner), BN2: nn.NewBatchNorm2d(inner)}
	last := b.BN2
	if bottleneck {
		b.Conv1, b.Conv2, b.Conv3 = m.conv(in, inner, 1, 1, 1), m.conv(inner, inner, 3, stride, groups), m.conv(inner, out, 1, 1, 1)
		b.BN3 = nn.NewBatchNorm2d(out)
		last = b.BN3
	} else {
		b.Conv1, b.Conv2 = m.conv(in, inner, 3, stride, 1), m.conv(inner, out, 3, 1, 1)
	}
	if zero {
		last.Weight.Detach().Zero()
	}
	if stride != 1 || in != out {
		b.Downsample = nn.Sequential{m.conv(in, out, 1, stride, 1), nn.NewBatchNorm2d(out)}
	}
	return b
}

// Forward maps [batch, in, h, w] to [batch, out, h/stride, w/stride].
func (b *ResNetBlock) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(b, x, (*ResNetBlock).forward)
}

func (b *ResNetBlock) forward(x *weft.Tensor) *weft.Tensor {
	whole("resnet", "NewResNet", b != nil)
	y := b.BN1.Forward(b.Conv1.Forward(x)).Relu()
	y = b.BN2.Forward(b.Conv2.Forward(y))
	if b.Conv3 != nil {
		y = b.BN3.Forward(b.Conv3.Forward(y.Relu()))
	}
	if len(b.Downsample) > 0 {
		x = b.Downsample.Forward(x)
	}
	return y.Add(x).Relu()
}

// Stages maps [batch, channels, height, width] to what the four stages make of it, each of half the
// height and width of the one before; the first is a quarter of x, or with a small stem as large.
func (r *ResNet) Stages(x *weft.Tensor) []*weft.Tensor {
	defer array.Named("resnet").End()
	whole("resnet", "NewResNet", r != nil)
	pictures("resnet", "NewResNet", x, r.Conv1)
	x = r.BN1.Forward(r.Conv1.Forward(x)).Relu()
	if !r.smallStem {
		x = nn.MaxPool2d{Window: [2]int{3, 3}, Stride: &[2]int{2, 2}, Padding: [2]int{1, 1}}.Forward(x)
	}
	var out []*weft.Tensor
	for _, stage := range []nn.Sequential{r.Layer1, r.Layer2, r.Layer3, r.Layer4} {
		x = stage.Forward(x)
		out = append(out, x)
	}
	return out
}

// Features maps [batch, channels, height, width] to what the last layer sees, [batch, features].
func (r *ResNet) Features(x *weft.Tensor) *weft.Tensor { return toOne(r.Stages(x)[3]) }

// Forward maps [batch, channels, height, width] to scores [batch, classes].
func (r *ResNet) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(r, x, (*ResNet).forward) }

func (r *ResNet) forward(x *weft.Tensor) *weft.Tensor {
	x = r.Features(x)
	return r.FC.Forward(x)
}
