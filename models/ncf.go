package models

import (
	"weft"
	"weft/internal/array"
	"weft/nn"
)

// NCFOpts are the options of [NewNCF].
type NCFOpts struct {
	Factors *int // width of the vectors whose products count; nil means 64
	// Layers are the inputs and outputs of the linear layers: the first, an even number, is both vectors
	// of a pair side by side. nil means 256, 256, 128 and 64.
	Layers []int
	// Sparse keeps gradients of vectors as the rows that were used; see [nn.EmbeddingOpts].
	Sparse    bool
	Weight    nn.Init         // draws all matrices and tables; nil means as MLPerf does
	Generator *weft.Generator // what they are drawn from; nil is the default generator
}

// NCF is neural collaborative filtering (He et al., 2017): how likely a user takes an item, by
// products of factors and by linear layers side by side. It is NeuMF of MLPerf, with its names and
// sizes.
type NCF struct {
	MFUserEmbed  *nn.Embedding `nn:"mf_user_embed"`
	MFItemEmbed  *nn.Embedding `nn:"mf_item_embed"`
	MLPUserEmbed *nn.Embedding `nn:"mlp_user_embed"`
	MLPItemEmbed *nn.Embedding `nn:"mlp_item_embed"`
	MLP          []*nn.Linear
	Final        *nn.Linear
}

// NewNCF returns a network for these numbers of users and items. It panics with *weft.Error if a
// number is below 1 or Layers does not begin with an even one.
func NewNCF(users, items int, opts ...NCFOpts) *NCF {
	const name = "ncf"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	m.count("users", &users, 0)
	m.count("items", &items, 0)
	layers := o.Layers
	if len(layers) == 0 {
		layers = []int{256, 256, 128, 64}
	}
	for _, n := range layers {
		if n < 1 || layers[0]%2 != 0 {
			array.Failf(name, "Layers", "are %v, want 1 or more, the first an even number", o.Layers)
		}
	}
	table := func(rows, width int) *nn.Embedding {
		return nn.NewEmbedding(rows, width, nn.EmbeddingOpts{Sparse: o.Sparse, Weight: m.opts(nn.Normal(0, 0.01)).Weight, Generator: o.Generator})
	}
	factors, half := m.count("Factors", o.Factors, 64), layers[0]/2
	n := &NCF{MFUserEmbed: table(users, factors), MFItemEmbed: table(items, factors), MLPUserEmbed: table(users, half), MLPItemEmbed: table(items, half)}
	linear := func(in, out int, init nn.Init) *nn.Linear {
		l := m.opts(init)
		l.Bias = nn.Constant(0)
		return nn.NewLinear(in, out, l)
	}
	for i := range layers[1:] {
		n.MLP = append(n.MLP, linear(layers[i], layers[i+1], nn.XavierUniform))
	}
	n.Final = linear(factors+layers[len(layers)-1], 1, nn.Kaiming(nn.KaimingOpts{Gain: new(nn.GainLinear), Uniform: true}))
	return n
}

// Forward maps numbers of users and items, integers [batch], to scores [batch]: sigmoid makes
// probabilities of them.
func (n *NCF) Forward(users, items *weft.Tensor) *weft.Tensor {
	return called(n, []*weft.Tensor{users, items}, func(in []*weft.Tensor) *weft.Tensor { return n.forward(in[0], in[1]) })
}

func (n *NCF) forward(users, items *weft.Tensor) *weft.Tensor {
	const name = "ncf"
	defer array.Named(name).End()
	whole(name, "NewNCF", n != nil)
	for arg, t := range []*weft.Tensor{users, items} {
		what := []string{"users", "items"}[arg]
		if t == nil {
			array.Failf(name, what, "is nil")
		}
		if t.Rank() != 1 || !t.DType().Integer() || t.Dim(0) != users.Dim(0) {
			array.Failf(name, what, "is %s, want integers [batch], one item for each user", array.TypeString(t.DType(), t.Shape()))
		}
	}
	product := n.MFUserEmbed.Forward(users).Mul(n.MFItemEmbed.Forward(items))
	x := weft.Cat([]*weft.Tensor{n.MLPUserEmbed.Forward(users), n.MLPItemEmbed.Forward(items)}, 1)
	for _, l := range n.MLP {
		x = l.Forward(x).Relu()
	}
	return n.Final.Forward(weft.Cat([]*weft.Tensor{product, x}, 1)).Squeeze(1)
}
