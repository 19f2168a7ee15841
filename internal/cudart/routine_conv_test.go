package cudart_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/ptxsim"
	"weft/optim"
)

// A convolver is a convolution of a test.
type convolver struct {
	name string
	x    []int // shapes
	w    []int
	opts weft.ConvOpts
	view func(x, w *weft.Tensor) (*weft.Tensor, *weft.Tensor)
}

func pair(a, b int) *[2]int { return &[2]int{a, b} }

// Convolutions run on the GPU, with their gradients and the gradients of those, of all layouts, and
// have the CPU's bits.
func TestConvolutionsAsOnCPU(t *testing.T) {
	gpu, dev := simulated(t, ptxsim.Options{Seed: 6})
	depth, two := 4, 2
	for _, c := range []convolver{
		{name: "plain", x: []int{2, 3, 6, 7}, w: []int{4, 3, 3, 2}},
		{name: "strides", x: []int{1, 2, 9, 8}, w: []int{3, 2, 3, 3}, opts: weft.ConvOpts{Stride: pair(2, 3), Padding: [2]int{1, 2}, Dilation: pair(1, 2)}},
		{name: "groups", x: []int{2, 10, 5, 4}, w: []int{12, 5, 2, 2}, opts: weft.ConvOpts{Groups: &two}},
		{name: "depthwise", x: []int{2, 4, 6, 5}, w: []int{4, 1, 3, 3}, opts: weft.ConvOpts{Groups: &depth, Padding: [2]int{1, 1}}},
		{name: "points", x: []int{2, 3, 4, 4}, w: []int{5, 3, 1, 1}},
		{name: "views", x: []int{5, 2, 6, 3}, w: []int{2, 4, 3, 3}, view: func(x, w *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
			return x.Permute(1, 3, 0, 2).Flip(3), w.Permute(1, 0, 3, 2).Slice(weft.Range(0, 4), weft.Range(0, 1)).Expand(4, 3, 3, 3)
		}},
		{name: "empty", x: []int{0, 3, 4, 4}, w: []int{5, 3, 2, 2}},
	} {
		for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.BFloat16} {
			if d == weft.BFloat16 && c.name != "plain" {
				continue // package grid/conv tests halves of all kinds
			}
			compute := func(number uint8) []*weft.Tensor {
				operand := func(shape []int, by float64) *weft.Tensor {
					n := 1
					for _, k := range shape {
						n *= k
					}
					return on(weft.Arange(0, float64(n), 1).Reshape(shape...).Mul(by).Sin().To(d), number).RequireGrad()
				}
				x, w := operand(c.x, 0.37), operand(c.w, 0.73)
				a, b := x, w
				if c.view != nil {
					a, b = c.view(x, w)
				}
				y := a.Conv2d(b, nil, c.opts)
				first := weft.Grad(y.Mul(y).Sum(), []*weft.Tensor{x, w}, weft.GradOpts{Create: true})
				second := weft.Grad(first[0].Mul(first[0]).Sum().Add(first[1].Mul(first[1]).Sum()), []*weft.Tensor{x, w})
				return append(append([]*weft.Tensor{y}, first...), second...)
			}
			want, got := compute(0), compute(gpu)
			for i := range want {
				if w, g := weft.Digest(want[i].Detach()), weft.Digest(got[i].Detach()); w != g {
					t.Errorf("%s of %s: result %d has digest %v, want %v", c.name, d, i, g, w)
				}
			}
		}
	}
	if n := dev.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}

// A training step of LeNet runs no routine on the host, and ends in the CPU's weights.
func TestLeNetStepAsOnCPU(t *testing.T) {
	gpu, dev := simulated(t, ptxsim.Options{Seed: 7})
	step := func(number uint8) map[string]*weft.Tensor {
		g, weights := weft.NewGenerator(3), map[string]*weft.Tensor{}
		draw := func(name string, shape ...int) *weft.Tensor {
			weights[name] = on(g.Randn(shape...).Mul(0.1), number).RequireGrad()
			return weights[name]
		}
		half := weft.PoolOpts{Window: [2]int{2, 2}}
		x := on(g.Randn(2, 1, 28, 28), number)
		x = x.Conv2d(draw("first filters", 6, 1, 5, 5), draw("first bias", 6), weft.ConvOpts{Padding: [2]int{2, 2}}).Relu().MaxPool2d(half)
		x = x.Conv2d(draw("second filters", 16, 6, 5, 5), draw("second bias", 16)).Relu().MaxPool2d(half).Flatten(1)
		x = x.MatMul(draw("layer", 400, 10))
		o := optim.NewSGD(maps.All(weights))
		weft.CrossEntropy(x, on(weft.FromSlice([]int64{3, 7}), number)).Backward()
		o.Step()
		return weights
	}
	want, got := step(0), step(gpu)
	for name := range want {
		if w, g := weft.Digest(want[name].Detach()), weft.Digest(got[name].Detach()); w != g {
			t.Errorf("%s: digest %v, want %v", name, g, w)
		}
	}
	if n := dev.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}

// A gradient of weights with more pixels in a picture than a kernel counts is refused by name.
func TestConvolutionOfTooManyTerms(t *testing.T) {
	_, dev := simulated(t, ptxsim.Options{Seed: 8})
	i := slices.IndexFunc(op.Table(), func(d *op.Def) bool { return d.Name == "conv2d_weight" })
	shape := []int{1, 1, 1 << 15, 1<<15 + 1}
	g := ir.New()
	n := op.Apply(op.Table()[i], op.ConvGrad{Conv: op.Conv{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}, Shape: []int{1, 1, 1, 1}},
		g.Input(0, array.Float32, shape), g.Input(1, array.Float32, shape))
	s := dev.Default()
	view := func(shape []int) array.View {
		return array.View{Store: s.Alloc(4), DType: array.Float32, Shape: shape, Strides: make([]int, 4)}
	}
	err := dev.Routine(ir.RoutineConv2dWeight)(&device.Call{Stream: s, Node: n, Args: []array.View{view(shape), view(shape)}, Out: []array.View{view(n.Shape)}})
	var e *array.Error
	if !errors.As(err, &e) || e.Op != "conv2d_weight" || e.Arg != "dy" {
		t.Errorf("the error is %v", err)
	}
}
