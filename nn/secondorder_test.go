package nn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// A twice is a function whose second derivatives are compared with differences of first ones. The first word of
// its name is the type or function of package nn, and others say with which options.
type twice struct {
	name string
	f    func(x ...*weft.Tensor) []*weft.Tensor
	x    []*weft.Tensor
}

// twiceOf is a function of one result.
func twiceOf(name string, f func(x ...*weft.Tensor) *weft.Tensor, x ...*weft.Tensor) twice {
	return twice{name, func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(x...)} }, x}
}

// twiceModule is a module in float64 as a function of x and of its parameters, which are drawn anew.
func twiceModule[M any](name string, m M, f func(m M, x ...*weft.Tensor) []*weft.Tensor, x ...*weft.Tensor) twice {
	toFloat64(reflect.ValueOf(m))
	var names []string
	all := slices.Clone(x)
	g := weft.NewGenerator(uint64(len(name)))
	for at, p := range nn.Params(m) {
		names = append(names, at)
		all = append(all, g.RandnOf(weft.Float64, p.Shape()...).Mul(0.7))
	}
	return twice{name, func(all ...*weft.Tensor) []*weft.Tensor {
		state := map[string]*weft.Tensor{}
		for i, at := range names {
			state[at] = all[len(x)+i]
		}
		return f(nn.WithState(m, state), all[:len(x)]...)
	}, all}
}

// twiceLayer is a layer as a function of normal numbers in a shape and of its parameters.
func twiceLayer(name string, l nn.Layer, shape ...int) twice {
	return twiceModule(name, l, func(l nn.Layer, x ...*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{l.Forward(x[0])}
	}, normal(shape...))
}

// toFloat64 converts the tensors in exported fields of a module.
func toFloat64(v reflect.Value) {
	if v.Type() == reflect.TypeFor[*weft.Tensor]() {
		t := v.Interface().(*weft.Tensor)
		if t == nil || t.DType() != weft.Float32 || !v.CanSet() {
			return
		}
		d := t.Detach().To(weft.Float64).Clone()
		if t.RequiresGrad() {
			nn.Param(d)
		}
		v.Set(reflect.ValueOf(d))
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			toFloat64(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				toFloat64(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			toFloat64(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(k))
			toFloat64(e)
			v.SetMapIndex(k, e)
		}
	}
}

// normal and between draw float64 numbers, other ones for another shape.
func normal(shape ...int) *weft.Tensor { return drawn(shape).RandnOf(weft.Float64, shape...) }

func between(lo, hi float64, shape ...int) *weft.Tensor {
	return drawn(shape).RandOf(weft.Float64, shape...).Mul(hi - lo).Add(lo)
}

func drawn(shape []int) *weft.Generator {
	seed := uint64(7)
	for _, n := range shape {
		seed = seed*31 + uint64(n)
	}
	return weft.NewGenerator(seed)
}

func doubles(x ...float64) *weft.Tensor { return weft.FromSlice(x, len(x)) }
func ints(x ...int64) *weft.Tensor      { return weft.FromSlice(x, len(x)) }

// alongLines is c as a function of three numbers, which move all its inputs in random directions, with a random
// sum of its results. A wrong second derivative of any element shows there, in a fraction of the passes.
func (c twice) alongLines() twice {
	const lines = 3
	g := weft.NewGenerator(11)
	directions := make([]*weft.Tensor, len(c.x))
	for i, x := range c.x {
		if x.DType() == weft.Float64 {
			directions[i] = g.RandnOf(weft.Float64, append([]int{lines}, x.Shape()...)...)
		}
	}
	return twiceOf(c.name, func(t ...*weft.Tensor) *weft.Tensor {
		moved := slices.Clone(c.x)
		for i, d := range directions {
			if d != nil {
				moved[i] = t[0].MatMul(d.Reshape(lines, -1)).Reshape(c.x[i].Shape()...).Add(c.x[i])
			}
		}
		of, sum := weft.NewGenerator(12), weft.ScalarOf(weft.Float64, 0)
		for _, y := range c.f(moved...) {
			sum = sum.Add(y.Mul(of.RandnOf(weft.Float64, y.Shape()...)).Sum())
		}
		return sum
	}, weft.ZerosOf(weft.Float64, lines))
}

// TestSecondDerivatives compares second derivatives of every layer and loss with differences of first ones, in
// float64: of all elements where there are few, else along lines.
func TestSecondDerivatives(t *testing.T) {
	for _, c := range slices.Concat(twiceActivations(), twiceShapes(), twiceWindows(), twiceNorms(), twiceSequences(), twiceLosses()) {
		size := 0
		for _, x := range c.x {
			size += x.Size()
		}
		if size > 12 {
			c = c.alongLines()
		}
		if err := weft.GradGradCheck(c.f, c.x, weft.GradCheckOpts{Absolute: new(1e-7), Relative: new(1e-6)}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// once are the functions and layers of package nn that are not in the table, with the reason.
var once = map[string]string{
	"Call": "calls a layer, as all layers do", "CallAll": "calls a layer, as all layers do",
	"OneHot": "takes integers", "Param": "marks a tensor",
	"L1Mask": "gives zeros and ones", "GlobalL1Masks": "gives zeros and ones", "RandomMask": "gives zeros and ones",
	"RandomStructuredMask": "gives zeros and ones", "StructuredMask": "gives zeros and ones",
}

// TestSecondDerivativesOfAll: the table has each exported function of tensors and each exported layer, or once
// says why not.
func TestSecondDerivativesOfAll(t *testing.T) {
	have := maps.Clone(once)
	for _, c := range slices.Concat(twiceActivations(), twiceShapes(), twiceWindows(), twiceNorms(), twiceSequences(), twiceLosses()) {
		name, _, _ := strings.Cut(c.name, " ")
		if once[name] != "" {
			t.Errorf("%s is in the table and among once", name)
		}
		have[name] = "tested"
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
				if name := differentiated(f); name != "" {
					want[name] = true
				}
			}
		}
	}
	for name := range want {
		if have[name] == "" {
			t.Errorf("%s is not in the table of second derivatives", name)
		}
	}
	for name := range have {
		if !want[name] {
			t.Errorf("%s is not a layer or function of tensors", name)
		}
	}
}

// differentiated returns the name of what f belongs to in the table: the type that New makes or whose method
// takes tensors and gives tensors, or the function; "" for others.
func differentiated(f *ast.FuncDecl) string {
	takes, gives := ofTensors(f.Type.Params), ofTensors(f.Type.Results)
	switch {
	case f.Recv == nil && strings.HasPrefix(f.Name.Name, "New"):
		return strings.TrimPrefix(f.Name.Name, "New")
	case !takes || !gives:
		return ""
	case f.Recv == nil:
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok && name.IsExported() {
		return name.Name
	}
	return ""
}

func ofTensors(l *ast.FieldList) bool {
	return l != nil && slices.ContainsFunc(l.List, func(f *ast.Field) bool {
		x := f.Type
		if list, ok := x.(*ast.ArrayType); ok {
			x = list.Elt
		}
		star, ok := x.(*ast.StarExpr)
		if !ok {
			return false
		}
		s, ok := star.X.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Tensor"
	})
}

func twiceActivations() []twice {
	drop := func() *weft.Generator { return weft.NewGenerator(5) }
	list := []twice{
		twiceLayer("PRelu", nn.NewPRelu(nn.PReluOpts{Channels: new(3)}), 2, 3),
		twiceOf("RRelu", func(x ...*weft.Tensor) *weft.Tensor { return (&nn.RRelu{Generator: drop()}).Forward(x[0]) }, normal(2, 3)),
		twiceOf("Dropout", func(x ...*weft.Tensor) *weft.Tensor {
			return (&nn.Dropout{P: 0.4, Generator: drop()}).Forward(x[0].Sin())
		}, normal(2, 3)),
		twiceOf("AlphaDropout", func(x ...*weft.Tensor) *weft.Tensor {
			return (&nn.AlphaDropout{P: 0.4, Generator: drop()}).Forward(x[0].Sin())
		}, normal(2, 3)),
		twiceOf("ChannelDropout", func(x ...*weft.Tensor) *weft.Tensor {
			return (&nn.ChannelDropout{P: 0.4, Generator: drop()}).Forward(x[0].Sin())
		}, normal(2, 3, 2)),
		twiceOf("GumbelSoftmax", func(x ...*weft.Tensor) *weft.Tensor {
			return nn.GumbelSoftmax(x[0], nn.GumbelSoftmaxOpts{Tau: new(0.8), Generator: drop()})
		}, normal(2, 3)),
		twiceOf("Func", func(x ...*weft.Tensor) *weft.Tensor { return nn.Func((*weft.Tensor).Sin).Forward(x[0]) }, normal(2, 3)),
		twiceLayer("Gelu by tanh", nn.Gelu{Tanh: true}, 2, 3),
		twiceLayer("Elu of 0.7", nn.Elu{Alpha: new(0.7)}, 2, 3), twiceLayer("Celu of 0.7", nn.Celu{Alpha: new(0.7)}, 2, 3),
		twiceLayer("Softplus of 2", nn.Softplus{Beta: new(2.0)}, 2, 3), twiceLayer("Glu", nn.Glu{}, 2, 4),
		twiceLayer("Glu of an axis", nn.Glu{Axis: new(0)}, 2, 3), twiceLayer("Softmax of an axis", nn.Softmax{Axis: new(0)}, 2, 3),
	}
	for _, l := range []nn.Layer{
		nn.Celu{}, nn.Elu{}, nn.Gelu{}, nn.Hardshrink{}, nn.Hardsigmoid{}, nn.Hardswish{}, nn.Hardtanh{}, nn.Identity{}, nn.LeakyRelu{},
		nn.LogSigmoid{}, nn.LogSoftmax{}, nn.Mish{}, nn.Relu{}, nn.Relu6{}, nn.Selu{}, nn.Sigmoid{}, nn.Silu{}, nn.Softmax{}, nn.Softmin{},
		nn.Softplus{}, nn.Softshrink{}, nn.Softsign{}, nn.Tanh{}, nn.Tanhshrink{}, nn.Threshold{Threshold: 0.1, Value: 2},
	} {
		list = append(list, twiceLayer(reflect.TypeOf(l).Name(), l, 2, 3))
	}
	return list
}

// twiceShapes are linear layers, tables, weights computed from others, and layers that move elements.
func twiceShapes() []twice {
	bag := func(m *nn.EmbeddingBag, x ...*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{m.Bags(x[0], x[1])}
	}
	bags := func() []*weft.Tensor { return []*weft.Tensor{ints(1, 0, 2, 1, 1), ints(0, 2)} }
	rows := func(m *nn.Embedding, x ...*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{m.Forward(x[0]).Sin()}
	}
	return []twice{
		twiceLayer("Linear", nn.NewLinear(3, 2), 2, 3),
		twiceLayer("Linear without bias", nn.NewLinear(2, 2, nn.Opts{NoBias: true}), 2, 2, 2),
		twiceModule("Bilinear", nn.NewBilinear(2, 3, 2), func(m *nn.Bilinear, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Forward(x[0], x[1])}
		}, normal(2, 2), normal(2, 3)),
		twiceLayer("Sequential", nn.Sequential{nn.NewLinear(2, 3), nn.Tanh{}, nn.NewLinear(3, 1)}, 2, 2),
		twiceModule("Sequential recomputed", nn.Sequential{nn.NewLinear(2, 3), nn.Tanh{}, nn.NewLinear(3, 1), nn.Tanh{}}, func(s nn.Sequential, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{s.Recompute(x[0], 2)}
		}, normal(2, 2)),
		twiceLayer("WeightNorm", nn.NewWeightNorm(nn.NewLinear(3, 2)), 2, 3),
		twiceLayer("WeightNorm of all", nn.NewWeightNorm(nn.NewConv1d(2, 2, 2), nn.WeightNormOpts{All: true}), 1, 2, 3),
		// In training its vectors follow the weight without a gradient, so that differences see more than derivatives.
		twiceLayer("Orthogonalized by reflections", nn.NewOrthogonalized(nn.NewLinear(2, 3)), 2, 2),
		twiceLayer("Orthogonalized by exponentials", nn.NewOrthogonalized(nn.NewLinear(2, 3), nn.OrthogonalizedOpts{Map: nn.MatrixExp}), 2, 2),
		twiceLayer("Orthogonalized by elimination", nn.NewOrthogonalized(nn.NewLinear(2, 3), nn.OrthogonalizedOpts{Map: nn.Cayley}), 2, 2),
		twiceLayer("Lazy", &nn.Lazy{Layer: nn.Tanh{}}, 2, 3),
		twiceLayer("SpectralNorm evaluated", evaluated(nn.NewSpectralNorm(nn.NewLinear(3, 2))), 2, 3),
		twiceLayer("Pruned", nn.Prune(nn.NewLinear(3, 2), weft.FromSlice([]float32{1, 0, 1, 1, 1, 0}, 2, 3)), 2, 3),
		twiceLayer("Pruned convolution", nn.Prune(nn.NewConv1d(2, 1, 1), weft.FromSlice([]float32{1, 0}, 1, 2, 1)), 1, 2, 3),
		twiceModule("Embedding", nn.NewEmbedding(3, 2), rows, ints(1, 0, 1)),
		twiceModule("Embedding with padding", nn.NewEmbedding(3, 2, nn.EmbeddingOpts{PaddingIdx: new(1)}), func(m *nn.Embedding, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Forward(x[0])}
		}, ints(2, 0, 2)),
		twiceModule("Embedding sparse", nn.NewEmbedding(3, 2, nn.EmbeddingOpts{Sparse: true}), rows, ints(1, 0, 1)),
		twiceModule("EmbeddingBag", nn.NewEmbeddingBag(3, 2), bag, bags()...),
		twiceModule("EmbeddingBag of maxima", nn.NewEmbeddingBag(3, 2, nn.EmbeddingBagOpts{Mode: nn.BagMax}), bag, bags()...),
		twiceModule("EmbeddingBag of weighted sums", nn.NewEmbeddingBag(3, 2, nn.EmbeddingBagOpts{Mode: nn.BagSum}), func(m *nn.EmbeddingBag, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Bags(x[0], x[1], nn.BagOpts{PerSampleWeights: x[2]})}
		}, append(bags(), normal(5))...),
		twiceLayer("Flatten", nn.Sequential{nn.Tanh{}, nn.Flatten{}}, 2, 2, 2),
		twiceLayer("Unflatten", nn.Sequential{nn.Tanh{}, nn.Unflatten{Axis: 1, Sizes: []int{2, 2}}}, 2, 4),
		twiceLayer("ChannelShuffle", nn.Sequential{nn.Tanh{}, nn.ChannelShuffle{Groups: 2}}, 1, 4, 2),
		twiceLayer("PixelShuffle", nn.Sequential{nn.Tanh{}, nn.PixelShuffle{Factor: 2}}, 1, 4, 1, 2),
		twiceLayer("PixelUnshuffle", nn.Sequential{nn.Tanh{}, nn.PixelUnshuffle{Factor: 2}}, 1, 1, 2, 4),
		twiceLayer("Pad", nn.Sequential{nn.Tanh{}, nn.Pad{Pads: []int{1, 2, 0, 1}, Value: 3}}, 1, 2, 3),
		twiceLayer("Pad reflecting", nn.Sequential{nn.Tanh{}, nn.Pad{Pads: []int{1, 2}, Mode: nn.PadReflect}}, 1, 2, 3),
		twiceLayer("Pad replicating", nn.Sequential{nn.Tanh{}, nn.Pad{Pads: []int{1, 2}, Mode: nn.PadReplicate}}, 1, 2, 3),
		twiceLayer("Pad circular", nn.Sequential{nn.Tanh{}, nn.Pad{Pads: []int{1, 2}, Mode: nn.PadCircular}}, 1, 2, 3),
		twiceLayer("Fold", nn.Sequential{nn.Tanh{}, nn.Fold{Size: [2]int{2, 3}, Window: [2]int{2, 2}}}, 1, 4, 2),
		twiceLayer("Unfold", nn.Sequential{nn.Tanh{}, nn.Unfold{Window: [2]int{2, 2}, Padding: [2]int{1, 0}}}, 1, 1, 2, 3),
	}
}

// evaluated is l, after Eval.
func evaluated[M any](l M) M {
	nn.Eval(l)
	return l
}

// twiceWindows are convolutions, pools and resampling.
func twiceWindows() []twice {
	grid := func(o nn.GridSampleOpts) func(x ...*weft.Tensor) *weft.Tensor {
		return func(x ...*weft.Tensor) *weft.Tensor { return nn.GridSample(x[0], x[1], o) }
	}
	list := []twice{
		twiceLayer("Conv1d", nn.NewConv1d(2, 2, 2), 1, 2, 4),
		twiceLayer("Conv1d dilated", nn.NewConv1d(1, 2, 2, nn.Conv1dOpts{Dilation: new(2), Padding: 1, PadMode: nn.PadCircular}), 2, 1, 3),
		twiceLayer("Conv2d", nn.NewConv2d(2, 2, 2), 1, 2, 3, 3),
		twiceLayer("Conv2d strided groups", nn.NewConv2d(2, 4, 2, nn.Conv2dOpts{Stride: new(2), Padding: 1, Groups: new(2)}), 2, 2, 3, 2),
		twiceLayer("Conv2d same", nn.NewConv2d(1, 1, 2, nn.Conv2dOpts{Same: true, PadMode: nn.PadReflect}), 1, 1, 3, 2),
		twiceLayer("Conv3d", nn.NewConv3d(1, 2, 2, nn.Conv3dOpts{Padding: 1}), 1, 1, 2, 2, 2),
		twiceLayer("ConvTranspose1d", nn.NewConvTranspose1d(2, 1, 2), 1, 2, 3),
		twiceLayer("ConvTranspose2d", nn.NewConvTranspose2d(2, 2, 2, nn.ConvTranspose2dOpts{Stride: new(2), Padding: 1, OutputPadding: 1}), 1, 2, 2, 3),
		twiceLayer("ConvTranspose3d", nn.NewConvTranspose3d(1, 1, 2), 1, 1, 2, 2, 2),
		twiceLayer("AvgPool1d", nn.Sequential{nn.Tanh{}, nn.AvgPool1d{Window: 2, Stride: new(1)}}, 1, 2, 3),
		twiceLayer("AvgPool2d", nn.Sequential{nn.Tanh{}, nn.AvgPool2d{Window: [2]int{2, 2}, Padding: [2]int{1, 0}, ExcludePad: true}}, 1, 1, 2, 3),
		twiceLayer("AvgPool3d", nn.Sequential{nn.Tanh{}, nn.AvgPool3d{Window: [3]int{2, 1, 2}}}, 1, 2, 1, 2),
		twiceLayer("MaxPool1d", nn.Sequential{nn.Tanh{}, nn.MaxPool1d{Window: 2, Stride: new(1)}}, 1, 2, 3),
		twiceLayer("MaxPool2d", nn.Sequential{nn.Tanh{}, nn.MaxPool2d{Window: [2]int{2, 2}, Padding: [2]int{1, 0}}}, 1, 1, 3, 3),
		twiceLayer("MaxPool3d", nn.Sequential{nn.Tanh{}, nn.MaxPool3d{Window: [3]int{1, 2, 2}}}, 1, 2, 2, 2),
		twiceLayer("AdaptiveAvgPool1d", nn.Sequential{nn.Tanh{}, nn.AdaptiveAvgPool1d{Size: new(2)}}, 1, 1, 3),
		twiceLayer("AdaptiveAvgPool2d", nn.Sequential{nn.Tanh{}, nn.AdaptiveAvgPool2d{Size: [2]*int{new(2), nil}}}, 1, 1, 3, 2),
		twiceLayer("AdaptiveAvgPool3d", nn.Sequential{nn.Tanh{}, nn.AdaptiveAvgPool3d{Size: [3]*int{new(1), new(2), nil}}}, 1, 2, 3, 2),
		twiceLayer("AdaptiveMaxPool1d", nn.Sequential{nn.Tanh{}, nn.AdaptiveMaxPool1d{Size: new(2)}}, 1, 1, 3),
		twiceLayer("AdaptiveMaxPool2d", nn.Sequential{nn.Tanh{}, nn.AdaptiveMaxPool2d{Size: [2]*int{new(2), nil}}}, 1, 1, 3, 2),
		twiceLayer("AdaptiveMaxPool3d", nn.Sequential{nn.Tanh{}, nn.AdaptiveMaxPool3d{Size: [3]*int{new(1), new(2), nil}}}, 1, 2, 3, 2),
		twiceOf("FractionalMaxPool", func(x ...*weft.Tensor) *weft.Tensor {
			p := nn.FractionalMaxPool{Window: []int{2, 2}, Size: []int{2, 2}, Samples: between(0, 1, 1, 1, 2)}
			return p.Forward(x[0].Tanh())
		}, normal(1, 1, 4, 4)),
		twiceOf("LPPool", func(x ...*weft.Tensor) *weft.Tensor { return nn.LPPool{P: 3, Window: []int{2}}.Forward(x[0]) }, between(0.5, 2, 1, 2, 4)),
		twiceOf("LPPool of 2", func(x ...*weft.Tensor) *weft.Tensor { return nn.LPPool{P: 2, Window: []int{2, 2}}.Forward(x[0]) }, normal(1, 1, 2, 4)),
		twiceOf("MaxUnpool", func(x ...*weft.Tensor) *weft.Tensor {
			y, index := nn.MaxPool1d{Window: 2}.WithIndices(x[0])
			return nn.MaxUnpool{Window: []int{2}}.Unpool(y.Tanh(), index)
		}, normal(1, 2, 4)),
		twiceLayer("Upsample", nn.Sequential{nn.Tanh{}, nn.Upsample{Scale: new(2.0)}}, 1, 1, 2, 2),
		twiceLayer("Upsample between", nn.Sequential{nn.Tanh{}, nn.Upsample{Size: &[2]int{3, 4}, Bilinear: true}}, 1, 1, 2, 3),
		twiceOf("AffineGrid", func(x ...*weft.Tensor) *weft.Tensor { return nn.AffineGrid(x[0].Sin(), []int{1, 1, 2, 3}, false) }, normal(1, 2, 3)),
		twiceOf("AffineGrid of volumes", func(x ...*weft.Tensor) *weft.Tensor { return nn.AffineGrid(x[0].Sin(), []int{1, 1, 2, 1, 2}, true) }, normal(1, 3, 4)),
		twiceOf("GridSample", grid(nn.GridSampleOpts{}), normal(1, 2, 3, 3), between(-0.9, 0.9, 1, 2, 2, 2)),
		twiceOf("GridSample nearest", grid(nn.GridSampleOpts{Mode: new(nn.ModeNearest)}), normal(1, 2, 3, 3), between(-0.9, 0.9, 1, 2, 2, 2)),
		twiceOf("GridSample aligned", grid(nn.GridSampleOpts{AlignCorners: true, Border: nn.PadReplicate}), normal(1, 1, 2, 3), between(-0.9, 1.4, 1, 2, 2, 2)),
		twiceOf("GridSample cubic", grid(nn.GridSampleOpts{Mode: new(nn.ModeCubic), Border: nn.PadReflect}), normal(1, 1, 3, 3), between(-0.9, 1.4, 1, 2, 2, 2)),
		twiceOf("GridSample of volumes", grid(nn.GridSampleOpts{}), normal(1, 1, 2, 3, 2), between(-0.9, 0.9, 1, 1, 2, 2, 3)),
	}
	for name, p := range map[string]nn.Interpolate{
		"nearest": {Size: []int{4, 2}}, "exact": {Size: []int{4, 2}, Mode: nn.ModeNearestExact}, "area": {Size: []int{2, 2}, Mode: nn.ModeArea},
		"linear": {Size: []int{4, 2}, Mode: nn.ModeLinear}, "aligned": {Scale: []float64{1.5, 1}, Mode: nn.ModeLinear, AlignCorners: true},
		"cubic": {Size: []int{4, 2}, Mode: nn.ModeCubic}, "antialiased": {Size: []int{2, 2}, Mode: nn.ModeCubic, Antialias: true},
	} {
		list = append(list, twiceLayer("Interpolate "+name, nn.Sequential{nn.Tanh{}, p}, 1, 1, 3, 3))
	}
	return list
}

func twiceNorms() []twice {
	return []twice{
		twiceLayer("BatchNorm1d", nn.NewBatchNorm1d(2), 3, 2),
		twiceLayer("BatchNorm1d evaluated", evaluated(nn.NewBatchNorm1d(2)), 3, 2),
		twiceLayer("BatchNorm2d", nn.NewBatchNorm2d(2), 2, 2, 2, 1),
		twiceLayer("BatchNorm2d without running statistics", evaluated(nn.NewBatchNorm2d(2, nn.BatchNormOpts{NoRunning: true, NoAffine: true})), 2, 2, 2, 1),
		twiceLayer("BatchNorm3d", nn.NewBatchNorm3d(2), 2, 2, 2, 1, 2),
		twiceLayer("BatchNorm3d evaluated", evaluated(nn.NewBatchNorm3d(2)), 2, 2, 2, 1, 2),
		twiceLayer("InstanceNorm1d", nn.NewInstanceNorm1d(2), 2, 2, 3),
		twiceLayer("InstanceNorm2d", nn.NewInstanceNorm2d(2), 2, 2, 3),
		twiceLayer("InstanceNorm3d", nn.NewInstanceNorm3d(2), 1, 2, 2, 2, 2),
		twiceLayer("InstanceNorm1d affine", nn.NewInstanceNorm1d(2, nn.InstanceNormOpts{Affine: true, Running: true}), 2, 2, 3),
		twiceLayer("LayerNorm", nn.NewLayerNorm([]int{3}), 2, 3),
		twiceLayer("LayerNorm of two axes", nn.NewLayerNorm([]int{2, 2}, nn.NormOpts{NoBias: true}), 2, 2, 2),
		twiceLayer("LayerNorm without affine", nn.NewLayerNorm([]int{3}, nn.NormOpts{NoAffine: true}), 2, 3),
		twiceLayer("RMSNorm", nn.NewRMSNorm([]int{3}), 2, 3),
		twiceLayer("GroupNorm", nn.NewGroupNorm(2, 4), 2, 4, 2),
		twiceLayer("LocalResponseNorm", nn.LocalResponseNorm{Size: 2, Alpha: new(0.5)}, 1, 3, 2),
		twiceOf("Normalize", func(x ...*weft.Tensor) *weft.Tensor { return nn.Normalize(x[0]) }, normal(2, 3)),
		twiceOf("Normalize by 3", func(x ...*weft.Tensor) *weft.Tensor {
			return nn.Normalize(x[0], nn.NormalizeOpts{P: new(3.0), Axis: new(0)})
		}, normal(2, 3)),
		twiceOf("CosineSimilarity", func(x ...*weft.Tensor) *weft.Tensor { return nn.CosineSimilarity(x[0], x[1]) }, normal(2, 3), normal(1, 3)),
		twiceOf("PairwiseDistance", func(x ...*weft.Tensor) *weft.Tensor { return nn.PairwiseDistance(x[0], x[1]) }, normal(2, 3), normal(1, 3)),
		twiceOf("PairwiseDistance by 3", func(x ...*weft.Tensor) *weft.Tensor {
			return nn.PairwiseDistance(x[0], x[1], nn.PairwiseDistanceOpts{P: new(3.0)})
		}, normal(2, 3), normal(1, 3)),
	}
}

// twiceSequences are recurrent networks, attention and Transformers.
func twiceSequences() []twice {
	rnn := func(m *nn.RNN, x ...*weft.Tensor) []*weft.Tensor {
		y, h := m.Run(x[0], x[1])
		return []*weft.Tensor{y, h}
	}
	attend := func(name string, o nn.AttentionOpts, x ...*weft.Tensor) twice {
		return twiceOf("ScaledDotProductAttention "+name, func(x ...*weft.Tensor) *weft.Tensor {
			o := o
			if len(x) > 3 {
				o.Mask = x[3]
			}
			if o.Dropout > 0 {
				o.Generator = weft.NewGenerator(3)
			}
			return nn.ScaledDotProductAttention(x[0], x[1], x[2], o)
		}, x...)
	}
	heads := func(o nn.AttendOpts) func(m *nn.MultiheadAttention, x ...*weft.Tensor) []*weft.Tensor {
		return func(m *nn.MultiheadAttention, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Attend(x[0], x[1], x[2], o)}
		}
	}
	tiny := nn.TransformerOpts{FeedForward: new(3), Dropout: new(0.0), Activation: nn.Gelu{}}
	first := tiny
	first.NormFirst, first.BatchFirst, first.NoBias = true, true, true
	seen := weft.FromSlice([]bool{true, true, false, false, true, true}, 2, 3)
	return []twice{
		twiceModule("RNN", nn.NewRNN(2, 2), rnn, normal(3, 1, 2), normal(1, 1, 2)),
		twiceModule("RNN both ways", nn.NewRNN(2, 2, nn.RNNOpts{Bidirectional: true, Layers: new(2)}), rnn, normal(2, 1, 2), normal(4, 1, 2)),
		twiceModule("LSTM", nn.NewLSTM(2, 2), func(m *nn.LSTM, x ...*weft.Tensor) []*weft.Tensor {
			y, h, c := m.Run(x[0], x[1], x[2])
			return []*weft.Tensor{y, h, c}
		}, normal(3, 1, 2), normal(1, 1, 2), normal(1, 1, 2).Sin()),
		twiceModule("LSTM of lengths", nn.NewLSTM(2, 2, nn.RNNOpts{Projection: 1, Bidirectional: true}), func(m *nn.LSTM, x ...*weft.Tensor) []*weft.Tensor {
			y, h, c := m.Run(x[0], nil, nil, nn.RunOpts{Lengths: ints(3, 1)})
			return []*weft.Tensor{y, h, c}
		}, normal(3, 2, 2)),
		twiceModule("GRU", nn.NewGRU(2, 2), func(m *nn.GRU, x ...*weft.Tensor) []*weft.Tensor {
			y, h := m.Run(x[0], x[1])
			return []*weft.Tensor{y, h}
		}, normal(3, 1, 2), normal(1, 1, 2)),
		twiceModule("GRU of lengths", nn.NewGRU(2, 2, nn.RNNOpts{Layers: new(2), BatchFirst: true}), func(m *nn.GRU, x ...*weft.Tensor) []*weft.Tensor {
			y, h := m.Run(x[0], nil, nn.RunOpts{Lengths: ints(1, 2)})
			return []*weft.Tensor{y, h}
		}, normal(2, 2, 2)),
		twiceModule("RNNCell", nn.NewRNNCell(2, 2), func(m *nn.RNNCell, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Step(x[0], x[1])}
		}, normal(2, 2), normal(2, 2).Cos()),
		twiceModule("LSTMCell", nn.NewLSTMCell(2, 2), func(m *nn.LSTMCell, x ...*weft.Tensor) []*weft.Tensor {
			h, c := m.Step(x[0], x[1], x[2])
			return []*weft.Tensor{h, c}
		}, normal(2, 2), normal(2, 2).Cos(), normal(2, 2).Sin()),
		twiceModule("GRUCell", nn.NewGRUCell(2, 2), func(m *nn.GRUCell, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Step(x[0], x[1])}
		}, normal(2, 2), normal(2, 2).Cos()),
		attend("plain", nn.AttentionOpts{}, normal(2, 2), normal(3, 2), normal(3, 3)),
		attend("causal", nn.AttentionOpts{Causal: true, Scale: new(0.8)}, normal(1, 3, 2), normal(1, 3, 2).Sin(), normal(1, 3, 2).Cos()),
		attend("masked", nn.AttentionOpts{}, normal(2, 2), normal(3, 2), normal(3, 2).Cos(), seen),
		attend("added", nn.AttentionOpts{}, normal(2, 2), normal(3, 2), normal(3, 2).Cos(), normal(2, 3)),
		attend("grouped", nn.AttentionOpts{Grouped: true}, normal(4, 2, 2), normal(2, 3, 2), normal(2, 3, 2).Cos()),
		attend("dropping", nn.AttentionOpts{Dropout: 0.4}, normal(2, 2), normal(3, 2), normal(3, 2).Cos()),
		twiceLayer("MultiheadAttention", nn.NewMultiheadAttention(4, 2), 2, 1, 4),
		twiceModule("MultiheadAttention causal", nn.NewMultiheadAttention(2, 1), heads(nn.AttendOpts{Causal: true}), normal(3, 1, 2), normal(3, 1, 2).Sin(), normal(3, 1, 2).Cos()),
		twiceModule("MultiheadAttention of other widths", nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{KDim: new(3), VDim: new(2), BatchFirst: true}),
			heads(nn.AttendOpts{KeyPadding: weft.FromSlice([]bool{false, false, true}, 1, 3)}), normal(1, 2, 4), normal(1, 3, 3), normal(1, 3, 2)),
		twiceModule("MultiheadAttention with weights", nn.NewMultiheadAttention(2, 1, nn.MultiheadAttentionOpts{NoBias: true}), func(m *nn.MultiheadAttention, x ...*weft.Tensor) []*weft.Tensor {
			y, w := m.AttendWeights(x[0], x[0], x[0], nn.AttendOpts{Mask: x[1]})
			return []*weft.Tensor{y, w}
		}, normal(3, 1, 2), normal(3, 3)),
		twiceModule("KVCache", nn.NewMultiheadAttention(2, 1), func(m *nn.MultiheadAttention, x ...*weft.Tensor) []*weft.Tensor {
			o := nn.AttendOpts{Cache: &nn.KVCache{}, Causal: true}
			y := m.Attend(x[0], x[0], x[0], o)
			return []*weft.Tensor{y, m.Attend(y.Sin(), y, y, o)}
		}, normal(2, 1, 2)),
		twiceLayer("TransformerEncoderLayer", nn.NewTransformerEncoderLayer(4, 2, tiny), 2, 1, 4),
		twiceLayer("TransformerEncoderLayer norm first", nn.NewTransformerEncoderLayer(4, 2, first), 1, 3, 4),
		twiceModule("TransformerDecoderLayer", nn.NewTransformerDecoderLayer(4, 2, tiny), func(m *nn.TransformerDecoderLayer, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Decode(x[0], x[1], nn.DecodeOpts{Self: nn.AttendOpts{Causal: true}})}
		}, normal(2, 1, 4), normal(3, 1, 4)),
		twiceLayer("TransformerEncoder", nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2, tiny), 2), 2, 1, 4),
		twiceModule("TransformerDecoder", nn.NewTransformerDecoder(nn.NewTransformerDecoderLayer(4, 2, first), 2), func(m *nn.TransformerDecoder, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Decode(x[0], x[1])}
		}, normal(1, 2, 4), normal(1, 3, 4)),
		twiceModule("Transformer", nn.NewTransformer(4, 2, 1, 1, tiny), func(m *nn.Transformer, x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Translate(x[0], x[1])}
		}, normal(2, 1, 4), normal(3, 1, 4)),
	}
}

func twiceLosses() []twice {
	signs, zeroOne := doubles(1, -1, -1, 1, 1, -1).Reshape(2, 3), doubles(0, 1, 1, 0, 1, 0).Reshape(2, 3)
	scores, near := normal(2, 3), normal(2, 3).Cos()
	p, q := between(0.1, 0.9, 2, 3), between(0.1, 0.9, 3, 2).T()
	of := func(name string, f func(x, target *weft.Tensor) *weft.Tensor, x, target *weft.Tensor) twice {
		return twiceOf(name, func(x ...*weft.Tensor) *weft.Tensor { return f(x[0], x[1]) }, x, target)
	}
	to := func(name string, f func(x, target *weft.Tensor) *weft.Tensor, x, target *weft.Tensor) twice { // target is a constant
		return twiceOf(name, func(x ...*weft.Tensor) *weft.Tensor { return f(x[0], target) }, x)
	}
	return []twice{
		of("MSE", func(x, y *weft.Tensor) *weft.Tensor { return nn.MSE(x, y) }, scores, near),
		of("MSE weighted", func(x, y *weft.Tensor) *weft.Tensor { return nn.MSE(x, y, nn.LossOpts{Weight: p}) }, scores, near),
		of("L1", func(x, y *weft.Tensor) *weft.Tensor { return nn.L1(x.Sin(), y) }, scores, near),
		of("SmoothL1", func(x, y *weft.Tensor) *weft.Tensor { return nn.SmoothL1(x, y) }, scores, near),
		of("Huber", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.Huber(x, y, nn.HuberOpts{Delta: new(0.8), Reduction: nn.Sum})
		}, scores, near),
		of("BCE", func(x, y *weft.Tensor) *weft.Tensor { return nn.BCE(x, y) }, p, q),
		of("BCEWithLogits", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.BCEWithLogits(x, y, nn.BCEOpts{PosWeight: doubles(1, 2, 3), Weight: p})
		}, scores, q),
		of("KLDiv", func(x, y *weft.Tensor) *weft.Tensor { return nn.KLDiv(x, y) }, scores, p),
		of("KLDiv of logarithms", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.KLDiv(x, y, nn.KLDivOpts{LogTarget: true, Reduction: nn.BatchMean})
		}, scores, near),
		of("Dice", func(x, y *weft.Tensor) *weft.Tensor { return nn.Dice(x, y) }, p, q),
		of("Focal", func(x, y *weft.Tensor) *weft.Tensor { return nn.Focal(x, y) }, scores, q),
		to("Focal of Gamma 1.5", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.Focal(x, y, nn.FocalOpts{Gamma: new(1.5), Reduction: nn.Sum})
		}, scores, zeroOne),
		of("PoissonNLL", func(x, y *weft.Tensor) *weft.Tensor { return nn.PoissonNLL(x, y) }, scores, p),
		of("PoissonNLL of rates", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.PoissonNLL(x, y, nn.PoissonNLLOpts{Rates: true, Full: true})
		}, p, p.Add(1.5)),
		twiceOf("GaussianNLL", func(x ...*weft.Tensor) *weft.Tensor { return nn.GaussianNLL(x[0], x[1], x[2]) }, scores, near, p),
		to("CrossEntropy", func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y) }, scores, ints(2, 0)),
		to("CrossEntropy smoothed", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.CrossEntropy(x, y, nn.CrossEntropyOpts{Smoothing: 0.2, Weight: doubles(1, 2, 3), IgnoreIndex: new(1)})
		}, normal(3, 3), ints(2, 1, 0)),
		of("CrossEntropy of probabilities", func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y) }, scores, p),
		to("CrossEntropy of each", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.CrossEntropy(x, y, nn.CrossEntropyOpts{Reduction: nn.None})
		}, normal(1, 3, 2), ints(2, 0).Reshape(1, 2)),
		to("NLL", func(x, y *weft.Tensor) *weft.Tensor { return nn.NLL(x.Sin(), y) }, scores, ints(2, 0)),
		to("HingeEmbedding", func(x, y *weft.Tensor) *weft.Tensor { return nn.HingeEmbedding(x.Sin(), y) }, scores, signs),
		twiceOf("MarginRanking", func(x ...*weft.Tensor) *weft.Tensor {
			return nn.MarginRanking(x[0].Sin(), x[1], signs, nn.MarginOpts{Margin: new(0.3)})
		}, scores, near),
		twiceOf("CosineEmbedding", func(x ...*weft.Tensor) *weft.Tensor {
			return nn.CosineEmbedding(x[0], x[1], doubles(1, -1), nn.MarginOpts{Margin: new(-0.9)})
		}, scores, near),
		twiceOf("TripletMargin", func(x ...*weft.Tensor) *weft.Tensor {
			return nn.TripletMargin(x[0], x[1], x[2], nn.TripletMarginOpts{Margin: new(5.0)})
		}, scores, near, p),
		twiceOf("TripletMargin swapped", func(x ...*weft.Tensor) *weft.Tensor {
			return nn.TripletMargin(x[0], x[1], x[2], nn.TripletMarginOpts{Margin: new(5.0), Swap: true, P: new(3.0)})
		}, scores, near, p),
		to("MultiLabelMargin", func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiLabelMargin(x.Sin(), y) }, scores, ints(2, -1, 0, 1, 0, -1).Reshape(2, 3)),
		to("MultiLabelSoftMargin", func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiLabelSoftMargin(x, y) }, scores, zeroOne),
		to("MultiMargin", func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiMargin(x, y, nn.MultiMarginOpts{P: new(2)}) }, scores, ints(2, 0)),
		to("SoftMargin", func(x, y *weft.Tensor) *weft.Tensor { return nn.SoftMargin(x, y) }, scores, signs),
		to("CTC", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.CTC(x.LogSoftmax(-1), y, ints(4, 3), ints(2, 1))
		}, normal(4, 2, 3), ints(1, 2, 2, 0).Reshape(2, 2)),
		to("CTC of rows", func(x, y *weft.Tensor) *weft.Tensor { return nn.CTC(x, y, ints(3), ints(1)) }, normal(3, 1, 2), ints(1).Reshape(1, 1)),
		twiceModule("AdaptiveLogSoftmax", nn.NewAdaptiveLogSoftmax(4, 5, []int{2}, nn.AdaptiveLogSoftmaxOpts{HeadBias: true}), func(m *nn.AdaptiveLogSoftmax, x ...*weft.Tensor) []*weft.Tensor {
			y, loss := m.Loss(x[0], ints(1, 4))
			return []*weft.Tensor{m.LogProb(x[0]), y, loss}
		}, normal(2, 4)),
	}
}
