package nn_test

import (
	"testing"

	"weft"
	"weft/nn"
)

// Values and gradients of the activations, distances and reshaping layers of
// testdata/activations.py are PyTorch's, of compiled functions too.
func TestActivationsMatchPyTorch(t *testing.T) { compareWithTorch(t, "activations", activationCases) }
func TestCompiledActivationsMatchPyTorch(t *testing.T) {
	compareCompiled(t, "activations", activationCases)
}

func activationCases(map[string]*weft.Tensor) map[string]torchCase {
	cases := map[string]torchCase{}
	for name, l := range map[string]nn.Layer{
		"relu6": nn.Relu6{}, "hardsigmoid": nn.Hardsigmoid{}, "hardswish": nn.Hardswish{}, "mish": nn.Mish{},
		"log sigmoid": nn.LogSigmoid{}, "softsign": nn.Softsign{}, "tanhshrink": nn.Tanhshrink{}, "selu": nn.Selu{},
		"gelu tanh": nn.Gelu{Tanh: true}, "celu": nn.Celu{}, "celu alpha": nn.Celu{Alpha: new(0.4)},
		"hardtanh": nn.Hardtanh{}, "hardtanh range": nn.Hardtanh{Min: new(-0.5), Max: new(3.0)}, "softplus": nn.Softplus{},
		"softplus options": nn.Softplus{Beta: new(2.0), Threshold: new(5.0)}, "threshold": nn.Threshold{Threshold: 0.5, Value: -7},
		"hardshrink": nn.Hardshrink{}, "hardshrink lambda": nn.Hardshrink{Lambda: new(1.0)},
		"softshrink": nn.Softshrink{}, "softshrink lambda": nn.Softshrink{Lambda: new(1.0)},
		"glu": nn.Glu{}, "glu axis": nn.Glu{Axis: new(0)}, "softmax": nn.Softmax{}, "softmax axis": nn.Softmax{Axis: new(0)},
		"log softmax": nn.LogSoftmax{}, "softmin": nn.Softmin{Axis: new(0)}, "flatten": nn.Flatten{Start: new(0), End: new(1)},
		"flatten middle": nn.Flatten{End: new(-2)}, "unflatten": nn.Unflatten{Axis: 1, Sizes: []int{3, 2}},
		"embedding max norm":         nn.NewEmbedding(7, 3, nn.EmbeddingOpts{MaxNorm: new(1.0)}),
		"embedding max norm options": nn.NewEmbedding(7, 3, nn.EmbeddingOpts{MaxNorm: new(1.5), NormType: new(1.0)}),
		"bag max norm":               nn.NewEmbeddingBag(7, 3, nn.EmbeddingBagOpts{MaxNorm: new(1.0), Mode: nn.BagSum}),
		"prelu":                      nn.NewPRelu(), "prelu channels": nn.NewPRelu(nn.PReluOpts{Channels: new(3)}),
	} {
		cases[name] = fromLayer(l)
	}
	rrelu := fromLayer(&nn.RRelu{Lower: new(0.1), Upper: new(0.5)})
	rrelu.eval = true
	cases["rrelu eval"] = rrelu
	cases["pairwise"] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.PairwiseDistance(x, y) })
	cases["pairwise options"] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
		return nn.PairwiseDistance(x, y, nn.PairwiseDistanceOpts{P: new(3.0), Eps: new(0.1), KeepDim: true})
	})
	cases["cosine similarity"] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor { return nn.CosineSimilarity(x, y) })
	cases["cosine similarity axis"] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
		return nn.CosineSimilarity(x, y, nn.CosineSimilarityOpts{Axis: new(0), Eps: new(2.5)})
	})
	cases["cosine similarity broadcast"] = fromLoss(func(x, y *weft.Tensor) *weft.Tensor {
		return nn.CosineSimilarity(x, y, nn.CosineSimilarityOpts{Axis: new(-1)})
	})
	cases["normalize"] = torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{nn.Normalize(x[0])} }}
	cases["normalize options"] = torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{nn.Normalize(x[0], nn.NormalizeOpts{P: new(1.0), Axis: new(0), Eps: new(2.0)})}
	}}
	return cases
}
