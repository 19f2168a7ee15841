package onnx

import (
	"math"

	"weft"
	"weft/nn"
)

// Pooling.
var poolOperators = []operator{
	{name: "AveragePool", run: averagePool},
	{name: "GlobalAveragePool", run: globalPool((*weft.Tensor).MeanKeep)},
	{name: "GlobalLpPool", run: globalLpPool},
	{name: "GlobalMaxPool", run: globalPool((*weft.Tensor).MaxKeep)},
	{name: "LpPool", run: lpPool},
	{name: "MaxPool", run: maxPool},
	{name: "MaxUnpool", run: maxUnpool, reads: []int{2}},
}

func globalPool(f func(x *weft.Tensor, axes ...int) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value {
		x := c.tensor(0)
		return tensors(f(x, from(2, x.Rank())...))
	}
}

func globalLpPool(c *call) []Value {
	x, p := c.tensor(0), c.power()
	sum := powers(wide(x), p).SumKeep(from(2, x.Rank())...)
	return tensors(root(sum, p).To(x.DType()))
}

// power is the attribute p, an integer since opset 2.
func (c *call) power() int {
	p := c.attrInt("p", 2)
	if p < 1 {
		c.fail("attribute %q is %d: want 1 or more", "p", p)
	}
	return p
}

// powers are absolute values to the power of p.
func powers(x *weft.Tensor, p int) *weft.Tensor {
	switch p {
	case 1:
		return x.Abs()
	case 2:
		return x.Square()
	}
	return x.Abs().Pow(float64(p))
}

func root(x *weft.Tensor, p int) *weft.Tensor {
	switch p {
	case 1:
		return x
	case 2:
		return x.Sqrt()
	}
	return x.Pow(1 / float64(p))
}

// A pool is the windows of a pooling. All of them lie within what is padded.
type pool struct {
	windows
	sizes []int // of x
	out   []int // numbers of windows
	more  []int // padding at the end, or cropping, so that the last window ends where x does
}

// pool reads the attributes of a pooling of x. With ceil_mode the last window may end outside, and begins
// within x or the padding before it.
func (c *call) pool(x *weft.Tensor) pool {
	p := pool{windows: c.windows(x, nil), sizes: x.Shape()[min(2, x.Rank()):]}
	ceil := c.attrBool("ceil_mode", false)
	for i, n := range p.sizes {
		reach := (p.kernel[i]-1)*p.dilation[i] + 1
		room := n + p.before[i] + p.after[i] - reach
		if room < 0 {
			c.fail("a window of %d elements does not fit in %d with padding %d and %d", reach, n, p.before[i], p.after[i])
		}
		out := room/p.stride[i] + 1
		if ceil && room%p.stride[i] != 0 && out*p.stride[i] < n+p.before[i] {
			out++
		}
		p.out = append(p.out, out)
		p.more = append(p.more, (out-1)*p.stride[i]+reach-n-p.before[i])
	}
	return p
}

// padded is x with padding so that windows follow one another from its beginning to its end.
func (p *pool) padded(c *call, x *weft.Tensor, fill float64) *weft.Tensor {
	pads, plain := make([]int, 2*x.Rank()), true
	for i := range p.sizes {
		pads[2*(2+i)], pads[2*(2+i)+1] = p.before[i], p.more[i]
		plain = plain && p.before[i] == 0 && p.more[i] == 0
	}
	if plain {
		return x
	}
	return padded(c, x, fill, pads)
}

// even reports that padding of p.before at both ends of each axis gives the same windows, so that a layer of
// package nn pads them and no padded copy is made.
func (p *pool) even() bool {
	for i, n := range p.sizes {
		reach := (p.kernel[i]-1)*p.dilation[i] + 1
		if room := n + 2*p.before[i] - reach; p.before[i] >= p.kernel[i] || room < 0 || room/p.stride[i]+1 != p.out[i] {
			return false
		}
	}
	return true
}

// dilated reports that some window's elements are not neighbours.
func (p *pool) dilated() bool {
	for i := range p.sizes {
		if p.dilation[i] > 1 && p.kernel[i] > 1 {
			return true
		}
	}
	return false
}

// sums are the sums of the windows of x, floats.
func (p *pool) sums(c *call, x *weft.Tensor) *weft.Tensor {
	x = p.padded(c, x, 0)
	if len(p.sizes) <= 3 && !p.dilated() {
		count := 1
		for _, k := range p.kernel {
			count *= k
		}
		switch len(p.sizes) {
		case 1:
			x = nn.AvgPool1d{Window: p.kernel[0], Stride: &p.stride[0]}.Forward(x)
		case 2:
			x = nn.AvgPool2d{Window: *pair(p.kernel), Stride: pair(p.stride)}.Forward(x)
		case 3:
			x = nn.AvgPool3d{Window: triple(p.kernel), Stride: new(triple(p.stride))}.Forward(x)
		}
		return x.Mul(float64(count))
	}
	for i := range p.sizes { // a sum along each axis is the sum of shifted slices
		spans := make([]weft.Span, x.Rank())
		for a := range spans {
			spans[a] = weft.All
		}
		var sum *weft.Tensor
		for k := range p.kernel[i] {
			at := k * p.dilation[i]
			spans[2+i] = weft.Range(at, at+(p.out[i]-1)*p.stride[i]+1, p.stride[i])
			if part := x.Slice(spans...); sum == nil {
				sum = part
			} else {
				sum = sum.Add(part)
			}
		}
		x = sum
	}
	return x
}

// counts are the reciprocals of the numbers of elements of windows, of the shape of p.out: of x, or with the
// padding that attributes ask for.
func (p *pool) counts(c *call, withPadding bool) []float64 {
	c.size(p.out, weft.Float64)
	factors := []float64{1}
	for i, n := range p.sizes {
		lo, hi := 0, n
		if withPadding {
			lo, hi = -p.before[i], n+p.after[i]
		}
		next := make([]float64, 0, len(factors)*p.out[i])
		for _, f := range factors {
			for o := range p.out[i] {
				first, step := o*p.stride[i]-p.before[i], p.dilation[i]
				// Elements before lo and before hi.
				least := min((max(lo-first, 0)+step-1)/step, p.kernel[i])
				most := min((max(hi-first, 0)+step-1)/step, p.kernel[i])
				count := most - least
				next = append(next, f/float64(count))
			}
		}
		factors = next
	}
	return factors
}

func averagePool(c *call) []Value {
	x := c.tensor(0)
	p := c.pool(x)
	factors := p.counts(c, c.attrBool("count_include_pad", false))
	y := p.sums(c, wide(x))
	return tensors(y.Mul(x.Device().From(factors).To(y.DType()).Reshape(p.out...)).To(x.DType()))
}

func lpPool(c *call) []Value {
	x, power := c.tensor(0), c.power()
	p := c.pool(x)
	return tensors(root(p.sums(c, powers(wide(x), power)), power).To(x.DType()))
}

// maxPool gives places in the whole of x where they are used. storage_order counts the last axis slowest.
func maxPool(c *call) []Value {
	x := c.tensor(0)
	p := c.pool(x)
	columns := c.attrBool("storage_order", false)
	n := len(p.sizes)
	if n > 3 {
		c.fail("pooling of %d axes is not computed", n)
	}
	d := x.DType()
	if !d.Float() || d.Half() { // exact: they are 8 or 16 bits wide
		x = x.To(weft.Float32)
	}
	y, around := x, make([]int, n)
	if !c.wants(1) && p.even() {
		around = p.before
	} else {
		y = p.padded(c, x, math.Inf(-1))
	}
	var values, index *weft.Tensor
	var layer interface {
		Forward(x *weft.Tensor) *weft.Tensor
		WithIndices(x *weft.Tensor) (values, index *weft.Tensor)
	}
	switch n {
	case 1:
		layer = nn.MaxPool1d{Window: p.kernel[0], Stride: &p.stride[0], Dilation: &p.dilation[0], Padding: around[0]}
	case 2:
		layer = nn.MaxPool2d{Window: *pair(p.kernel), Stride: pair(p.stride), Dilation: pair(p.dilation), Padding: [2]int(around)}
	case 3:
		layer = nn.MaxPool3d{Window: triple(p.kernel), Stride: new(triple(p.stride)), Dilation: new(triple(p.dilation)), Padding: [3]int(around)}
	}
	if !c.wants(1) {
		return tensors(layer.Forward(y).To(d))
	}
	values, index = layer.WithIndices(y)
	// The place among all of x: rows of channels, and in them the axes, whose padding goes away.
	size, step := 1, 1
	for _, s := range p.sizes {
		size *= s
	}
	rows := x.Dim(0) * x.Dim(1)
	at := x.Device().ArangeOf(weft.Int64, rows).Mul(int64(size)).Reshape(rows, 1)
	cells := 1
	for _, o := range p.out {
		cells *= o
	}
	left := index.Reshape(rows, cells)
	if columns {
		step = size
	}
	for i := n - 1; i >= 0; i-- {
		whole := int64(y.Dim(2 + i))
		if columns {
			step /= p.sizes[i]
		}
		at = at.Add(left.Mod(whole).Sub(int64(p.before[i])).Mul(int64(step)))
		left = left.FloorDiv(whole)
		if !columns {
			step *= p.sizes[i]
		}
	}
	return tensors(values.To(d), at.Reshape(index.Shape()...))
}

// maxUnpool puts elements at places in a result of zeros. The result is the smallest that pooling takes to the shape of
// the input; a larger shape that is asked for has it at its beginning.
func maxUnpool(c *call) []Value {
	x, index := c.tensor(0), c.tensor(1)
	w, _ := c.openWindows(x, nil)
	if !same(x.Shape(), index.Shape()) {
		c.fail("the places have the shape %v: the input has %v", index.Shape(), x.Shape())
	}
	shape := x.Shape()
	size := 1
	for i := range w.kernel {
		shape[2+i] = (x.Dim(2+i)-1)*w.stride[i] + w.kernel[i] - w.before[i] - w.after[i]
		if shape[2+i] < 1 {
			c.fail("padding leaves nothing of axis %d", 2+i)
		}
	}
	c.size(shape, x.DType())
	for _, n := range shape {
		size *= n
	}
	y := x.Device().ZerosOf(x.DType(), size).Scatter(0, index.Reshape(-1), x.Reshape(-1)).Reshape(shape...)
	if out := c.intsOr(2); out != nil {
		if len(out) != len(shape) {
			c.fail("the shape of the result has %d axes: want %d", len(out), len(shape))
		}
		pads := make([]int, 2*len(shape))
		for i, n := range out {
			if n < 0 {
				c.fail("the shape of the result is %v", out)
			}
			pads[2*i+1] = n - shape[i]
		}
		y = padded(c, y, 0, pads)
	}
	return tensors(y)
}
