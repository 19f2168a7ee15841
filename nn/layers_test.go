package nn_test

import (
	"math"
	"slices"
	"testing"

	"weft"
	"weft/nn"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestConv2d(t *testing.T) {
	c := nn.NewConv2d(1, 1, 2)
	c.Weight, c.Bias = nn.Param(weft.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)), nn.Param(weft.FromSlice([]float32{100}))
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
	if got := weft.Data[float32](c.Forward(x)); !slices.Equal(got, []float32{137, 147, 167, 177}) {
		t.Errorf("%v", got)
	}
	c.Stride, c.Padding, c.Bias = [2]int{2, 2}, [2]int{1, 1}, nil
	if got := weft.Data[float32](c.Forward(x)); !slices.Equal(got, []float32{4, 18, 36, 77}) {
		t.Errorf("stride and padding: %v", got)
	}
	c = nn.NewConv2d(3, 5, 7)
	if !slices.Equal(c.Weight.Shape(), []int{5, 3, 7, 7}) || !slices.Equal(c.Bias.Shape(), []int{5}) || !c.Bias.RequiresGrad() {
		t.Errorf("NewConv2d: %v %v", c.Weight.Shape(), c.Bias.Shape())
	}
}

func TestSequential(t *testing.T) {
	x := weft.FromSlice([]float32{1, -2, 3, -4, 5, -6, 7, -8, 9, 10, 11, 12, 13, 14, 15, -16}, 1, 1, 4, 4)
	s := nn.Sequential{
		nn.Relu{},
		nn.MaxPool2d{Window: [2]int{2, 2}},
		nn.Func(func(x *weft.Tensor) *weft.Tensor { return x.Mul(2) }),
		nn.Flatten{},
	}
	y := s.Forward(x)
	if got := weft.Data[float32](y); !slices.Equal(got, []float32{10, 14, 28, 30}) || !slices.Equal(y.Shape(), []int{1, 4}) {
		t.Errorf("%v of shape %v", got, y.Shape())
	}
	if got := weft.Data[float32](nn.AvgPool2d{Window: [2]int{4, 2}, Stride: new([2]int{1, 2})}.Forward(x)); !slices.Equal(got, []float32{5.5, 2.5}) {
		t.Errorf("average: %v", got)
	}
}

func TestActivations(t *testing.T) {
	v := []float64{-2, -0.5, 0, 0.5, 3}
	for name, c := range map[string]struct {
		l nn.Layer
		f func(x float64) float64
	}{
		"relu":    {nn.Relu{}, func(x float64) float64 { return max(x, 0) }},
		"tanh":    {nn.Tanh{}, math.Tanh},
		"sigmoid": {nn.Sigmoid{}, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		"gelu":    {nn.Gelu{}, func(x float64) float64 { return x * (1 + math.Erf(x/math.Sqrt2)) / 2 }},
		"silu":    {nn.Silu{}, func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
	} {
		for i, got := range weft.Data[float64](c.l.Forward(weft.FromSlice(v))) {
			near(t, name, got, c.f(v[i]), 1e-13)
		}
	}
}

func TestDropout(t *testing.T) {
	const n = 100000
	d := &nn.Dropout{P: 0.25, Generator: weft.NewGenerator(3)}
	x := nn.Param(weft.OnesOf(weft.Float64, n))
	y := d.Forward(x)
	zeros := 0
	for _, v := range weft.Data[float64](y) {
		switch v {
		case 0:
			zeros++
		case 1 / 0.75:
		default:
			t.Fatalf("an element became %v", v)
		}
	}
	// Five standard deviations of the binomial distribution.
	near(t, "the number of zeros", float64(zeros), 0.25*n, 5*math.Sqrt(n*0.25*0.75))
	y.Sum().Backward()
	if x.Grad().Ne(y.Detach()).Any().ItemInt() != 0 {
		t.Error("the gradient drops other elements")
	}
	if d.Forward(x).Eq(y).All().ItemInt() != 0 {
		t.Error("two calls drop the same elements")
	}
	d.P = 1.5
	if weft.Try(func() { d.Forward(x) }) == nil {
		t.Error("a probability of 1.5 is taken")
	}
}

func TestInit(t *testing.T) {
	const in, out, field = 40, 60, 9
	for name, c := range map[string]struct {
		f       nn.Init
		std     func(in, out float64) float64
		uniform bool
	}{
		"kaiming normal":  {nn.KaimingNormal, func(in, _ float64) float64 { return math.Sqrt(2 / in) }, false},
		"kaiming uniform": {nn.KaimingUniform, func(in, _ float64) float64 { return math.Sqrt(2 / in) }, true},
		"xavier normal":   {nn.XavierNormal, func(in, out float64) float64 { return math.Sqrt(2 / (in + out)) }, false},
		"xavier uniform":  {nn.XavierUniform, func(in, out float64) float64 { return math.Sqrt(2 / (in + out)) }, true},
	} {
		g := weft.NewGenerator(5)
		for _, shape := range [][]int{{out, in}, {out, in, 3, 3}} {
			k := 1.0
			if len(shape) == 4 {
				k = field
			}
			x := c.f(g, shape...).To(weft.Float64)
			std := c.std(in*k, out*k)
			n := float64(x.Size())
			near(t, name+": mean", x.Mean().Item(), 0, 5*std/math.Sqrt(n))
			near(t, name+": standard deviation", x.Std().Item(), std, 5*std/math.Sqrt(n))
			bound := x.Abs().Max().Item()
			if c.uniform {
				near(t, name+": bound", bound, std*math.Sqrt(3), 0.01*std)
			} else if bound < 2.5*std {
				t.Errorf("%s: no element beyond %v", name, bound)
			}
		}
		if weft.Try(func() { c.f(nil, 3) }) == nil {
			t.Errorf("%s: one axis is taken", name)
		}
		if x := c.f(nil, 3, 4); x.Size() != 12 {
			t.Errorf("%s: default generator: %v", name, x.Shape())
		}
	}
}

func TestCrossEntropy(t *testing.T) {
	logits := [][]float64{{1, 2, 3}, {-1000, 1000, 0}, {0.5, 0.5, 0.5}, {3, -1, 2}}
	target := []int64{0, 1, 2, 2}
	want := 0.0
	grad := make([][]float64, len(logits))
	for i, row := range logits {
		sum := 0.0
		top := slices.Max(row)
		for _, x := range row {
			sum += math.Exp(x - top)
		}
		want += math.Log(sum) + top - row[target[i]]
		for j, x := range row {
			p := math.Exp(x-top) / sum
			if int64(j) == target[i] {
				p--
			}
			grad[i] = append(grad[i], p/4)
		}
	}
	x := nn.Param(weft.From(logits))
	loss := nn.CrossEntropy(x, weft.FromSlice(target))
	near(t, "loss", loss.Item(), want/4, 1e-14)
	loss.Backward()
	for i, got := range weft.Data[float64](x.Grad()) {
		near(t, "gradient", got, grad[i/3][i%3], 1e-14)
	}
	for name, f := range map[string]func(){
		"target too great": func() { nn.CrossEntropy(x, weft.FromSlice([]int64{0, 1, 3, 2})).Item() },
		"target negative":  func() { nn.CrossEntropy(x, weft.FromSlice([]int64{0, -1, 2, 2})).Item() },
		"rows":             func() { nn.CrossEntropy(x, weft.FromSlice([]int64{0, 1})) },
		"float target":     func() { nn.CrossEntropy(x, weft.Zeros(4)) },
		"rank":             func() { nn.CrossEntropy(x.Sum(1), weft.FromSlice(target)) },
	} {
		if weft.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMSE(t *testing.T) {
	x := nn.Param(weft.FromSlice([]float64{1, 2, 4}))
	loss := nn.MSE(x, weft.FromSlice([]float64{0, 4, 4}))
	near(t, "loss", loss.Item(), 5.0/3, 1e-15)
	loss.Backward()
	for i, got := range weft.Data[float64](x.Grad()) {
		near(t, "gradient", got, []float64{2, -4, 0}[i]/3, 1e-15)
	}
	if weft.Try(func() { nn.MSE(x, weft.ZerosOf(weft.Float64, 3, 1)) }) == nil {
		t.Error("another shape is taken")
	}
}
