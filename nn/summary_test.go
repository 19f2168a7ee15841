package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// lastNumbers returns the numbers of the line of a summary that begins with a word.
func lastNumbers(t *testing.T, summary, word string) (list []int64) {
	for line := range strings.Lines(summary) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == word {
			for _, s := range f[1:] {
				if n, err := strconv.ParseInt(s, 10, 64); err == nil {
					list = append(list, n)
				}
			}
			return list
		}
	}
	t.Fatalf("no line %q in\n%s", word, summary)
	return nil
}

// convs returns 3x3 convolutions of such channels, a pooling for each 0, as VGG has them.
func convs(in int, channels ...int) (s nn.Sequential) {
	for _, c := range channels {
		if c == 0 {
			s = append(s, nn.MaxPool2d{Window: [2]int{2, 2}})
			continue
		}
		s = append(s, nn.NewConv2d(in, c, 3, nn.Conv2dOpts{Padding: 1, Opts: nn.Opts{Weight: nn.Constant(0), Bias: nn.Constant(0)}}), nn.Relu{})
		in = c
	}
	return s
}

// Numbers of parameters and multiply-adds are those that are published, or that follow from the shapes.
func TestSummaryOfPublishedNetworks(t *testing.T) {
	lenet := nn.Sequential{
		nn.NewConv2d(1, 6, 5, nn.Conv2dOpts{Padding: 2}), nn.Sigmoid{}, nn.AvgPool2d{Window: [2]int{2, 2}},
		nn.NewConv2d(6, 16, 5), nn.Sigmoid{}, nn.AvgPool2d{Window: [2]int{2, 2}}, nn.Flatten{},
		nn.NewLinear(400, 120), nn.Sigmoid{}, nn.NewLinear(120, 84), nn.Sigmoid{}, nn.NewLinear(84, 10),
	}
	vgg := convs(3, 64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
	const width, heads, steps = 16, 4, 5
	coder := nn.NewTransformerEncoderLayer(width, heads, nn.TransformerOpts{FeedForward: new(32)})
	for _, c := range []struct {
		name         string
		m            any
		x            *weft.Tensor
		numbers, mac int64
	}{
		// LeNet-5 as it is taught: 61,706 parameters.
		{"LeNet-5", lenet, weft.Zeros(1, 1, 28, 28), 61706, 28*28*6*25 + 10*10*16*6*25 + 400*120 + 120*84 + 84*10},
		// VGG-16 without its last layers: 14,714,688 parameters in Keras, 15.3 billion multiply-adds.
		{"VGG-16", vgg, weft.Zeros(1, 3, 224, 224), 14714688, 15346630656},
		{"LSTM", nn.NewLSTM(3, 4), weft.Zeros(5, 2, 3), 4*4*(3+4) + 2*16, 5 * 2 * 16 * (3 + 4)},
		{"transformer", coder, weft.Zeros(steps, 1, width), 4*width*width + 4*width + 2*32*width + 32 + width + 4*width,
			steps*4*width*width + 2*steps*steps*width + steps*2*32*width},
		{"groups", nn.NewConv2d(4, 8, 3, nn.Conv2dOpts{Groups: new(4)}), weft.Zeros(2, 4, 5, 5), 8*9 + 8, 2 * 3 * 3 * 8 * 9},
		{"transposed", nn.NewConvTranspose2d(4, 8, 3), weft.Zeros(1, 4, 5, 5), 4*8*9 + 8, 5 * 5 * 4 * 8 * 9},
	} {
		s := nn.Summary(c.m, c.x)
		if got, want := lastNumbers(t, s, "all"), []int64{c.numbers, c.mac}; !slices.Equal(got, want) {
			t.Errorf("%s: parameters and multiply-adds %v, want %v\n%s", c.name, got, want, s)
		}
	}
}

// A summary of calls changes nothing: neither running means, nor generators, nor gradients.
func TestSummaryChangesNothing(t *testing.T) {
	g := weft.NewGenerator(3)
	bn := nn.NewBatchNorm2d(2)
	net := nn.Sequential{bn, &nn.Dropout{P: 0.5, Generator: g}, nn.NewConv2d(2, 2, 1)}
	before := g.State()
	x := nn.Param(weft.Ones(3, 2, 4, 4))
	s := nn.Summary(net, x)
	if g.State() != before || bn.NumBatchesTracked.ItemInt() != 0 || bn.RunningMean.Abs().Sum().Item() != 0 || x.Grad() != nil {
		t.Errorf("the summary changed the module\n%s", s)
	}
	if !strings.Contains(s, "1  ") || !strings.Contains(s, "nn.Dropout      [3 2 4 4]") {
		t.Errorf("no dropout in\n%s", s)
	}
}

// shared is a module that calls a layer twice and another never.
type shared struct {
	A, B    *nn.Linear
	Act1    nn.Relu
	Act2    nn.Relu
	Scale   *weft.Tensor
	Blocks  []*Gated
	Missing map[string]*nn.Linear
}

func (s *shared) Forward(x, y *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
	x = s.Act2.Forward(s.A.Forward(s.Act1.Forward(s.A.Forward(x)))).Mul(s.Scale)
	return s.Blocks[0].Forward(x), y.MatMul(x.T())
}

func ExampleSummary_calls() {
	m := &shared{A: nn.NewLinear(3, 3), B: nn.NewLinear(3, 1), Scale: nn.Param(weft.Ones(3)),
		Blocks: []*Gated{{nn.NewLinear(3, 2), nn.NewLinear(3, 2)}}}
	fmt.Print(nn.Summary(m, weft.Zeros(5, 3), weft.Zeros(4, 3)))
	// Output:
	// layer           type            result        numbers   MACs
	// ------------------------------------------------------------
	// input                           [5 3], [4 3]
	//                 nn_test.shared  [5 2], [4 5]  3         60
	// a               nn.Linear       [5 3]         12        45
	// act1            nn.Relu         [5 3]         0         0
	// a               nn.Linear       [5 3]         as above  45
	// act2            nn.Relu         [5 3]         0         0
	// blocks.0        nn_test.Gated   [5 2]         0         0
	// blocks.0.value  nn.Linear       [5 2]         8         30
	// blocks.0.gate   nn.Linear       [5 2]         8         30
	// b               nn.Linear       not called    4
	// ------------------------------------------------------------
	// trained                                       35
	// not trained                                   0
	// all                                           35        210
}

// item reads elements, outside of the layers of this package.
type item struct{}

func (*item) Forward(x *weft.Tensor) *weft.Tensor { return x.Mul(x.Sum().Item()) }

func TestSummaryRefuses(t *testing.T) {
	x := weft.Zeros(1, 2)
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"summary", "m", func() { nn.Summary(nil, x) }},
		{"summary", "m", func() { nn.Summary(struct{}{}, x) }},
		{"summary", "m", func() { nn.Summary(nn.NewLinear(2, 2), x, x) }},
		{"summary", "inputs", func() { nn.Summary(nn.NewLinear(2, 2), nil) }},
		{"linear", "x", func() { nn.Summary(nn.NewLinear(3, 2), x) }},
		{"summary", "m", func() { nn.Summary(&item{}, x) }},
		{"summary", "m", func() { nn.Summary(nn.Func(func(x *weft.Tensor) *weft.Tensor { return x.Mul(x.Sum().Item()) }), x) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || e.Arg != c.arg {
			t.Errorf("%v, want an error of %s: %s", err, c.op, c.arg)
		}
	}
}
