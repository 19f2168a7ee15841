package nn_test

import (
	"fmt"
	"strings"

	"weft"
	"weft/nn"
	"weft/optim"
)

// A table of rows: a step touches only the rows that were used.
func ExampleEmbedding() {
	e := nn.NewEmbedding(1000, 2, nn.EmbeddingOpts{Sparse: true, PaddingIdx: new(0)})
	y := e.Forward(weft.FromSlice([]int64{7, 0, 3, 7}, 2, 2))
	fmt.Println(y.Shape(), weft.Data[float32](y.At(0, 1)))
	y.Sum().Backward()
	weft.BorrowRows(e.Weight, func(places, values *weft.Tensor) {
		fmt.Println(places, weft.Data[float32](values))
	})
	// Output:
	// [2 2 2] [0 0]
	// [0 3 7] [0 0 1 1 2 2]
}

// A bag is a list of indices, such as the words of a document. Its rows are added without being
// stored. Bags differ in length; an empty one gives 0.
func ExampleEmbeddingBag() {
	table := weft.FromSlice([]float32{1, 2, 10, 20, 100, 200}, 3, 2)
	e := &nn.EmbeddingBag{Weight: table, Mode: nn.BagSum}
	x, offsets := weft.FromSlice([]int64{0, 1, 2, 2}), weft.FromSlice([]int64{0, 3, 3})
	fmt.Println(weft.Data[float32](e.Bags(x, offsets)))
	factors := weft.FromSlice([]float32{1, 0, 0, 0.5})
	fmt.Println(weft.Data[float32](e.Bags(x, offsets, nn.BagOpts{PerSampleWeights: factors})))
	e.Mode = nn.BagMean
	fmt.Println(weft.Data[float32](e.Forward(x.Reshape(2, 2)))) // each row is a bag
	// Output:
	// [111 222 0 0 100 200]
	// [1 2 0 0 50 100]
	// [5.5 11 100 200]
}

func ExampleBatchNorm2d() {
	net := nn.Sequential{
		nn.NewConv2d(3, 8, 3, nn.Conv2dOpts{Opts: nn.Opts{NoBias: true}}),
		nn.NewBatchNorm2d(8),
		nn.LeakyRelu{Slope: new(0.2)},
		nn.AdaptiveAvgPool2d{Size: [2]*int{new(1), new(1)}},
		nn.Flatten{},
	}
	fmt.Println(net.Forward(weft.Randn(4, 3, 16, 16)).Shape())
	for name, t := range nn.Buffers(net) {
		fmt.Println(name, t.Shape())
	}
	nn.Eval(net) // now one picture is enough: the running statistics count
	fmt.Println(net.Forward(weft.Randn(1, 3, 16, 16)).Shape())
	// Output:
	// [4 8]
	// 1.running_mean [8]
	// 1.running_var [8]
	// 1.num_batches_tracked []
	// [1 8]
}

func ExampleBatchNorm1d() {
	b := nn.NewBatchNorm1d(2)
	b.Forward(weft.FromSlice([]float32{1, 10, 3, 30}, 2, 2))
	fmt.Printf("%.2f %.2f\n", b.RunningMean, b.RunningVar)
	// Output: [0.20 2.00] [ 1.10 20.90]
}

func ExampleLayerNorm() {
	l := nn.NewLayerNorm([]int{4})
	fmt.Printf("%.3f\n", l.Forward(weft.FromSlice([]float32{1, 2, 3, 4}, 1, 4)))
	// Output: [[-1.342 -0.447  0.447  1.342]]
}

func ExampleGroupNorm() {
	l := nn.NewGroupNorm(2, 6)
	fmt.Println(l.Forward(weft.Randn(4, 6, 5, 5)).Shape())
	// Output: [4 6 5 5]
}

func ExampleRMSNorm() {
	l := nn.NewRMSNorm([]int{2})
	fmt.Printf("%.3f\n", l.Forward(weft.FromSlice([]float32{3, 4}, 1, 2)))
	// Output: [[0.849 1.131]]
}

func ExampleLSTM() {
	l := nn.NewLSTM(8, 16, nn.RNNOpts{Layers: new(2), BatchFirst: true})
	x := weft.Randn(4, 10, 8) // 4 texts of 10 steps
	y, h, c := l.Run(x, nil, nil)
	fmt.Println(y.Shape(), h.Shape(), c.Shape())
	y, _, _ = l.Run(x, h, c) // goes on from there
	fmt.Println(y.Shape())
	// Output:
	// [4 10 16] [2 4 16] [2 4 16]
	// [4 10 16]
}

func ExampleGRU() {
	g := nn.NewGRU(8, 16, nn.RNNOpts{Bidirectional: true})
	fmt.Println(g.Forward(weft.Randn(10, 4, 8)).Shape())
	for name, p := range nn.Params(g) {
		if strings.HasSuffix(name, "reverse") {
			fmt.Println(name, p.Shape())
		}
	}
	// Output:
	// [10 4 32]
	// bias_hh_l0_reverse [48]
	// bias_ih_l0_reverse [48]
	// weight_hh_l0_reverse [48 16]
	// weight_ih_l0_reverse [48 8]
}

func ExampleRNN() {
	n := nn.NewRNN(8, 16)
	n.Relu = true
	y, h := n.Run(weft.Randn(10, 4, 8), nil)
	fmt.Println(y.Shape(), h.Shape())
	// Output: [10 4 16] [1 4 16]
}

func ExampleRunOpts() {
	g := nn.NewGRU(8, 16, nn.RNNOpts{BatchFirst: true, Bidirectional: true})
	x := weft.Randn(3, 10, 8) // 3 texts, padded to 10 steps
	y, h := g.Run(x, nil, nn.RunOpts{Lengths: weft.FromSlice([]int64{10, 4, 7})})
	fmt.Println(y.Shape(), h.Shape())
	fmt.Println(y.Slice(weft.Index(1), weft.Range(4, 10)).Abs().Sum()) // behind the end of the second
	// Output:
	// [3 10 32] [2 3 16]
	// 0.0
}

func ExampleRNNCell() {
	c := nn.NewRNNCell(8, 16)
	var h *weft.Tensor
	for range 3 {
		h = c.Step(weft.Randn(4, 8), h)
	}
	fmt.Println(h.Shape())
	// Output: [4 16]
}

func ExampleLSTMCell() {
	l := nn.NewLSTMCell(8, 16)
	var h, c *weft.Tensor
	for range 3 {
		h, c = l.Step(weft.Randn(4, 8), h, c)
	}
	fmt.Println(h.Shape(), c.Shape())
	// Output: [4 16] [4 16]
}

func ExampleGRUCell() {
	c := nn.NewGRUCell(8, 16)
	fmt.Println(c.Step(weft.Randn(8), nil).Shape()) // one sequence alone
	// Output: [16]
}

func ExampleMultiheadAttention() {
	m := nn.NewMultiheadAttention(16, 4, nn.MultiheadAttentionOpts{BatchFirst: true})
	x := weft.Randn(2, 10, 16)
	fmt.Println(m.Attend(x, x, x, nn.AttendOpts{Causal: true}).Shape())
	for name, p := range nn.Params(m) {
		fmt.Println(name, p.Shape())
	}
	// Output:
	// [2 10 16]
	// in_proj_weight [48 16]
	// in_proj_bias [48]
	// out_proj.weight [16 16]
	// out_proj.bias [16]
}

func ExampleMultiheadAttention_AttendWeights() {
	m := nn.NewMultiheadAttention(16, 4, nn.MultiheadAttentionOpts{KDim: new(8)})
	y, w := m.AttendWeights(weft.Randn(10, 2, 16), weft.Randn(5, 2, 8), weft.Randn(5, 2, 16))
	fmt.Println(y.Shape(), w.Shape(), w.Mean(1).Shape())
	// Output: [10 2 16] [2 4 10 5] [2 10 5]
}

// A text that is generated: each step attends to all steps before.
func ExampleKVCache() {
	m := nn.NewMultiheadAttention(16, 4, nn.MultiheadAttentionOpts{BatchFirst: true})
	cache := &nn.KVCache{}
	x := weft.Randn(2, 5, 16) // the beginning
	for range 3 {
		y := m.Attend(x, x, x, nn.AttendOpts{Causal: true, Cache: cache})
		fmt.Println(y.Shape(), cache.Len())
		x = y.Slice(weft.All, weft.Range(y.Dim(1)-1, y.Dim(1))) // the next step
	}
	// Output:
	// [2 5 16] 5
	// [2 1 16] 6
	// [2 1 16] 7
}

// A translation that is generated: each call decodes one step. The memory is projected once.
func ExampleKVCache_stack() {
	layer := nn.NewTransformerDecoderLayer(16, 4, nn.TransformerOpts{FeedForward: new(32), BatchFirst: true})
	decoder := nn.NewTransformerDecoder(layer, 2)
	nn.Eval(decoder)
	memory, x := weft.Randn(3, 7, 16), weft.Randn(3, 1, 16)
	own, fixed := &nn.KVCache{}, &nn.KVCache{Fixed: true}
	for range 3 {
		x = decoder.Decode(x, memory, nn.DecodeOpts{Self: nn.AttendOpts{Causal: true, Cache: own}, Memory: nn.AttendOpts{Cache: fixed}})
		fmt.Println(x.Shape(), own.Len(), fixed.Len())
	}
	// Output:
	// [3 1 16] 1 7
	// [3 1 16] 2 7
	// [3 1 16] 3 7
}

func ExampleTransformerEncoder() {
	layer := nn.NewTransformerEncoderLayer(16, 4, nn.TransformerOpts{FeedForward: new(32), Activation: nn.Gelu{}, NormFirst: true})
	e := nn.NewTransformerEncoder(layer, 2)
	fmt.Println(e.Encode(weft.Randn(10, 3, 16), nn.AttendOpts{Causal: true}).Shape())
	// Output: [10 3 16]
}

func ExampleTransformerEncoderLayer() {
	l := nn.NewTransformerEncoderLayer(4, 2, nn.TransformerOpts{FeedForward: new(8)})
	for name, p := range nn.Params(l) {
		fmt.Println(name, p.Shape())
	}
	// Output:
	// self_attn.in_proj_weight [12 4]
	// self_attn.in_proj_bias [12]
	// self_attn.out_proj.weight [4 4]
	// self_attn.out_proj.bias [4]
	// linear1.weight [8 4]
	// linear1.bias [8]
	// linear2.weight [4 8]
	// linear2.bias [4]
	// norm1.weight [4]
	// norm1.bias [4]
	// norm2.weight [4]
	// norm2.bias [4]
}

func ExampleTransformerDecoderLayer() {
	l := nn.NewTransformerDecoderLayer(16, 4)
	x, memory := weft.Randn(10, 3, 16), weft.Randn(7, 3, 16)
	fmt.Println(l.Decode(x, memory, nn.DecodeOpts{Self: nn.AttendOpts{Causal: true}}).Shape())
	// Output: [10 3 16]
}

func ExampleTransformerDecoder() {
	d := nn.NewTransformerDecoder(nn.NewTransformerDecoderLayer(16, 4), 2)
	fmt.Println(d.Decode(weft.Randn(10, 3, 16), weft.Randn(7, 3, 16)).Shape())
	// Output: [10 3 16]
}

func ExampleTransformer() {
	t := nn.NewTransformer(16, 4, 2, 2, nn.TransformerOpts{FeedForward: new(32)})
	causal := nn.DecodeOpts{Self: nn.AttendOpts{Causal: true}}
	fmt.Println(t.Translate(weft.Randn(7, 3, 16), weft.Randn(10, 3, 16), nn.TranslateOpts{Decode: causal}).Shape())
	// Output: [10 3 16]
}

func ExampleScaledDotProductAttention() {
	q := weft.FromSlice([]float32{0, 0}, 2, 1)
	k := weft.FromSlice([]float32{1, 2}, 2, 1)
	v := weft.FromSlice([]float32{10, 20}, 2, 1)
	fmt.Println(weft.Data[float32](nn.ScaledDotProductAttention(q, k, v)))
	fmt.Println(weft.Data[float32](nn.ScaledDotProductAttention(q, k, v, nn.AttentionOpts{Causal: true})))
	// Output:
	// [15 15]
	// [10 15]
}

func ExampleUpsample() {
	x := weft.FromSlice([]float32{0, 4}, 1, 1, 1, 2)
	fmt.Println(weft.Data[float32](nn.Upsample{Size: new([2]int{1, 4})}.Forward(x)))
	fmt.Println(weft.Data[float32](nn.Upsample{Size: new([2]int{1, 4}), Bilinear: true}.Forward(x)))
	fmt.Println(weft.Data[float32](nn.Upsample{Size: new([2]int{1, 5}), Bilinear: true, AlignCorners: true}.Forward(x)))
	// Output:
	// [0 0 4 4]
	// [0 1 3 4]
	// [0 1 2 3 4]
}

func ExampleAdaptiveAvgPool2d() {
	x := weft.Arange(5).To(weft.Float32).Reshape(1, 1, 1, 5)
	fmt.Println(weft.Data[float32](nn.AdaptiveAvgPool2d{Size: [2]*int{new(1), new(2)}}.Forward(x)))
	// Output: [1 3]
}

func ExampleLeakyRelu() {
	x := weft.FromSlice([]float32{-1, 2})
	fmt.Printf("%.2f %.2f %.2f\n", nn.LeakyRelu{}.Forward(x), nn.Elu{}.Forward(x), nn.Identity{}.Forward(x))
	// Output: [-0.01  2.00] [-0.63  2.00] [-1.00  2.00]
}

func ExampleElu() {
	fmt.Printf("%.3f\n", nn.Elu{Alpha: new(2.0)}.Forward(weft.FromSlice([]float32{-1, 1})))
	// Output: [-1.264  1.000]
}

// A shortcut, in the place of a layer that a residual net has in other places.
func ExampleIdentity() {
	var down nn.Layer = nn.Identity{}
	fmt.Println(down.Forward(weft.Ones(2)))
	// Output: [1. 1.]
}

func ExampleBCEWithLogits() {
	logits, target := weft.FromSlice([]float32{2, -3}), weft.FromSlice([]float32{1, 0})
	fmt.Printf("%.4f\n", nn.BCEWithLogits(logits, target).Item())
	fmt.Printf("%.4f\n", nn.BCE(logits.Sigmoid(), target).Item())
	fmt.Printf("%.4f\n", nn.BCEWithLogits(logits, target, nn.BCEOpts{Reduction: nn.None}))
	// Output:
	// 0.0878
	// 0.0878
	// [0.1269 0.0486]
}

func ExampleBCE() {
	p := weft.FromSlice([]float32{0.9, 0.2})
	fmt.Printf("%.4f\n", nn.BCE(p, weft.FromSlice([]float32{1, 0}), nn.BCEOpts{Reduction: nn.Sum}).Item())
	// Output: 0.3285
}

func ExampleMSE() {
	x, y := weft.FromSlice([]float32{1, 4}), weft.FromSlice([]float32{1, 1})
	fmt.Println(nn.MSE(x, y), nn.L1(x, y), nn.SmoothL1(x, y))
	// Output: 4.5 1.5 1.25
}

func ExampleL1() {
	x, y := weft.FromSlice([]float32{1, 4}), weft.FromSlice([]float32{1, 1})
	fmt.Println(nn.L1(x, y, nn.LossOpts{Reduction: nn.Sum}))
	// Output: 3.0
}

func ExampleSmoothL1() {
	x, y := weft.FromSlice([]float32{1, 4}), weft.FromSlice([]float32{1, 1})
	fmt.Println(nn.SmoothL1(x, y, nn.SmoothL1Opts{Beta: new(2.0), Reduction: nn.None}))
	// Output: [0. 2.]
}

func ExampleNLL() {
	logits := weft.FromSlice([]float32{2, 0, 0, 0, 2, 0}, 2, 3)
	fmt.Printf("%.4f\n", nn.NLL(logits.LogSoftmax(1), weft.FromSlice([]int64{0, 1})).Item())
	// Output: 0.2395
}

func ExampleKLDiv() {
	p := weft.FromSlice([]float32{0.5, 0.5}, 1, 2)
	logq := weft.FromSlice([]float32{0.9, 0.1}, 1, 2).Log()
	fmt.Printf("%.4f\n", nn.KLDiv(logq, p, nn.KLDivOpts{Reduction: nn.BatchMean}).Item())
	// Output: 0.5108
}

// A language model scores each word at each step; some steps are padding.
func ExampleCrossEntropyOpts() {
	logits := weft.Zeros(2, 4, 3).RequireGrad() // [batch, classes, steps]
	target := weft.FromSlice([]int64{0, 3, -100, 1, -100, -100}, 2, 3)
	loss := nn.CrossEntropy(logits, target, nn.CrossEntropyOpts{IgnoreIndex: new(-100), Smoothing: 0.1})
	loss.Backward()
	fmt.Printf("%.4f\n", loss.Item())
	fmt.Printf("%.3f\n", logits.Grad().Slice(weft.Index(0)).T())
	// Output:
	// 1.3863
	// [[-0.225  0.075  0.075  0.075]
	//  [ 0.075  0.075  0.075 -0.225]
	//  [ 0.000  0.000  0.000  0.000]]
}

func ExampleOrthogonal() {
	l := nn.NewLinear(3, 3, nn.Opts{Weight: nn.Orthogonal(1), Generator: weft.NewGenerator(1)})
	w := l.Weight.Detach()
	fmt.Printf("%.2f\n", w.MatMul(w.T()).Abs())
	// Output:
	// [[1.00 0.00 0.00]
	//  [0.00 1.00 0.00]
	//  [0.00 0.00 1.00]]
}

func ExampleNormal() {
	e := nn.NewEmbedding(100, 10, nn.EmbeddingOpts{Weight: nn.Normal(0, 0.02), Generator: weft.NewGenerator(1)})
	u := nn.Uniform(-1, 1)(weft.NewGenerator(1), 1000)
	fmt.Printf("%.2f %.1f %v\n", e.Weight.Std().Item(), u.Max().Item(), nn.Constant(0.5)(nil, 2))
	// Output: 0.02 1.0 [0.5 0.5]
}

func ExampleSummary() {
	net := &Net{Conv: nn.NewConv2d(1, 4, 3), FC: nn.NewLinear(4*6*6, 10)}
	nn.Freeze(net.Conv)
	fmt.Print(nn.Summary(net))
	// Output:
	// layer        type       tensors                     numbers
	// -----------------------------------------------------------
	// conv         nn.Conv2d  weight [4 1 3 3], bias [4]  40
	// fc           nn.Linear  weight [10 144], bias [10]  1450
	// -----------------------------------------------------------
	// trained                                             1450
	// not trained                                         40
	// all                                                 1490
}

// Training the head of a network alone.
func ExampleFreeze() {
	net := &Net{Conv: nn.NewConv2d(1, 4, 3), FC: nn.NewLinear(4*6*6, 10)}
	nn.Freeze(net.Conv)
	opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)})
	net.Forward(weft.Ones(1, 1, 8, 8)).Sum().Backward()
	fmt.Println(net.Conv.Weight.Grad() == nil, net.FC.Weight.Grad() == nil)
	opt.Step()
	nn.Unfreeze(net.Conv)
	fmt.Println(net.Conv.Weight.RequiresGrad())
	// Output:
	// true false
	// true
}

// The average of the weights over a training, beside the network.
func ExampleCopy() {
	net := &Net{Conv: nn.NewConv2d(1, 4, 3), FC: nn.NewLinear(4*6*6, 10)}
	mean := nn.Copy(net)
	weft.WithoutGrad(func() {
		net.FC.Weight.Fill(2)
		mean.FC.Weight.Fill(0)
		for name, p := range nn.Params(mean) {
			p.MulAssign(0.75).AddAssign(nn.State(net)[name].Mul(0.25))
		}
	})
	fmt.Println(mean.FC.Weight.At(0, 0).Item(), net.FC.Weight.At(0, 0).Item())
	// Output: 0.5 2
}

// Kaiming's draws have mode and gain as in PyTorch.
func ExampleKaiming() {
	o := nn.Opts{Generator: weft.NewGenerator(1), Weight: nn.Kaiming(nn.KaimingOpts{FanOut: true, Gain: new(nn.GainTanh)})}
	std := nn.NewLinear(100, 400, o).Weight.Std().Item()
	fmt.Printf("%.2f\n", std*20)
	// Output: 1.65
}

func ExampleSequential_Recompute() {
	g := weft.NewGenerator(1)
	net := nn.Sequential{nn.NewLinear(3, 8, nn.Opts{Generator: g}), nn.Func((*weft.Tensor).Tanh), nn.NewLinear(8, 8, nn.Opts{Generator: g}), nn.Func((*weft.Tensor).Relu)}
	x := weft.Ones(2, 3)
	fmt.Println(weft.Digest(net.Recompute(x, 2)) == weft.Digest(net.Forward(x)))
	// Output: true
}
