package gemm

import (
	"unsafe"

	"weft/internal/array"
)

// A Geometry is the shape of a two-dimensional convolution: images x of shape
// [N C H W], weights w [O C KH KW] (contiguous), results y [N O OutH OutW].
// Zero strides and dilations mean 1.
type Geometry struct {
	N, C, H, W           int
	O, KH, KW            int
	StrideH, StrideW     int
	PadH, PadW           int // zeros before the first row and column, and after the last
	DilationH, DilationW int
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

// check panics with an *array.Error of op if g is no convolution, and fills in
// what is left zero.
func (g Geometry) check(op string, d array.DType) Geometry {
	KBlock(d)
	if g.N < 0 || g.C < 0 || g.H < 0 || g.W < 0 || g.O < 0 || g.KH < 1 || g.KW < 1 || g.PadH < 0 || g.PadW < 0 ||
		g.StrideH < 0 || g.StrideW < 0 || g.DilationH < 0 || g.DilationW < 0 {
		array.Failf(op, "geometry", "sizes out of range: %+v", g)
	}
	g.StrideH, g.StrideW = max(g.StrideH, 1), max(g.StrideW, 1)
	g.DilationH, g.DilationW = max(g.DilationH, 1), max(g.DilationW, 1)
	return g
}

// Conv2d computes y[n,o] = act(sum over (c,kh,kw) of x[n,c] shifted * w[o,c,kh,kw]
// + bias[o]), the cross-correlation that neural networks call convolution. The sum
// runs over the flattened (c,kh,kw) in ascending order, in blocks of [KBlock]
// terms like a product, and a block that is zero counts as +0; terms in the padding are
// 0*w. Some shapes are computed by Winograd's algorithm instead, see the package comment.
// ep may be nil; its bias has one element per output channel, whatever BiasPerRow says.
func Conv2d(d array.DType, y, x Image, w unsafe.Pointer, g Geometry, ep *Epilogue, threads int) {
	g = g.check("conv2d", d)
	var e Epilogue
	if ep != nil {
		e = *ep
	}
	if g.N*g.O*g.OutH()*g.OutW() == 0 {
		return
	}
	runConv(d, y, x, w, &g, &e, threads)
}

// Conv2dGradInput computes dx, of x's shape, from the gradient dy of the result of
// [Conv2d]: also the transposed convolution of dy. The sum runs over the flattened
// (o,kh,kw) in ascending order, skipping the (kh,kw) that no stride brings to the
// element; the terms that are left are cut into blocks of [KBlock], a block that is
// zero counting as +0, and those outside of dy are 0*w; or Winograd's algorithm computes it.
// ep may be nil; its bias has one element per channel of dx.
func Conv2dGradInput(d array.DType, dx, dy Image, w unsafe.Pointer, g Geometry, ep *Epilogue, threads int) {
	g = g.check("conv2d gradient of the input", d)
	var e Epilogue
	if ep != nil {
		e = *ep
	}
	if g.N*g.C*g.H*g.W == 0 {
		return
	}
	runConvGradInput(d, dx, dy, w, &g, &e, threads)
}

// Conv2dGradWeight computes dw, contiguous of shape [O C KH KW], from the input x of
// [Conv2d] and the gradient dy of its result, or adds it to dw. The sum runs over
// the flattened (n,oy,ox) in ascending order, in blocks of [KBlock] terms; terms
// in the padding are dy*0.
func Conv2dGradWeight(d array.DType, dw unsafe.Pointer, x, dy Image, g Geometry, accumulate bool, threads int) {
	g = g.check("conv2d gradient of the weights", d)
	if g.O*g.C == 0 {
		return
	}
	runConvGradWeight(d, dw, x, dy, &g, accumulate, threads)
}
