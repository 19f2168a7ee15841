package onnx

import (
	"slices"

	"weft"
)

// Operators that pad, repeat and regroup elements.
var layoutOperators = []operator{
	{name: "CenterCropPad", run: centerCropPad, reads: []int{1}},
	{name: "Col2Im", run: columnsToImage, reads: []int{1, 2}},
	{name: "DepthToSpace", run: depthToSpace},
	{name: "EyeLike", run: eyeLike},
	{name: "Pad", run: pad, reads: []int{1, 2, 3}},
	{name: "SpaceToDepth", run: spaceToDepth},
	{name: "Tile", run: tile, reads: []int{1}},
	{name: "Trilu", run: trilu, reads: []int{1}},
}

// cropped is x without elements at both ends of axes, two numbers an axis.
func cropped(x *weft.Tensor, ends []int) *weft.Tensor {
	spans := make([]weft.Span, x.Rank())
	for i := range spans {
		spans[i] = weft.Range(ends[2*i], x.Dim(i)-ends[2*i+1])
	}
	return x.Slice(spans...)
}

func centerCropPad(c *call) []Value {
	shape, axes := c.ints(1), c.attrInts("axes")
	x := c.tensor(0)
	if axes == nil {
		for i := range x.Rank() {
			axes = append(axes, i)
		}
	}
	axes = c.axes(axes, x.Rank())
	if len(shape) != len(axes) {
		c.fail("there are %d sizes and %d axes", len(shape), len(axes))
	}
	crop, pads := make([]int, 2*x.Rank()), make([]int, 2*x.Rank())
	target := x.Shape()
	for i, a := range axes {
		if shape[i] < 0 {
			c.fail("the sizes are %v", shape)
		}
		ends, d := crop, x.Dim(a)-shape[i]
		if d < 0 {
			ends, d = pads, -d
		}
		ends[2*a], ends[2*a+1] = d/2, d-d/2
		target[a] = shape[i]
	}
	c.size(target, x.DType())
	return []Value{like(c.value(0), cropped(x, crop).Pad(0, pads...))}
}

// pad adds elements at the ends of axes, or takes some away where numbers are negative.
func pad(c *call) []Value {
	mode := c.attrString("mode", "constant")
	x := c.tensor(0)
	var list, axes []int
	value := 0.0
	if c.opset() < 11 {
		list, value = c.attrInts("pads"), c.attrFloat("value", 0)
	} else {
		list, axes = c.ints(1), c.intsOr(3)
		if c.has(2) && c.tensor(2).Size() > 0 {
			value = c.float(2)
		}
	}
	if axes == nil {
		for i := range x.Rank() {
			axes = append(axes, i)
		}
	}
	axes = c.axes(axes, x.Rank())
	if len(list) != 2*len(axes) {
		c.fail("there are %d numbers of elements for %d axes: want two for each", len(list), len(axes))
	}
	crop, pads, target := make([]int, 2*x.Rank()), make([]int, 2*x.Rank()), x.Shape()
	for i, a := range axes {
		for side := range 2 {
			n := list[i+side*len(axes)]
			pads[2*a+side], crop[2*a+side] = max(n, 0), max(-n, 0)
			target[a] += n
		}
		if target[a] < 0 || crop[2*a]+crop[2*a+1] > x.Dim(a) {
			c.fail("%v takes more elements away than the shape %v has", list, x.Shape())
		}
	}
	c.size(target, x.DType())
	x = cropped(x, crop)
	if mode == "constant" {
		return []Value{like(c.value(0), x.Pad(value, pads...))}
	}
	for a := range x.Rank() {
		if pads[2*a]+pads[2*a+1] > 0 {
			x = x.IndexSelect(a, c.padded(mode, x.Dim(a), pads[2*a], pads[2*a+1]))
		}
	}
	return []Value{like(c.value(0), x)}
}

// padded are the places of an axis of n elements that stand on the axis with its padding.
func (c *call) padded(mode string, n, before, after int) *weft.Tensor {
	if n == 0 {
		c.fail("an axis without elements has none to pad it with")
	}
	c.hostTable(before + n + after)
	out := make([]int64, before+n+after)
	for i := range out {
		at := i - before
		switch mode {
		case "edge":
			at = min(max(at, 0), n-1)
		case "reflect":
			period := max(2*(n-1), 1)
			at = (at%period + period) % period
			at = min(at, period-at)
			if n == 1 {
				at = 0
			}
		case "wrap":
			at = (at%n + n) % n
		default:
			c.fail("attribute %q is %q: want constant, reflect, edge or wrap", "mode", mode)
		}
		out[i] = int64(at)
	}
	return weft.FromSlice(out)
}

func tile(c *call) []Value {
	repeats := c.ints(1)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		if len(repeats) != x.Rank() {
			c.fail("there are %d repeats for %d axes", len(repeats), x.Rank())
		}
		shape := x.Shape()
		for i, n := range repeats {
			if n < 0 {
				c.fail("the repeats are %v", repeats)
			}
			shape[i] *= n
		}
		c.size(shape, x.DType())
		return x.Tile(repeats...)
	})}
}

func trilu(c *call) []Value {
	k, upper := 0, c.attrBool("upper", true)
	if c.has(1) {
		k = c.int(1)
	}
	x := c.tensor(0)
	if upper {
		return tensors(x.Triu(k))
	}
	return tensors(x.Tril(k))
}

// blocks is the size of the blocks of pixels, and checks that x is a batch of images.
func (c *call) blocks(x *weft.Tensor) int {
	c.need("blocksize")
	b := c.attrInt("blocksize", 0)
	if b < 1 || x.Rank() != 4 {
		c.fail("the input has %d axes and the block size is %d: want four, and one or more", x.Rank(), b)
	}
	return b
}

func depthToSpace(c *call) []Value {
	x := c.tensor(0)
	b, mode := c.blocks(x), c.attrString("mode", "DCR")
	n, channels, h, w := x.Dim(0), x.Dim(1)/(b*b), x.Dim(2), x.Dim(3)
	var y *weft.Tensor
	switch mode {
	case "DCR":
		y = x.Reshape(n, b, b, channels, h, w).Permute(0, 3, 4, 1, 5, 2)
	case "CRD":
		y = x.Reshape(n, channels, b, b, h, w).Permute(0, 1, 4, 2, 5, 3)
	default:
		c.fail("attribute %q is %q: want DCR or CRD", "mode", mode)
	}
	return []Value{like(c.value(0), y.Reshape(n, channels, h*b, w*b))}
}

func spaceToDepth(c *call) []Value {
	x := c.tensor(0)
	b, mode := c.blocks(x), c.attrString("mode", "DCR")
	n, channels, h, w := x.Dim(0), x.Dim(1), x.Dim(2)/b, x.Dim(3)/b
	y := x.Reshape(n, channels, h, b, w, b)
	switch mode {
	case "DCR":
		y = y.Permute(0, 3, 5, 1, 2, 4)
	case "CRD":
		y = y.Permute(0, 1, 3, 5, 2, 4)
	default:
		c.fail("attribute %q is %q: want DCR or CRD", "mode", mode)
	}
	return []Value{like(c.value(0), y.Reshape(n, channels*b*b, h, w))}
}

func eyeLike(c *call) []Value {
	v := c.value(0)
	to, k := ElementType(c.attrInt("dtype", int(v.elem))), c.attrInt("k", 0)
	shape := v.Shape()
	if len(shape) != 2 || !to.known() || elementOf(to.DType()) != to {
		c.fail("the input is %v and the result %v: want a matrix and a type that has arithmetic", v, to)
	}
	rows, cols := weft.ArangeOf(weft.Int64, shape[0]), weft.ArangeOf(weft.Int64, shape[1])
	return tensors(rows.Add(k).Unsqueeze(1).Eq(cols).To(to.DType()))
}

// columnsToImage adds blocks of elements to an image at the places they were taken from. The blocks may have
// any number of axes.
func columnsToImage(c *call) []Value {
	x, image, block := c.tensor(0), c.ints(1), c.ints(2)
	rank := len(image)
	attr := func(name string, n, def int) []int {
		list := c.attrInts(name)
		if list == nil {
			list = slices.Repeat([]int{def}, n)
		}
		if len(list) != n {
			c.fail("attribute %q is %v: want %d numbers", name, list, n)
		}
		return list
	}
	dilations, pads, strides := attr("dilations", rank, 1), attr("pads", 2*rank, 0), attr("strides", rank, 1)
	if len(block) != rank || x.Rank() != 3 {
		c.fail("the input has %d axes, the image %d, a block %d", x.Rank(), rank, len(block))
	}
	places, size := []int64{0}, 1 // of elements of blocks, then of blocks
	full, crop := make([]int, rank), make([]int, 2*rank+4)
	area := 1
	for i := range rank {
		full[i] = image[i] + pads[i] + pads[rank+i]
		crop[2*i+4], crop[2*i+5] = pads[i], pads[rank+i]
		if image[i] < 0 || block[i] < 1 || dilations[i] < 1 || strides[i] < 1 || pads[i] < 0 || pads[rank+i] < 0 {
			c.fail("blocks %v of the image %v with dilations %v, strides %v and pads %v", block, image, dilations, strides, pads)
		}
		area *= block[i]
	}
	c.size(slices.Concat(x.Shape()[:1], full), x.DType())
	cross := func(n, step, stride int) {
		out := make([]int64, 0, len(places)*n)
		for _, p := range places {
			for j := range n {
				out = append(out, p+int64(j*step*stride))
			}
		}
		places = out
	}
	suffix := make([]int, rank+1)
	suffix[rank] = 1
	for i := rank - 1; i >= 0; i-- {
		suffix[i] = suffix[i+1] * full[i]
	}
	size = suffix[0]
	for i := range rank {
		cross(block[i], dilations[i], suffix[i+1])
	}
	for i := range rank {
		cross(max((full[i]-dilations[i]*(block[i]-1)-1)/strides[i]+1, 0), strides[i], suffix[i+1])
	}
	if x.Dim(1)%area != 0 || x.Dim(2)*area != len(places) {
		c.fail("the input has the shape %v: want %d columns of blocks of %d elements", x.Shape(), len(places)/area, area)
	}
	n, channels := x.Dim(0), x.Dim(1)/area
	y := weft.ZerosOf(x.DType(), n*channels, size).IndexAdd(1, weft.FromSlice(places), x.Reshape(n*channels, len(places)))
	return tensors(cropped(y.Reshape(slices.Concat([]int{n, channels}, full)...), crop))
}
