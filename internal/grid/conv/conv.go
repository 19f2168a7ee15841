package conv

import (
	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/grid/product"
	"weft/internal/numbers"
	"weft/internal/op"
)

// An Image is a stack of pictures in the memory of a GPU: the address of element (0, 0, 0, 0) and the
// element strides of pictures, channels, rows and columns. Weights are an Image of O pictures.
type Image struct {
	Addr       uint64
	N, C, H, W int
}

// pixels returns the strides of pictures, rows and columns.
func (m Image) pixels() product.Strides { return product.Strides{m.N, m.H, m.W} }

// at returns the address of an element, whose size is given, inside or outside of the image.
func (m Image) at(n, c, y, x int, d array.DType) uint64 {
	return m.Addr + uint64((n*m.N+c*m.C+y*m.H+x*m.W)*d.Size())
}

// part returns the image from a picture and a channel on.
func (m Image) part(n, c int, d array.DType) Image {
	m.Addr = m.at(n, c, 0, 0, d)
	return m
}

// A Convolution is the shape and the types of a convolution. Kernels count at most [product.MaxDigits]
// terms: of a filter's channels in a group, or for Weight of a picture of the result.
type Convolution struct {
	op.ConvGeometry
	DType array.DType    // of the result: Float32 or Float64
	Of    [2]array.DType // of the operands in their order: DType, or a half with Float32
}

// A GPU says for which GPU launches are made.
type GPU struct {
	product.GPU
	// Alloc returns the address of memory that the launches may use.
	Alloc func(bytes int) uint64
}

// product returns the launches of a product of matrices.
func (g *GPU) product(p product.Product) []grid.Launch {
	scratch := uint64(0)
	if bytes := p.Scratch(g.GPU); bytes > 0 {
		scratch = g.Alloc(bytes)
	}
	return p.Launches(g.GPU, scratch)
}

// group returns the numbers of input and output channels of a group.
func (c *Convolution) group() (in, out int) { return c.C / c.Groups, c.O / c.Groups }

// Forward returns the launches that compute y from x and the weights.
func (c Convolution) Forward(g GPU, y, x, w Image) []grid.Launch {
	if c.N*c.O*c.OH*c.OW == 0 {
		return nil
	}
	if c.winograd(c.OH, c.OW) {
		return c.winogradForward(g, y, x, w)
	}
	in, out := c.group()
	if c.Groups > 1 && out <= narrowGroup && c.OH*c.OW <= product.MaxDigits {
		return c.direct(forward, y, x, w, 0)
	}
	if list, ok := c.points(g, y, x, w, out, in, w.N, w.C); ok {
		return list
	}
	return c.sum(g, y, c.O*c.OH*c.OW, product.Windows{
		DType: c.DType, Of: [2]array.DType{c.Of[1], c.Of[0]}, M: out, Groups: c.Groups, Positive: true,
		Columns: product.Axis{c.N, c.OH, c.OW}, Terms: product.Axis{in, c.KH, c.KW},
		A: product.Left{Addr: w.Addr, Row: w.N, Term: product.Strides{w.C, w.H, w.W}}, GroupA: out * w.N,
		B: c.windows(x), GroupB: in * x.C,
		C: product.Results{Addr: y.Addr, Row: y.C, Column: y.pixels()}, GroupC: out * y.C,
	})
}

// sum returns the launches of a product whose results are all of dst, which has each elements a
// picture. Where there are few tiles of many terms, blocks of terms are computed side by side.
func (c *Convolution) sum(g GPU, dst Image, each int, p product.Windows) []grid.Launch {
	blocks, results := (p.Terms.Size()+numbers.KBlock-1)/numbers.KBlock, c.N*each
	dense := dst.W == 1 && p.C.Column == product.Strides{each, p.Columns[2], 1} && dst.C == p.Columns[1]*p.Columns[2]
	if blocks <= 1 || !dense || !p.PaysApart(g.GPU) || results > partBytes/c.DType.Size()/blocks {
		return p.Launches(g.GPU)
	}
	p.C.Addr, p.C.Block = g.Alloc(blocks*results*c.DType.Size()), results
	p.Apart, p.To = true, blocks
	return append(p.Launches(g.GPU), fold(c.DType, dst.Addr, p.C.Addr, results, blocks, false))
}

// pointPixels is the number of pixels from which a convolution of single pixels is a product for each
// picture. A smaller one is a product of windows, whose columns are pixels of all pictures.
const pointPixels = 128

// points returns the launches that compute dst from src with filters of one tap, if they see each
// pixel as it is: products of matrices, which are read by vectors. first and then are the strides of
// channels of dst and of src in w, rows and terms their numbers in a group.
func (c *Convolution) points(g GPU, dst, src, w Image, rows, terms, first, then int) (list []grid.Launch, ok bool) {
	pixels := c.H * c.W
	x, joined := src.line(c.H, c.W)
	y, also := dst.line(c.H, c.W)
	if c.KH*c.KW > 1 || c.PadH+c.PadW > 0 || max(c.StrideH, c.StrideW) > 1 || pixels < pointPixels || !joined || !also {
		return nil, false
	}
	_, out := c.group()
	p := product.Product{
		DType: c.DType, Of: [2]array.DType{c.Of[1], c.Of[0]}, M: rows, N: pixels, K: terms, Positive: true,
		A: product.Mat{Addr: w.Addr, Row: first, Col: then}, B: product.Mat{Addr: src.Addr, Row: src.C, Col: x}, C: product.Mat{Addr: dst.Addr, Row: dst.C, Col: y},
		Batch: product.Batch{Count: []int{c.N, c.Groups}, A: []int{0, out * w.N}, B: []int{src.N, terms * src.C}, C: []int{dst.N, rows * dst.C}},
	}
	return g.product(p), true
}

// line returns the stride of the pixels of pictures as one row, if they have one.
func (m Image) line(h, w int) (stride int, ok bool) {
	if w == 1 {
		return m.H, true
	}
	return m.W, h == 1 || m.H == w*m.W
}

// windows returns the pixels of the input: a column is a result, a term a tap of a channel.
func (c *Convolution) windows(x Image) product.Pictures {
	return product.Pictures{
		Addr: x.at(0, 0, -c.PadH, -c.PadW, c.Of[0]), Y: -c.PadH, X: -c.PadW, H: c.H, W: c.W,
		Column: product.Step{Strides: product.Strides{x.N, c.StrideH * x.H, c.StrideW * x.W}, Y: c.StrideH, X: c.StrideW},
		Term:   product.Step{Strides: product.Strides{x.C, c.DilationH * x.H, c.DilationW * x.W}, Y: c.DilationH, X: c.DilationW},
	}
}

// maxPhases is the number of phases up to which each is a product.
const maxPhases = 16

// Input returns the launches that compute dx, the gradient of the input, from that of the result and
// the weights.
func (c Convolution) Input(g GPU, dx, dy, w Image) []grid.Launch {
	if c.N*c.C*c.H*c.W == 0 {
		return nil
	}
	if c.winograd(c.H, c.W) {
		return c.winogradInput(g, dx, dy, w)
	}
	in, out := c.group()
	stepH, stepW := min(c.StrideH, c.H), min(c.StrideW, c.W)
	if (c.Groups > 1 && in <= narrowGroup || stepH*stepW > maxPhases) && c.H*c.W <= product.MaxDigits {
		return c.direct(input, dx, dy, w, 0)
	}
	list, ok := c.points(g, dx, dy, w, in, out, w.C, w.N)
	if ok {
		return list
	}
	for y := range stepH {
		for x := range stepW {
			v := phaseOf(y, c.StrideH, c.H, c.PadH, c.KH, c.DilationH)
			h := phaseOf(x, c.StrideW, c.W, c.PadW, c.KW, c.DilationW)
			list = append(list, c.sum(g, dx, c.C*c.H*c.W, product.Windows{
				DType: c.DType, Of: [2]array.DType{c.Of[1], c.Of[0]}, M: in, Groups: c.Groups, Positive: true,
				Columns: product.Axis{c.N, v.results, h.results}, Terms: product.Axis{out, v.taps, h.taps},
				A: product.Left{Addr: w.at(0, 0, v.tap, h.tap, c.Of[1]), Row: w.C, Term: product.Strides{w.N, v.period * w.H, h.period * w.W}}, GroupA: out * w.N,
				B: product.Pictures{
					Addr: dy.at(0, 0, v.at, h.at, c.Of[0]), Y: v.at, X: h.at, H: c.OH, W: c.OW,
					Column: product.Step{Strides: dy.pixels(), Y: 1, X: 1},
					Term:   product.Step{Strides: product.Strides{dy.C, -v.falls * dy.H, -h.falls * dy.W}, Y: -v.falls, X: -h.falls},
				}, GroupB: out * dy.C,
				C: product.Results{Addr: dx.at(0, 0, y, x, c.DType), Row: dx.C, Column: product.Strides{dx.N, c.StrideH * dx.H, c.StrideW * dx.W}}, GroupC: in * dx.C,
			})...)
		}
	}
	return list
}

// A phase is the elements of an axis of the input that are a stride apart. The same taps reach them.
type phase struct {
	results int
	// taps that reach them: tap, tap+period, ...
	taps, tap, period int
	// at is the place in the gradient of the result that the first tap takes to the first element;
	// it falls from tap to tap.
	at, falls int
}

// phaseOf returns the phase of an axis whose first element is number first.
func phaseOf(first, stride, size, pad, taps, dilation int) phase {
	p := phase{results: (size - first + stride - 1) / stride, period: stride / gcd(stride, dilation)}
	p.falls = p.period * dilation / stride
	for p.tap < min(p.period, taps) && (first+pad-p.tap*dilation)%stride != 0 {
		p.tap++
	}
	if p.tap == min(p.period, taps) {
		p.tap = 0
		return p
	}
	p.taps = (taps - p.tap + p.period - 1) / p.period
	p.at = (first + pad - p.tap*dilation) / stride
	return p
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// partBytes is the number of bytes up to which sums of blocks are stored before they are added.
// Tests set it to less.
var partBytes = 64 << 20

// Weight returns the launches that compute dw, the gradient of the weights, from the input and the
// gradient of the result.
func (c Convolution) Weight(g GPU, dw, x, dy Image) []grid.Launch {
	in, out := c.group()
	results := c.O * in * c.KH * c.KW
	if results == 0 {
		return nil
	}
	p := product.Windows{
		DType: c.DType, Of: [2]array.DType{c.Of[1], c.Of[0]}, M: out, Groups: c.Groups, Positive: c.sparse(),
		Columns: product.Axis{in, c.KH, c.KW}, Terms: product.Axis{c.N, c.OH, c.OW},
		A: product.Left{Addr: dy.Addr, Row: dy.C, Term: dy.pixels()}, GroupA: out * dy.C,
		GroupB: in * x.C,
		C:      product.Results{Addr: dw.Addr, Row: dw.N, Column: product.Strides{dw.C, dw.H, dw.W}}, GroupC: out * dw.N,
	}
	p.B = c.windows(x)
	p.B.Column, p.B.Term = p.B.Term, p.B.Column
	blocks := (p.Terms.Size() + numbers.KBlock - 1) / numbers.KBlock
	narrow := c.Groups > 1 && out <= narrowGroup && blocks > 0
	part := min(blocks, max(1, partBytes/(results*c.DType.Size())), product.MaxDigits/numbers.KBlock)
	if !narrow && (blocks <= 1 || part == 1 || !p.PaysApart(g.GPU)) && p.Terms.Size() <= product.MaxDigits {
		return p.Launches(g.GPU)
	}
	sums := g.Alloc(part * results * c.DType.Size())
	p.C = product.Results{Addr: sums, Row: in * c.KH * c.KW, Column: product.Strides{c.KH * c.KW, c.KW, 1}, Block: results}
	p.GroupC, p.Apart = out*p.C.Row, true
	var list []grid.Launch
	for p.From = 0; p.From < blocks; p.From = p.To {
		p.To = min(p.From+part, blocks)
		if narrow {
			list = append(list, c.directWeight(sums, x, dy, p.From, p.To, p.Positive))
		} else {
			list = append(list, p.Launches(g.GPU)...)
		}
		list = append(list, fold(c.DType, dw.Addr, sums, results, p.To-p.From, p.From > 0))
	}
	return list
}
