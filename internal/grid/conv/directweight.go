package conv

import (
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// weightArgs are the arguments of the kernel in which a thread computes a block of terms of a weight.
// Strides are in bytes. A term is number Term + i of the pixels from picture Picture on.
type weightArgs struct {
	Sums, X, Dy                      int64 // addresses
	XN, XC, XH, XW                   int64
	DyN, DyC, DyH, DyW               int64
	Picture                          int64
	Results                          int32 // weights
	Term                             int32 // less than the pixels of a picture
	Terms                            int32 // of all blocks
	In, Out                          int32 // channels of a group
	KH, KW, OH, OW, H, W             int32
	StrideH, StrideW                 int32
	PadH, PadW, DilationH, DilationW int32
}

// directWeight returns the launch that computes blocks from to to-1 of all weights; with positive a
// block that is -0 counts as +0.
func (c *Convolution) directWeight(sums uint64, x, dy Image, from, to int, positive bool) grid.Launch {
	v := directVariant{kind: weight, dtype: c.DType, of: c.Of, positive: positive}
	in, out := c.group()
	s, z := c.Of[0].Size(), c.Of[1].Size()
	each, results := c.OH*c.OW, c.O*in*c.KH*c.KW
	first := from * numbers.KBlock
	a := weightArgs{
		Sums: int64(sums), X: int64(x.Addr), Dy: int64(dy.Addr),
		XN: int64(x.N * s), XC: int64(x.C * s), XH: int64(x.H * s), XW: int64(x.W * s),
		DyN: int64(dy.N * z), DyC: int64(dy.C * z), DyH: int64(dy.H * z), DyW: int64(dy.W * z),
		Picture: int64(first / each), Term: int32(first % each), Results: int32(results),
		Terms: int32(min((to-from)*numbers.KBlock, c.N*each-first)),
		In:    int32(in), Out: int32(out), KH: int32(c.KH), KW: int32(c.KW), OH: int32(c.OH), OW: int32(c.OW), H: int32(c.H), W: int32(c.W),
		StrideH: int32(c.StrideH), StrideW: int32(c.StrideW), PadH: int32(c.PadH), PadW: int32(c.PadW), DilationH: int32(c.DilationH), DilationW: int32(c.DilationW),
	}
	chunks := (results + threads - 1) / threads
	return grid.NewLaunch(v.name(), func() *grid.Kernel { return lowerWeight(v) }, (to-from)*chunks, argBytes(a))
}

// lowerWeight returns the kernel of a variant of weight.
func lowerWeight(v directVariant) *grid.Kernel {
	w := newWriter[weightArgs](v.name())
	a := &w.args
	t, size := typeOf(v.dtype), w.I64(int64(v.dtype.Size()))
	results := w.short(&a.Results)
	block, chunk := w.split(w.Block(), w.QuoU(w.Add(results, w.I32(threads-1)), w.I32(threads)))
	i := w.Add(w.Mul(chunk, w.I32(threads)), w.Thread())
	exists := w.Lt(i, results)
	rest, kw := w.split(i, w.short(&a.KW))
	rest, kh := w.split(rest, w.short(&a.KH))
	o, ch := w.split(rest, w.short(&a.In))
	group := w.QuoU(o, w.short(&a.Out))
	x := w.offset(w.long(&a.X), w.Add(w.Mul(group, w.short(&a.In)), ch), w.long(&a.XC))
	dy := w.offset(w.long(&a.Dy), o, w.long(&a.DyC))
	row0 := w.Sub(w.Mul(kh, w.short(&a.DilationH)), w.short(&a.PadH))
	col0 := w.Sub(w.Mul(kw, w.short(&a.DilationW)), w.short(&a.PadW))

	// The block's first term, and its place.
	from := w.Mul(block, w.I32(numbers.KBlock))
	line, ox := w.split(w.Add(w.short(&a.Term), from), w.short(&a.OW))
	n, oy := w.split(line, w.short(&a.OH))
	ox, oy = w.Copy(ox), w.Copy(oy)
	picture := w.Copy(w.Add(w.long(&a.Picture), w.Wide(n)))
	terms := w.Do(loop.OpMin, loop.I32, 0, w.I32(numbers.KBlock), w.Sub(w.short(&a.Terms), from))
	sum := w.Copy(zero(w.Builder, t))
	w.loop(terms, func(grid.Reg) {
		row, col := w.Add(row0, w.Mul(oy, w.short(&a.StrideH))), w.Add(col0, w.Mul(ox, w.short(&a.StrideW)))
		inside := w.And(exists, w.And(w.inside(row, w.short(&a.H)), w.inside(col, w.short(&a.W))))
		pixel := w.Load(grid.Global, elem(v.of[0]), t, w.offset(w.Add(x, w.Mul(picture, w.long(&a.XN))), row, w.long(&a.XH), col, w.long(&a.XW)), 0, inside)
		slope := w.Load(grid.Global, elem(v.of[1]), t, w.offset(w.Add(dy, w.Mul(picture, w.long(&a.DyN))), oy, w.long(&a.DyH), ox, w.long(&a.DyW)), 0, exists)
		w.Update(sum, loop.OpFma, pixel, slope, sum)
		w.Update(ox, loop.OpAdd, ox, w.I32(1))
		w.If(w.Eq(ox, w.short(&a.OW)), true, func() {
			w.Set(ox, w.I32(0))
			w.Update(oy, loop.OpAdd, oy, w.I32(1))
			w.If(w.Eq(oy, w.short(&a.OH)), true, func() {
				w.Set(oy, w.I32(0))
				w.Update(picture, loop.OpAdd, picture, w.I64(1))
			}, nil)
		}, nil)
	})
	at := w.offset(w.Add(w.long(&a.Sums), w.Mul(w.Mul(w.Wide(block), w.Wide(results)), size)), i, size)
	if v.positive {
		sum = w.Add(sum, zero(w.Builder, t))
	}
	w.Store(grid.Global, elem(v.dtype), at, 0, exists, sum)
	return w.K
}
