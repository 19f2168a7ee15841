package nn_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/safetensors"
)

// A torchCase is what a test compares with PyTorch's numbers: f is called with the
// arguments of the file. See testdata/vectors.py.
type torchCase struct {
	module any
	f      func(x ...*weft.Tensor) []*weft.Tensor
	eval   bool
	// tolerance is how many float32 roundings of the greatest number a result may be
	// away; 0 means 8.
	tolerance float64
	// eagerly says that a compiled function refuses the case.
	eagerly bool
}

func fromLayer(l nn.Layer) torchCase {
	return torchCase{module: l, f: func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{l.Forward(x[0])} }}
}

func fromLoss(f func(x, y *weft.Tensor) *weft.Tensor) torchCase {
	return torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(x[0], x[1])} }}
}

type torchBlock struct {
	Conv1      *nn.Conv2d
	BN1        *nn.BatchNorm2d
	Downsample nn.Sequential
}

func newBlock(in, out int) *torchBlock {
	conv := func(size int) *nn.Conv2d {
		return nn.NewConv2d(in, out, size, nn.Conv2dOpts{Opts: nn.Opts{NoBias: true}, Padding: size / 2})
	}
	return &torchBlock{conv(3), nn.NewBatchNorm2d(out), nn.Sequential{conv(1), nn.NewBatchNorm2d(out)}}
}

func (b *torchBlock) Forward(x *weft.Tensor) *weft.Tensor {
	return b.BN1.Forward(b.Conv1.Forward(x)).Add(b.Downsample.Forward(x)).Relu()
}

// torchNet is the class Net of the script.
type torchNet struct {
	Layer1    nn.Sequential
	PosEmb    *weft.Tensor
	SelfAttn  *nn.MultiheadAttention
	LayerNorm *nn.LayerNorm // "layernorm" there
	FC        *nn.Linear
}

func newTorchNet() *torchNet {
	return &torchNet{
		Layer1:    nn.Sequential{newBlock(2, 3), newBlock(3, 4)},
		PosEmb:    nn.Param(weft.Zeros(6, 4)),
		SelfAttn:  nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{BatchFirst: true}),
		LayerNorm: nn.NewLayerNorm([]int{4}),
		FC:        nn.NewLinear(4, 3),
	}
}

func (n *torchNet) Forward(x *weft.Tensor) *weft.Tensor {
	x = n.Layer1.Forward(x).Flatten(2).Transpose(1, 2).Add(n.PosEmb)
	x = n.LayerNorm.Forward(x.Add(n.SelfAttn.Forward(x)))
	return n.FC.Forward(x.Mean(1))
}

func torchCases(file map[string]*weft.Tensor) map[string]torchCase {
	attend := func(m *nn.MultiheadAttention, o func(x ...*weft.Tensor) nn.AttendOpts) torchCase {
		return torchCase{module: m, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{m.Attend(x[0], x[1], x[2], o(x[3:]...))}
		}}
	}
	plain := func(...*weft.Tensor) nn.AttendOpts { return nn.AttendOpts{} }
	attention := func(o func(x ...*weft.Tensor) nn.AttentionOpts) torchCase {
		return torchCase{tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{nn.ScaledDotProductAttention(x[0], x[1], x[2], o(x[3:]...))}
		}}
	}
	lstm := func(l *nn.LSTM) torchCase {
		return torchCase{module: l, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
			y, h, c := l.Run(x[0], append(x, nil, nil)[1], append(x, nil, nil)[2])
			return []*weft.Tensor{y, h, c}
		}}
	}
	gru := func(l *nn.GRU) torchCase {
		return torchCase{module: l, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
			y, h := l.Run(x[0], append(x, nil)[1])
			return []*weft.Tensor{y, h}
		}}
	}
	evaluated := func(l nn.Layer) torchCase { c := fromLayer(l); c.eval = true; return c }
	no := nn.NormOpts{NoAffine: true}
	w5, w3 := file["classes/weight"], file["bce weight/weight"]
	all := nn.CrossEntropyOpts{Weight: w5, Smoothing: 0.2, IgnoreIndex: new(-100)}
	net := fromLayer(newTorchNet())
	net.tolerance = 64
	cases := map[string]torchCase{
		"net":            net,
		"linear":         fromLayer(nn.NewLinear(5, 3)),
		"linear no bias": fromLayer(nn.NewLinear(5, 3, nn.Opts{NoBias: true})),
		"conv2d":         fromLayer(nn.NewConv2d(2, 3, 3, nn.Conv2dOpts{Stride: new(2), Padding: 1})),

		"embedding":         fromLayer(nn.NewEmbedding(7, 3)),
		"embedding padding": fromLayer(nn.NewEmbedding(7, 3, nn.EmbeddingOpts{PaddingIdx: new(2)})),
		"embedding sparse":  fromLayer(nn.NewEmbedding(7, 3, nn.EmbeddingOpts{Sparse: true})),

		"batch norm 1d":            fromLayer(nn.NewBatchNorm1d(4)),
		"batch norm 1d of rows":    fromLayer(nn.NewBatchNorm1d(3, nn.BatchNormOpts{Momentum: new(0.3)})),
		"batch norm 2d":            fromLayer(nn.NewBatchNorm2d(3)),
		"batch norm 2d cumulative": fromLayer(nn.NewBatchNorm2d(3, nn.BatchNormOpts{Cumulative: true})),
		"batch norm 2d plain":      fromLayer(nn.NewBatchNorm2d(3, nn.BatchNormOpts{NoAffine: true, NoRunning: true})),
		"batch norm 2d eval":       evaluated(nn.NewBatchNorm2d(3)),
		"batch norm 2d eval plain": evaluated(nn.NewBatchNorm2d(3, nn.BatchNormOpts{NoAffine: true})),
		"layer norm":               fromLayer(nn.NewLayerNorm([]int{70})),
		"layer norm two axes":      fromLayer(nn.NewLayerNorm([]int{3, 5}, nn.NormOpts{Eps: new(0.1)})),
		"layer norm no bias":       fromLayer(nn.NewLayerNorm([]int{6}, nn.NormOpts{NoBias: true})),
		"layer norm plain":         fromLayer(nn.NewLayerNorm([]int{6}, no)),
		"group norm":               fromLayer(nn.NewGroupNorm(2, 6)),
		"group norm rows":          fromLayer(nn.NewGroupNorm(2, 8)),
		"rms norm":                 fromLayer(nn.NewRMSNorm([]int{9})),
		"rms norm eps":             fromLayer(nn.NewRMSNorm([]int{3, 2}, nn.NormOpts{Eps: new(0.1)})),

		"lstm":         lstm(nn.NewLSTM(5, 4)),
		"lstm no bias": lstm(nn.NewLSTM(5, 4, nn.RNNOpts{NoBias: true})),
		"lstm deep":    lstm(nn.NewLSTM(5, 4, nn.RNNOpts{Layers: new(2), Bidirectional: true, BatchFirst: true})),
		"gru":          gru(nn.NewGRU(5, 4)),
		"gru no bias":  gru(nn.NewGRU(5, 4, nn.RNNOpts{NoBias: true})),
		"gru deep":     gru(nn.NewGRU(5, 4, nn.RNNOpts{Layers: new(2), Bidirectional: true, BatchFirst: true})),

		"multihead":             attend(nn.NewMultiheadAttention(8, 2), plain),
		"multihead batch first": attend(nn.NewMultiheadAttention(8, 4, nn.MultiheadAttentionOpts{NoBias: true, BatchFirst: true}), plain),
		"multihead masks": attend(nn.NewMultiheadAttention(8, 2), func(x ...*weft.Tensor) nn.AttendOpts {
			return nn.AttendOpts{KeyPadding: x[0], Mask: x[1]}
		}),
		"multihead additive": attend(nn.NewMultiheadAttention(8, 2), func(x ...*weft.Tensor) nn.AttendOpts { return nn.AttendOpts{Mask: x[0]} }),
		"multihead self":     fromLayer(nn.NewMultiheadAttention(8, 2)),

		"attention":              attention(func(...*weft.Tensor) nn.AttentionOpts { return nn.AttentionOpts{} }),
		"attention causal":       attention(func(...*weft.Tensor) nn.AttentionOpts { return nn.AttentionOpts{Causal: true} }),
		"attention mask":         attention(func(x ...*weft.Tensor) nn.AttentionOpts { return nn.AttentionOpts{Mask: x[0]} }),
		"attention additive":     attention(func(x ...*weft.Tensor) nn.AttentionOpts { return nn.AttentionOpts{Mask: x[0], Scale: new(0.3)} }),
		"attention nothing seen": attention(func(x ...*weft.Tensor) nn.AttentionOpts { return nn.AttentionOpts{Mask: x[0]} }),

		"leaky relu":                 fromLayer(nn.LeakyRelu{}),
		"leaky relu slope":           fromLayer(nn.LeakyRelu{Slope: new(0.3)}),
		"elu":                        fromLayer(nn.Elu{}),
		"elu alpha":                  fromLayer(nn.Elu{Alpha: new(0.7)}),
		"identity":                   fromLayer(nn.Identity{}),
		"adaptive one":               fromLayer(nn.AdaptiveAvgPool2d{Size: [2]*int{new(1), new(1)}}),
		"adaptive even":              fromLayer(nn.AdaptiveAvgPool2d{Size: [2]*int{new(2), new(3)}}),
		"adaptive uneven":            fromLayer(nn.AdaptiveAvgPool2d{Size: [2]*int{new(3), new(4)}}),
		"adaptive same":              fromLayer(nn.AdaptiveAvgPool2d{Size: [2]*int{nil, new(2)}}),
		"upsample":                   fromLayer(nn.Upsample{Scale: new(2.0)}),
		"upsample size":              fromLayer(nn.Upsample{Size: new([2]int{7, 3})}),
		"upsample fraction":          fromLayer(nn.Upsample{Scale: new(1.7)}),
		"upsample bilinear":          fromLayer(nn.Upsample{Scale: new(2.0), Bilinear: true}),
		"upsample bilinear fraction": fromLayer(nn.Upsample{Scale: new(1.7), Bilinear: true}),
		"upsample bilinear corners":  fromLayer(nn.Upsample{Size: new([2]int{7, 9}), Bilinear: true, AlignCorners: true}),
		"upsample bilinear smaller":  fromLayer(nn.Upsample{Size: new([2]int{3, 2}), Bilinear: true}),

		"smooth l1 beta": fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.SmoothL1(x, y, nn.SmoothL1Opts{Beta: new(0.3)}) }),
		"bce":            fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.BCE(x, y) }),
		"bce targets":    fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.BCE(x, y) }),
		"bce weight": fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
			return nn.BCE(x, y, nn.BCEOpts{Weight: w3, Reduction: nn.Sum})
		}),
		"bce logits": fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.BCEWithLogits(x, y) }),
		"bce logits weights": fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
			return nn.BCEWithLogits(x, y, nn.BCEOpts{Weight: w3, PosWeight: w3.Mul(2), Reduction: nn.None})
		}),
		"kl":         fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.KLDiv(x, y, nn.KLDivOpts{Reduction: nn.BatchMean}) }),
		"kl targets": fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.KLDiv(x, y) }),
		"kl log": fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
			return nn.KLDiv(x, y, nn.KLDivOpts{LogTarget: true, Reduction: nn.Sum})
		}),
		"nll plain": fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.NLL(x, y) }),
	}
	for name, o := range map[string]nn.CrossEntropyOpts{
		"weights": {Weight: w5}, "ignored": {IgnoreIndex: new(-100)}, "smoothing": {Smoothing: 0.1}, "axes": {},
		"probabilities": {Weight: w5, Smoothing: 0.1}, "probabilities axes": {Reduction: nn.None},
	} {
		cases["cross entropy "+name] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y, o) })
	}
	for r, name := range []string{"mean", "sum", "none"} {
		r := nn.Reduction(r)
		cases["mse "+name] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.MSE(x, y, nn.LossOpts{Reduction: r}) })
		cases["l1 "+name] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.L1(x, y, nn.LossOpts{Reduction: r}) })
		cases["smooth l1 "+name] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.SmoothL1(x, y, nn.SmoothL1Opts{Reduction: r}) })
		cases["cross entropy "+name] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
			return nn.CrossEntropy(x, y, nn.CrossEntropyOpts{Reduction: r})
		})
		o := all
		o.Reduction = r
		cases["cross entropy all "+name] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y, o) })
		plain := o
		plain.Smoothing = 0
		cases["nll "+name] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.NLL(x, y, plain) })
	}
	return cases
}

// compareCompiled compares results and gradients of arguments of compiled functions with the cases
// that a file has.
func compareCompiled(t *testing.T, name string, of func(file map[string]*weft.Tensor) map[string]torchCase) {
	file, _, err := safetensors.ReadFile("testdata/" + name + ".safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range of(file) {
		if c.eagerly {
			continue
		}
		t.Run(name, func(t *testing.T) { c.compiled(t, name, file) })
	}
}

func (c torchCase) compiled(t *testing.T, name string, file map[string]*weft.Tensor) {
	list := func(what string) (out []*weft.Tensor) {
		for x := file[name+"/"+what+".0"]; x != nil; x = file[fmt.Sprintf("%s/%s.%d", name, what, len(out))] {
			out = append(out, x)
		}
		return out
	}
	in, want, seeds := list("in"), list("out"), list("dout")
	if c.module != nil {
		state := map[string]*weft.Tensor{}
		for k, x := range file {
			if p, ok := strings.CutPrefix(k, name+"/state."); ok {
				state[p] = x
			}
		}
		if err := nn.LoadState(c.module, state, true); err != nil {
			t.Fatal(err)
		}
		if c.eval {
			nn.Eval(c.module)
		}
	}
	f := weft.Compile(func(in []*weft.Tensor) []*weft.Tensor {
		args := make([]*weft.Tensor, len(in))
		for i, x := range in {
			if args[i] = x.Detach(); x.DType().Float() {
				args[i].RequireGrad()
			}
		}
		outs := c.f(args...)
		weft.BackwardWith(outs, weft.GradOpts{Seeds: seeds})
		for i, x := range args {
			if file[fmt.Sprintf("%s/din.%d", name, i)] != nil {
				outs = append(outs, x.Grad())
			}
		}
		return outs
	})
	var got []*weft.Tensor
	if err := weft.Try(func() { got = f.Func()(in) }); err != nil {
		t.Fatal(err)
	}
	for i, y := range want {
		c.close(t, fmt.Sprintf("result %d", i), got[i], y)
	}
	got = got[len(want):]
	for i := range in {
		if g := file[fmt.Sprintf("%s/din.%d", name, i)]; g != nil {
			c.close(t, fmt.Sprintf("gradient of argument %d", i), got[0], g)
			got = got[1:]
		}
	}
}

// Values and gradients, by arguments and parameters, of every layer and loss are
// PyTorch's, whose state dicts load as they are, names included.
func TestLayersMatchPyTorch(t *testing.T) { compareWithTorch(t, "torch", torchCases) }

// compareWithTorch runs the cases that a file of testdata has.
func compareWithTorch(t *testing.T, name string, of func(file map[string]*weft.Tensor) map[string]torchCase) {
	file, _, err := safetensors.ReadFile("testdata/" + name + ".safetensors")
	if err != nil {
		t.Fatal(err)
	}
	cases := of(file)
	unused := map[string]bool{}
	for name := range file {
		name, what, _ := strings.Cut(name, "/")
		if what != "weight" {
			unused[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		if !unused[name] {
			t.Errorf("the file has no case %q", name)
			continue
		}
		delete(unused, name)
		t.Run(name, func(t *testing.T) { cases[name].run(t, name, file) })
	}
	for name := range unused {
		t.Errorf("no case is compared with %q of the file", name)
	}
}

func (c torchCase) run(t *testing.T, name string, file map[string]*weft.Tensor) {
	list := func(what string) (out []*weft.Tensor) {
		for i := 0; ; i++ {
			x := file[fmt.Sprintf("%s/%s.%d", name, what, i)]
			if x == nil && len(out) == i && file[fmt.Sprintf("%s/%s.%d", name, what, i+1)] == nil {
				return out
			}
			out = append(out, x)
		}
	}
	under := func(what string) map[string]*weft.Tensor {
		out := map[string]*weft.Tensor{}
		for k, x := range file {
			if p, ok := strings.CutPrefix(k, name+"/"+what+"."); ok {
				out[p] = x
			}
		}
		return out
	}
	if c.module != nil {
		if err := nn.LoadState(c.module, under("state"), true); err != nil {
			t.Fatal(err)
		}
		if c.eval {
			nn.Eval(c.module)
		}
	}
	var in []*weft.Tensor
	for _, x := range list("in") {
		x = x.Clone()
		if x.DType().Float() {
			x.RequireGrad()
		}
		in = append(in, x)
	}
	s := weft.NewScope()
	defer s.Close()
	args := make([]*weft.Tensor, len(in))
	for i, x := range in {
		args[i] = s.Track(x)
		for k := range i { // the same tensor stays the same
			if in[k] == x {
				args[i] = args[k]
			}
		}
	}
	outs := c.f(args...)
	want := list("out")
	if len(outs) != len(want) {
		t.Fatalf("%d results, want %d", len(outs), len(want))
	}
	for i, y := range outs {
		c.close(t, fmt.Sprintf("result %d", i), y, want[i])
	}
	weft.BackwardWith(outs, weft.GradOpts{Seeds: list("dout")})
	for i := range in {
		if g := file[fmt.Sprintf("%s/din.%d", name, i)]; g != nil {
			c.close(t, fmt.Sprintf("gradient of argument %d", i), in[i].Grad(), g)
		}
	}
	if c.module == nil {
		return
	}
	grads := under("dp")
	theirs := func(p string) string { return strings.Replace(p, "layer_norm", "layernorm", 1) }
	for p, x := range nn.Params(c.module) {
		p = theirs(p)
		if grads[p] == nil {
			t.Errorf("PyTorch has no parameter %s", p)
			continue
		}
		c.close(t, "gradient of "+p, x.Grad(), grads[p])
		delete(grads, p)
	}
	if len(grads) > 0 {
		t.Errorf("PyTorch has other parameters: %v", slices.Collect(maps.Keys(grads)))
	}
	after := under("state")
	maps.Copy(after, under("after"))
	for p, x := range nn.Buffers(c.module) {
		c.close(t, "afterwards "+p, x, after[p])
	}
}

// close compares a tensor with PyTorch's numbers.
func (c torchCase) close(t *testing.T, what string, got, want *weft.Tensor) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is nil", what)
		return
	}
	if !slices.Equal(got.Shape(), want.Shape()) || got.DType() != want.DType() {
		t.Errorf("%s is %s%v, want %s%v", what, got.DType(), got.Shape(), want.DType(), want.Shape())
		return
	}
	tolerance := c.tolerance
	if tolerance == 0 {
		tolerance = 8
	}
	g, w := weft.Data[float64](got.To(weft.Float64).Detach()), weft.Data[float64](want.To(weft.Float64))
	greatest := 0.0
	for _, x := range w {
		greatest = max(greatest, math.Abs(x))
	}
	for i := range g {
		if !(math.Abs(g[i]-w[i]) <= tolerance*0x1p-24*(greatest+math.Abs(w[i]))) {
			t.Errorf("%s: element %d is %v, want %v", what, i, g[i], w[i])
			return
		}
	}
}
