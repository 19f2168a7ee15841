package convolution

import (
	"cmp"
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/packed"
	"weft/internal/par"
)

// A Geometry is the shape of a two-dimensional convolution: images x of shape
// [N C H W], weights w [O C/Groups KH KW] (contiguous), results y [N O OutH OutW].
// Output channels i*O/Groups and following see input channels i*C/Groups and following.
// Zero strides, dilations and groups mean 1.
type Geometry struct {
	N, C, H, W           int
	O, KH, KW            int
	StrideH, StrideW     int
	PadH, PadW           int // zeros before the first row and column, and after the last
	DilationH, DilationW int
	Groups               int
}

// OutH returns the height of the result, 0 if the kernel does not fit.
func (g *Geometry) OutH() int { return outSize(g.H, g.KH, g.StrideH, g.PadH, g.DilationH) }

// OutW returns the width of the result, 0 if the kernel does not fit.
func (g *Geometry) OutW() int { return outSize(g.W, g.KW, g.StrideW, g.PadW, g.DilationW) }

func outSize(n, k, stride, pad, dilation int) int {
	span := n + 2*pad - (k-1)*max(dilation, 1) - 1
	if span < 0 {
		return 0
	}
	return span/max(stride, 1) + 1
}

// An Image is a stack of images in memory: element (n, c, y, x) is at
// n*N + c*C + y*H + x*W elements from Ptr. Strides may have any sign. Part of
// the channels, as a grouped convolution needs, is an Image too. W = 1 is fast.
type Image struct {
	Ptr        unsafe.Pointer
	N, C, H, W int
}

// ContiguousImage returns the Image of a contiguous array of shape [n c h w].
func ContiguousImage(p unsafe.Pointer, c, h, w int) Image {
	return Image{p, c * h * w, h * w, w, 1}
}

// A Convolution is a two-dimensional convolution or a gradient of one.
type Convolution struct {
	ISA   jit.ISA
	DType array.DType    // of the result: Float32 or Float64
	Of    [2]array.DType // of the operands in their order, if not DType: with Float32 each may be Float16 or BFloat16
	Geometry
	Epilogue tile.Epilogue // of Forward and GradInput, nil: none; the result is contiguous if there is one
	Kept     packed.Source // of Forward's weights: what is made of them is kept for later calls
	Threads  int           // as in a Product
}

// check panics with an *array.Error of op if c is no convolution, and fills in
// what is left zero.
func (c *Convolution) check(op string) {
	tile.CheckType(op, c.DType)
	for i, d := range c.Of {
		switch {
		case d == array.Invalid:
			c.Of[i] = c.DType
		case d != c.DType && !(d.Half() && c.DType == array.Float32):
			array.Failf(op, "dtype", "%s and %s do not give %s", c.Of[0], c.Of[1], c.DType)
		}
	}
	g := &c.Geometry
	if g.N < 0 || g.C < 0 || g.H < 0 || g.W < 0 || g.O < 0 || g.KH < 1 || g.KW < 1 || g.PadH < 0 || g.PadW < 0 ||
		g.StrideH < 0 || g.StrideW < 0 || g.DilationH < 0 || g.DilationW < 0 || g.C%max(g.Groups, 1) != 0 || g.O%max(g.Groups, 1) != 0 || g.Groups < 0 {
		array.Failf(op, "geometry", "sizes out of range: %+v", *g)
	}
	g.StrideH, g.StrideW = max(g.StrideH, 1), max(g.StrideW, 1)
	g.DilationH, g.DilationW = max(g.DilationH, 1), max(g.DilationW, 1)
	g.Groups = max(g.Groups, 1)
}

const (
	// narrowImage is the width from which on the rows of an image fill vectors by themselves.
	narrowImage = 16
	// lengthenedShare is the number of threads per image and panel of channels that, with nearly
	// empty vectors, do less than one thread with full vectors.
	lengthenedShare = 6
)

// lengthen treats an image of few columns as one row, where filters are one column wide. The pixels
// keep their order and fill vectors. x is the image of the input, y that of the result.
func (c *Convolution) lengthen(x, y *Image) {
	g := &c.Geometry
	if g.KW > 1 || g.PadW > 0 || g.W >= narrowImage || g.H == 1 || g.OutH()*g.OutW() == 0 ||
		float64(g.W)*(float64(g.H)+2*float64(g.PadH)+float64(g.KH)*float64(g.DilationH)) > math.MaxInt32 {
		return
	}
	// A row is not cut for threads, whole rows are.
	if threads := max(c.Threads, 0); lengthenedShare*g.N*g.Groups*tile.Ceil(g.O/g.Groups, tile.MaxRows(jit.AVX2, 1)) < cmp.Or(threads, par.Threads()) {
		return
	}
	switch {
	case g.W == 1:
		x.W, y.W = x.H, y.H
	case g.StrideH == 1 && g.StrideW == 1 && x.H == g.W*x.W && y.H == g.W*y.W:
	default:
		return
	}
	g.KW, g.StrideW, g.PadW, g.DilationW = g.KH, g.StrideH, g.PadH*g.W, g.DilationH*g.W
	g.W, x.H, y.H = g.H*g.W, 0, 0
	g.H, g.KH, g.StrideH, g.PadH, g.DilationH = 1, 1, 1, 0, 1
}

// Forward computes y[n,o] = sum over (c,kh,kw) of x[n,c] shifted * w[o,c,kh,kw], c being
// the channels of o's group,
// the cross-correlation that neural networks call convolution. The sum
// runs over the flattened (c,kh,kw) in ascending order, in blocks of numbers.KBlock
// terms like a product, and a block that is zero counts as +0; terms in the padding are
// 0*w. Some shapes are computed by Winograd's algorithm instead, see the package comment.
func (c Convolution) Forward(y, x Image, w unsafe.Pointer) {
	c.check("conv2d")
	c.lengthen(&x, &y)
	if c.N*c.O*c.OutH()*c.OutW() != 0 {
		sparse := c.sparseForward()
		narrow := func(g *Convolution, x Image, w unsafe.Pointer) bool { return !sparse && g.narrowForward(y, x, w) }
		c.inPieces(x, w, c.C, c.H, c.W, c.O, narrow, func(one *Convolution, first int, x Image, w unsafe.Pointer) {
			switch y := y.image(first, c.DType); {
			case !sparse:
				one.forward(y, x, w)
			case c.DType == array.Float32:
				computeSparseForward[float32](one, y, x, w)
			default:
				computeSparseForward[float64](one, y, x, w)
			}
		})
	}
}

// GradInput computes dx, of x's shape, from the gradient dy of the result of
// Forward: also the transposed convolution of dy. The sum runs over the flattened
// (o,kh,kw) in ascending order, and skips the (kh,kw) that no stride brings to the
// element. The remaining terms are cut into blocks of numbers.KBlock; a block that is
// zero counts as +0. Terms outside of dy are 0*w. Some shapes are computed by Winograd's
// algorithm instead, as in Forward.
func (c Convolution) GradInput(dx, dy Image, w unsafe.Pointer) {
	c.check("conv2d gradient of the input")
	c.Kept = packed.Source{}
	c.lengthen(&dx, &dy)
	if c.N*c.C*c.H*c.W != 0 {
		sparse := c.sparseGradInput()
		narrow := func(g *Convolution, dy Image, w unsafe.Pointer) bool { return !sparse && g.narrowGradInput(dx, dy, w) }
		c.inPieces(dy, w, c.O, c.OutH(), c.OutW(), c.C, narrow, func(one *Convolution, first int, dy Image, w unsafe.Pointer) {
			switch dx := dx.image(first, c.DType); {
			case !sparse:
				one.gradInput(dx, dy, w)
			case c.DType == array.Float32:
				computeSparseGradInput[float32](one, dx, dy, w)
			default:
				computeSparseGradInput[float64](one, dx, dy, w)
			}
		})
	}
}

// GradWeight computes dw, contiguous of shape [O C/Groups KH KW], from the input x of
// Forward and the gradient dy of its result. The sum runs over the flattened (n,oy,ox)
// in ascending order, in blocks of numbers.KBlock terms; terms in the padding are dy*0.
func (c Convolution) GradWeight(dw unsafe.Pointer, x, dy Image) {
	c.check("conv2d gradient of the weights")
	c.lengthen(&x, &dy)
	switch {
	case c.O*c.C == 0:
	case c.N*c.OutH()*c.OutW() == 0 || !c.sparseGradWeight():
		c.gradWeight(dw, x, dy)
	case c.DType == array.Float32:
		computeSparseGradWeight[float32](&c, dw, x, dy)
	default:
		computeSparseGradWeight[float64](&c, dw, x, dy)
	}
}
