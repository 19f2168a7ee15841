package weft_test

import (
	"math"
	"slices"
	"time"

	"weft"
	"weft/data"
	"weft/kernel"
	"weft/nn"
	"weft/optim"
	"weft/sym"
)

// optionCases are all options that have numbers, and schedules and layers that are written as
// literals.
var optionCases = map[string]optionCase{
	"weft.ConvOpts": optionsOf(filtered, map[string]optionField{
		"Stride":   {def: &[2]int{1, 1}, refused: true},
		"Padding":  {zero: func() []float64 { return filtered(weft.ConvOpts{}) }},
		"Dilation": {def: &[2]int{1, 1}, refused: true},
		"Groups":   {def: new(1), refused: true},
	}),
	"weft.Conv1dOpts": optionsOf(func(o weft.Conv1dOpts) []float64 {
		return values(gen().Randn(2, 4, 9).Conv1d(gen().Randn(2, 4/max(groupsOf(o.Groups), 1), 3), nil, o))
	}, map[string]optionField{
		"Stride": {def: new(1), refused: true},
		"Padding": {zero: func() []float64 {
			return values(gen().Randn(2, 4, 9).Conv1d(gen().Randn(2, 4, 3), nil, weft.Conv1dOpts{}))
		}},
		"Dilation": {def: new(1), refused: true},
		"Groups":   {def: new(1), refused: true},
	}),
	"weft.ConvTransposeOpts": optionsOf(func(o weft.ConvTransposeOpts) []float64 {
		return values(pictures().ConvTranspose2d(gen().Randn(4, 2, 3, 3), nil, o))
	}, map[string]optionField{
		"Stride": {def: &[2]int{1, 1}, refused: true},
		"Padding": {zero: func() []float64 {
			return values(pictures().ConvTranspose2d(gen().Randn(4, 2, 3, 3), nil, weft.ConvTransposeOpts{}))
		}},
		"OutputPadding": {in: weft.ConvTransposeOpts{Stride: &[2]int{3, 3}}, zero: func() []float64 {
			return values(pictures().ConvTranspose2d(gen().Randn(4, 2, 3, 3), nil, weft.ConvTransposeOpts{Stride: &[2]int{3, 3}}))
		}},
		"Dilation": {def: &[2]int{1, 1}, refused: true},
		"Groups":   {def: new(1), refused: true},
	}),
	"weft.PoolOpts": pooled(func(o weft.PoolOpts) []float64 { return values(pictures().MaxPool2d(o)) },
		func(stride *[2]int) weft.PoolOpts { return weft.PoolOpts{Window: [2]int{2, 3}, Stride: stride} }),
	"nn.MaxPool2d": pooled(func(l nn.MaxPool2d) []float64 { return applied(l, pictures()) },
		func(stride *[2]int) nn.MaxPool2d { return nn.MaxPool2d{Window: [2]int{2, 3}, Stride: stride} }),
	"nn.AvgPool2d": pooled(func(l nn.AvgPool2d) []float64 { return applied(l, pictures()) },
		func(stride *[2]int) nn.AvgPool2d { return nn.AvgPool2d{Window: [2]int{2, 3}, Stride: stride} }),
	"weft.CloseOpts": optionsOf(func(o weft.CloseOpts) []float64 {
		return values(weft.FromSlice([]float64{1, 1 + 5e-6, 1e-9, 3}).IsClose(weft.FromSlice([]float64{1, 1, 0, 4}), o))
	}, map[string]optionField{"Relative": {def: new(1e-5)}, "Absolute": {def: new(1e-8)}}),
	"weft.HistogramOpts": optionsOf(func(o weft.HistogramOpts) []float64 {
		return values(two(weft.FromSlice([]float64{-3, -1, 1, 2, 5}).Histogram(o))...)
	}, map[string]optionField{
		"Bins": {def: new(10), refused: true},
		"Min":  {def: new(-3.0)},
		"Max":  {in: weft.HistogramOpts{Bins: new(3)}, def: new(5.0)},
	}),
	"weft.TrackOpts": optionsOf(gaps, map[string]optionField{
		"Cost": {def: &weft.Cost{Latency: 1000, PerSecond: 4e9}},
		"Item": {def: new(4), refused: true},
	}),
	"weft.Cost": optionsOf(func(o weft.Cost) []float64 { return gaps(weft.TrackOpts{Cost: &o}) }, map[string]optionField{
		"Latency":   {in: weft.Cost{PerSecond: 4e12}, zero: list(0, 4, 2004, 2008)},
		"PerSecond": {in: weft.Cost{Latency: time.Hour}, zero: list(0, 4, 2004, 2008)},
	}),

	"sym.ScanOpts": optionsOf(looped, map[string]optionField{
		"Steps":      {def: new(3), zero: list(1, 0, 0, 1)}, // no states; the last is the first
		"Truncate":   {def: new(3), refused: true},
		"Checkpoint": {def: new(1), refused: true},
	}),
	"sym.VerifyOpts": optionsOf(verified, map[string]optionField{
		"Seed":     {in: sym.VerifyOpts{Absolute: new(0.0), Relative: new(0.0)}, zero: func() []float64 { return verified(sym.VerifyOpts{Absolute: new(0.0), Relative: new(0.0)}) }},
		"Step":     {def: new(1e-5), refused: true},
		"Absolute": {in: sym.VerifyOpts{Relative: new(1e-12)}, def: new(1e-5)},
		"Relative": {in: sym.VerifyOpts{Absolute: new(1e-12)}, def: new(1e-5)},
	}),
	"kernel.IterateOpts": optionsOf(func(o kernel.IterateOpts) (asked []float64) {
		o.Until = func(steps int, _, _ *weft.Tensor) bool { asked = append(asked, float64(steps)); return false }
		optionKernels.Func("Heat").Iterate(3, gen().Randn(8).To(weft.Float64), o)
		return asked
	}, map[string]optionField{"Every": {def: new(1), refused: true}}),
	"kernel.ScanOpts": optionsOf(func(o kernel.ScanOpts) []float64 {
		return values(optionKernels.Func("Add").Scan(gen().Randn(2, 3, 2).To(weft.Float64), o))
	}, map[string]optionField{"Axis": {zero: func() []float64 { return values(gen().Randn(2, 3, 2).To(weft.Float64).CumSum(0)) }}}),
	"data.LoaderOpts": optionsOf(ahead, map[string]optionField{
		"Batch":    {def: new(1), refused: true},
		"Seed":     {in: data.LoaderOpts{Shuffle: true, Prefetch: new(0)}, zero: func() []float64 { return ahead(data.LoaderOpts{Shuffle: true, Prefetch: new(0)}) }},
		"Prefetch": {def: new(2), zero: func() []float64 { return append(ahead(data.LoaderOpts{Prefetch: new(2)})[:18], 1) }},
	}),

	"nn.LeakyRelu": optionsOf(func(l nn.LeakyRelu) []float64 { return applied(l, pictures()) }, map[string]optionField{"Slope": {def: new(0.01)}}),
	"nn.Elu":       optionsOf(func(l nn.Elu) []float64 { return applied(l, pictures()) }, map[string]optionField{"Alpha": {def: new(1.0)}}),
	"nn.Dropout":   optionsOf(func(l nn.Dropout) []float64 { l.Generator = gen(); return applied(&l, pictures()) }, map[string]optionField{"P": {}}),
	"nn.AdaptiveAvgPool2d": optionsOf(func(l nn.AdaptiveAvgPool2d) []float64 { return applied(l, pictures()) }, map[string]optionField{
		"Size": {def: [2]*int{new(6), new(7)}, refused: true},
	}),
	"nn.Upsample": optionsOf(func(l nn.Upsample) []float64 { return applied(l, pictures()) }, map[string]optionField{
		"Size":  {refused: true},
		"Scale": {refused: true},
	}),
	"nn.AttentionOpts": optionsOf(func(o nn.AttentionOpts) []float64 {
		q := gen().Randn(1, 3, 4)
		o.Generator = gen()
		return values(nn.ScaledDotProductAttention(q, q, q, o))
	}, map[string]optionField{"Scale": {def: new(0.5)}, "Dropout": {}}),
	"nn.MultiheadAttentionOpts": optionsOf(func(o nn.MultiheadAttentionOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewMultiheadAttention(4, 2, o), gen().Randn(2, 3, 4))
	}, map[string]optionField{"Dropout": {}}),
	"nn.Conv1dOpts": layered(func(o nn.Conv1dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConv1d(4, 4, 3, o), gen().Randn(2, 4, 9))
	}, nn.Conv1dOpts{}, false),
	"nn.Conv2dOpts": layered(func(o nn.Conv2dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConv2d(4, 4, 3, o), pictures())
	}, nn.Conv2dOpts{}, false),
	"nn.ConvTranspose2dOpts": layered(func(o nn.ConvTranspose2dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConvTranspose2d(4, 4, 3, o), pictures())
	}, nn.ConvTranspose2dOpts{Stride: new(3)}, true),
	"nn.EmbeddingOpts": optionsOf(func(o nn.EmbeddingOpts) []float64 {
		o.Generator = gen()
		return drawn(nn.NewEmbedding(3, 2, o))
	}, map[string]optionField{"PaddingIdx": {def: (*int)(nil), zero: func() []float64 {
		x := drawn(nn.NewEmbedding(3, 2, nn.EmbeddingOpts{Generator: gen()}))
		x[3], x[4] = 0, 0 // behind the rank and the shape
		return x
	}}}),
	"nn.EmbeddingBagOpts": optionsOf(func(o nn.EmbeddingBagOpts) []float64 {
		o.Generator = gen()
		e := nn.NewEmbeddingBag(3, 2, o)
		return append(drawn(e), values(e.Forward(weft.FromSlice([]int64{0, 1, 1, 2}, 2, 2)))...)
	}, map[string]optionField{"PaddingIdx": {def: (*int)(nil), zero: func() []float64 {
		e := nn.NewEmbedding(3, 2, nn.EmbeddingOpts{Generator: gen(), PaddingIdx: new(0)})
		return append(drawn(e), values(weft.Stack([]*weft.Tensor{e.Weight.At(1), e.Weight.Slice(weft.Range(1, 3)).Mean(0)}, 0))...)
	}}}),
	"nn.SmoothL1Opts": optionsOf(func(o nn.SmoothL1Opts) []float64 {
		return values(nn.SmoothL1(weft.FromSlice([]float64{0, 0.25, 3}), weft.ZerosOf(weft.Float64, 3), o))
	}, map[string]optionField{"Beta": {def: new(1.0), zero: list(0, 3.25/3)}}), // the mean of |x|
	"nn.CrossEntropyOpts": optionsOf(func(o nn.CrossEntropyOpts) []float64 {
		return values(nn.CrossEntropy(weft.FromSlice([]float64{1, 0, 0, 2}, 2, 2), weft.FromSlice([]int64{0, 1}), o))
	}, map[string]optionField{
		"IgnoreIndex": {def: (*int)(nil), zero: list(0, math.Log1p(math.Exp(-2)))}, // of the second row alone
		"Smoothing":   {},
	}),
	"nn.NormOpts": optionsOf(func(o nn.NormOpts) []float64 {
		x := weft.FromSlice([]float64{1e-3, -1e-3, 2e-3, 0}, 2, 2)
		return slices.Concat(applied(nn.NewLayerNorm([]int{2}, o), x), applied(nn.NewGroupNorm(1, 2, o), x))
	}, map[string]optionField{"Eps": {def: new(1e-5)}}),
	"nn.BatchNormOpts": optionsOf(func(o nn.BatchNormOpts) []float64 {
		b := nn.NewBatchNorm1d(2, o)
		y := b.Forward(weft.FromSlice([]float32{1e-3, -1e-3, 3e-3, 5e-3, 0, 1}, 3, 2))
		return values(y, b.RunningMean, b.RunningVar)
	}, map[string]optionField{"Eps": {def: new(1e-5)}, "Momentum": {def: new(0.1)}}),
	"nn.RNNOpts": optionsOf(func(o nn.RNNOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewLSTM(2, 3, o), gen().Randn(2, 2, 2))
	}, map[string]optionField{"Layers": {def: new(1), refused: true}, "Dropout": {in: nn.RNNOpts{Layers: new(2)}}}),

	"optim.SGDOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.SGDOpts) optim.Optimizer { return optim.NewSGD(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Momentum": {}, "Dampening": {in: optim.SGDOpts{Momentum: 0.9}}, "WeightDecay": {},
	}),
	"optim.AdamOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.AdamOpts) optim.Optimizer { return optim.NewAdam(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {},
	}),
	"optim.NAdamOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.NAdamOpts) optim.Optimizer { return optim.NewNAdam(only(p), o) }), map[string]optionField{
		"LR": {def: new(2e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {}, "MomentumDecay": {in: optim.NAdamOpts{LR: new(1.0)}, def: new(4e-3)},
	}),
	"optim.RMSpropOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.RMSpropOpts) optim.Optimizer { return optim.NewRMSprop(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "Alpha": {def: new(0.99)}, "Eps": {def: new(1e-8)}, "Momentum": {}, "WeightDecay": {},
	}),
	"optim.AdagradOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.AdagradOpts) optim.Optimizer { return optim.NewAdagrad(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "LRDecay": {}, "WeightDecay": {}, "Initial": {}, "Eps": {def: new(1e-10)},
	}),
	"optim.LBFGSOpts": optionsOf(minimised, map[string]optionField{
		"LR":              {def: new(1.0), zero: list(1, 2, -1.2, 1, 1)},
		"MaxIter":         {def: new(20), zero: list(1, 2, -1.2, 1, 1)},
		"MaxEval":         {def: new(25), zero: func() []float64 { return minimised(optim.LBFGSOpts{MaxEval: new(1)}) }},
		"History":         {in: optim.LBFGSOpts{MaxIter: new(4)}, def: new(100), loose: true},
		"ToleranceGrad":   {in: optim.LBFGSOpts{MaxIter: new(99), ToleranceChange: new(0.0)}, def: new(1e-7)},
		"ToleranceChange": {in: optim.LBFGSOpts{MaxIter: new(99), ToleranceGrad: new(0.0)}, def: new(1e-9)},
	}),
	"optim.PlateauOpts": optionsOf(lowered, map[string]optionField{
		"Factor":    {in: optim.PlateauOpts{Patience: new(0)}, def: new(0.1)},
		"Patience":  {in: optim.PlateauOpts{Factor: new(0.5), Threshold: new(1e-3), Cooldown: 20}, def: new(10), zero: list(1, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5)},
		"Threshold": {in: optim.PlateauOpts{Patience: new(1)}, def: new(1e-4)},
		"Cooldown":  {in: optim.PlateauOpts{Patience: new(0), Factor: new(0.5), Threshold: new(1.0)}, zero: halved},
		"Min":       {in: optim.PlateauOpts{Patience: new(0)}},
	}),
	"optim.StepDecay": optionsOf(scheduled[optim.StepDecay], map[string]optionField{
		"Every": {in: optim.StepDecay{Gamma: 0.5}, refused: true}, "Gamma": {in: optim.StepDecay{Every: 2}},
	}),
	"optim.MultiStep":   optionsOf(scheduled[optim.MultiStep], map[string]optionField{"Gamma": {in: optim.MultiStep{Steps: []int{1, 3}}}}),
	"optim.Exponential": optionsOf(scheduled[optim.Exponential], map[string]optionField{"Gamma": {}}),
	"optim.Cosine":      optionsOf(scheduled[optim.Cosine], map[string]optionField{"Steps": {refused: true}, "Min": {in: optim.Cosine{Steps: 4}}}),
	"optim.Linear": optionsOf(scheduled[optim.Linear], map[string]optionField{
		"Steps": {refused: true}, "From": {in: optim.Linear{Steps: 3, To: 1}}, "To": {in: optim.Linear{Steps: 3, From: 1}},
	}),
	"optim.OneCycle": optionsOf(scheduled[optim.OneCycle], map[string]optionField{
		"Steps": {refused: true}, "Max": {in: optim.OneCycle{Steps: 6}}, "Warm": {in: optim.OneCycle{Steps: 6, Max: 1}, def: new(0.3)},
		"Div": {in: optim.OneCycle{Steps: 6, Max: 1}, def: new(25.0), refused: true}, "FinalDiv": {in: optim.OneCycle{Steps: 6, Max: 1}, def: new(1e4), refused: true},
	}),
}

func two(x, y *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{x, y} }

// pooled is the case of the options of pooling.
func pooled[T any](run func(o T) []float64, with func(stride *[2]int) T) optionCase {
	return optionsOf(run, map[string]optionField{
		"Window":  {in: with(&[2]int{1, 1}), refused: true},
		"Stride":  {in: with(nil), def: &[2]int{2, 3}, refused: true},
		"Padding": {in: with(nil), zero: func() []float64 { return run(with(nil)) }},
	})
}

// layered is the case of the options of layers that convolve.
func layered[T any](run func(o T) []float64, in T, transposed bool) optionCase {
	fields := map[string]optionField{
		"Stride":   {def: new(1), refused: true},
		"Padding":  {in: in, zero: func() []float64 { return run(in) }},
		"Dilation": {def: new(1), refused: true},
		"Groups":   {def: new(1), refused: true},
	}
	if transposed {
		fields["OutputPadding"] = optionField{in: in, zero: func() []float64 { return run(in) }}
	}
	return optionsOf(run, fields)
}

// halved are rates that are halved after each step but the first.
func halved() (rates []float64) {
	for i := range 14 {
		rates = append(rates, math.Ldexp(1, -i))
	}
	return rates
}
