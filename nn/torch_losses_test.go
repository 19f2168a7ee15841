package nn_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/nn"
)

// Values and gradients of the losses of testdata/losses.py are PyTorch's.
func TestLossesMatchPyTorch(t *testing.T) { compareWithTorch(t, "losses", lossCases) }

// The same of compiled functions.
func TestCompiledLossesMatchPyTorch(t *testing.T) { compareCompiled(t, "losses", lossCases) }

// from3 is the case of a function of three tensors.
func from3(f func(x, y, z *weft.Tensor) *weft.Tensor) torchCase {
	return torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(x[0], x[1], x[2])} }}
}

func lossCases(file map[string]*weft.Tensor) map[string]torchCase {
	w, w4 := file["elementwise/weight"], file["classes/weight"]
	squares := func(x, y *weft.Tensor) *weft.Tensor { return x.Sub(y).Square().Sum(-1) }
	ctc := func(o nn.CTCOpts) torchCase {
		return torchCase{tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{nn.CTC(x[0].LogSoftmax(-1), x[1], x[2], x[3], o)}
		}}
	}
	listed := ctc(nn.CTCOpts{})
	listed.eagerly = true // lengths are read
	cases := map[string]torchCase{
		"huber delta":  fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.Huber(x, y, nn.HuberOpts{Delta: new(0.4)}) }),
		"huber weight": fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.Huber(x, y, nn.HuberOpts{Weight: w}) }),
		"hinge embedding margin": fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
			return nn.HingeEmbedding(x, y, nn.MarginOpts{Margin: new(0.2)})
		}),
		"hinge embedding edge":   fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.HingeEmbedding(x, y) }),
		"margin ranking edge":    from3(func(x, y, z *weft.Tensor) *weft.Tensor { return nn.MarginRanking(x, y, z) }),
		"multi margin row":       fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiMargin(x, y) }),
		"multi label margin row": fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiLabelMargin(x, y) }),
		"triplet margin options": from3(func(x, y, z *weft.Tensor) *weft.Tensor {
			return nn.TripletMargin(x, y, z, nn.TripletMarginOpts{Margin: new(0.5), P: new(1.0), Eps: new(1e-2), Swap: true})
		}),
		"triplet margin distance": from3(func(x, y, z *weft.Tensor) *weft.Tensor {
			return nn.TripletMargin(x, y, z, nn.TripletMarginOpts{Margin: new(0.5), Swap: true, Distance: squares})
		}),
		"cosine embedding row": from3(func(x, y, z *weft.Tensor) *weft.Tensor { return nn.CosineEmbedding(x, y, z) }),
		"gaussian nll small": from3(func(x, y, z *weft.Tensor) *weft.Tensor {
			return nn.GaussianNLL(x, y, z, nn.GaussianNLLOpts{Eps: new(0.05), Full: true})
		}),
		"gaussian nll rows":   from3(func(x, y, z *weft.Tensor) *weft.Tensor { return nn.GaussianNLL(x, y, z) }),
		"gaussian nll column": from3(func(x, y, z *weft.Tensor) *weft.Tensor { return nn.GaussianNLL(x, y, z) }),
		"poisson nll full":    fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.PoissonNLL(x, y, nn.PoissonNLLOpts{Full: true}) }),
		"poisson nll rates": fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
			return nn.PoissonNLL(x, y, nn.PoissonNLLOpts{Rates: true, Full: true, Eps: new(1e-3)})
		}),
		"focal options": fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
			return nn.Focal(x, y, nn.FocalOpts{Alpha: new(-1.0), Gamma: new(1.5)})
		}),
		"dice smooth":       fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.Dice(x, y, nn.DiceOpts{Smooth: new(0.1)}) }),
		"ctc list":          listed,
		"ctc row":           ctc(nn.CTCOpts{}),
		"ctc blank":         ctc(nn.CTCOpts{Blank: 4}),
		"ctc zero infinity": ctc(nn.CTCOpts{ZeroInfinity: true, Reduction: nn.None}),
		"ctc long":          ctc(nn.CTCOpts{Reduction: nn.Sum}),
	}
	for r, name := range []string{"mean", "sum", "none"} {
		r := nn.Reduction(r)
		two := func(what string, f func(x, y *weft.Tensor) *weft.Tensor) {
			cases[fmt.Sprint(what, " ", name)] = fromLoss(f)
		}
		three := func(what string, f func(x, y, z *weft.Tensor) *weft.Tensor) {
			cases[fmt.Sprint(what, " ", name)] = from3(f)
		}
		two("huber", func(x, y *weft.Tensor) *weft.Tensor { return nn.Huber(x, y, nn.HuberOpts{Reduction: r}) })
		two("hinge embedding", func(x, y *weft.Tensor) *weft.Tensor { return nn.HingeEmbedding(x, y, nn.MarginOpts{Reduction: r}) })
		three("margin ranking", func(x, y, z *weft.Tensor) *weft.Tensor {
			return nn.MarginRanking(x, y, z, nn.MarginOpts{Margin: new(0.3), Reduction: r})
		})
		two("soft margin", func(x, y *weft.Tensor) *weft.Tensor { return nn.SoftMargin(x, y, nn.LossOpts{Reduction: r}) })
		two("mse weight", func(x, y *weft.Tensor) *weft.Tensor { return nn.MSE(x, y, nn.LossOpts{Weight: w, Reduction: r}) })
		two("l1 weight", func(x, y *weft.Tensor) *weft.Tensor { return nn.L1(x, y, nn.LossOpts{Weight: w, Reduction: r}) })
		two("multi margin", func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiMargin(x, y, nn.MultiMarginOpts{Reduction: r}) })
		two("multi margin all", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.MultiMargin(x, y, nn.MultiMarginOpts{P: new(2), Margin: new(0.7), Weight: w4, Reduction: r})
		})
		two("multi label margin", func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiLabelMargin(x, y, nn.LossOpts{Reduction: r}) })
		two("multi label soft margin", func(x, y *weft.Tensor) *weft.Tensor {
			return nn.MultiLabelSoftMargin(x, y.Detach(), nn.MultiLabelSoftMarginOpts{Weight: w4, Reduction: r})
		})
		three("triplet margin", func(x, y, z *weft.Tensor) *weft.Tensor {
			return nn.TripletMargin(x, y, z, nn.TripletMarginOpts{Reduction: r})
		})
		three("cosine embedding", func(x, y, z *weft.Tensor) *weft.Tensor {
			return nn.CosineEmbedding(x, y, z, nn.MarginOpts{Margin: new(-0.2), Reduction: r})
		})
		three("gaussian nll", func(x, y, z *weft.Tensor) *weft.Tensor {
			return nn.GaussianNLL(x, y, z, nn.GaussianNLLOpts{Reduction: r})
		})
		two("poisson nll", func(x, y *weft.Tensor) *weft.Tensor { return nn.PoissonNLL(x, y, nn.PoissonNLLOpts{Reduction: r}) })
		two("focal", func(x, y *weft.Tensor) *weft.Tensor { return nn.Focal(x, y, nn.FocalOpts{Reduction: r}) })
		two("dice", func(x, y *weft.Tensor) *weft.Tensor { return nn.Dice(x, y, nn.DiceOpts{Reduction: r}) })
		cases["ctc "+name] = ctc(nn.CTCOpts{Reduction: r})
	}
	return cases
}
