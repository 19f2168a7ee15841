package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/mem"
	"weft/internal/packed"
	"weft/internal/par"
)

// Convolutions of float16 and bfloat16 convert some images at a time to float32, just before
// they are used: they stay in the caches, and there is never a copy of all images. No bit of a
// result depends on other images, so the bits equal a float32 convolution of all images. The
// gradient of the weights, whose sums run over all images, converts what it packs.

// pieceBytes is about how many bytes of float32 are converted at a time: they fit in the last
// cache beside what else is in use. Each piece packs the weights again, so a piece has at least
// as many bytes as these. Tests set it to less.
var pieceBytes = 4 << 20

// linePiece is how many elements a thread converts at a time.
const linePiece = 64 << 10

// inPieces calls run for pieces of src, whose images have channels of h x w pixels. run gets
// the convolution of the piece's images, and first, the number of the first image. results is
// the number of channels of the result. For src of float32 there is one piece, and only the
// weights are converted. There are no pieces if narrow computes the whole convolution, with
// groups in the vectors: it converts what it packs.
func (c *Convolution) inPieces(src Image, weights unsafe.Pointer, channels, h, w, results int, narrow func(g *Convolution, src Image, weights unsafe.Pointer) bool, run func(one *Convolution, first int, src Image, weights unsafe.Pointer)) {
	count := c.O * (c.C / c.Groups) * c.KH * c.KW
	if c.Of[1].Half() {
		buffer := tile.Alloc(max(count, 1) * c.DType.Size())
		defer mem.Free(buffer)
		c.widen(buffer.Ptr(), c.Of[1], ContiguousImage(weights, 1, 1, count), 1, 1, 1, count)
		weights = buffer.Ptr()
	}
	one := *c
	one.Of[1] = c.DType
	if c.Of[1].Half() {
		one.Kept = packed.Source{}
	}
	if c.Of[0].Half() && c.Groups > 1 && narrow(&one, src, weights) {
		return
	}
	one.Of[0] = c.DType
	if !c.Of[0].Half() {
		run(&one, 0, src, weights)
		return
	}
	bytes := max(channels*h*w, 1) * c.DType.Size()
	most := min(c.N, max(1, max(pieceBytes, count*c.DType.Size())/bytes))
	most = tile.Ceil(c.N, tile.Ceil(c.N, most))
	buffer := tile.Alloc(most * bytes)
	defer mem.Free(buffer)
	for first := 0; first < c.N; first += most {
		one.N = min(most, c.N-first)
		if c.Epilogue != nil {
			one.Epilogue = epilogueFrom{c.Epilogue, first * results}
		}
		c.widen(buffer.Ptr(), c.Of[0], src.image(first, c.Of[0]), one.N, channels, h, w)
		run(&one, first, ContiguousImage(buffer.Ptr(), channels, h, w), weights)
	}
}

// widen converts n images of type d, float16 or bfloat16, to contiguous float32 at dst, on all
// threads that c may use.
func (c *Convolution) widen(dst unsafe.Pointer, d array.DType, src Image, n, channels, h, w int) {
	m := tile.New(c.ISA, c.DType).From(d)
	threads := c.Threads
	if n*channels*h*w < 4*linePiece {
		threads = 1
	}
	lines, length := n, channels*h*w
	if src.W != 1 || src.H != w || src.C != h*w {
		par.Run(n*channels, max(1, linePiece/max(h*w, 1)), threads, func(_, begin, end int) {
			for i := begin; i < end; i++ {
				widenPlane(m, unsafe.Add(dst, i*h*w*m.Size), src.at(i/channels, i%channels, 0, 0, d.Size()), src, h, w)
			}
		})
		return
	}
	if src.N == length || n == 1 {
		lines, length = 1, n*length
	}
	pieces := tile.Ceil(length, linePiece)
	par.Run(lines*pieces, 1, threads, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			at := i % pieces * linePiece
			from := tile.Mat{Ptr: src.at(i/pieces, 0, 0, at, d.Size()), Col: 1}
			tile.CopyMat(m, 1, min(linePiece, length-at), tile.Mat{Ptr: unsafe.Add(dst, (i/pieces*length+at)*m.Size), Col: 1}, from)
		}
	})
}

// widenPlane converts a channel at p, with the strides of src and the type that m packs, to dst.
func widenPlane(m tile.Machine, dst, p unsafe.Pointer, src Image, h, w int) {
	to, from := tile.Mat{Ptr: dst, Row: w, Col: 1}, tile.Mat{Ptr: p, Row: src.H, Col: src.W}
	if src.W == 1 && src.H == w {
		h, w = 1, h*w
	}
	tile.CopyMat(m, h, w, to, from)
}
