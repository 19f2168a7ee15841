package conv

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/grid/product"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// Winograd's F(2x2, 3x3) (Lavin and Gray, arXiv:1509.09308) transforms tiles of four by four pixels
// into 16 elements each, and so the weights. 16 products sum over channels, and their elements are
// transformed into tiles of two by two results. Pictures whose results are not all finite are
// flagged, and computed directly afterwards.

// winograd reports whether a convolution with results of h x w is computed so, group by group: see
// package numbers.
func (c *Convolution) winograd(h, w int) bool {
	in, out := c.group()
	return c.DType == array.Float32 && c.KH == 3 && c.KW == 3 && c.StrideH == 1 && c.StrideW == 1 && c.DilationH == 1 && c.DilationW == 1 &&
		min(in, out) > 0 && in%numbers.WinogradChannels == 0 && out%numbers.WinogradChannels == 0 && min(h, w) >= numbers.WinogradSide
}

// winogradBytes is the number of bytes of transformed pixels and sums at a time. Tests set it to less.
var winogradBytes = 64 << 20

// A transformed is a convolution that Winograd's algorithm computes.
type transformed struct {
	of         [2]array.DType // of the source and of the weights
	n, in, out int            // pictures, channels
	h, w       int            // of a result
	src, dst   Image
	srcH, srcW int
	rowAt      int   // the row of the source that tap 0, 0 of result 0, 0 reads
	colAt      int   // the column
	weights    Image // by result, source, row and column of taps
}

// winogradForward and winogradInput return the launches of all groups, one after the other.
func (c *Convolution) winogradForward(g GPU, y, x, w Image) (list []grid.Launch) {
	one := *c
	one.C, one.O = c.group()
	one.Groups = 1
	t := transformed{of: c.Of, n: c.N, in: one.C, out: one.O, h: c.OH, w: c.OW, srcH: c.H, srcW: c.W, rowAt: -c.PadH, colAt: -c.PadW}
	r := t.room(g)
	for i := range c.Groups {
		t.dst, t.src, t.weights = y.part(0, i*one.O, c.DType), x.part(0, i*one.C, c.Of[0]), w.part(i*one.O, 0, c.Of[1])
		list = append(list, t.launches(g, r)...)
		list = append(list, one.direct(forward, t.dst, t.src, t.weights, r.flags)...)
	}
	return list
}

func (c *Convolution) winogradInput(g GPU, dx, dy, w Image) (list []grid.Launch) {
	one := *c
	one.C, one.O = c.group()
	one.Groups = 1
	t := transformed{of: c.Of, n: c.N, in: one.O, out: one.C, h: c.H, w: c.W, srcH: c.OH, srcW: c.OW, rowAt: c.PadH - 2, colAt: c.PadW - 2}
	r := t.room(g)
	for i := range c.Groups {
		w := w.part(i*one.O, 0, c.Of[1])
		t.dst, t.src = dx.part(0, i*one.C, c.DType), dy.part(0, i*one.O, c.Of[0])
		t.weights = Image{w.at(0, 0, 2, 2, c.Of[1]), w.C, w.N, -w.H, -w.W} // taps are read backwards
		list = append(list, t.launches(g, r)...)
		list = append(list, one.direct(input, t.dst, t.src, w, r.flags)...)
	}
	return list
}

// A room is memory that the algorithm uses, the same for each group.
type room struct {
	weights, source, sums uint64 // addresses of 16 matrices each
	flags                 uint64 // address of a number for each picture
	pictures, rows        int    // of tiles that are transformed together
}

// room returns memory for pieces of at most winogradBytes: some pictures, or rows of tiles of one.
func (t *transformed) room(g GPU) (r room) {
	const size = 4
	tilesH, tilesW := (t.h+1)/2, (t.w+1)/2
	tiles := max(1, winogradBytes/(16*size*(t.in+t.out)))
	r.pictures, r.rows = min(t.n, max(1, tiles/(tilesH*tilesW))), tilesH
	if r.pictures == 1 {
		r.rows = min(tilesH, max(1, tiles/tilesW))
	}
	tiles = r.pictures * r.rows * tilesW
	r.weights, r.flags = g.Alloc(16*t.in*t.out*size), g.Alloc(t.n*size)
	r.source, r.sums = g.Alloc(16*t.in*tiles*size), g.Alloc(16*t.out*tiles*size)
	return r
}

// launches returns the launches of the algorithm. The first one clears the flags.
func (t *transformed) launches(g GPU, r room) []grid.Launch {
	tilesH := (t.h + 1) / 2
	list := []grid.Launch{t.transformWeights(r.weights, r.flags)}
	for n := 0; n < t.n; n += r.pictures {
		for y := 0; y < tilesH; y += r.rows {
			p := piece{n: n, y: y, pictures: min(r.pictures, t.n-n), rows: min(r.rows, tilesH-y), cols: (t.w + 1) / 2}
			all := p.pictures * p.rows * p.cols
			list = append(list, t.transformSource(p, r.source))
			list = append(list, g.product(product.Product{
				DType: array.Float32, Of: [2]array.DType{array.Float32, array.Float32}, M: t.out, N: all, K: t.in,
				A: product.Mat{Addr: r.weights, Row: t.in, Col: 1}, B: product.Mat{Addr: r.source, Row: all, Col: 1}, C: product.Mat{Addr: r.sums, Row: all, Col: 1},
				Batch: product.Batch{Count: []int{16}, A: []int{t.in * t.out}, B: []int{t.in * all}, C: []int{t.out * all}},
			})...)
			list = append(list, t.transformSums(p, r.sums, r.flags))
		}
	}
	return list
}

// A piece is tiles that are transformed together: rows of tiles from row y on of pictures from number
// n on.
type piece struct{ n, y, pictures, rows, cols int }

// weightsArgs are the arguments of the transform of the weights. Strides are in bytes.
type weightsArgs struct {
	Dst, Src, Flags int64 // addresses
	O, C, H, W      int64 // strides
	In, Count       int32 // input channels; pairs of channels
	Pictures        int32
}

// transformWeights returns the launch that transforms the weights into 16 matrices, whose rows are
// result's channels, and clears the flags.
func (t *transformed) transformWeights(dst, flags uint64) grid.Launch {
	d, m := t.of[1], t.weights
	s := d.Size()
	name := fmt.Sprintf("winograd_weights_%s", d)
	return grid.NewLaunch(name, func() *grid.Kernel { return lowerWinogradWeights(name, d) }, (t.in*t.out+threads-1)/threads,
		argBytes(weightsArgs{int64(dst), int64(m.Addr), int64(flags), int64(m.N * s), int64(m.C * s), int64(m.H * s), int64(m.W * s), int32(t.in), int32(t.in * t.out), int32(t.n)}))
}

// lowerWinogradWeights returns the kernel that computes GgG' of the weights g of each pair of
// channels, where the rows of G are 1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2 and 0 0 1.
func lowerWinogradWeights(name string, d array.DType) *grid.Kernel {
	w := newWriter[weightsArgs](name)
	a := &w.args
	count := w.short(&a.Count)
	i := w.Add(w.Mul(w.Block(), w.I32(threads)), w.Thread())
	exists := w.Lt(i, count)
	o, ch := w.split(i, w.short(&a.In))
	from := w.offset(w.long(&a.Src), o, w.long(&a.O), ch, w.long(&a.C))
	var taps [3][]grid.Reg // by column
	for col := range taps {
		for row := range 3 {
			at := w.Add(from, w.Add(w.Mul(w.long(&a.H), w.I64(int64(row))), w.Mul(w.long(&a.W), w.I64(int64(col)))))
			taps[col] = append(taps[col], w.Load(grid.Global, elem(d), loop.F32, at, 0, exists))
		}
	}
	combine := func(x []grid.Reg) []grid.Reg {
		half, s := w.F32(0.5), w.Add(x[0], x[2])
		return []grid.Reg{x[0], w.Mul(w.Add(s, x[1]), half), w.Mul(w.Sub(s, x[1]), half), x[2]}
	}
	var columns [][]grid.Reg
	for _, c := range taps {
		columns = append(columns, combine(c))
	}
	at := w.offset(w.long(&a.Dst), i, w.I64(4))
	step := w.Mul(w.Wide(count), w.I64(4))
	for row := range 4 {
		for _, x := range combine(across(columns, row)) {
			w.Store(grid.Global, grid.W32, at, 0, exists, x)
			at = w.Add(at, step)
		}
	}
	flag := w.Copy(i)
	w.While(false, func() grid.Reg { return w.Lt(flag, w.short(&a.Pictures)) }, func() {
		w.Store(grid.Global, grid.W32, w.offset(w.long(&a.Flags), flag, w.I64(4)), 0, grid.NoReg, w.I32(0))
		w.Update(flag, loop.OpAdd, flag, w.Mul(w.Blocks(), w.I32(threads)))
	})
	return w.K
}

// across returns a row of columns.
func across(columns [][]grid.Reg, row int) (out []grid.Reg) {
	for _, c := range columns {
		out = append(out, c[row])
	}
	return out
}

// pixelArgs are the arguments of the transforms of a piece: of pixels into Matrices, and of Matrices
// into results. Strides are in bytes.
type pixelArgs struct {
	Matrices, Pixels, Flags int64 // addresses: of pixels that of picture 0 of the piece
	N, C, H, W              int64 // strides of pixels
	Step                    int64 // bytes from a matrix to the next
	Count                   int32 // tiles of all channels
	Tiles                   int32 // of a channel
	Rows, Cols              int32 // of tiles, in a picture
	Top, Left               int32 // the pixel of tile 0, 0
	Height, Width           int32 // of a picture
}

// pixelArgs returns the arguments for a piece.
func (p piece) args(matrices uint64, m Image, d array.DType, channels, top, left, h, w int) pixelArgs {
	tiles, s := p.pictures*p.rows*p.cols, d.Size()
	return pixelArgs{
		Matrices: int64(matrices), Pixels: int64(m.at(p.n, 0, 0, 0, d)), N: int64(m.N * s), C: int64(m.C * s), H: int64(m.H * s), W: int64(m.W * s),
		Step: int64(4 * channels * tiles), Count: int32(channels * tiles), Tiles: int32(tiles), Rows: int32(p.rows), Cols: int32(p.cols),
		Top: int32(top), Left: int32(left), Height: int32(h), Width: int32(w),
	}
}

// transformSource returns the launch that transforms pixels into 16 matrices, whose rows are channels
// and whose columns are tiles.
func (t *transformed) transformSource(p piece, dst uint64) grid.Launch {
	d := t.of[0]
	a := p.args(dst, t.src, d, t.in, t.rowAt+2*p.y, t.colAt, t.srcH, t.srcW)
	name := fmt.Sprintf("winograd_source_%s", d)
	return grid.NewLaunch(name, func() *grid.Kernel { return lowerWinogradSource(name, d) }, (int(a.Count)+threads-1)/threads, argBytes(a))
}

// transformSums returns the launch that transforms sums into results.
func (t *transformed) transformSums(p piece, sums, flags uint64) grid.Launch {
	a := p.args(sums, t.dst, array.Float32, t.out, 2*p.y, 0, t.h, t.w)
	a.Flags = int64(flags) + 4*int64(p.n)
	const name = "winograd_result"
	return grid.NewLaunch(name, func() *grid.Kernel { return lowerWinogradResult(name) }, (int(a.Count)+threads-1)/threads, argBytes(a))
}

// A pixelTile is the tile of a thread.
type pixelTile struct {
	exists  grid.Reg
	picture grid.Reg
	matrix  grid.Reg // the address of its element of the first matrix
	pixels  grid.Reg // the address of its channel
	y, x    grid.Reg // its first pixel
}

// tile finds the tile of a thread.
func pixelTileOf(w *writer[pixelArgs]) (t pixelTile) {
	a := &w.args
	i := w.Add(w.Mul(w.Block(), w.I32(threads)), w.Thread())
	t.exists = w.Lt(i, w.short(&a.Count))
	ch, rest := w.split(i, w.short(&a.Tiles))
	rest, x := w.split(rest, w.short(&a.Cols))
	picture, y := w.split(rest, w.short(&a.Rows))
	t.picture = picture
	t.matrix = w.offset(w.long(&a.Matrices), i, w.I64(4))
	t.pixels = w.offset(w.long(&a.Pixels), picture, w.long(&a.N), ch, w.long(&a.C))
	t.y, t.x = w.Add(w.short(&a.Top), w.Mul(y, w.I32(2))), w.Add(w.short(&a.Left), w.Mul(x, w.I32(2)))
	return t
}

// pixel returns the address of a pixel of a tile, and whether it exists.
func (t *pixelTile) pixel(w *writer[pixelArgs], row, col int) (at, exists grid.Reg) {
	a := &w.args
	y, x := w.Add(t.y, w.I32(int32(row))), w.Add(t.x, w.I32(int32(col)))
	at = w.offset(t.pixels, y, w.long(&a.H), x, w.long(&a.W))
	return at, w.And(t.exists, w.And(w.inside(y, w.short(&a.Height)), w.inside(x, w.short(&a.Width))))
}

// lowerWinogradSource returns the kernel that computes B'dB of each tile d, where the rows of B' are
// 1 0 -1 0, 0 1 1 0, 0 -1 1 0 and 0 1 0 -1.
func lowerWinogradSource(name string, d array.DType) *grid.Kernel {
	w := newWriter[pixelArgs](name)
	t := pixelTileOf(w)
	combine := func(x []grid.Reg) []grid.Reg {
		return []grid.Reg{w.Sub(x[0], x[2]), w.Add(x[1], x[2]), w.Sub(x[2], x[1]), w.Sub(x[1], x[3])}
	}
	var columns [][]grid.Reg
	for col := range 4 {
		var x []grid.Reg
		for row := range 4 {
			at, exists := t.pixel(w, row, col)
			x = append(x, w.Load(grid.Global, elem(d), loop.F32, at, 0, exists))
		}
		columns = append(columns, combine(x))
	}
	at := t.matrix
	for row := range 4 {
		for _, x := range combine(across(columns, row)) {
			w.Store(grid.Global, grid.W32, at, 0, t.exists, x)
			at = w.Add(at, w.long(&w.args.Step))
		}
	}
	return w.K
}

// lowerWinogradResult returns the kernel that computes A'mA of each tile m of sums, where the rows of
// A' are 1 1 1 0 and 0 1 -1 -1, and flags pictures with a result that is not finite.
func lowerWinogradResult(name string) *grid.Kernel {
	w := newWriter[pixelArgs](name)
	a := &w.args
	t := pixelTileOf(w)
	combine := func(x []grid.Reg) []grid.Reg {
		return []grid.Reg{w.Add(w.Add(x[0], x[1]), x[2]), w.Sub(w.Sub(x[1], x[2]), x[3])}
	}
	columns := make([][]grid.Reg, 4)
	at := t.matrix
	for range 4 { // rows
		for col := range columns {
			columns[col] = append(columns[col], w.Load(grid.Global, grid.W32, loop.F32, at, 0, t.exists))
			at = w.Add(at, w.long(&a.Step))
		}
	}
	for i, c := range columns {
		columns[i] = combine(c)
	}
	wild := w.Const(loop.B, 0)
	for row := range 2 {
		for col, x := range combine(across(columns, row)) {
			to, exists := t.pixel(w, row, col)
			w.Store(grid.Global, grid.W32, to, 0, exists, x)
			wild = w.Or(wild, w.Do(loop.OpNe, loop.B, 0, w.Sub(x, x), w.F32(0)))
		}
	}
	flag := w.offset(w.long(&a.Flags), t.picture, w.I64(4))
	w.Ins(grid.Ins{Op: grid.Add, A: w.I32(1), B: flag, Pred: w.And(t.exists, wild)})
	return w.K
}
