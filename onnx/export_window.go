package onnx

import (
	"weft/internal/array"
	"weft/internal/op"
)

// Transposed convolutions, and the gradients of convolutions, pooling and windows.

// exportConvTranspose writes the gradient of a convolution for its input.
func exportConvTranspose(x *exportNode) string {
	a := x.attrs.(op.ConvGrad)
	d := x.node.DType
	return x.convTransposed(x.as(x.args[0], d), x.as(x.args[1], d), a.Conv, x.args[0].node.Shape[2:], x.args[1].node.Shape[2:], a.Shape[2:])
}

// convTransposed writes ConvTranspose of pictures of some size with filters of taps, whose result has a size. in is
// that of the program's example.
func (x *exportNode) convTransposed(v, w string, c op.Conv, in, taps, size []int) string {
	var more [2]int // rows and columns beyond the least
	cut := x.free(size...)
	for i := range more {
		if cut { // the most that a gradient can have; the rest is cut off
			more[i] = c.Stride[i] - 1
			continue
		}
		more[i] = size[i] - ((in[i]-1)*c.Stride[i] + (taps[i]-1)*c.Dilation[i] + 1 - 2*c.Pad[i])
		if more[i] < 0 || more[i] >= max(c.Stride[i], c.Dilation[i]) {
			return ""
		}
	}
	y := x.put("ConvTranspose", []string{v, w}, append(convAttributes(c), withInts("output_padding", more[:]...))...)
	if cut {
		y = x.put("Slice", []string{y, x.numbers(0, 0), x.ints(size...), x.numbers(2, 3)})
	}
	return y
}

// sizesOf returns a vector with the sizes of axes from to to of a value.
func (x *exportNode) sizesOf(v string, from, to int) string {
	return x.put("Shape", []string{v}, withInt("start", from), withInt("end", to))
}

func (x *exportNode) joined(parts ...string) string {
	return x.put("Concat", parts, withInt("axis", 0))
}

// exportConvWeight writes the gradient of a convolution for its filters: the convolution of the pictures with the
// gradients as filters, where pictures are the channels, and strides and dilations change places.
func exportConvWeight(x *exportNode) string {
	a, d := x.attrs.(op.ConvGrad), x.node.DType
	if x.free(a.Shape...) {
		return ""
	}
	c, v, dy := a.Conv, x.as(x.args[0], d), x.as(x.args[1], d)
	swap := func(v string, rank int) string {
		perm := []int{1, 0, 2, 3}
		if rank == 5 { // [pictures groups channels height width]
			perm = []int{2, 1, 0, 3, 4}
		}
		return x.put("Transpose", []string{v}, withInts("perm", perm...))
	}
	if c.Groups == 1 {
		v = swap(v, 4)
	} else {
		n, area := x.sizesOf(v, 0, 1), x.sizesOf(v, 2, 4)
		v = swap(x.put("Reshape", []string{v, x.joined(n, x.numbers(c.Groups, a.Shape[1]), area)}), 5)
		groups := x.put("Mul", []string{n, x.numbers(c.Groups)})
		v = x.put("Reshape", []string{v, x.joined(x.numbers(a.Shape[1]), groups, area)})
	}
	dy = swap(dy, 4)
	grad := op.Conv{Stride: c.Dilation, Pad: c.Pad, Dilation: c.Stride, Groups: c.Groups}
	y := x.put("Conv", []string{v, dy}, convAttributes(grad)...)
	y = x.put("Slice", []string{y, x.numbers(0, 0), x.numbers(a.Shape[2:]...), x.numbers(2, 3)})
	return swap(y, 4)
}

// pictures returns a value with one axis before the last two, and one of a channel.
func (x *exportNode) pictures(v string, rank int) string {
	return x.put("Reshape", []string{v, x.joined(x.numbers(-1, 1), x.sizesOf(v, rank-2, rank))})
}

// exportSpread writes the gradient of means of windows: a transposed convolution with one filter.
func exportSpread(x *exportNode) string {
	a, dy, d := x.attrs.(op.PoolGrad), x.arg(0), x.node.DType
	p, shape := a.Pool, x.args[0].node.Shape
	r, each := len(shape), 1.0
	if !p.Sum {
		each = 1 / float64(p.Window[0]*p.Window[1])
	}
	filter := x.put("Expand", []string{x.number(d, each), x.numbers(1, 1, p.Window[0], p.Window[1])})
	c := op.Conv{Stride: p.Stride, Pad: p.Pad, Dilation: [2]int{1, 1}, Groups: 1}
	y := x.convTransposed(x.pictures(dy, r), filter, c, shape[r-2:], p.Window[:], a.Size[:])
	if y == "" {
		return ""
	}
	return x.put("Reshape", []string{y, x.joined(x.sizesOf(dy, 0, r-2), x.ints(a.Size[:]...))})
}

// greatest returns the places of the greatest elements of windows of argument 0, in row-major order of all of it.
func (x *exportNode) greatest() string {
	p, v := x.attrs.(op.Pool), x.arg(0)
	out := x.putAll("MaxPool", 2, []string{x.pictures(v, len(x.args[0].node.Shape))}, withInts("kernel_shape", p.Window[:]...),
		withInts("strides", p.Stride[:]...), withInts("pads", p.Pad[0], p.Pad[1], p.Pad[0], p.Pad[1]))
	return x.flat(out[1])
}

func exportMaxPoolPlace(x *exportNode) string {
	v := x.arg(0)
	zeros := x.put("Expand", []string{x.number(x.node.DType, 0), x.put("Reshape", []string{x.put("Size", []string{v}), x.numbers(1)})})
	return x.put("Reshape", []string{x.scattered(zeros, x.greatest(), x.flat(x.arg(2)), 0, "add"), x.put("Shape", []string{v})})
}

func exportMaxPoolPick(x *exportNode) string {
	y := x.put("GatherElements", []string{x.flat(x.arg(2)), x.greatest()}, withInt("axis", 0))
	return x.put("Reshape", []string{y, x.put("Shape", []string{x.arg(1)})})
}

// exportInterleave joins the parts of columns to rows, and those to pictures. What no part reaches is 0.
func exportInterleave(x *exportNode) string {
	a, r := x.attrs.(op.Interleaving), x.node.Rank()
	if x.free(a.Every[:]...) || !x.node.DType.Float() {
		return ""
	}
	var rows []string
	for ky := range a.Every[0] {
		var parts []string
		for kx := range a.Every[1] {
			parts = append(parts, x.put("Unsqueeze", []string{x.arg(ky*a.Every[1] + kx), x.numbers(r)}))
		}
		v := x.put("Concat", parts, withInt("axis", r))
		v = x.put("Reshape", []string{v, x.joined(x.sizesOf(v, 0, r-1), x.numbers(-1))})
		rows = append(rows, x.put("Unsqueeze", []string{v, x.numbers(r - 1)}))
	}
	v := x.put("Concat", rows, withInt("axis", r-1))
	v = x.put("Reshape", []string{v, x.joined(x.sizesOf(v, 0, r-2), x.numbers(-1), x.sizesOf(v, r, r+1))})
	more := x.put("Sub", []string{x.ints(a.Size[:]...), x.sizesOf(v, r-2, r)})
	return x.put("Pad", []string{v, x.joined(x.numbers(0, 0), more), x.number(x.node.DType, 0), x.numbers(r-2, r-1)})
}

// stretched returns the elements of a window with zeros or another fill between them where its steps are not 1, its
// start and its sizes then.
func (x *exportNode) stretched(v string, d array.DType, fill float64, w op.Window) (stretched, start, count string) {
	start, count = x.ints(w.Start...), x.ints(w.Count...)
	rank, steps, back := len(w.Step), make([]int, len(w.Step)), make([]int, len(w.Step))
	plain := true
	for i, step := range w.Step {
		steps[i] = max(step, -step)
		if x.args[0].node.Shape[i] == 1 && !x.free(w.Count[i]) {
			continue
		}
		if step < 0 {
			back[i], plain = step, false
			v = x.put("Slice", []string{v, x.numbers(-1), x.numbers(-1 << 31), x.numbers(i), x.numbers(-1)})
		}
		if n := steps[i]; n > 1 {
			plain = false
			v = x.put("Unsqueeze", []string{v, x.numbers(i + 1)})
			v = x.put("Pad", []string{v, x.numbers(0, n-1), x.number(d, fill), x.numbers(i + 1)})
			shape := []string{x.sizesOf(v, 0, i), x.numbers(-1)}
			if i+1 < rank {
				shape = append(shape, x.sizesOf(v, i+2, rank+1))
			}
			v = x.put("Reshape", []string{v, x.joined(shape...)})
			v = x.put("Slice", []string{v, x.numbers(0), x.numbers(1 - n), x.numbers(i)})
		}
	}
	if !plain {
		last := x.put("Max", []string{x.put("Sub", []string{count, x.numbers(1)}), x.numbers(0)})
		start = x.put("Add", []string{start, x.put("Mul", []string{last, x.numbers(back...)})})
		count = x.put("Add", []string{x.put("Mul", []string{last, x.numbers(steps...)}), x.numbers(1)})
	}
	return v, start, count
}
