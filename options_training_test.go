package weft_test

import (
	"math"

	"weft"
	"weft/data"
	"weft/nn"
	"weft/optim"
)

// trainingOptionCases are options of optimizers, schedules, samplers and initialisers.
var trainingOptionCases = map[string]optionCase{
	"optim.RAdamOpts": optionsOf(swung(func(p *weft.Tensor, o optim.RAdamOpts) optim.Optimizer { return optim.NewRAdam(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {},
	}),
	"optim.AdamaxOpts": optionsOf(swung(func(p *weft.Tensor, o optim.AdamaxOpts) optim.Optimizer { return optim.NewAdamax(only(p), o) }), map[string]optionField{
		"LR": {def: new(2e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {},
	}),
	"optim.AdadeltaOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.AdadeltaOpts) optim.Optimizer { return optim.NewAdadelta(only(p), o) }), map[string]optionField{
		"LR": {def: new(1.0)}, "Rho": {def: new(0.9)}, "Eps": {def: new(1e-6)}, "WeightDecay": {},
	}),
	"optim.ASGDOpts": optionsOf(swung(func(p *weft.Tensor, o optim.ASGDOpts) optim.Optimizer { return optim.NewASGD(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "Lambda": {in: optim.ASGDOpts{LR: new(1.0)}, def: new(1e-4)}, "Alpha": {in: optim.ASGDOpts{LR: new(1.0), Lambda: new(0.1)}, def: new(0.75)}, "Start": {def: new(1e6)}, "WeightDecay": {},
	}),
	"optim.RpropOpts": optionsOf(swung(func(p *weft.Tensor, o optim.RpropOpts) optim.Optimizer { return optim.NewRprop(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "Shrink": {def: new(0.5), refused: true}, "Grow": {def: new(1.2), refused: true}, "Least": {in: optim.RpropOpts{LR: new(1e-7)}, def: new(1e-6)}, "Greatest": {def: new(50.0), refused: true},
	}),
	"optim.AdafactorOpts": optionsOf(adafactored, map[string]optionField{
		"LR": {def: new(1e-2)}, "Beta2Decay": {def: new(-0.8), loose: true}, "Eps": {def: new(0x1p-52)}, "EpsScale": {def: new(1e-3)}, "Clip": {def: new(1.0), refused: true}, "WeightDecay": {},
	}),
	"optim.LionOpts": optionsOf(swung(func(p *weft.Tensor, o optim.LionOpts) optim.Optimizer { return optim.NewLion(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-4)}, "Beta1": {in: optim.LionOpts{Beta2: new(0.5)}, def: new(0.9)}, "Beta2": {def: new(0.99)}, "WeightDecay": {},
	}),
	"optim.LAMBOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.LAMBOpts) optim.Optimizer { return optim.NewLAMB(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-6)}, "WeightDecay": {},
	}),
	"optim.MuonOpts": optionsOf(orthogonalised, map[string]optionField{
		"LR": {def: new(1e-3)}, "Momentum": {def: new(0.95)}, "WeightDecay": {def: new(0.1)}, "Coefficients": {def: &[3]float64{3.4445, -4.775, 2.0315}}, "Eps": {in: optim.MuonOpts{Iterations: new(1)}, def: new(1e-7)},
		"Iterations": {def: new(5), loose: true},
	}),
	"optim.AverageOpts":  optionsOf(averaged, map[string]optionField{"Decay": {loose: true}}),
	"optim.ClipNormOpts": optionsOf(clipped, map[string]optionField{"Power": {def: new(2.0), refused: true}}),
	"optim.Constant":     optionsOf(scheduled[optim.Constant], map[string]optionField{"Steps": {refused: true}, "Factor": {in: optim.Constant{Steps: 3}}}),
	"optim.Polynomial":   optionsOf(scheduled[optim.Polynomial], map[string]optionField{"Steps": {refused: true}, "Power": {in: optim.Polynomial{Steps: 9}, def: new(1.0)}}),
	"optim.WarmCosine": optionsOf(scheduled[optim.WarmCosine], map[string]optionField{
		"Warm": {in: optim.WarmCosine{Steps: 5}}, "Steps": {refused: true}, "From": {in: optim.WarmCosine{Warm: 2, Steps: 5}}, "Min": {in: optim.WarmCosine{Steps: 5}},
	}),
	"optim.WarmRestarts": optionsOf(scheduled[optim.WarmRestarts], map[string]optionField{
		"Steps": {refused: true}, "Mult": {in: optim.WarmRestarts{Steps: 2}, def: new(1), refused: true}, "Min": {in: optim.WarmRestarts{Steps: 4}},
	}),
	"optim.Cyclic": optionsOf(scheduled[optim.Cyclic], map[string]optionField{
		"Min": {in: optim.Cyclic{Max: 1, Up: new(2)}}, "Max": {in: optim.Cyclic{Min: 1, Up: new(2)}}, "Up": {in: optim.Cyclic{Max: 1}, def: new(2000), refused: true},
		"Down": {in: optim.Cyclic{Max: 1, Up: new(2)}, def: new(2), refused: true}, "Gamma": {in: optim.Cyclic{Max: 1, Up: new(2)}, def: new(1.0)},
	}),
	"nn.KaimingOpts":     optionsOf(func(o nn.KaimingOpts) []float64 { return values(nn.Kaiming(o)(gen(), 3, 4)) }, map[string]optionField{"Gain": {def: new(math.Sqrt2)}}),
	"data.SubsetSampler": optionsOf(sampled[data.SubsetSampler], map[string]optionField{"Seed": {in: data.SubsetSampler{Index: []int64{0, 1, 2, 3, 4, 5, 6, 7}}}}),
	"data.WeightedSampler": optionsOf(sampled[data.WeightedSampler], map[string]optionField{
		"N": {in: data.WeightedSampler{Weights: []float64{1, 2}}}, "Seed": {in: data.WeightedSampler{Weights: []float64{1, 2, 3}, N: 9}},
	}),
	"data.DistributedSampler": optionsOf(sampled[data.DistributedSampler], map[string]optionField{
		"Examples": {in: data.DistributedSampler{Ranks: 1}}, "Rank": {in: data.DistributedSampler{Examples: 9, Ranks: 3}},
		"Ranks": {in: data.DistributedSampler{Examples: 9}, refused: true}, "Seed": {in: data.DistributedSampler{Examples: 9, Ranks: 1, Shuffle: true}},
	}),
	"data.BucketSampler": optionsOf(func(s data.BucketSampler) (out []float64) {
		for _, b := range s.Batches(0) {
			for _, i := range b {
				out = append(out, float64(i))
			}
		}
		return out
	}, map[string]optionField{
		"Batch": {in: data.BucketSampler{Lengths: []int{3, 2, 1}, Group: 1}, refused: true}, "Group": {in: data.BucketSampler{Lengths: []int{3, 2, 1}, Batch: 1}, refused: true},
		"Seed": {in: data.BucketSampler{Lengths: []int{3, 2, 1, 4, 5}, Batch: 1, Group: 1}},
	}),
}

// swung returns three parameters, and their averages if the optimizer has them, after eight steps with
// gradients that fall and change their signs, stay, and are close to Eps.
func swung[O any](make func(p *weft.Tensor, o O) optim.Optimizer) func(o O) []float64 {
	return func(o O) []float64 {
		w := nn.Param(weft.FromSlice([]float64{1, -2, 3}))
		opt := make(w, o)
		for i := range 8 {
			w.SetGrad(weft.FromSlice([]float64{float64(8-i) * (1 - 2*float64(i%2)), -2, 1e-8}))
			opt.Step()
		}
		out := values(w)
		if average := opt.State()["average.w"]; average != nil {
			out = append(out, values(average)...)
		}
		return out
	}
}

// adafactored returns small parameters after four steps with one gradient close to Eps.
func adafactored(o optim.AdafactorOpts) []float64 {
	w := nn.Param(weft.FromSlice([]float64{1e-5, -2e-5, 3e-5}))
	opt := optim.NewAdafactor(only(w), o)
	for i := range 4 {
		w.SetGrad(weft.FromSlice([]float64{1 + float64(i), -2, 1e-17}))
		opt.Step()
	}
	return values(w)
}

// orthogonalised returns a matrix after four steps of Muon, with a small gradient for Eps.
func orthogonalised(o optim.MuonOpts) []float64 {
	w := nn.Param(weft.FromSlice([]float64{1, -2, 3, 0.5}, 2, 2))
	opt := optim.NewMuon(only(w), o)
	for i := range 4 {
		w.SetGrad(weft.FromSlice([]float64{1 + float64(i), -2, 0.5, 3}, 2, 2).Mul(1e-8))
		opt.Step()
	}
	return values(w)
}

// averaged returns the average of 1, 2 and 4.
func averaged(o optim.AverageOpts) []float64 {
	w, into := weft.ZerosOf(weft.Float64), weft.ZerosOf(weft.Float64)
	a := optim.NewAverage(only(into), only(w), o)
	for _, x := range []float64{1, 2, 4} {
		w.Fill(x)
		a.Update()
	}
	return values(into)
}

// clipped returns a clipped gradient and its norm.
func clipped(o optim.ClipNormOpts) []float64 {
	w := nn.Param(weft.ZerosOf(weft.Float64, 2))
	w.SetGrad(weft.FromSlice([]float64{3, 4}))
	return append(values(w.Grad()), optim.ClipNorm(only(w), 1, o))
}

// sampled returns the places that a sampler chooses.
func sampled[S data.Sampler](s S) (out []float64) {
	for _, i := range s.Order(0) {
		out = append(out, float64(i))
	}
	return out
}
