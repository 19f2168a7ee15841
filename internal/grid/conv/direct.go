package conv

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/grid/product"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// narrowGroup is the number of channels of a group's result up to which a thread computes a result by
// itself: a product would leave most rows of its tiles unused.
const narrowGroup = 4

// A kind is what a thread computes an element of.
type kind uint8

const (
	forward kind = iota // the result
	input               // the gradient of the input
	weight              // a block of terms of the gradient of the weights
)

// A directVariant is a kernel in which a thread computes results by itself.
type directVariant struct {
	kind     kind
	dtype    array.DType
	of       [2]array.DType // of the picture that is read and of the weights, or of input and gradient
	unit     bool           // of input: the strides are 1
	flagged  bool           // of forward and input: only pictures whose flag is set
	positive bool           // of weight: a block of terms that is -0 counts as +0, as it does in the others
}

func (v directVariant) name() string {
	name := fmt.Sprintf("conv_%s_%s_%s_%s", [...]string{"forward", "input", "weight"}[v.kind], v.dtype, v.of[0], v.of[1])
	if v.unit {
		name += "_unit"
	}
	if v.flagged {
		name += "_flagged"
	}
	if v.positive {
		name += "_positive"
	}
	return name
}

// directArgs are the arguments of direct kernels. Strides are in bytes. src is x of forward, dy of
// input; dst is y or dx.
type directArgs struct {
	Dst, Src, Weights, Flags         int64 // addresses; of a flag for each picture, or 0
	DstN, DstC, DstH, DstW           int64
	SrcN, SrcC, SrcH, SrcW           int64
	WeightsO, WeightsC, WeightsH     int64
	WeightsW                         int64
	Chunks                           int32 // blocks of threads for a picture
	Results                          int32 // elements of a picture of dst, channels from First on
	First                            int32 // channel
	Height, Width                    int32 // of dst
	SrcHeight, SrcWidth              int32
	DstChannels, SrcChannels         int32 // of a group
	KH, KW                           int32
	StrideH, StrideW                 int32
	PadH, PadW, DilationH, DilationW int32
}

// direct returns the launches of a direct kernel for forward or input. flags is the address of a
// number for each picture, which is not 0 where the picture is to be computed; 0: all are.
func (c *Convolution) direct(k kind, dst, src, w Image, flags uint64) (list []grid.Launch) {
	in, out := c.group()
	v := directVariant{kind: k, dtype: c.DType, of: c.Of, unit: k == input && c.StrideH == 1 && c.StrideW == 1, flagged: flags != 0}
	x, s, z := c.Of[0].Size(), c.Of[1].Size(), c.DType.Size()
	a := directArgs{
		Src: int64(src.Addr), Weights: int64(w.Addr), Flags: int64(flags),
		DstN: int64(dst.N * z), DstC: int64(dst.C * z), DstH: int64(dst.H * z), DstW: int64(dst.W * z),
		SrcN: int64(src.N * x), SrcC: int64(src.C * x), SrcH: int64(src.H * x), SrcW: int64(src.W * x),
		WeightsO: int64(w.N * s), WeightsC: int64(w.C * s), WeightsH: int64(w.H * s), WeightsW: int64(w.W * s),
		Height: int32(c.OH), Width: int32(c.OW), SrcHeight: int32(c.H), SrcWidth: int32(c.W),
		DstChannels: int32(out), SrcChannels: int32(in), KH: int32(c.KH), KW: int32(c.KW),
		StrideH: int32(c.StrideH), StrideW: int32(c.StrideW), PadH: int32(c.PadH), PadW: int32(c.PadW), DilationH: int32(c.DilationH), DilationW: int32(c.DilationW),
	}
	channels := c.O
	if k == input {
		channels = c.C
		a.Height, a.Width, a.SrcHeight, a.SrcWidth, a.DstChannels, a.SrcChannels = a.SrcHeight, a.SrcWidth, a.Height, a.Width, a.SrcChannels, a.DstChannels
	}
	plane := int(a.Height) * int(a.Width)
	most := max(1, product.MaxDigits/plane) // channels of a launch
	for first := 0; first < channels; first += most {
		n := min(most, channels-first)
		a.First, a.Results = int32(first), int32(n*plane)
		chunks := (n*plane + threads - 1) / threads
		if flags != 0 {
			chunks = min(chunks, flaggedChunks) // most pictures are not computed
		}
		a.Chunks = int32(chunks)
		pictures := max(1, maxBlocks/chunks)
		for from := 0; from < c.N; from += pictures {
			n := min(pictures, c.N-from)
			b := a
			b.Dst, b.Src = int64(dst.at(from, 0, 0, 0, c.DType)), int64(src.at(from, 0, 0, 0, c.Of[0]))
			if flags != 0 {
				b.Flags += int64(4 * from)
			}
			list = append(list, grid.NewLaunch(v.name(), func() *grid.Kernel { return lowerDirect(v) }, n*chunks, argBytes(b)))
		}
	}
	return list
}

// maxBlocks is the number of blocks of a launch. Tests lower it.
var maxBlocks = 1 << 24

// flaggedChunks is the largest number of blocks of threads for a picture that may not be computed.
const flaggedChunks = 64

// lowerDirect returns the kernel of a variant of forward or input.
func lowerDirect(v directVariant) *grid.Kernel {
	w := newWriter[directArgs](v.name())
	w.K.Abreast = 4
	a := &w.args
	picture, chunk := w.split(w.Block(), w.short(&a.Chunks))
	if v.flagged {
		flag := w.Load(grid.Global, grid.W32, loop.I32, w.offset(w.long(&a.Flags), picture, w.I64(4)), 0, grid.NoReg)
		w.If(w.Eq(flag, w.I32(0)), true, w.Return, nil)
	}
	src, dst := w.offset(w.long(&a.Src), picture, w.long(&a.SrcN)), w.offset(w.long(&a.Dst), picture, w.long(&a.DstN))
	i := w.Copy(w.Add(w.Mul(chunk, w.I32(threads)), w.Thread()))
	step := w.Mul(w.short(&a.Chunks), w.I32(threads))
	w.While(false, func() grid.Reg { return w.Lt(i, w.short(&a.Results)) }, func() {
		row, x := w.split(i, w.short(&a.Width))
		channel, y := w.split(row, w.short(&a.Height))
		channel = w.Add(channel, w.short(&a.First))
		group, inGroup := w.split(channel, w.short(&a.DstChannels))
		from := w.offset(src, w.Mul(group, w.short(&a.SrcChannels)), w.long(&a.SrcC))
		s := w.newSum(v.dtype)
		if v.kind == forward {
			w.forward(v, s, from, w.offset(w.long(&a.Weights), channel, w.long(&a.WeightsO)), y, x)
		} else {
			first := w.Mul(group, w.short(&a.SrcChannels)) // the group's first channel of dy
			taps := w.offset(w.offset(w.long(&a.Weights), first, w.long(&a.WeightsO)), inGroup, w.long(&a.WeightsC))
			w.input(v, s, from, taps, y, x)
		}
		at := w.offset(dst, channel, w.long(&a.DstC), y, w.long(&a.DstH), x, w.long(&a.DstW))
		w.Store(grid.Global, elem(v.dtype), at, 0, grid.NoReg, w.endSum(s))
		w.Update(i, loop.OpAdd, i, step)
	})
	return w.K
}

// A sum is a chain of the terms of a block, and the sum of the blocks before.
type sum struct {
	t           loop.Type
	chain, both grid.Reg
	terms       grid.Reg // I32: of the chain
}

func (w *writer[A]) newSum(d array.DType) sum {
	t := typeOf(d)
	return sum{t, w.Copy(zero(w.Builder, t)), w.Copy(minusZero(w.Builder, t)), w.Copy(w.I32(0))}
}

// add adds the product of x and y as the next term.
func (w *writer[A]) addTerm(s sum, x, y grid.Reg) {
	w.Update(s.chain, loop.OpFma, x, y, s.chain)
	w.Update(s.terms, loop.OpAdd, s.terms, w.I32(1))
	w.If(w.Eq(s.terms, w.I32(numbers.KBlock)), false, func() {
		w.Set(s.both, w.endSum(s))
		w.Set(s.chain, zero(w.Builder, s.t))
		w.Set(s.terms, w.I32(0))
	}, nil)
}

// endSum returns the sum of all blocks. A block that is -0 counts as +0, so an empty one behind the
// others changes nothing.
func (w *writer[A]) endSum(s sum) grid.Reg {
	return w.Add(s.both, w.Add(s.chain, zero(w.Builder, s.t)))
}

// forward adds the terms of a result at (y, x). from is the address of the group's first channel of
// the picture, taps that of the channel's weights.
func (w *writer[A]) forward(v directVariant, s sum, from, taps, y, x grid.Reg) {
	a := any(&w.args).(*directArgs)
	y = w.Sub(w.Mul(y, w.short(&a.StrideH)), w.short(&a.PadH))
	x = w.Sub(w.Mul(x, w.short(&a.StrideW)), w.short(&a.PadW))
	w.loop(w.short(&a.SrcChannels), func(c grid.Reg) {
		plane, weights := w.offset(from, c, w.long(&a.SrcC)), w.offset(taps, c, w.long(&a.WeightsC))
		w.loop(w.short(&a.KH), func(kh grid.Reg) {
			row := w.Add(y, w.Mul(kh, w.short(&a.DilationH)))
			inRow := w.inside(row, w.short(&a.SrcHeight))
			line, weights := w.offset(plane, row, w.long(&a.SrcH)), w.offset(weights, kh, w.long(&a.WeightsH))
			w.loop(w.short(&a.KW), func(kw grid.Reg) {
				col := w.Add(x, w.Mul(kw, w.short(&a.DilationW)))
				pixel := w.Load(grid.Global, elem(v.of[0]), s.t, w.offset(line, col, w.long(&a.SrcW)), 0, w.And(inRow, w.inside(col, w.short(&a.SrcWidth))))
				tap := w.Load(grid.Global, elem(v.of[1]), s.t, w.offset(weights, kw, w.long(&a.WeightsW)), 0, grid.NoReg)
				w.addTerm(s, pixel, tap)
			})
		})
	})
}

// input adds the terms of an element of the input's gradient at (y, x). from is the address of the
// group's first channel of the result's gradient, taps that of the weights of that channel.
func (w *writer[A]) input(v directVariant, s sum, from, taps, y, x grid.Reg) {
	a := any(&w.args).(*directArgs)
	y, x = w.Add(y, w.short(&a.PadH)), w.Add(x, w.short(&a.PadW))
	// where calls body with the element of dy that a tap k takes to the place at, if there is one.
	where := func(at, k grid.Reg, dilation, stride *int32, body func(grid.Reg)) {
		at = w.Sub(at, w.Mul(k, w.short(dilation)))
		if v.unit {
			body(at)
			return
		}
		n := w.short(stride)
		quo := w.Do(loop.OpQuo, loop.I32, 0, at, n)
		w.If(w.Eq(w.Mul(quo, n), at), false, func() { body(quo) }, nil)
	}
	w.loop(w.short(&a.SrcChannels), func(o grid.Reg) {
		plane, weights := w.offset(from, o, w.long(&a.SrcC)), w.offset(taps, o, w.long(&a.WeightsO))
		w.loop(w.short(&a.KH), func(kh grid.Reg) {
			where(y, kh, &a.DilationH, &a.StrideH, func(row grid.Reg) {
				inRow := w.inside(row, w.short(&a.SrcHeight))
				line, weights := w.offset(plane, row, w.long(&a.SrcH)), w.offset(weights, kh, w.long(&a.WeightsH))
				w.loop(w.short(&a.KW), func(kw grid.Reg) {
					where(x, kw, &a.DilationW, &a.StrideW, func(col grid.Reg) {
						slope := w.Load(grid.Global, elem(v.of[0]), s.t, w.offset(line, col, w.long(&a.SrcW)), 0, w.And(inRow, w.inside(col, w.short(&a.SrcWidth))))
						tap := w.Load(grid.Global, elem(v.of[1]), s.t, w.offset(weights, kw, w.long(&a.WeightsW)), 0, grid.NoReg)
						w.addTerm(s, slope, tap)
					})
				})
			})
		})
	})
}
