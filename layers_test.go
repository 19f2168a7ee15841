package weft_test

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/nn"
)

// A convCase is what PyTorch makes of a convolution, in float64; see testdata/conv.py.
type convCase struct {
	Kind                              string
	X, W, B, DY, Y, DX, DW, DB        convArray
	Stride, Padding, Output, Dilation []int
	Groups                            int
}

type convArray struct {
	Shape []int
	Data  []float64
}

func (a convArray) tensor() *weft.Tensor { return weft.FromSlice(a.Data, a.Shape...) }

// TestConvolutionsAsPyTorch compares convolutions with groups and dilation, of pictures and
// rows and transposed, and their gradients with PyTorch's.
func TestConvolutionsAsPyTorch(t *testing.T) {
	b, err := os.ReadFile("testdata/conv.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []convCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 20 {
		t.Fatalf("only %d cases", len(cases))
	}
	for i, c := range cases {
		for _, d := range []weft.DType{weft.Float64, weft.Float32} {
			x, w, bias := c.X.tensor().To(d).RequireGrad(), c.W.tensor().To(d).RequireGrad(), c.B.tensor().To(d).RequireGrad()
			var y *weft.Tensor
			switch c.Kind {
			case "conv1d":
				y = x.Conv1d(w, bias, weft.Conv1dOpts{Stride: new(c.Stride[0]), Padding: c.Padding[0], Dilation: new(c.Dilation[0]), Groups: new(c.Groups)})
			case "conv2d":
				y = x.Conv2d(w, bias, weft.ConvOpts{Stride: new([2]int(c.Stride)), Padding: [2]int(c.Padding), Dilation: new([2]int(c.Dilation)), Groups: new(c.Groups)})
			default:
				y = x.ConvTranspose2d(w, bias, weft.ConvTransposeOpts{Stride: new([2]int(c.Stride)), Padding: [2]int(c.Padding), OutputPadding: [2]int(c.Output), Dilation: new([2]int(c.Dilation)), Groups: new(c.Groups)})
			}
			y.Mul(c.DY.tensor().To(d)).Sum().Backward()
			for name, p := range map[string]struct {
				got  *weft.Tensor
				want convArray
			}{"result": {y.Detach(), c.Y}, "gradient of x": {x.Grad(), c.DX}, "gradient of w": {w.Grad(), c.DW}, "gradient of the bias": {bias.Grad(), c.DB}} {
				if fmt.Sprint(p.got.Shape()) != fmt.Sprint(p.want.Shape) {
					t.Fatalf("case %d, %s: %s has shape %v, want %v", i, c.Kind, name, p.got.Shape(), p.want.Shape)
				}
				bound := 1e-12
				if d == weft.Float32 {
					bound = 1e-4
				}
				for j, v := range weft.Data[float64](p.got.To(weft.Float64)) {
					if !(math.Abs(v-p.want.Data[j]) <= bound*(1+math.Abs(p.want.Data[j]))) {
						t.Fatalf("case %d, %s %s: %s: element %d is %v, want %v", i, c.Kind, d, name, j, v, p.want.Data[j])
					}
				}
			}
		}
	}
}

func TestMistakesWithConvolutions(t *testing.T) {
	conv := func(o weft.ConvOpts) func() error {
		return misuse(func() { weft.Ones(1, 4, 8, 8).Conv2d(weft.Ones(6, 4, 3, 3), nil, o) })
	}
	transposed := func(o weft.ConvTransposeOpts) func() error {
		return misuse(func() { weft.Ones(1, 4, 8, 8).ConvTranspose2d(weft.Ones(4, 2, 3, 3), nil, o) })
	}
	checkMistakes(t, "DIR", []mistake{
		{misuse(func() { nn.NewConv2d(1, 4, 3, nn.Conv2dOpts{Dilation: new(4)}).Forward(weft.Ones(1, 1, 8, 8)) }), "conv2d: a window of 9 does not fit in 8 with padding 0"},
		{misuse(func() { nn.NewConv2d(1, 4, 3, nn.Conv2dOpts{Dilation: new(-1)}) }), "conv2d: Dilation: is -1, want 1 or more"},
		{misuse(func() { nn.NewConv2d(4, 6, 3, nn.Conv2dOpts{Groups: new(4)}) }), "conv2d: Groups: is 4, which does not divide 4 and 6 channels"},
		{misuse(func() { nn.NewConv1d(4, 6, 3, nn.Conv1dOpts{Groups: new(3)}) }), "conv1d: Groups: is 3, which does not divide 4 and 6 channels"},
		{misuse(func() { nn.NewConvTranspose2d(4, 6, 3, nn.ConvTranspose2dOpts{OutputPadding: -1}) }), "conv_transpose2d: OutputPadding: is negative: -1"},
		{conv(weft.ConvOpts{Groups: new(3)}), "conv2d: Groups: is 3, which does not divide the 4 channels of x: [1 4 8 8]"},
		{conv(weft.ConvOpts{Groups: new(4)}), "conv2d: Groups: is 4, which does not divide the 6 filters: [6 4 3 3]"},
		{conv(weft.ConvOpts{Groups: new(2)}), "conv2d: w: takes 4 channels, a group of x has 2: [6 4 3 3] and [1 4 8 8]"},
		{conv(weft.ConvOpts{Groups: new(-1)}), "conv2d: Groups: are -1, want at least 1"},
		{conv(weft.ConvOpts{Dilation: new([2]int{1, -2})}), "conv2d: Dilation: is [1 -2], want at least 1"},
		{conv(weft.ConvOpts{Dilation: new([2]int{math.MaxInt, 1})}), "conv2d: Dilation: 9223372036854775807 of 3 taps is longer than 2147483647"},
		{misuse(func() { weft.Ones(2, 3).Conv1d(weft.Ones(1, 3, 1), nil, weft.Conv1dOpts{}) }), "conv1d: x: has shape [2 3], want [N C L]: rows, channels, length"},
		{misuse(func() { weft.Ones(2, 3, 4).Conv1d(weft.Ones(1, 2, 1), nil, weft.Conv1dOpts{}) }), "conv1d: w: takes 2 channels, x has 3: [1 2 1] and [2 3 4]"},
		{misuse(func() { weft.Ones(2, 3, 4).Conv1d(weft.Ones(1, 3, 5), nil, weft.Conv1dOpts{}) }), "conv1d: a window of 5 does not fit in 4 with padding 0"},
		{misuse(func() {
			weft.Arange(3).Reshape(1, 1, 3).Conv1d(weft.Arange(1).Reshape(1, 1, 1), nil, weft.Conv1dOpts{})
		}), "conv1d: takes floats, got int64: convert with To first"},
		{transposed(weft.ConvTransposeOpts{OutputPadding: [2]int{1, 0}}), "conv_transpose2d: OutputPadding: is 1, want at least 0 and less than the stride 1 or the dilation 1"},
		{transposed(weft.ConvTransposeOpts{Padding: [2]int{0, 6}}), "conv_transpose2d: Padding: of 6 takes more than all of 10 elements"},
		{transposed(weft.ConvTransposeOpts{Stride: new([2]int{math.MaxInt, 1})}), "conv_transpose2d: 8 elements, 9223372036854775807 apart, are longer than 2147483647"},
		{transposed(weft.ConvTransposeOpts{Stride: new([2]int{-1, 1})}), "conv_transpose2d: stride -1, padding 0: want at least 1, 0"},
		{transposed(weft.ConvTransposeOpts{Groups: new(3)}), "conv_transpose2d: Groups: is 3, which does not divide the 4 channels of x: [1 4 8 8]"},
		{misuse(func() { weft.Ones(1, 4, 8, 8).ConvTranspose2d(weft.Ones(3, 2, 3, 3), nil, weft.ConvTransposeOpts{}) }), "conv_transpose2d: w: takes 3 channels, x has 4: [3 2 3 3] and [1 4 8 8]"},
		{misuse(func() {
			weft.Ones(1, 4, 8, 8).ConvTranspose2d(weft.Ones(4, 2, 3, 3), weft.Ones(3), weft.ConvTransposeOpts{})
		}), "conv_transpose2d: bias: has shape [3], want [2]"},
	})
}

// A depthwise convolution has a filter for each channel.
func ExampleTensor_Conv2d() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 10, 20, 30, 40}, 1, 2, 2, 2)
	w := weft.FromSlice([]float32{1, 1, 1, -1}, 2, 1, 1, 2)
	fmt.Println(x.Conv2d(w, nil, weft.ConvOpts{Groups: new(2)}).Flatten(1))
	// Output: [[  3.   7. -10. -10.]]
}

func ExampleTensor_Conv1d() {
	x := weft.FromSlice([]float32{1, 2, 4, 8, 16}, 1, 1, 5)
	difference := weft.FromSlice([]float32{-1, 1}, 1, 1, 2)
	fmt.Println(x.Conv1d(difference, nil, weft.Conv1dOpts{Dilation: new(2)}).Flatten(1))
	// Output: [[ 3.  6. 12.]]
}

// With a stride pixels lie apart in the result.
func ExampleTensor_ConvTranspose2d() {
	x := weft.FromSlice([]float32{1, 2}, 1, 1, 1, 2)
	w := weft.FromSlice([]float32{1, 10}, 1, 1, 1, 2)
	fmt.Println(x.ConvTranspose2d(w, nil, weft.ConvTransposeOpts{Stride: new([2]int{1, 2})}).Flatten(1))
	// Output: [[ 1. 10.  2. 20.]]
}

// What goes through exponentials and logarithms of sums, in float32 against float64:
// numbers far from 0 must cost no digits.
func TestLargeLogitsKeepPrecision(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, scale := range []float64{0, 10, 20, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, -20, -1e4, -1e8} {
			row := make([]float32, 6)
			for i, d := range []float64{0, -10, -16, -8, -0.5, -1e3} {
				row[i] = float32(scale + d)
			}
			x := make([]float64, len(row))
			m := math.Inf(-1)
			for i := range row {
				x[i] = float64(row[i])
				m = math.Max(m, x[i])
			}
			sum := 0.0
			for _, v := range x {
				sum += math.Exp(v - m)
			}
			near := func(name string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= 3e-7*math.Max(1, math.Abs(want))) {
					t.Errorf("%s at %g: %v, want %v", name, scale, got, want)
				}
			}
			leaf := weft.FromSlice(row).RequireGrad()
			lse := leaf.LogSumExp()
			near("logsumexp", lse.Item(), m+math.Log(sum))
			p := weft.Grad(lse, []*weft.Tensor{leaf})[0]
			soft, logs := weft.FromSlice(row).Softmax(0), weft.FromSlice(row).LogSoftmax(0)
			for i, v := range x {
				y := v - m - math.Log(sum)
				near("gradient of logsumexp", p.At(i).Item(), math.Exp(y))
				near("softmax", soft.At(i).Item(), math.Exp(y))
				near("log_softmax", logs.At(i).Item(), y)

				one := leaf.Unsqueeze(0)
				loss := weft.CrossEntropy(one, weft.From([]int{i}))
				near("cross_entropy", loss.Item(), -y)
				g := weft.Grad(loss, []*weft.Tensor{leaf})[0]
				for j := range x {
					want := math.Exp(x[j] - m - math.Log(sum))
					if i == j {
						want--
					}
					near("gradient of cross_entropy", g.At(j).Item(), want)
				}

				scalar := weft.ScalarOf(weft.Float32, v).RequireGrad()
				plus := scalar.Softplus()
				near("softplus", plus.Item(), math.Max(v, 0)+math.Log1p(math.Exp(-math.Abs(v))))
				near("gradient of softplus", weft.Grad(plus, []*weft.Tensor{scalar})[0].Item(), 1/(1+math.Exp(-v)))
				near("sigmoid", scalar.Sigmoid().Item(), 1/(1+math.Exp(-v)))
			}
		}
	})
	// A confident and right answer costs little, and how little counts.
	got := weft.CrossEntropy(weft.From([][]float32{{20, 10}}), weft.From([]int{0})).Item()
	if want := math.Log1p(math.Exp(-10)); math.Abs(got-want) > 1e-7 {
		t.Errorf("cross_entropy of 20 beside 10: %v, want %v", got, want)
	}
}

// Softmax cross-entropy goes through memory once each way, however many passes over a row that
// lies in the cache: forward the logits are read, backward they are read and their gradient is
// written. Compiled, both are one kernel, which reads them once.
func TestCrossEntropyPasses(t *testing.T) {
	const rows, classes = 512, 1000
	const once = rows * classes * 4
	l := tensortest.Noise(1, 3, rows, classes).RequireGrad()
	y := weft.Arange(rows).Mod(classes).To(weft.Int64)
	moved := func(f func()) (kernels int64, bytes int64) {
		p := weft.StartProfile(weft.ProfileOpts{})
		defer p.Stop()
		f()
		for _, k := range p.Kernels() {
			if k.Bytes > once/2 { // those over rows, or one number, are not counted
				kernels += k.Calls
			}
			bytes += k.Bytes
		}
		return kernels, bytes
	}
	check := func(what string, times int64, f func()) {
		t.Helper()
		kernels, bytes := moved(f)
		if kernels != 1 || bytes < times*once || bytes > times*once+64*rows {
			t.Errorf("%s: %d kernels over all logits, %d bytes moved, want one kernel and %d bytes of them", what, kernels, bytes, times*once)
		}
	}
	var loss *weft.Tensor
	check("forward", 1, func() { loss = weft.CrossEntropy(l, y) })
	check("backward", 2, func() { loss.Backward() })
	want := l.Grad()
	l.SetGrad(nil)
	step := weft.Compile(func(l, y *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
		loss := weft.CrossEntropy(l, y)
		loss.Backward()
		g := l.Grad()
		l.SetGrad(nil)
		return loss, g
	}).Func()
	step(l, y)
	var got *weft.Tensor
	check("compiled", 2, func() { _, got = step(l, y) })
	if !slices.Equal(weft.Data[float32](got), weft.Data[float32](want)) {
		t.Error("the gradient differs from that of eager code")
	}
}

// TestProgramIsStatic reads the binary of a program that imports weft and nn: the system loads no
// library for it. Only module weft/cuda loads one.
func TestProgramIsStatic(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: links a program")
	}
	binary := filepath.Join(t.TempDir(), "digits")
	build := exec.Command("go", "build", "-o", binary, "./examples/digits")
	build.Env = append(build.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a segment %v: the system would load libraries for it", p.Type)
		}
	}
}

// TestModuleLoadsNoLibrary: no package of the root module needs what loads shared libraries.
func TestModuleLoadsNoLibrary(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./...")
	list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := false
	for path := range strings.FieldsSeq(string(out)) {
		seen = seen || path == "weft/nn"
		if path == "plugin" || path == "runtime/cgo" || strings.HasPrefix(path, "github.com/ebitengine/purego") {
			t.Errorf("a package imports %s", path)
		}
	}
	if !seen {
		t.Error("the list of imports lacks weft/nn")
	}
}
