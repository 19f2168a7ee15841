package models

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// ViTOpts are the options of vision transformers.
type ViTOpts struct {
	Classes          *int            // nil means 1000
	Channels         *int            // of the pictures; nil means 3
	Size             *int            // height and width of the pictures, a multiple of the patches'; nil means 224
	Eps              *float64        // of normalisations; nil means 1e-6 as in torchvision; transformers has 1e-12
	Dropout          float64         // of the patches and behind attention and linear layers
	AttentionDropout float64         // of the weights of attention
	Weight           nn.Init         // draws all matrices and filters; nil means as torchvision does
	Generator        *weft.Generator // what they, and dropout, are drawn from; nil is the default generator
}

// ViT is a transformer over the patches of a picture (Dosovitskiy et al., An image is worth 16x16
// words, 2021). It has the forms "torchvision" and "transformers".
type ViT struct {
	ClassToken   *weft.Tensor // [1, 1, width]
	ConvProj     *nn.Conv2d
	PosEmbedding *weft.Tensor `nn:"encoder.pos_embedding"` // [1, patches+1, width]
	Dropout      *nn.Dropout
	Layers       []*ViTBlock   `nn:"encoder.layers"`
	LN           *nn.LayerNorm `nn:"encoder.ln"`
	Head         *nn.Linear    `nn:"heads.head"`
}

// ViTBlock adds attention and then two linear layers to its input, each after a normalisation.
type ViTBlock struct {
	LN1           *nn.LayerNorm `nn:"ln_1"`
	SelfAttention *nn.MultiheadAttention
	Dropout       *nn.Dropout
	LN2           *nn.LayerNorm `nn:"ln_2"`
	MLP           nn.Sequential
}

// NewViTB16 returns the base network with patches of 16x16.
func NewViTB16(opts ...ViTOpts) *ViT { return NewViT(16, 12, 12, 768, 3072, opts...) }

// NewViTB32 returns the base network with patches of 32x32.
func NewViTB32(opts ...ViTOpts) *ViT { return NewViT(32, 12, 12, 768, 3072, opts...) }

// NewViTL16 returns the large network with patches of 16x16.
func NewViTL16(opts ...ViTOpts) *ViT { return NewViT(16, 24, 16, 1024, 4096, opts...) }

// NewViTL32 returns the large network with patches of 32x32.
func NewViTL32(opts ...ViTOpts) *ViT { return NewViT(32, 24, 16, 1024, 4096, opts...) }

// NewViTH14 returns the huge network with patches of 14x14.
func NewViTH14(opts ...ViTOpts) *ViT { return NewViT(14, 32, 16, 1280, 5120, opts...) }

// NewViT returns a network of blocks with a number of heads, for patches of patch x patch pixels. The
// width is that of a patch's vector, hidden that inside of a block. It panics with *weft.Error if a
// number is out of range, or if patches do not divide pictures or heads the width.
func NewViT(patch, blocks, heads, width, hidden int, opts ...ViTOpts) *ViT {
	const name = "vit"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := maker{name, o.Weight, o.Generator}
	m.count("patch", &patch, 0)
	m.count("blocks", &blocks, 0)
	m.count("width", &width, 0)
	m.count("hidden", &hidden, 0)
	size, channels := m.count("Size", o.Size, 224), m.count("Channels", o.Channels, 3)
	if size%patch != 0 {
		array.Failf(name, "Size", "is %d, which patches of %d do not divide", size, patch)
	}
	m.probability("AttentionDropout", o.AttentionDropout)
	m.probability("Dropout", o.Dropout)
	classes := m.count("Classes", o.Classes, 1000)
	if heads < 1 || width%heads != 0 {
		array.Failf(name, "heads", "is %d, which does not divide the width %d", heads, width)
	}
	norm := func() *nn.LayerNorm {
		return nn.NewLayerNorm([]int{width}, nn.NormOpts{Eps: new(array.Or(o.Eps, 1e-6))})
	}
	std := math.Sqrt(1 / float64(channels*patch*patch))
	project := m.opts(nn.TruncNormal(0, std, -2, 2))
	project.Bias = nn.Constant(0)
	head := m.opts(nn.Constant(0))
	head.Bias = nn.Constant(0)
	position := m.opts(nn.Normal(0, 0.02)).Weight
	v := &ViT{
		ClassToken:   nn.Param(weft.Zeros(1, 1, width)),
		ConvProj:     nn.NewConv2d(channels, width, patch, nn.Conv2dOpts{Opts: project, Stride: &patch}),
		PosEmbedding: nn.Param(position(m.g, 1, (size/patch)*(size/patch)+1, width)),
		Dropout:      m.drop(o.Dropout),
	}
	linear := m.opts(nn.XavierUniform)
	linear.Bias = nn.Normal(0, 1e-6)
	for range blocks {
		v.Layers = append(v.Layers, &ViTBlock{
			LN1: norm(), LN2: norm(), Dropout: m.drop(o.Dropout),
			SelfAttention: nn.NewMultiheadAttention(width, heads, nn.MultiheadAttentionOpts{BatchFirst: true, Dropout: o.AttentionDropout, Weight: o.Weight, Generator: o.Generator}),
			MLP:           nn.Sequential{nn.NewLinear(width, hidden, linear), nn.Gelu{}, m.drop(o.Dropout), nn.NewLinear(hidden, width, linear), m.drop(o.Dropout)},
		})
	}
	v.LN, v.Head = norm(), nn.NewLinear(width, classes, head)
	return v
}

// Forward keeps the shape [batch, patches+1, width].
func (b *ViTBlock) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(b, x, (*ViTBlock).forward) }

func (b *ViTBlock) forward(x *weft.Tensor) *weft.Tensor {
	whole("vit", "NewViT", b != nil)
	x = x.Add(b.Dropout.Forward(b.SelfAttention.Forward(b.LN1.Forward(x))))
	return x.Add(b.MLP.Forward(b.LN2.Forward(x)))
}

// Tokens maps [batch, channels, height, width] to the vectors of the class and of each patch behind
// the last block, [batch, patches+1, width].
func (v *ViT) Tokens(x *weft.Tensor) *weft.Tensor {
	const name = "vit"
	defer array.Named(name).End()
	whole(name, "NewViT", v != nil && v.ClassToken != nil && v.PosEmbedding != nil && v.PosEmbedding.Rank() == 3)
	pictures(name, "NewViT", x, v.ConvProj)
	n, width := v.PosEmbedding.Dim(1), v.PosEmbedding.Dim(2)
	patch := v.ConvProj.Stride
	if h, w := x.Dim(2), x.Dim(3); h != w || h%patch[0] != 0 || (h/patch[0])*(w/patch[1])+1 != n {
		array.Failf(name, "x", "has shape %s: want %d patches of %dx%d in a square", array.ShapeString(x.Shape()), n-1, patch[0], patch[1])
	}
	batch := x.Dim(0)
	x = v.ConvProj.Forward(x).Flatten(2).Transpose(1, 2)
	x = weft.Cat([]*weft.Tensor{v.ClassToken.Expand(batch, 1, width), x}, 1).Add(v.PosEmbedding)
	x = v.Dropout.Forward(x)
	for _, b := range v.Layers {
		x = b.Forward(x)
	}
	return v.LN.Forward(x)
}

// Features maps [batch, channels, height, width] to what the last layer sees, [batch, width]: the
// vector of the class.
func (v *ViT) Features(x *weft.Tensor) *weft.Tensor {
	return v.Tokens(x).Slice(weft.All, weft.Index(0))
}

// Forward maps [batch, channels, height, width] to scores [batch, classes].
func (v *ViT) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(v, x, (*ViT).forward) }

func (v *ViT) forward(x *weft.Tensor) *weft.Tensor {
	x = v.Features(x)
	return v.Head.Forward(x)
}

// Forms implements [Published]: the names of torchvision, and the names of transformers, where queries,
// keys and values are apart.
func (v *ViT) Forms() []Form {
	vision, hub := map[string]*weft.Tensor{}, map[string]*weft.Tensor{}
	whole("vit", "NewViT", v != nil && v.PosEmbedding != nil && v.PosEmbedding.Rank() == 3)
	width := v.PosEmbedding.Dim(2)
	for name, t := range nn.State(v) {
		rest, ok := strings.CutPrefix(name, "encoder.layers.")
		if !ok {
			vision[name], hub[cmp.Or(viTNames[name], name)] = t, t
			continue
		}
		layer, part, _ := strings.Cut(rest, ".")
		vision[fmt.Sprintf("encoder.layers.encoder_layer_%s.%s", layer, part)] = t
		begin := "vit.encoder.layer." + layer + "."
		module, kind := part[:strings.LastIndexByte(part, '.')+1], part[strings.LastIndexByte(part, '.')+1:]
		if joined, ok := strings.CutPrefix(kind, "in_proj_"); ok {
			for i, which := range []string{"query", "key", "value"} {
				hub[begin+"attention.attention."+which+"."+joined] = t.Detach().Slice(weft.Range(i*width, (i+1)*width))
			}
			continue
		}
		hub[begin+cmp.Or(viTNames[module], module)+kind] = t
	}
	return []Form{{Name: "torchvision", Tensors: vision}, {Name: "transformers", Tensors: hub}}
}

// viTNames are transformers' names of torchvision's.
var viTNames = map[string]string{
	"class_token": "vit.embeddings.cls_token", "encoder.pos_embedding": "vit.embeddings.position_embeddings",
	"conv_proj.weight": "vit.embeddings.patch_embeddings.projection.weight", "conv_proj.bias": "vit.embeddings.patch_embeddings.projection.bias",
	"encoder.ln.weight": "vit.layernorm.weight", "encoder.ln.bias": "vit.layernorm.bias",
	"heads.head.weight": "classifier.weight", "heads.head.bias": "classifier.bias",
	// parts of a block
	"ln_1.": "layernorm_before.", "ln_2.": "layernorm_after.", "self_attention.out_proj.": "attention.output.dense.",
	"mlp.0.": "intermediate.dense.", "mlp.3.": "output.dense.",
}
