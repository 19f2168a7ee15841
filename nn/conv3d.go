package nn

import (
	"weft"
	"weft/internal/array"
)

// Conv3dOpts are the options of [NewConv3d], the same along all axes; see [Conv2dOpts].
type Conv3dOpts struct {
	Opts
	Stride   *int // nil means 1
	Padding  int
	Dilation *int    // nil means 1
	Groups   *int    // nil means 1
	Size     *[3]int // of the filters: depth, height, width; nil for the same size
	Same     bool    // as in Conv2dOpts
	PadMode  PadMode // as in Conv2dOpts
}

// Conv3d is [Conv2d] over volumes.
type Conv3d struct {
	Weight   *weft.Tensor // [out, in/groups, depth, height, width]
	Bias     *weft.Tensor // [out], nil for none
	Stride   [3]int       // depth, height, width
	Padding  [3]int
	Dilation [3]int
	Groups   int
	Same     bool    // pads to the size of x in place of Padding
	PadMode  PadMode // what the padding is
}

// NewConv3d returns a layer of float32 filters of size x size x size. It panics as [NewConv2d] does.
func NewConv3d(in, out, size int, opts ...Conv3dOpts) *Conv3d {
	const name = "conv3d"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c := checkConv(name, in, out, o.Stride, o.Padding, o.Dilation, o.Groups)
	s := array.Or(o.Size, thrice(size))
	checkFilters(name, o.Size != nil, s[:])
	w := o.weight(out, in/c.groups, s[0], s[1], s[2])
	return &Conv3d{Weight: w, Bias: o.bias(out, w), Stride: thrice(c.stride), Padding: thrice(o.Padding), Dilation: thrice(c.dilation),
		Groups: c.groups, Same: o.Same, PadMode: o.PadMode}
}

func thrice(n int) [3]int { return [3]int{n, n, n} }

// Forward maps [batch, in, d, h, w] to [batch, out, od, oh, ow], with sizes as [weft.Tensor.Conv2d].
// It is a Conv2d of the slices under the depth of a filter, whose copies count as further channels.
func (c *Conv3d) Forward(x *weft.Tensor) *weft.Tensor { return Call(c, x, (*Conv3d).single) }

func (c *Conv3d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("conv3d", c, x, 4, (*Conv3d).forward)
}

func (c *Conv3d) forward(x *weft.Tensor) *weft.Tensor {
	const name = "conv3d"
	defer array.Named(name).End()
	if c == nil || c.Weight == nil {
		array.Failf(name, "Weight", "is nil: NewConv3d makes a layer with filters")
	}
	k := taps(name, c.Weight, 5)
	checkVolumes(name, x, c.Stride, c.Padding, c.Dilation, c.Groups)
	if in := c.Weight.Dim(1) * c.Groups; x.Dim(1) != in {
		array.Failf(name, "x", "has shape %s, want %d channels: [N %d D H W]", array.ShapeString(sizes(x)), in, in)
	}
	x, pad := convPads(name, x, k, c.Stride[:], c.Padding[:], c.Dilation[:], c.Same, c.PadMode)
	n, ch, d := x.Dim(0), x.Dim(1), x.Dim(2)
	long := (k[0]-1)*c.Dilation[0] + 1
	if k[0] < 1 || d+2*pad[0] < long {
		array.Failf(name, "x", "has shape %s: a filter of depth %d does not fit with padding %d", array.ShapeString(sizes(x)), long, pad[0])
	}
	m := (d+2*pad[0]-long)/c.Stride[0] + 1
	at := make([]int64, 0, m*k[0])
	for i := range m {
		for j := range k[0] {
			at = append(at, int64(i*c.Stride[0]+j*c.Dilation[0]))
		}
	}
	h, w := x.Dim(3), x.Dim(4)
	if pad[0] > 0 {
		x = x.Pad(0, 0, 0, 0, 0, pad[0], pad[0], 0, 0, 0, 0)
	}
	rows := x.IndexSelect(2, x.Device().From(at)).Reshape(n, ch, m, k[0], h, w).Permute(0, 2, 1, 3, 4, 5).Reshape(n*m, ch*k[0], h, w)
	o, in := c.Weight.Dim(0), c.Weight.Dim(1)
	y := rows.Conv2d(c.Weight.Reshape(o, in*k[0], k[1], k[2]), c.Bias,
		weft.ConvOpts{Stride: new([2]int(c.Stride[1:])), Padding: [2]int(pad[1:]), Dilation: new([2]int(c.Dilation[1:])), Groups: &c.Groups})
	return own(y.Reshape(n, m, o, y.Dim(2), y.Dim(3)).Transpose(1, 2).Clone())
}

// checkVolumes checks what convolutions of volumes are given.
func checkVolumes(name string, x *weft.Tensor, stride, pad, dilation [3]int, groups int) {
	floats(name, "x", x)
	if x.Rank() != 5 {
		array.Failf(name, "x", "has shape %s, want [N C D H W]", array.ShapeString(sizes(x)))
	}
	for i := range stride {
		if stride[i] < 1 || pad[i] < 0 || dilation[i] < 1 || max(stride[i], pad[i], dilation[i]) > 1<<31 {
			array.Failf(name, "Stride", "is %d, Padding %d, Dilation %d: want at least 1, 0, 1", stride[i], pad[i], dilation[i])
		}
	}
	if groups < 1 {
		array.Failf(name, "Groups", "is %d, want 1 or more", groups)
	}
}

// ConvTranspose1dOpts are the options of [NewConvTranspose1d]; see [ConvTranspose2dOpts].
type ConvTranspose1dOpts struct {
	Opts
	Stride        *int
	Padding       int
	OutputPadding int
	Dilation      *int
	Groups        *int
}

// ConvTranspose1d is [ConvTranspose2d] over rows.
type ConvTranspose1d struct {
	Weight                                           *weft.Tensor // [in, out/groups, size]
	Bias                                             *weft.Tensor // [out], nil for none
	Stride, Padding, OutputPadding, Dilation, Groups int
}

// NewConvTranspose1d returns a layer of float32 filters of a size. It panics as [NewConv2d] does.
func NewConvTranspose1d(in, out, size int, opts ...ConvTranspose1dOpts) *ConvTranspose1d {
	const name = "conv_transpose1d"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c := checkConv(name, in, out, o.Stride, o.Padding, o.Dilation, o.Groups)
	checkOutputPadding(name, o.OutputPadding)
	w := o.weight(in, out/c.groups, size)
	return &ConvTranspose1d{Weight: w, Bias: o.bias(out, w), Stride: c.stride, Padding: o.Padding, OutputPadding: o.OutputPadding, Dilation: c.dilation, Groups: c.groups}
}

func checkOutputPadding(name string, n int) {
	if n < 0 {
		array.Failf(name, "OutputPadding", "is negative: %d", n)
	}
}

// Forward maps [batch, in, n] to [batch, out, m]; see [weft.Tensor.ConvTranspose2d].
func (c *ConvTranspose1d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(c, x, (*ConvTranspose1d).single)
}

func (c *ConvTranspose1d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("conv_transpose1d", c, x, 2, (*ConvTranspose1d).forward)
}

func (c *ConvTranspose1d) forward(x *weft.Tensor) *weft.Tensor {
	const name = "conv_transpose1d"
	defer array.Named(name).End()
	if c == nil || c.Weight == nil {
		array.Failf(name, "Weight", "is nil: NewConvTranspose1d makes a layer with filters")
	}
	taps(name, c.Weight, 3)
	if x == nil || x.Rank() != 3 {
		array.Failf(name, "x", "is %s, want [N C L]", describe(x))
	}
	y := x.Unsqueeze(2).ConvTranspose2d(c.Weight.Unsqueeze(2), c.Bias, weft.ConvTransposeOpts{Stride: &[2]int{1, c.Stride},
		Padding: [2]int{0, c.Padding}, OutputPadding: [2]int{0, c.OutputPadding}, Dilation: &[2]int{1, c.Dilation}, Groups: &c.Groups})
	return own(y.Squeeze(2))
}

// ConvTranspose3dOpts are the options of [NewConvTranspose3d]; see [ConvTranspose2dOpts].
type ConvTranspose3dOpts struct {
	Opts
	Stride        *int
	Padding       int
	OutputPadding int
	Dilation      *int
	Groups        *int
}

// ConvTranspose3d is [ConvTranspose2d] over volumes.
type ConvTranspose3d struct {
	Weight        *weft.Tensor // [in, out/groups, depth, height, width]
	Bias          *weft.Tensor // [out], nil for none
	Stride        [3]int       // depth, height, width
	Padding       [3]int
	OutputPadding [3]int
	Dilation      [3]int
	Groups        int
}

// NewConvTranspose3d returns a layer of float32 filters of size x size x size. It panics as
// [NewConv2d] does.
func NewConvTranspose3d(in, out, size int, opts ...ConvTranspose3dOpts) *ConvTranspose3d {
	const name = "conv_transpose3d"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c := checkConv(name, in, out, o.Stride, o.Padding, o.Dilation, o.Groups)
	checkOutputPadding(name, o.OutputPadding)
	w := o.weight(in, out/c.groups, size, size, size)
	return &ConvTranspose3d{Weight: w, Bias: o.bias(out, w), Stride: thrice(c.stride), Padding: thrice(o.Padding),
		OutputPadding: thrice(o.OutputPadding), Dilation: thrice(c.dilation), Groups: c.groups}
}

// Forward maps [batch, in, d, h, w] to [batch, out, od, oh, ow], with sizes as
// [weft.Tensor.ConvTranspose2d]. It adds ConvTranspose2d of slices, one for each slice of a filter.
func (c *ConvTranspose3d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(c, x, (*ConvTranspose3d).single)
}

func (c *ConvTranspose3d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("conv_transpose3d", c, x, 4, (*ConvTranspose3d).forward)
}

func (c *ConvTranspose3d) forward(x *weft.Tensor) *weft.Tensor {
	const name = "conv_transpose3d"
	defer array.Named(name).End()
	if c == nil || c.Weight == nil {
		array.Failf(name, "Weight", "is nil: NewConvTranspose3d makes a layer with filters")
	}
	k := taps(name, c.Weight, 5)
	checkVolumes(name, x, c.Stride, c.Padding, c.Dilation, c.Groups)
	n, ch, d, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3), x.Dim(4)
	if p := c.OutputPadding[0]; p < 0 || p >= max(c.Stride[0], c.Dilation[0]) {
		array.Failf(name, "OutputPadding", "is %d, want at least 0 and less than the stride %d or the dilation %d", p, c.Stride[0], c.Dilation[0])
	}
	full := (d-1)*c.Stride[0] + (k[0]-1)*c.Dilation[0] + 1 + c.OutputPadding[0]
	if d == 0 || k[0] == 0 || full < 2*c.Padding[0] {
		array.Failf(name, "Padding", "of %d takes more than all of %d elements", c.Padding[0], full)
	}
	in, o := c.Weight.Dim(0), c.Weight.Dim(1)*c.Groups
	rows := x.Transpose(1, 2).Reshape(n*d, ch, h, w).ConvTranspose2d(c.Weight.Reshape(in, c.Weight.Dim(1)*k[0], k[1], k[2]), nil,
		weft.ConvTransposeOpts{Stride: new([2]int(c.Stride[1:])), Padding: [2]int(c.Padding[1:]), OutputPadding: [2]int(c.OutputPadding[1:]),
			Dilation: new([2]int(c.Dilation[1:])), Groups: &c.Groups})
	oh, ow := rows.Dim(2), rows.Dim(3)
	at := make([]int64, 0, d*k[0])
	for i := range d {
		for j := range k[0] {
			at = append(at, int64(i*c.Stride[0]+j*c.Dilation[0]))
		}
	}
	dev := x.Device()
	rows = rows.Reshape(n, d, o, k[0], oh, ow).Transpose(1, 2).Reshape(n, o, d*k[0], oh, ow)
	y := dev.ZerosOf(rows.DType(), n, o, full, oh, ow).IndexAdd(2, dev.From(at), rows)
	y = y.Slice(weft.All, weft.All, weft.Range(c.Padding[0], full-c.Padding[0]))
	if c.Bias != nil {
		if !array.Equal(sizes(c.Bias), []int{o}) {
			array.Failf(name, "Bias", "has shape %s, want [%d]", array.ShapeString(sizes(c.Bias)), o)
		}
		return y.Add(c.Bias.Reshape(o, 1, 1, 1))
	}
	return y.Clone()
}
