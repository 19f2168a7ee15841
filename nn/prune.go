package nn

import (
	"math"

	"weft"
	"weft/internal/array"
)

// Pruned is a layer whose weight is Original*Mask: weights with 0 in the mask are cut, and no longer
// trained. It is what torch.nn.utils.prune makes of a layer, with its names weight_orig and weight_mask.
type Pruned struct {
	Layer    Layer        `nn:""` // its Weight is nil
	Original *weft.Tensor `nn:"weight_orig"`
	Mask     *weft.Tensor `nn:"weight_mask"` // ones and zeros in the shape and type of the weight; a buffer
}

// Prune returns a layer with a mask, such as [L1Mask] gives, of the given layer. That is a pointer to a struct with a field
// Weight, which becomes nil. A layer that is pruned already gets the product of both masks. It panics
// with *weft.Error if the mask has another shape than the weight.
//
//	fc := nn.NewLinear(300, 100)
//	pruned := nn.Prune(fc, nn.L1Mask(fc.Weight, 0.3)) // prune.l1_unstructured(fc, "weight", 0.3)
func Prune(layer Layer, mask *weft.Tensor) *Pruned {
	const name = "prune"
	defer array.Named(name).End()
	if mask == nil {
		array.Failf(name, "mask", "is nil")
	}
	fits := func(w *weft.Tensor) {
		if w != nil && !array.Equal(sizes(w), sizes(mask)) {
			array.Failf(name, "mask", "has shape %s, the weight %s", array.ShapeString(sizes(mask)), array.ShapeString(sizes(w)))
		}
	}
	if p, ok := layer.(*Pruned); ok {
		p.check()
		fits(p.Original)
		return &Pruned{p.Layer, p.Original, p.Mask.Mul(mask.Detach().To(p.Mask.DType()))}
	}
	fits(weightField(name, layer).Interface().(*weft.Tensor))
	w := takeWeight(name, layer)
	return &Pruned{layer, Param(w.Detach().Clone()), mask.Detach().To(w.DType()).Clone()}
}

func (p *Pruned) check() {
	if p == nil || p.Layer == nil || p.Original == nil || p.Mask == nil {
		failNil("prune", "Prune")
	}
}

// Weight returns the weight that calls compute with.
func (p *Pruned) Weight() *weft.Tensor {
	p.check()
	defer array.Named("prune").End()
	return p.Original.Mul(p.Mask)
}

// Forward is the layer's.
func (p *Pruned) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, (*Pruned).forward) }

func (p *Pruned) forward(x *weft.Tensor) *weft.Tensor {
	return forwardWith("prune", p.Layer, p.Weight(), x)
}

// Remove returns the layer with the weight of now, zeros included, as a parameter: prune.remove. p must
// not be called afterwards.
func (p *Pruned) Remove() Layer { return restored("prune", p.Layer, p.Weight()) }

// cut returns how many of n a fraction is, rounded with halves to even.
func cut(name string, fraction float64, n int) int {
	if !(fraction >= 0 && fraction <= 1) {
		array.Failf(name, "fraction", "is %v, want 0 to 1", fraction)
	}
	return int(math.RoundToEven(fraction * float64(n)))
}

// maskOfLeast returns a mask of a shape, float32, that cuts the k least of scores, which has that many
// elements.
func maskOfLeast(scores *weft.Tensor, k int, shape ...int) *weft.Tensor {
	dev := scores.Device()
	mask := dev.Ones(scores.Size())
	if k > 0 {
		_, at := scores.TopK(k, 0, weft.TopKOpts{Smallest: true})
		mask = mask.Scatter(0, at, dev.Zeros(k))
	}
	return own(mask.Reshape(shape...))
}

// L1Mask returns a mask that cuts the fraction of the elements of w that have the least magnitudes.
func L1Mask(w *weft.Tensor, fraction float64) *weft.Tensor {
	return GlobalL1Masks([]*weft.Tensor{w}, fraction)[0]
}

// RandomMask returns a mask that cuts a fraction of the elements of w, drawn from g; nil is the default
// generator.
func RandomMask(w *weft.Tensor, fraction float64, g *weft.Generator) *weft.Tensor {
	const name = "randommask"
	defer array.Named(name).End()
	floats(name, "w", w)
	k := cut(name, fraction, w.Size())
	return maskOfLeast(source(g).On(w.Device()).Rand(w.Size()), k, w.Shape()...)
}

// GlobalL1Masks returns a mask for each of several weights. Together they cut the fraction of all elements
// that have the least magnitudes: prune.global_unstructured.
func GlobalL1Masks(ws []*weft.Tensor, fraction float64) []*weft.Tensor {
	const name = "l1mask"
	defer array.Named(name).End()
	var all []*weft.Tensor
	for _, w := range ws {
		floats(name, "w", w)
		all = append(all, w.Detach().Abs().Reshape(w.Size()))
	}
	if len(all) == 0 {
		return nil
	}
	scores := weft.Cat(all, 0)
	mask := maskOfLeast(scores, cut(name, fraction, scores.Size()), scores.Size())
	masks := make([]*weft.Tensor, len(ws))
	at := 0
	for i, w := range ws {
		masks[i] = mask.Slice(weft.Range(at, at+w.Size())).Reshape(w.Shape()...).Clone()
		at += w.Size()
	}
	return masks
}

// StructuredMask returns a mask that cuts a fraction of the indices of an axis of w, those with the
// least norm of order p over the other axes: prune.ln_structured.
func StructuredMask(w *weft.Tensor, fraction, p float64, axis int) *weft.Tensor {
	const name = "structuredmask"
	defer array.Named(name).End()
	floats(name, "w", w)
	axis = array.Axis(name, axis, w.Rank())
	scores := w.Detach().Abs()
	if axes := otherAxes(w.Rank(), axis); axes != nil {
		scores = w.Detach().Norm(p, axes...)
	}
	return alongAxis(w, axis, scores, cut(name, fraction, w.Dim(axis)))
}

// RandomStructuredMask is [StructuredMask] of indices that are drawn from g; nil is the default
// generator.
func RandomStructuredMask(w *weft.Tensor, fraction float64, axis int, g *weft.Generator) *weft.Tensor {
	const name = "randomstructuredmask"
	defer array.Named(name).End()
	floats(name, "w", w)
	axis = array.Axis(name, axis, w.Rank())
	return alongAxis(w, axis, source(g).On(w.Device()).Rand(w.Dim(axis)), cut(name, fraction, w.Dim(axis)))
}

// alongAxis returns a mask of w that cuts the k indices of an axis with the least scores.
func alongAxis(w *weft.Tensor, axis int, scores *weft.Tensor, k int) *weft.Tensor {
	shape := make([]int, w.Rank())
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = w.Dim(axis)
	return maskOfLeast(scores, k, shape...).Expand(w.Shape()...).Clone()
}
