package nn_test

import (
	"testing"

	"weft"
	"weft/nn"
)

// Values and gradients of the poolings and normalisations of testdata/pooling.py are PyTorch's, of
// compiled functions too.
func TestPoolingMatchesPyTorch(t *testing.T)         { compareWithTorch(t, "pooling", poolingCases) }
func TestCompiledPoolingMatchesPyTorch(t *testing.T) { compareCompiled(t, "pooling", poolingCases) }

func poolingCases(map[string]*weft.Tensor) map[string]torchCase {
	type pooled interface {
		WithIndices(x *weft.Tensor) (values, index *weft.Tensor)
	}
	places := func(p pooled) torchCase {
		return torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor {
			values, index := p.WithIndices(x[0])
			// A place that differs adds a thousand.
			return []*weft.Tensor{values.Add(index.Ne(x[1]).To(values.DType()).Mul(1000))}
		}}
	}
	unpool := func(p nn.MaxUnpool, size ...int) torchCase {
		return torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{p.Unpool(x[0], x[1], size...)} }}
	}
	evaluated := fromLayer(nn.NewInstanceNorm3d(2, nn.InstanceNormOpts{Affine: true, Running: true}))
	evaluated.eval = true
	cases := map[string]torchCase{
		"max 1d places":          places(nn.MaxPool1d{Window: 3, Stride: new(2), Padding: 1}),
		"max 2d places":          places(nn.MaxPool2d{Window: [2]int{3, 3}, Stride: &[2]int{2, 2}, Padding: [2]int{1, 1}, Ceil: true}),
		"max 3d places":          places(nn.MaxPool3d{Window: [3]int{2, 2, 2}}),
		"adaptive max 2d places": places(nn.AdaptiveMaxPool2d{Size: [2]*int{new(3), new(5)}}),
		"unpool 1d":              unpool(nn.MaxUnpool{Window: []int{3}}),
		"unpool 2d":              unpool(nn.MaxUnpool{Window: []int{2, 2}}, 7, 8),
		"unpool 3d":              unpool(nn.MaxUnpool{Window: []int{2, 2, 2}}),
		"instance norm eval":     evaluated,
	}
	avg2d := nn.AvgPool2d{Window: [2]int{3, 4}, Stride: &[2]int{2, 3}, Padding: [2]int{1, 2}}
	avg2dCeil := avg2d
	avg2dCeil.Ceil = true
	excluding := func(p nn.AvgPool2d) nn.AvgPool2d { p.ExcludePad = true; return p }
	for name, l := range map[string]nn.Layer{
		"max 1d":                      nn.MaxPool1d{Window: 3},
		"max 1d options":              nn.MaxPool1d{Window: 3, Stride: new(2), Padding: 1, Dilation: new(2), Ceil: true},
		"max 2d ceil":                 nn.MaxPool2d{Window: [2]int{3, 3}, Stride: &[2]int{2, 2}, Padding: [2]int{1, 1}, Ceil: true},
		"max 2d dilated":              nn.MaxPool2d{Window: [2]int{2, 3}, Stride: &[2]int{2, 1}, Padding: [2]int{1, 1}, Dilation: &[2]int{2, 1}},
		"max 3d":                      nn.MaxPool3d{Window: [3]int{2, 2, 2}},
		"max 3d options":              nn.MaxPool3d{Window: [3]int{2, 3, 2}, Stride: &[3]int{2, 1, 2}, Padding: [3]int{1, 1, 0}, Ceil: true},
		"max 3d dilated":              nn.MaxPool3d{Window: [3]int{2, 2, 2}, Stride: &[3]int{1, 1, 1}, Dilation: &[3]int{2, 2, 2}},
		"avg 1d":                      nn.AvgPool1d{Window: 3, Stride: new(2), Padding: 1},
		"avg 1d ceil":                 nn.AvgPool1d{Window: 4, Stride: new(3), Padding: 1, Ceil: true, ExcludePad: true},
		"avg 2d False True":           avg2d,
		"avg 2d True True":            avg2dCeil,
		"avg 2d False False":          excluding(avg2d),
		"avg 2d True False":           excluding(avg2dCeil),
		"avg 2d divisor":              nn.AvgPool2d{Window: [2]int{3, 3}, Stride: &[2]int{2, 2}, Padding: [2]int{1, 1}, Ceil: true, Divisor: new(5)},
		"avg 3d":                      nn.AvgPool3d{Window: [3]int{2, 3, 2}, Stride: &[3]int{2, 2, 2}, Padding: [3]int{1, 1, 0}, Ceil: true, ExcludePad: true},
		"avg 3d divisor":              nn.AvgPool3d{Window: [3]int{2, 2, 2}, Divisor: new(3)},
		"adaptive avg 1d":             nn.AdaptiveAvgPool1d{Size: new(4)},
		"adaptive avg 3d":             nn.AdaptiveAvgPool3d{Size: [3]*int{new(3), nil, new(2)}},
		"adaptive avg 3d even":        nn.AdaptiveAvgPool3d{Size: [3]*int{new(1), new(2), new(3)}},
		"adaptive max 1d":             nn.AdaptiveMaxPool1d{Size: new(4)},
		"adaptive max 1d even":        nn.AdaptiveMaxPool1d{Size: new(3)},
		"adaptive max 2d":             nn.AdaptiveMaxPool2d{Size: [2]*int{new(3), nil}},
		"adaptive max 3d":             nn.AdaptiveMaxPool3d{Size: [3]*int{new(2), new(3), new(4)}},
		"lp 1d":                       nn.LPPool{P: 3, Window: []int{2}, Ceil: true},
		"lp 2d":                       nn.LPPool{P: 2, Window: []int{3, 2}, Stride: []int{2, 2}},
		"lp 3d":                       nn.LPPool{P: 2, Window: []int{2, 2, 2}},
		"batch norm 3d":               nn.NewBatchNorm3d(2),
		"instance norm":               nn.NewInstanceNorm2d(2),
		"instance norm all":           nn.NewInstanceNorm1d(2, nn.InstanceNormOpts{Eps: new(0.1), Momentum: new(0.3), Affine: true, Running: true}),
		"local response norm":         nn.LocalResponseNorm{Size: 4},
		"local response norm options": nn.LocalResponseNorm{Size: 3, Alpha: new(0.5), Beta: new(0.6), K: new(2.0)},
	} {
		cases[name] = fromLayer(l)
	}
	return cases
}
