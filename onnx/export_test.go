package onnx_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
	"weft/npy"
	"weft/onnx"
)

// An exportCase is a function that is written, with its arguments. more are arguments of other free lengths.
type exportCase struct {
	name    string
	f       any
	inputs  []string
	args    []*weft.Tensor
	more    []*weft.Tensor
	weights map[string]*weft.Tensor
}

func list(ts ...*weft.Tensor) []*weft.Tensor { return ts }

// exportedModules are whole networks.
func exportedModules() []exportCase {
	g := weft.NewGenerator(1)
	x := func(shape ...int) []*weft.Tensor { return list(g.Normal(0, 1, shape...)) }
	tokens := func(n, t int) []*weft.Tensor { return list(weft.Arange(n*t).Mod(50).Reshape(n, t)) }
	mlp := nn.Sequential{nn.NewLinear(7, 16), nn.NewLayerNorm([]int{16}), nn.Func((*weft.Tensor).Gelu), nn.NewLinear(16, 5)}
	resnet := models.NewResNet18(models.ResNetOpts{Width: new(8), Classes: new(10), Generator: g})
	bert := models.NewBert(models.BertOpts{Vocab: new(50), Context: new(4096), Width: new(16), Layers: new(2), Heads: new(4), Generator: g})
	nn.Eval(resnet)
	nn.Eval(bert)
	read := func(tokens *weft.Tensor) (h, p *weft.Tensor) { return bert.Read(tokens) }
	return []exportCase{
		{"mlp", mlp.Forward, []string{"x[n 7]"}, x(3, 7), x(5, 7), nn.State(mlp)},
		{"resnet", resnet.Forward, []string{"x[n 3 32 32]"}, x(2, 3, 32, 32), x(3, 3, 32, 32), nn.State(resnet)},
		{"bert", read, []string{"tokens[n 9]"}, tokens(2, 9), tokens(3, 9), nn.State(bert)},
	}
}

type one = func(x *weft.Tensor) *weft.Tensor

// exportedFunctions have the operations of the table.
func exportedFunctions() []exportCase {
	g := weft.NewGenerator(2)
	x := func(shape ...int) []*weft.Tensor { return list(g.Normal(0, 1, shape...)) }
	matrix := func(name string, f one) exportCase {
		return exportCase{name, f, []string{"x[n 6]"}, x(4, 6), x(9, 6), nil}
	}
	image := func(name string, f one) exportCase {
		return exportCase{name, f, []string{"x[n 4 h w]"}, x(2, 4, 11, 13), x(3, 4, 14, 16), nil}
	}
	attend := func(causal bool) func(q, k *weft.Tensor) *weft.Tensor {
		return func(q, k *weft.Tensor) *weft.Tensor {
			return nn.ScaledDotProductAttention(q, k, k, nn.AttentionOpts{Causal: causal})
		}
	}
	filters, transposed := g.Normal(0, 1, 6, 2, 3, 3), g.Normal(0, 1, 4, 5, 3, 3)
	cases := []exportCase{
		matrix("arithmetic", func(x *weft.Tensor) *weft.Tensor {
			return x.Mul(2).Add(1).Sub(x.Div(3)).Minimum(x.Abs()).Maximum(-0.5).Clamp(-1, 2).Neg().Add(x.Square().Pow(1.5)).Add(x.Pow(3))
		}),
		matrix("mathematics", func(x *weft.Tensor) *weft.Tensor {
			y := x.Exp().Add(x.Sin()).Add(x.Cos()).Add(x.Atan()).Add(x.Tanh()).Add(x.Erf()).Add(x.Sigmoid()).Add(x.Softplus()).Add(x.Gelu()).Add(x.Silu()).Add(x.Relu())
			return y.Add(x.Abs().Log1p()).Add(x.Expm1()).Add(x.Abs().Add(0.1).Log2()).Add(x.Exp2()).Add(x.Abs().Sqrt()).Add(x.Abs().Add(1).Rsqrt())
		}),
		matrix("small", func(x *weft.Tensor) *weft.Tensor {
			return weft.Cat(list(x.Mul(1e-5).Log1p(), x.Mul(1e-5).Expm1()), 1).Mul(1e5)
		}),
		matrix("rounding", func(x *weft.Tensor) *weft.Tensor {
			return x.Mul(3).Floor().Add(x.Ceil()).Add(x.Mul(7).Round()).Add(x.Mul(5).Trunc()).Add(x.Sign())
		}),
		matrix("logic", func(x *weft.Tensor) *weft.Tensor {
			c := x.Gt(0).LogicalAnd(x.Lt(1)).LogicalOr(x.Le(-1)).LogicalXor(x.Ge(0.5)).LogicalAnd(x.Ne(0)).LogicalOr(x.Eq(2)).LogicalAnd(x.IsFinite())
			return weft.Where(c, x, x.Mul(2)).Add(c.To(weft.Float32)).Add(c.LogicalNot().Any(1).To(weft.Float32).Reshape(-1, 1)).Add(c.All(0).To(weft.Float32))
		}),
		matrix("integers", func(x *weft.Tensor) *weft.Tensor {
			i := x.Mul(10).Floor().To(weft.Int64)
			return i.Mod(7).Add(i.FloorDiv(3)).Mul(i.BitAnd(6)).Sub(i.BitOr(1)).Maximum(-4)
		}),
		matrix("reductions", func(x *weft.Tensor) *weft.Tensor {
			return x.Sub(x.MeanKeep(0)).Div(x.StdKeep(1)).Add(x.Max()).Add(x.MinKeep(1)).Add(x.Var(0)).Add(x.ArgMax(1).To(weft.Float32).Reshape(-1, 1)).Add(x.LogSumExp(0)).Add(x.Prod(1).Reshape(-1, 1))
		}),
		matrix("softmax", func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1).Add(x.LogSoftmax(0)) }),
		matrix("layout", func(x *weft.Tensor) *weft.Tensor {
			y := x.T().Flip(0, 1).Slice(weft.Range(1, 6, 2))
			return weft.Cat(list(y, y.Roll(1, 1), y.Pad(3, 0, 0, 1, 2).Slice(weft.All, weft.Range(1, -2))), 0)
		}),
		matrix("triangles", func(x *weft.Tensor) *weft.Tensor {
			return x.MatMul(x.T()).Tril(0).Add(x.MatMul(x.T()).Triu(1).Mul(2)).CumSum(1)
		}),
		matrix("indices", func(x *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(1, weft.FromSlice([]int64{5, 0, -1})).Add(x.Gather(1, x.Slice(weft.All, weft.Range(0, 3)).Gt(0).To(weft.Int64)))
		}),
		matrix("halves", func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Float16).Mul(3).Add(1).Softmax(1).To(weft.Float32) }),
		matrix("lengths", func(x *weft.Tensor) *weft.Tensor {
			n := x.Shape()[0]
			return weft.Cat(list(x.Reshape(6*n), x.Reshape(3, n, 2).Sum(0).Reshape(-1), weft.Zeros(n+1)), 0).Mul(n)
		}),
		matrix("same", func(x *weft.Tensor) *weft.Tensor { return x }),
		image("convolution", func(x *weft.Tensor) *weft.Tensor {
			return x.Conv2d(filters, nil, weft.ConvOpts{Stride: &[2]int{2, 1}, Padding: [2]int{1, 2}, Groups: new(2)})
		}),
		image("pooling", func(x *weft.Tensor) *weft.Tensor {
			return x.MaxPool2d(weft.PoolOpts{Window: [2]int{3, 2}, Padding: [2]int{1, 0}}).Add(x.AvgPool2d(weft.PoolOpts{Window: [2]int{3, 2}, Padding: [2]int{1, 0}}))
		}),
		{"transposed", func(x *weft.Tensor) *weft.Tensor {
			return x.ConvTranspose2d(transposed, nil, weft.ConvTransposeOpts{Stride: &[2]int{2, 2}, Padding: [2]int{1, 1}, OutputPadding: [2]int{1, 0}})
		},
			[]string{"x[n 4 5 6]"}, x(2, 4, 5, 6), x(3, 4, 5, 6), nil},
		{"product", func(x, y *weft.Tensor) *weft.Tensor { return x.MatMul(y) }, []string{"a[n 3 4]", "b[4 m]"}, append(x(2, 3, 4), x(4, 5)...), append(x(6, 3, 4), x(4, 2)...), nil},
		{"attention", attend(false), []string{"q[n h t 8]", "k[n h s 8]"}, append(x(2, 3, 5, 8), x(2, 3, 7, 8)...), append(x(1, 2, 4, 8), x(1, 2, 9, 8)...), nil},
		{"causal", attend(true), []string{"q[n h t 8]", "k[n h t 8]"}, append(x(2, 3, 5, 8), x(2, 3, 5, 8)...), append(x(1, 2, 9, 8), x(1, 2, 9, 8)...), nil},
	}
	return cases
}

// call calls a function of tensors.
func call(f any, args []*weft.Tensor) (out []*weft.Tensor) {
	var in []reflect.Value
	for _, a := range args {
		in = append(in, reflect.ValueOf(a))
	}
	for _, v := range reflect.ValueOf(f).Call(in) {
		out = append(out, v.Interface().(*weft.Tensor))
	}
	return out
}

// write writes the model of a case.
func (c *exportCase) write(t *testing.T) []byte {
	t.Helper()
	var args []any
	for _, a := range c.args {
		args = append(args, a)
	}
	var b bytes.Buffer
	if err := onnx.Write(&b, c.f, args, onnx.SaveOpts{Inputs: c.inputs, Weights: c.weights}); err != nil {
		t.Errorf("%s: %v", c.name, err)
		return nil
	}
	return b.Bytes()
}

// TestExportedModelsComputeTheFunction reads what is written, and calls it with arguments of two lengths.
func TestExportedModelsComputeTheFunction(t *testing.T) {
	for _, c := range allExported() {
		b := c.write(t)
		if b == nil {
			continue
		}
		m, err := onnx.Read(b)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name, w := range c.weights {
			if !w.RequiresGrad() {
				continue
			}
			if got := nn.State(m)[name]; got == nil || !got.AllClose(w, weft.CloseOpts{}) {
				t.Errorf("%s: the model has no weight %s with the elements of the module", c.name, name)
			}
		}
		for _, args := range [][]*weft.Tensor{c.args, c.more} {
			in := map[string]*weft.Tensor{}
			for i, a := range args {
				name, _, _ := strings.Cut(c.inputs[i], "[")
				in[name] = a
			}
			out, err := m.Run(in)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			for i, want := range call(c.f, args) {
				name := outputName(i, len(out))
				got := out[name]
				if got == nil || got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) || !got.AllClose(want, weft.CloseOpts{Relative: new(1e-5), Absolute: new(1e-5)}) {
					t.Errorf("%s: %s is\n%v\nwant\n%v", c.name, name, got, want)
				}
			}
		}
	}
}

func outputName(i, n int) string {
	if n == 1 {
		return "y"
	}
	return "y" + strconv.Itoa(i)
}

// With WEFT_BENCH_PYTHON=python, ONNX's checker takes what is written, and ONNX Runtime computes the same.
func TestONNXRuntimeRunsWhatIsWritten(t *testing.T) {
	python := os.Getenv("WEFT_BENCH_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: no counterpart: WEFT_BENCH_PYTHON names no Python with onnx and onnxruntime, which would run what is written")
	}
	dir := t.TempDir()
	for _, c := range allExported() {
		b := c.write(t)
		if b == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, c.name+".onnx"), b, 0o666); err != nil {
			t.Fatal(err)
		}
		tensors := map[string]*weft.Tensor{}
		for k, args := range [][]*weft.Tensor{c.args, c.more} {
			for i, a := range args {
				tensors["in "+strconv.Itoa(k)+" "+strconv.Itoa(i)] = a
			}
			for i, y := range call(c.f, args) {
				tensors["out "+strconv.Itoa(k)+" "+strconv.Itoa(i)] = y.Detach()
			}
		}
		if err := npy.WriteArchiveFile(filepath.Join(dir, c.name+".npz"), tensors); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, "testdata/export.py", dir).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func TestExportRefusals(t *testing.T) {
	x := weft.Ones(3, 4)
	drop := &nn.Dropout{P: 0.5}
	norm := nn.NewBatchNorm1d(4)
	write := func(f any, opts ...onnx.SaveOpts) error { return onnx.Write(&bytes.Buffer{}, f, []any{x}, opts...) }
	var missing *onnx.ExportError
	err := write(func(x *weft.Tensor) *weft.Tensor { return x.Erfinv().Add(x.Lgamma()).Add(x.Erfinv()) })
	if !errors.As(err, &missing) || !slices.Equal(missing.Ops, []string{"erfinv of float32", "lgamma of float32"}) {
		t.Errorf("operations without a form give %v", err)
	}
	for _, c := range []struct {
		err  error
		text string
	}{
		{write(drop.Forward), "draws random numbers"},
		{write(norm.Forward), "writes tensors"},
		{write(3), "is int: want a function of tensors"},
		{write(func(x *weft.Tensor) *weft.Tensor { return x.Exp() }, onnx.SaveOpts{Outputs: []string{"x"}}), `an input and an output have the name "x"`},
		{onnx.Write(nil, drop.Forward, []any{x}), "w is nil"},
		{onnx.Save(filepath.Join(t.TempDir(), "no", "x.onnx"), func(x *weft.Tensor) *weft.Tensor { return x }, []any{x}), "no such file"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("the error is %v, want one with %q", c.err, c.text)
		}
	}
}
