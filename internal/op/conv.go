package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Convolutions of pictures and rows.
var Conv2d, Conv1d, ConvTranspose2d, conv2d, conv2dInput, conv2dWeight *Def

// A ConvGeometry is the shape of a convolution.
type ConvGeometry struct {
	N, C, H, W       int // input
	O, KH, KW        int // filters
	StrideH, StrideW int
	PadH, PadW       int
	DilationH        int
	DilationW        int
	Groups           int
	OH, OW           int // output
}

// Geometry returns the geometry of a convolution node.
func Geometry(n *node) ConvGeometry {
	a, forward := n.Attrs.(Conv)
	if !forward {
		a = n.Attrs.(ConvGrad).Conv
	}
	g := ConvGeometry{StrideH: a.Stride[0], StrideW: a.Stride[1], PadH: a.Pad[0], PadW: a.Pad[1],
		DilationH: a.Dilation[0], DilationW: a.Dilation[1], Groups: a.Groups}
	set := func(x, w, y []int) {
		if x != nil {
			g.N, g.C, g.H, g.W = x[0], x[1], x[2], x[3]
		}
		if w != nil {
			g.O, g.C, g.KH, g.KW = w[0], w[1]*a.Groups, w[2], w[3]
		}
		if y != nil {
			g.N, g.O, g.OH, g.OW = y[0], y[1], y[2], y[3]
		}
	}
	switch n.Op {
	case conv2d:
		set(n.Args[0].Shape, n.Args[1].Shape, n.Shape)
	case conv2dInput:
		set(n.Shape, n.Args[1].Shape, n.Args[0].Shape)
	case conv2dWeight:
		set(n.Args[0].Shape, n.Shape, n.Args[1].Shape)
	}
	if g.KH == 1 {
		g.DilationH = 1
	}
	if g.KW == 1 {
		g.DilationW = 1
	}
	g.StrideH, g.StrideW = StepWithin(g.StrideH, g.H, g.PadH), StepWithin(g.StrideW, g.W, g.PadW)
	return g
}

func init() {
	conv2d = define(Def{Name: "conv2d_core", Class: Routine, Arity: 2, Attrs: unitConv, Doc: "Cross-correlation of NCHW pictures with OCHW filters, whose C is that of a group.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.Def = Conv2d // messages name what the user called
				c.floats(2, 2)
				x, w := c.Args[0], c.Args[1]
				return x.DType, convShape(c.Def.Name, x.Shape, w.Shape, c.Attrs.(Conv))
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineConv2d, AcceptsHalf: true, Tiled: 2},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(Conv)
			x, w := v.X[0], v.X[1]
			v.Set(0, func() *node { return Apply(conv2dInput, ConvGrad{a, x.Shape}, v.DY, w) })
			v.Set(1, func() *node { return Apply(conv2dWeight, ConvGrad{a, w.Shape}, x, v.DY) })
		}},
		Conformance: Conformance{Samples: convSamples}})
	conv2dInput = define(Def{Name: "conv2d_input", Class: Routine, Arity: 2, Attrs: ConvGrad{Conv: unitConv}, Doc: "The gradient of conv2d for its input.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(2, 2)
				a, dy, w := c.Attrs.(ConvGrad), c.Args[0], c.Args[1]
				c.sameShape("dy", dy.Shape, convShape(c.Def.Name, a.Shape, w.Shape, a.Conv))
				return dy.DType, a.Shape
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineConv2dInput, AcceptsHalf: true, Tiled: 2},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(ConvGrad).Conv
			v.Set(0, func() *node { return Apply(conv2d, a, v.DY, v.X[1]) })
			v.Set(1, func() *node { return Apply(conv2dWeight, ConvGrad{a, v.X[1].Shape}, v.DY, v.X[0]) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 4, 3, 4}, {4, 3, 3, 2}}, Attrs: ConvGrad{unitConv, []int{2, 3, 5, 5}}},
			{Shapes: [][]int{{2, 4, 3, 4}, {4, 2, 3, 2}}, Attrs: ConvGrad{grouped, []int{2, 4, 7, 5}}}}}})
	conv2dWeight = define(Def{Name: "conv2d_weight", Class: Routine, Arity: 2, Attrs: ConvGrad{Conv: unitConv}, Doc: "The gradient of conv2d for its filters.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(2, 2)
				a, x, dy := c.Attrs.(ConvGrad), c.Args[0], c.Args[1]
				c.sameShape("dy", dy.Shape, convShape(c.Def.Name, x.Shape, a.Shape, a.Conv))
				return x.DType, a.Shape
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineConv2dWeight, AcceptsHalf: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(ConvGrad).Conv
			v.Set(0, func() *node { return Apply(conv2dInput, ConvGrad{a, v.X[0].Shape}, v.X[1], v.DY) })
			v.Set(1, func() *node { return Apply(conv2d, a, v.X[0], v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3, 5, 5}, {2, 4, 3, 4}}, Attrs: ConvGrad{unitConv, []int{4, 3, 3, 2}}},
			{Shapes: [][]int{{2, 4, 7, 5}, {2, 4, 3, 4}}, Attrs: ConvGrad{grouped, []int{4, 2, 3, 2}}}}}})
	Conv2d = define(Def{Name: "conv2d", Class: Composite, Arity: -1, Attrs: unitConv, ONNX: "Conv",
		Doc: "Cross-correlation of NCHW pictures with OCHW filters, whose C is that of a group, plus a bias of O elements, if given.",
		Composed: Composed{Compose: func(x []*node, a ir.Attrs) *node {
			x = sameFloats(Conv2d, x)
			return biased("conv2d", Apply(conv2d, a, x[0], x[1]), x[2:])
		}},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Samples: append([]Sample{{Shapes: [][]int{{2, 3, 5, 5}, {4, 3, 3, 2}, {4}}, Attrs: unitConv}}, convSamples...)}})
	Conv1d = define(Def{Name: "conv1d", Class: Composite, Arity: -1, Attrs: unitConv, ONNX: "Conv",
		Doc: "conv2d of pictures of one row: NCL rows with OCL filters. The attributes are the horizontal ones.",
		Composed: Composed{Compose: func(x []*node, a ir.Attrs) *node {
			x = sameFloats(Conv1d, x)
			convShape("conv1d", x[0].Shape, x[1].Shape, a.(Conv))
			y := Apply(conv2d, a, asRow(x[0]), asRow(x[1]))
			s := y.Shape
			return biased("conv1d", reshape(y, []int{s[0], s[1], s[3]}), x[2:])
		}},
		Typing: Typing{Wide: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3, 8}, {4, 3, 3}, {4}}, Attrs: unitConv},
			{Shapes: [][]int{{2, 4, 9}, {4, 2, 3}}, Attrs: Conv{[2]int{1, 2}, [2]int{0, 1}, [2]int{1, 2}, 2}}}}})
	ConvTranspose2d = define(Def{Name: "conv_transpose2d", Class: Composite, Arity: -1, Attrs: ConvTranspose{Conv: unitConv}, ONNX: "ConvTranspose",
		Doc: "The gradient of conv2d for its input, of NCHW pictures with filters of C channels of the argument, then O of a group of the result, plus a bias of O elements, if given.",
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			const name = "conv_transpose2d"
			x = sameFloats(ConvTranspose2d, x)
			a, p, w := attrs.(ConvTranspose), x[0], x[1]
			convArgs(name, p.Shape, w.Shape, 4, a.Conv)
			if p.Shape[1] != w.Shape[0] {
				array.Failf(name, "w", "takes %d channels, x has %d: %s and %s", w.Shape[0], p.Shape[1], array.ShapeString(w.Shape), array.ShapeString(p.Shape))
			}
			shape := []int{p.Shape[0], array.CheckShape(name, []int{w.Shape[1], a.Conv.Groups}, p.DType), 0, 0}
			pads := make([]int, 8)
			for i := range 2 {
				shape[2+i] = a.size(name, i, p.Shape[2+i], w.Shape[2+i])
				// Each whole stride in OutPad is one more row in the convolution's result: a row of zeros.
				pads[5+2*i] = a.OutPad[i] / a.Conv.Stride[i]
			}
			if shape[2] == 0 || shape[3] == 0 {
				none := scale(add(Apply(Sum, nil, p), Apply(Sum, nil, w)), 0) // with gradients of zeros
				return biased(name, expand(none, shape), x[2:])
			}
			if pads[5]+pads[7] > 0 {
				p = Apply(Pad, Padding{pads, 0}, p)
			}
			return biased(name, Apply(conv2dInput, ConvGrad{a.Conv, shape}, p, w), x[2:])
		}},
		Typing: Typing{Wide: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3, 3, 4}, {3, 4, 3, 2}, {4}}, Attrs: ConvTranspose{Conv: unitConv}},
			{Shapes: [][]int{{1, 4, 3, 3}, {4, 1, 3, 2}}, Attrs: ConvTranspose{Conv{[2]int{2, 3}, [2]int{1, 0}, [2]int{1, 2}, 2}, [2]int{1, 2}}},
			{Shapes: [][]int{{2, 1, 2, 3}, {1, 2, 2, 3}}, Attrs: ConvTranspose{Conv{[2]int{1, 1}, [2]int{1, 1}, [2]int{3, 2}, 1}, [2]int{2, 1}}}}}})
}

// sameFloats are the arguments of a convolution, two or three, in the type in which they meet.
func sameFloats(d *Def, x []*node) []*node {
	meet := Promote(x...)
	if !meet.Float() {
		array.Failf(d.Name, "", "takes floats, got %s: convert with To first", meet)
	}
	(&Call{Def: d, Args: x}).count(2, 3)
	out := make([]*node, len(x))
	for i, a := range x {
		out[i] = Convert(a, meet)
	}
	return out
}

// biased adds a bias of an element for each channel, if there is one.
func biased(name string, y *node, bias []*node) *node {
	if len(bias) == 0 {
		return y
	}
	b, o := bias[0], y.Shape[1]
	if !array.Equal(b.Shape, []int{o}) {
		array.Failf(name, "bias", "has shape %s, want [%d]", array.ShapeString(b.Shape), o)
	}
	shape := []int{1, o, 1, 1}
	return add(y, reshape(b, shape[:len(y.Shape)]))
}

// asRow makes a picture of one row.
func asRow(x *node) *node { return reshape(x, []int{x.Shape[0], x.Shape[1], 1, x.Shape[2]}) }

var (
	unitConv = Conv{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}
	grouped  = Conv{[2]int{2, 1}, [2]int{1, 0}, [2]int{2, 1}, 2}
)

var convSamples = []Sample{
	{Shapes: [][]int{{2, 3, 5, 5}, {4, 3, 3, 2}}, Attrs: unitConv},
	{Shapes: [][]int{{1, 2, 7, 6}, {3, 2, 3, 3}}, Attrs: Conv{[2]int{2, 1}, [2]int{1, 2}, [2]int{1, 1}, 1}},
	{Shapes: [][]int{{2, 1, 4, 4}, {1, 1, 1, 1}}, Attrs: unitConv},
	{Shapes: [][]int{{2, 4, 7, 5}, {4, 2, 3, 2}}, Attrs: grouped},
	{Shapes: [][]int{{1, 3, 6, 7}, {6, 1, 2, 3}}, Attrs: Conv{[2]int{1, 2}, [2]int{2, 1}, [2]int{2, 3}, 3}},
}

// convArgs checks what all convolutions ask of pictures x and filters w, which have rank axes.
func convArgs(name string, x, w []int, rank int, a Conv) {
	kinds := [2]string{"[N C L]: rows, channels, length", "[N C H W]: pictures, channels, height, width"}
	if len(x) != rank {
		array.Failf(name, "x", "has shape %s, want %s", array.ShapeString(x), kinds[rank-3])
	}
	kinds = [2]string{"[O C L]: filters, channels, length", "[O C KH KW]: filters, channels, height, width"}
	if len(w) != rank {
		array.Failf(name, "w", "has shape %s, want %s", array.ShapeString(w), kinds[rank-3])
	}
	if array.Size(w[2:]) == 0 {
		array.Failf(name, "w", "has an empty window: %s", array.ShapeString(w))
	}
	switch {
	case a.Groups < 1:
		array.Failf(name, "Groups", "are %d, want at least 1", a.Groups)
	case min(a.Dilation[0], a.Dilation[1]) < 1:
		array.Failf(name, "Dilation", "is %v, want at least 1", a.Dilation)
	case x[1]%a.Groups != 0:
		array.Failf(name, "Groups", "is %d, which does not divide the %d channels of x: %s", a.Groups, x[1], array.ShapeString(x))
	case w[0]%a.Groups != 0:
		array.Failf(name, "Groups", "is %d, which does not divide the %d filters: %s", a.Groups, w[0], array.ShapeString(w))
	}
}

// convShape is the shape of a convolution of pictures x with filters w, or of rows.
func convShape(name string, x, w []int, a Conv) []int {
	rank := 4
	if name == "conv1d" {
		rank = 3
	}
	convArgs(name, x, w, rank, a)
	if have := x[1] / a.Groups; have != w[1] {
		if a.Groups == 1 {
			array.Failf(name, "w", "takes %d channels, x has %d: %s and %s", w[1], have, array.ShapeString(w), array.ShapeString(x))
		}
		array.Failf(name, "w", "takes %d channels, a group of x has %d: %s and %s", w[1], have, array.ShapeString(w), array.ShapeString(x))
	}
	shape := []int{x[0], w[0]}
	for i := 2; i < rank; i++ {
		at := 2 - rank + i // of the attributes
		shape = append(shape, windowCount(name, x[i], extent(name, w[i], a.Dilation[at]), a.Stride[at], a.Pad[at]))
	}
	return shape
}

// extent is how many elements a filter of n taps with steps between them covers.
func extent(name string, n, dilation int) int {
	if n > 1 && dilation > (maxPadded-1)/(n-1) {
		array.Failf(name, "Dilation", "%d of %d taps is longer than %d", dilation, n, maxPadded)
	}
	return (n-1)*dilation + 1
}

// size is the size of an axis, vertical or horizontal, of the result of a transposed
// convolution of n elements with filters of k taps.
func (a ConvTranspose) size(name string, axis, n, k int) int {
	stride, dilation, pad, more := a.Conv.Stride[axis], a.Conv.Dilation[axis], a.Conv.Pad[axis], a.OutPad[axis]
	if stride < 1 || pad < 0 {
		array.Failf(name, "", "stride %d, padding %d: want at least 1, 0", stride, pad)
	}
	if more < 0 || more >= max(stride, dilation) {
		array.Failf(name, "OutputPadding", "is %d, want at least 0 and less than the stride %d or the dilation %d", more, stride, dilation)
	}
	if n < 1 {
		array.Failf(name, "x", "has no element along an axis of pictures")
	}
	long := extent(name, k, dilation)
	if n-1 > (maxPadded-long)/stride {
		array.Failf(name, "", "%d elements, %d apart, are longer than %d", n, stride, maxPadded)
	}
	padded := array.AddSizes(name, (n-1)*stride+long, more)
	if padded > maxPadded || pad > maxPadded {
		array.Failf(name, "", "%d with padding %d is longer than %d", padded, pad, maxPadded)
	}
	if padded < 2*pad {
		array.Failf(name, "Padding", "of %d takes more than all of %d elements", pad, padded)
	}
	return padded - 2*pad
}
