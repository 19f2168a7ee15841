package convolution

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/packed"
	"weft/internal/par"
)

// A winograd computes a convolution with kernels of three by three by Winograd's F(2x2, 3x3)
// (Lavin and Gray, arXiv:1509.09308). Tiles of four by four pixels are transformed into 16
// elements each, and so are the weights. 16 matrix products, one per element, sum over the
// channels. Their sums are transformed into tiles of two by two results. That takes 16
// multiplications for four results instead of 36. A matrix product has a row for every tile
// and a column for every output channel.
//
// The transforms run on vectors of channels: the pixels of some rows are transposed so that
// channels lie side by side, and the results are transposed back.
type winograd struct {
	tile.Machine
	n, inC, outC int
	outH, outW   int
	src, dst     Image
	srcH, srcW   int
	rowAt, colAt int // the source's row and column of the first tap of output 0, 0
	weights      unsafe.Pointer
	outStep      int // elements from the weights of an output channel to the next
	inStep       int
	step         winogradStep // of the weights
	tilesW       int
	tilesH       int
	bandTiles    int // rows of tiles of a task, at most
	bands        int
	strips       int           // of winogradVectors vectors of output channels
	parts        int           // tasks of a band, which share out its strips
	kept         packed.Source // of the weights
	transformed  packedWeights
	stripwise    bool // a task transforms the weights of its strips itself, into memory of its worker
	buffer       mem.Block
	workerBytes  int
	planeBytes   int           // of a worker's pixels of some channels
	tileStep     int           // bytes from tile to tile of the transformed source
	prepared     []int         // by worker: the band whose transformed source it has, counted through all images
	wild         []atomic.Bool // by image: a result is not finite
	epilogue     tile.Epilogue
}

// useWinograd reports whether a convolution with h x w results for an image is computed by
// Winograd's algorithm. As that is another sum with other bits, nothing decides it but the
// type and the shape of one image.
func (g *Convolution) useWinograd(h, w int) bool {
	return g.Groups == 1 && g.DType == array.Float32 && g.KH == 3 && g.KW == 3 && g.StrideH == 1 && g.StrideW == 1 && g.DilationH == 1 && g.DilationW == 1 &&
		min(g.C, g.O) > 0 && g.C%numbers.WinogradChannels == 0 && g.O%numbers.WinogradChannels == 0 && min(h, w) >= numbers.WinogradSide
}

// run computes the convolution, and calls direct for each image with a result that is not
// finite: an infinity, NaN or overflow spreads to all results of its tile. direct writes over
// what the epilogue made of these results.
func (w *winograd) run(threads int, direct func(image int)) {
	threads = tile.ThreadsFor(w.n*w.outC*w.outH*w.outW*w.inC*4, threads)
	w.wild = make([]atomic.Bool, w.n)
	w.plan(threads)
	if w.stripwise {
		w.workerBytes += w.transformedBytes() + w.scratchBytes()
	} else {
		key := packed.Key{Kind: packed.Winograd, ISA: w.ISA, Of: w.D, As: w.D, Sizes: [8]int{w.inC, w.outC}}
		w.transformed.take(w.kept, key, w.strips*w.transformedBytes(), func(to unsafe.Pointer) bool {
			w.transformWeights(to, threads)
			return true
		})
		defer w.transformed.free()
	}
	tasks := w.n * w.bands * w.parts
	width := par.Width(tasks, 1, threads)
	w.buffer = tile.Alloc(w.workerBytes * width)
	defer mem.Free(w.buffer)
	w.prepared = slices.Repeat([]int{-1}, width)
	par.RunTask(tasks, 1, threads, w)
	for i := range w.wild {
		if w.wild[i].Load() {
			direct(i)
		}
	}
}

// plan cuts images into bands, whose tiles stay in the L2 cache together. Threads share bands, or the
// strips of a band where weights are larger than the transformed source: each thread then reads a part of
// the weights, and transforms the source for itself.
func (w *winograd) plan(threads int) {
	w.tilesW, w.tilesH = tile.Ceil(w.outW, 2), tile.Ceil(w.outH, 2)
	w.strips = w.outC / (winogradVectors * w.Lanes)
	// Rows of a power of two would fall into few sets of the L1 cache.
	w.tileStep = w.inC*w.Size + 64
	row := 16 * w.tilesW * w.tileStep
	w.bands, w.parts = tile.Ceil(w.tilesH, min(w.tilesH, max(1, winogradBytes/row))), 1
	few := func() bool { return threads > 1 && w.n*w.bands*w.parts < winogradTasks*threads }
	if w.bands == 1 && 16*w.inC*w.outC*w.Size > w.tilesH*row {
		for few() && w.parts < w.strips {
			w.parts++
		}
	}
	most := max(w.bands, w.tilesH/winogradBand)
	for few() && w.parts == 1 && w.bands < most {
		w.bands = min(2*w.bands, most)
	}
	if w.parts == 1 && w.n < threads {
		w.bands = even(w.bands, threads, most)
	}
	w.bandTiles = tile.Ceil(w.tilesH, w.bands)
	// Transposing writes up to a vector of pixels more than there are.
	w.planeBytes = ((2*w.bandTiles+2)*(2*w.tilesW+2) + w.Lanes) * w.VB
	w.workerBytes = w.planeBytes + 16*w.bandTiles*w.tilesW*(w.tileStep+w.stripBytes())
	// One task alone reads a strip: its weights stay in the L2 cache, and no memory for all of them is taken.
	w.stripwise = !w.kept.Kept() && w.n*w.bands == 1
}

// transformedBytes returns the bytes of a strip's transformed weights.
func (w *winograd) transformedBytes() int { return 16 * w.inC * w.stripBytes() }

// scratchBytes returns the bytes that transforming weights needs: WinogradChannels channels of a strip, and what
// transposing writes behind them.
func (w *winograd) scratchBytes() int {
	return (9*numbers.WinogradChannels + w.Lanes) * w.stripBytes()
}

// stripBytes returns the bytes of a strip's channels at one place.
func (w *winograd) stripBytes() int { return winogradVectors * w.VB }

// transform runs a transform.
func (w *winograd) transform(step winogradStep, f *winogradFrame) {
	if w.ISA == jit.Portable {
		f.run(step, w.Lanes)
		return
	}
	jit.Call(codegen.Kernel(winogradKernels, winogradKey{w.Machine, step}), 0, unsafe.Pointer(f))
}

// transpose is Pack, or Gather without machine code.
func (w *winograd) transpose(to tile.Panel, from tile.Mat) {
	if w.ISA == jit.Portable {
		w.Gather(to, from)
		return
	}
	w.Pack(to, from)
}

// transformWeights transforms the weights of all strips, which lie one behind the other.
func (w *winograd) transformWeights(to unsafe.Pointer, threads int) {
	if w.inC*w.outC < winogradThreaded {
		threads = 1
	}
	par.Run(w.strips, 1, threads, func(_, begin, end int) {
		scratch := tile.Alloc(w.scratchBytes())
		defer mem.Free(scratch)
		for s := begin; s < end; s++ {
			w.transformStrip(unsafe.Add(to, s*w.transformedBytes()), scratch.Ptr(), s)
		}
	})
}

// transformStrip transforms the weights of a strip: for each of the 16 matrices, a row of the strip's channels for
// every input channel.
func (w *winograd) transformStrip(to, scratch unsafe.Pointer, s int) {
	width, bytes := winogradVectors*w.Lanes, w.stripBytes()
	f := winogradFrame{src: scratch, matrixStep: w.inC * bytes, tileStep: bytes, tiles: numbers.WinogradChannels, half: 0.5}
	for c := 0; c < w.inC; c += numbers.WinogradChannels {
		from := tile.Mat{Ptr: unsafe.Add(w.weights, (s*width*w.outStep+c*w.inStep)*w.Size), Row: w.outStep, Col: 1}
		if w.inStep == 9 {
			w.transpose(tile.Panel{Ptr: scratch, Pitch: bytes, Rows: width, K: 9 * numbers.WinogradChannels}, from)
		} else {
			for i := range numbers.WinogradChannels {
				to := tile.Panel{Ptr: unsafe.Add(scratch, i*9*bytes), Pitch: bytes, Rows: width, K: 9}
				w.transpose(to, from.Offset(i*w.inStep, w.Size))
			}
		}
		f.dst = unsafe.Add(to, c*bytes)
		w.transform(w.step, &f)
	}
}

// Chunk computes tasks begin to end-1: images, then bands, then parts of the strips.
func (w *winograd) Chunk(worker, begin, end int) {
	plane := unsafe.Add(w.buffer.Ptr(), worker*w.workerBytes)
	source := unsafe.Add(plane, w.planeBytes)
	sums := unsafe.Add(source, 16*w.bandTiles*w.tilesW*w.tileStep)
	own := unsafe.Add(sums, 16*w.bandTiles*w.tilesW*w.stripBytes()) // weights of a strip, if w is stripwise
	for i := begin; i < end; i++ {
		image := i / w.parts / w.bands
		first, last := part(w.tilesH, w.bands, i/w.parts%w.bands)
		rows := last - first
		if w.prepared[worker] != i/w.parts {
			w.prepared[worker] = i / w.parts
			for c := 0; c < w.inC; c += w.Lanes {
				w.fill(plane, image, c, 2*first+w.rowAt, 2*rows+2)
				w.transform(winogradSource, &winogradFrame{
					src: plane, rowStep: (2*w.tilesW + 2) * w.VB, tiles: w.tilesW, rows: rows,
					dst: unsafe.Add(source, c*w.Size), matrixStep: w.bandTiles * w.tilesW * w.tileStep, tileStep: w.tileStep,
				})
			}
		}
		s0, s1 := part(w.strips, w.parts, i%w.parts)
		for s := s0; s < s1; s++ {
			weights := own
			if w.stripwise {
				w.transformStrip(own, unsafe.Add(own, w.transformedBytes()), s)
			} else {
				weights = unsafe.Add(w.transformed.ptr, s*w.transformedBytes())
			}
			w.products(source, sums, weights, rows*w.tilesW)
			for v := range winogradVectors {
				w.result(plane, unsafe.Add(sums, v*w.VB), image, (s*winogradVectors+v)*w.Lanes, first, rows)
			}
		}
		if w.epilogue != nil {
			channels := winogradVectors * w.Lanes // of a strip
			w.epilogue.Run(image*w.outC+s0*channels, image*w.outC+s1*channels, 2*first*w.outW, min(2*(first+rows), w.outH)*w.outW)
		}
	}
}

// fill transposes rows of a vector of channels of an image from channel c on: the pixels
// that the tiles read, with zeros around the image.
func (w *winograd) fill(plane unsafe.Pointer, image, c, top, rows int) {
	cols := 2*w.tilesW + 2
	clear(unsafe.Slice((*byte)(plane), w.planeBytes))
	left := max(0, -w.colAt)
	n := min(cols-left, w.srcW-(w.colAt+left))
	if n <= 0 {
		return
	}
	for y := max(0, -top); y < min(rows, w.srcH-top); y++ {
		// What is written behind the row are zeros, and before the next one.
		w.transpose(tile.Panel{Ptr: unsafe.Add(plane, (y*cols+left)*w.VB), Pitch: w.VB, Rows: w.Lanes, K: n},
			tile.Mat{Ptr: w.src.at(image, c, top+y, w.colAt+left, w.Size), Row: w.src.C, Col: w.src.W})
	}
}

// products computes the 16 products of n tiles with the transformed weights of a strip.
func (w *winograd) products(source, sums, weights unsafe.Pointer, n int) {
	bytes := w.stripBytes()
	matrix := w.bandTiles * w.tilesW
	if w.ISA == jit.Portable {
		width := bytes / w.Size
		tile.PortableMats[float32](16, n, width, w.inC, 1, [2]array.DType{array.Float32, array.Float32}, false, func(m int) (a, b, c tile.Mat) {
			return tile.Mat{Ptr: unsafe.Add(source, m*matrix*w.tileStep), Row: w.tileStep / w.Size, Col: 1},
				tile.Mat{Ptr: unsafe.Add(weights, m*w.inC*bytes), Row: width, Col: 1}, tile.Mat{Ptr: unsafe.Add(sums, m*matrix*bytes), Row: width, Col: 1}
		}, nil)
		return
	}
	panels := tile.Ceil(n, tile.MaxRows(w.ISA, winogradVectors))
	mr, wide := n/panels, n%panels
	key := tile.Key{Nv: winogradVectors, Prefetch: w.transformed.copy != nil && 16*w.inC*w.outC*w.Size >= aheadFrom}
	f := tile.Frame{AStep: w.tileStep, BStep: bytes, CStep: bytes}
	for m := range 16 {
		for p := 0; p < w.inC; p += numbers.KBlock {
			f.K = min(numbers.KBlock, w.inC-p)
			f.Flags = tile.Bit(p > 0, 0)
			f.B[0] = unsafe.Add(weights, (m*w.inC+p)*bytes)
			// What follows in memory is read next. A prefetch behind the end of all matrices does nothing.
			f.Prefetch = uintptr(f.B[0]) + uintptr(f.K*bytes)
			f.PrefetchRun, f.PrefetchPanel = f.K*bytes, f.K/tile.PrefetchTerms*tile.PrefetchBytes
			for _, part := range [2]struct{ first, panels, rows int }{{0, wide, mr + 1}, {wide * (mr + 1), panels - wide, mr}} {
				if part.panels == 0 {
					continue
				}
				key.Mr = part.rows
				f.A = unsafe.Add(source, (m*matrix+part.first)*w.tileStep+p*w.Size)
				f.APanel = part.rows * w.tileStep
				f.C[0] = unsafe.Add(sums, (m*matrix+part.first)*bytes)
				f.Panels = part.panels
				f.Tile(w.Machine, key)
				f.Prefetch += uintptr(part.panels * f.PrefetchPanel)
			}
		}
	}
}

// result transforms the sums of a vector of channels from o on into results, and transposes them
// to the image.
func (w *winograd) result(plane, sums unsafe.Pointer, image, o, first, rows int) {
	cols := 2 * w.tilesW
	f := winogradFrame{
		src: sums, matrixStep: w.bandTiles * w.tilesW * w.stripBytes(), tileStep: w.stripBytes(),
		dst: plane, rowStep: cols * w.VB, tiles: w.tilesW, rows: rows,
	}
	w.transform(winogradResult, &f)
	for _, x := range f.wild {
		if x != 0 {
			w.wild[image].Store(true)
		}
	}
	h, run := min(2*rows, w.outH-2*first), w.outW
	if w.dst.W == 1 && w.dst.H == w.outW && cols == w.outW {
		h, run = 1, h*run
	}
	for y := range h {
		to, from := w.dst.at(image, o, 2*first+y, 0, w.Size), unsafe.Add(plane, y*cols*w.VB)
		if w.dst.W != 1 || run < w.Lanes || w.ISA == jit.Portable {
			tile.CopyMat(w.Machine, w.Lanes, run, tile.Mat{Ptr: to, Row: w.dst.C, Col: w.dst.W}, tile.Mat{Ptr: from, Row: 1, Col: w.Lanes})
			continue
		}
		for x := 0; x < run; x += w.Lanes {
			// Behind whole vectors some pixels before are transposed again.
			x := min(x, run-w.Lanes)
			w.Pack(tile.Panel{Ptr: unsafe.Add(to, x*w.Size), Pitch: w.dst.C * w.Size, Rows: w.Lanes, K: w.Lanes},
				tile.Mat{Ptr: unsafe.Add(from, x*w.VB), Row: w.Lanes, Col: 1})
		}
	}
}
