package onnx

import (
	"weft"
	"weft/nn"
)

// Layers of networks: convolutions, products of matrices and dropout.
var nnOperators = []operator{
	{name: "Conv", run: convolution},
	{name: "ConvTranspose", run: transposedConvolution},
	{name: "DeformConv", run: deformableConvolution},
	{name: "Dropout", run: dropout, reads: []int{1, 2}, random: true},
	{name: "Gemm", run: gemm},
}

// windows are the attributes that convolutions and pooling share, for n axes.
type windows struct {
	kernel, stride, dilation []int
	before, after            []int // padding
}

// windows reads the attributes of windows over the last axes of x. kernel is nil where the attribute gives it.
func (c *call) windows(x *weft.Tensor, kernel []int) windows {
	w, auto := c.openWindows(x, kernel)
	if auto == "NOTSET" {
		return w
	}
	n := len(w.kernel)
	w.before, w.after = make([]int, n), make([]int, n)
	for i := range n {
		if auto == "VALID" {
			continue
		}
		in := x.Dim(2 + i)
		out := (in + w.stride[i] - 1) / w.stride[i]
		total := max((out-1)*w.stride[i]+(w.kernel[i]-1)*w.dilation[i]+1-in, 0)
		w.share(i, total, auto)
	}
	return w
}

// share divides the padding of axis i between both sides. Less than nothing goes to the end.
func (w *windows) share(i, total int, auto string) {
	half := max(total, 0) / 2
	w.before[i] = half
	if auto != "SAME_UPPER" {
		w.before[i] = max(total, 0) - half
	}
	w.after[i] = total - w.before[i]
}

// maxWindow bounds the numbers of windows, so that products of them do not overflow.
const maxWindow = 1 << 30

// openWindows reads the attributes of windows, with the padding that the attribute of that name gives, and
// auto_pad.
func (c *call) openWindows(x *weft.Tensor, kernel []int) (w windows, auto string) {
	n := x.Rank() - 2
	if n < 1 {
		c.fail("the input has %d axes: want at least 3", x.Rank())
	}
	if kernel == nil {
		c.need("kernel_shape")
		kernel = c.attrFilled("kernel_shape", n, 1)
	} else {
		c.attrInts("kernel_shape")
	}
	w = windows{kernel: kernel, stride: c.attrFilled("strides", n, 1), dilation: c.attrFilled("dilations", n, 1)}
	pads := c.attrFilled("pads", 2*n, 0)
	w.before, w.after = append([]int{}, pads[:n]...), append([]int{}, pads[n:]...)
	for i := range n {
		if min(w.stride[i], w.dilation[i], w.kernel[i]) < 1 || max(w.stride[i], w.dilation[i], w.kernel[i]) > maxWindow {
			c.fail("kernel %v, strides %v and dilations %v must be from 1 to %d", w.kernel, w.stride, w.dilation, maxWindow)
		}
		if min(w.before[i], w.after[i]) < -maxWindow || max(w.before[i], w.after[i]) > maxWindow {
			c.fail("padding %v is out of range", pads)
		}
	}
	auto = c.attrString("auto_pad", "NOTSET")
	switch auto {
	case "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER":
	default:
		c.fail("auto_pad is %q", auto)
	}
	return w, auto
}

// attrFilled are integers of a given length, all of them fill if they are not given.
func (c *call) attrFilled(name string, length, fill int) []int {
	a := c.attrInts(name)
	if a == nil {
		a = make([]int, length)
		for i := range a {
			a[i] = fill
		}
	}
	if len(a) != length {
		c.fail("attribute %q has %d numbers: want %d", name, len(a), length)
	}
	return a
}

// even returns x padded by fill so that the padding that is left is the same on both sides, and that padding.
func (w *windows) even(c *call, x *weft.Tensor, fill float64) (*weft.Tensor, []int) {
	same, pads := true, make([]int, 2*x.Rank())
	for i := range w.before {
		same = same && w.before[i] == w.after[i] && w.before[i] >= 0
		pads[2*(i+2)], pads[2*(i+2)+1] = w.before[i], w.after[i]
	}
	if same {
		return x, w.before
	}
	return padded(c, x, fill, pads), make([]int, len(w.before))
}

// padded is x with elements before and after each axis, where negative numbers crop.
func padded(c *call, x *weft.Tensor, fill float64, pads []int) *weft.Tensor {
	grow := make([]int, len(pads))
	shape := make([]int, x.Rank())
	for axis := range x.Rank() {
		before, after := pads[2*axis], pads[2*axis+1]
		if before+x.Dim(axis)+after < 0 {
			c.fail("padding %v leaves less than nothing of %v", pads, x.Shape())
		}
		grow[2*axis], grow[2*axis+1] = max(before, 0), max(after, 0)
		shape[axis] = grow[2*axis] + x.Dim(axis) + grow[2*axis+1]
	}
	c.size(shape, x.DType())
	y := x.Pad(fill, grow...)
	spans := make([]weft.Span, x.Rank())
	for axis := range spans {
		spans[axis] = weft.Range(max(-pads[2*axis], 0), y.Dim(axis)-max(-pads[2*axis+1], 0))
	}
	return y.Slice(spans...)
}

func pair(a []int) *[2]int { return &[2]int{a[0], a[1]} }

func triple(a []int) [3]int { return [3]int{a[0], a[1], a[2]} }

func convolution(c *call) []Value {
	x, w, bias := c.tensor(0), c.tensor(1), c.optional(2)
	if w.Rank() != x.Rank() {
		c.fail("filters have %d axes: the input has %d", w.Rank(), x.Rank())
	}
	win := c.windows(x, w.Shape()[min(2, w.Rank()):])
	groups := c.attrInt("group", 1)
	d := x.DType()
	if x.Rank() != 4 { // float16 and bfloat16 are Conv2d's alone
		x, w = wide(x), wide(w)
		if bias != nil {
			bias = wide(bias)
		}
	}
	x, pad := win.even(c, x, 0)
	switch x.Rank() {
	case 3:
		x = x.Conv1d(w, bias, weft.Conv1dOpts{Stride: &win.stride[0], Padding: pad[0], Dilation: &win.dilation[0], Groups: &groups})
	case 4:
		x = x.Conv2d(w, bias, weft.ConvOpts{Stride: pair(win.stride), Padding: *pair(pad), Dilation: pair(win.dilation), Groups: &groups})
	case 5:
		l := nn.Conv3d{Weight: w, Bias: bias, Stride: triple(win.stride), Padding: triple(pad), Dilation: triple(win.dilation), Groups: groups}
		x = l.Forward(x)
	default:
		c.fail("convolutions of %d axes are not computed", x.Rank()-2)
	}
	return tensors(x.To(d))
}

// transposedConvolution computes the whole result, or less where both sides are cropped, and then crops or
// pads it.
func transposedConvolution(c *call) []Value {
	x, w, bias := c.tensor(0), c.tensor(1), c.optional(2)
	if w.Rank() != x.Rank() {
		c.fail("filters have %d axes: the input has %d", w.Rank(), x.Rank())
	}
	win, auto := c.openWindows(x, w.Shape()[min(2, w.Rank()):])
	n := len(win.kernel)
	groups, more := c.attrInt("group", 1), c.attrFilled("output_padding", n, 0)
	out := c.attrInts("output_shape")
	if len(out) == n+2 { // some exporters write the batch and the channels too
		out = out[2:]
	}
	if out != nil && len(out) != n {
		c.fail("attribute %q has %d numbers: want %d", "output_shape", len(out), n)
	}
	pad, crop := make([]int, n), make([]int, 2*x.Rank())
	for i := range n {
		whole := (x.Dim(2+i)-1)*win.stride[i] + (win.kernel[i]-1)*win.dilation[i] + 1
		switch {
		case out != nil:
			win.share(i, whole+more[i]-out[i], auto)
		case auto == "SAME_UPPER" || auto == "SAME_LOWER":
			win.share(i, whole+more[i]-x.Dim(2+i)*win.stride[i], auto)
		case auto == "VALID":
			win.before[i], win.after[i] = 0, 0
		}
		before, after := win.before[i], win.after[i]-more[i]
		pad[i] = max(min(before, after), 0)
		crop[2*(2+i)], crop[2*(2+i)+1] = pad[i]-before, pad[i]-after
	}
	y := c.transposed(wide(x), wide(w), win, pad, groups)
	y = padded(c, y, 0, crop)
	if bias != nil {
		y = y.Add(c.perChannel(wide(bias), y))
	}
	return tensors(y.To(x.DType()))
}

// transposed is the transposed convolution over one to three axes without a bias, less pad on both sides.
func (c *call) transposed(x, w *weft.Tensor, win windows, pad []int, groups int) *weft.Tensor {
	switch len(pad) {
	case 1:
		o := weft.ConvTransposeOpts{Stride: &[2]int{1, win.stride[0]}, Padding: [2]int{0, pad[0]}, Dilation: &[2]int{1, win.dilation[0]}, Groups: &groups}
		return x.Unsqueeze(2).ConvTranspose2d(w.Unsqueeze(2), nil, o).Squeeze(2)
	case 2:
		o := weft.ConvTransposeOpts{Stride: pair(win.stride), Padding: *pair(pad), Dilation: pair(win.dilation), Groups: &groups}
		return x.ConvTranspose2d(w, nil, o)
	case 3:
		l := nn.ConvTranspose3d{Weight: w, Stride: triple(win.stride), Padding: triple(pad), Dilation: triple(win.dilation), Groups: groups}
		return l.Forward(x)
	}
	c.fail("transposed convolutions of %d axes are not computed", len(pad))
	return nil
}

// deformableConvolution reads each tap of the filters at a place of its own, between the elements, and
// multiplies the filters with what was read.
func deformableConvolution(c *call) []Value {
	x, w, offset, bias, mask := c.tensor(0), c.tensor(1), c.tensor(2), c.optional(3), c.optional(4)
	if x.Rank() != 4 || w.Rank() != 4 || offset.Rank() != 4 {
		c.fail("the input, filters and offsets have %d, %d and %d axes: want 4", x.Rank(), w.Rank(), offset.Rank())
	}
	win := c.windows(x, w.Shape()[2:])
	groups, parts := c.attrInt("group", 1), c.attrInt("offset_group", 1)
	n, channels, h, width := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	oh, ow := offset.Dim(2), offset.Dim(3)
	taps := win.kernel[0] * win.kernel[1]
	if groups < 1 || parts < 1 || channels%parts != 0 || channels != w.Dim(1)*groups || w.Dim(0)%groups != 0 {
		c.fail("%d groups and %d groups of offsets do not fit %v and filters %v", groups, parts, x.Shape(), w.Shape())
	}
	if !same(offset.Shape(), []int{n, 2 * parts * taps, oh, ow}) {
		c.fail("offsets have the shape %v: want [%d %d ...]", offset.Shape(), n, 2*parts*taps)
	}
	// Places without the offsets: [taps oh ow] of each axis.
	base := func(axis int) *weft.Tensor {
		at := make([]float64, 0, taps*oh*ow)
		for k := range taps {
			t := []int{k / win.kernel[1], k % win.kernel[1]}[axis]
			for i := range oh * ow {
				o := []int{i / ow, i % ow}[axis]
				at = append(at, float64(o*win.stride[axis]-win.before[axis]+t*win.dilation[axis]))
			}
		}
		return x.Device().From(at).To(weft.Float32).Reshape(taps, oh, ow)
	}
	offsets := offset.To(weft.Float32).Reshape(n, parts, taps, 2, oh, ow)
	place := func(axis int) *weft.Tensor {
		return offsets.Slice(weft.All, weft.All, weft.All, weft.Index(axis)).Add(base(axis)).Reshape(n*parts, 1, taps*oh*ow)
	}
	read := between(x.To(weft.Float32).Reshape(n*parts, channels/parts, h*width), place(0), place(1), h, width)
	read = read.Reshape(n, parts, channels/parts, taps, oh, ow)
	if mask != nil {
		read = read.Mul(mask.To(weft.Float32).Reshape(n, parts, 1, taps, oh, ow))
	}
	filters := w.To(weft.Float32).Reshape(groups, w.Dim(0)/groups, w.Dim(1)*taps)
	y := filters.MatMul(read.Reshape(n, groups, w.Dim(1)*taps, oh*ow)).Reshape(n, w.Dim(0), oh, ow)
	if bias != nil {
		y = y.Add(c.perChannel(bias, y))
	}
	return tensors(y.To(x.DType()))
}

// between reads pictures x [n c h*w] at places [n 1 m] in elements, bilinearly. Outside are zeros.
func between(x, py, px *weft.Tensor, h, w int) *weft.Tensor {
	y0, x0 := py.Detach().Floor(), px.Detach().Floor()
	fy, fx := py.Sub(y0), px.Sub(x0)
	at := func(y, xx, weight *weft.Tensor) *weft.Tensor {
		inside := y.Ge(0).LogicalAnd(y.Lt(float64(h))).LogicalAnd(xx.Ge(0)).LogicalAnd(xx.Lt(float64(w)))
		row, column := y.Clamp(0, float64(h-1)).To(weft.Int64), xx.Clamp(0, float64(w-1)).To(weft.Int64)
		return x.TakeAlongAxis(2, row.Mul(int64(w)).Add(column)).Mul(weft.Where(inside, weight, 0))
	}
	y1, x1, gy, gx := y0.Add(1), x0.Add(1), fy.RSub(1), fx.RSub(1)
	return at(y0, x0, gy.Mul(gx)).Add(at(y0, x1, gy.Mul(fx))).Add(at(y1, x0, fy.Mul(gx))).Add(at(y1, x1, fy.Mul(fx)))
}

// dropout is nothing where the model is not in training mode. What it drops is drawn from the default generator, which
// weft.Seed seeds. With attribute "seed" it drops the same elements whenever the node is interpreted.
func dropout(c *call) []Value {
	x := c.value(0)
	seed := c.attrInt("seed", 0)
	ratio := c.attrFloat("ratio", 0.5)
	c.attrInt("is_test", 1)
	t := c.tensor(0)
	if c.opset() >= 12 && c.has(1) {
		ratio = c.float(1)
	}
	if c.has(2) && c.bool(2) && ratio > 0 {
		if ratio >= 1 {
			c.fail("the ratio is %v: want less than 1", ratio)
		}
		draws := weft.DefaultGenerator()
		if c.given("seed") {
			draws = weft.NewGenerator(uint64(seed))
		}
		keep := draws.On(t.Device()).Rand(t.Shape()...).Ge(ratio)
		return tensors(weft.Where(keep, t.Mul(1/(1-ratio)), 0), keep)
	}
	mask := weft.OnesOf(weft.Bool, t.Shape()...)
	if c.opset() < 10 {
		mask = mask.To(x.tensor.DType())
	}
	return []Value{x, TensorOf(mask)}
}

func gemm(c *call) []Value {
	a, b, bias := c.tensor(0), c.tensor(1), c.optional(2)
	alpha, beta := c.attrFloat("alpha", 1), c.attrFloat("beta", 1)
	transA, transB := c.attrBool("transA", false), c.attrBool("transB", false)
	c.attrInt("broadcast", 0)
	if a.Rank() != 2 || b.Rank() != 2 {
		c.fail("the operands have %d and %d axes: want matrices", a.Rank(), b.Rank())
	}
	if transA {
		a = a.T()
	}
	if transB {
		b = b.T()
	}
	y := a.MatMul(b)
	if alpha != 1 {
		y = y.Mul(alpha)
	}
	if bias != nil {
		if beta != 1 {
			bias = bias.Mul(beta)
		}
		y = y.Add(bias)
	}
	return tensors(y.To(a.DType()))
}

func same(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
