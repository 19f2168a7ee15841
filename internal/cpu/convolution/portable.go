package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/numbers"
	"weft/internal/par"
)

func (m *Image) at(n, c, y, x, size int) unsafe.Pointer {
	return unsafe.Add(m.Ptr, (n*m.N+c*m.C+y*m.H+x*m.W)*size)
}

// A tap is a term of a convolution: c, y and x are the element that output pixel (0, 0) reads,
// which may lie in the padding. weight is the index of its weight in an output channel.
type tap struct {
	c, y, x int
	weight  int
}

// A sweep is the matrix of a convolution's source (im2col), which is never stored as a whole: it
// has a row for every tap and a column for every output pixel.
type sweep[E tile.Element] struct {
	src          Image
	of           array.DType // of src
	h, w         int         // of src; zeros lie around it
	taps         []tap
	stepY, stepX int
	outW         int
}

// read writes what tap t reads at n pixels from number j on of image i to every
// pitch-th element of dst. All pixels outside of the returned range are padding.
func (s *sweep[E]) read(dst []float64, pitch, i int, t tap, j, n int) (from, to int) {
	size := s.of.Size()
	// The columns of pixels that lie in the image.
	lo := tile.Ceil(max(0, -t.x), s.stepX)
	hi := max(lo, tile.Ceil(max(0, s.w-t.x), s.stepX))
	from = n
	y, x := j/s.outW, j%s.outW
	for at := 0; at < n; {
		run := min(s.outW-x, n-at)
		l, r := min(max(lo-x, 0), run), min(max(hi-x, 0), run)
		row := y*s.stepY + t.y
		if uint(row) >= uint(s.h) {
			l, r = run, run
		}
		for q := at * pitch; q < (at+l)*pitch; q += pitch {
			dst[q] = 0
		}
		if l < r {
			tile.Widen[E](s.of, dst[(at+l)*pitch:], pitch, s.src.at(i, t.c, row, (x+l)*s.stepX+t.x, size), s.stepX*s.src.W, r-l)
			from, to = min(from, at+l), at+r
		}
		for q := (at + r) * pitch; q < (at+run)*pitch; q += pitch {
			dst[q] = 0
		}
		at += run
		y, x = y+1, 0
	}
	return from, to
}

// bounds adds the magnitudes of all that the taps read at n pixels from number j on of
// image i, and perhaps of more of the same rows. Taps are in order of their channels.
func (s *sweep[E]) bounds(m *tile.Magnitudes, i int, taps []tap, j, n int) {
	top, bottom := taps[0].y, taps[0].y
	for _, t := range taps {
		top, bottom = min(top, t.y), max(bottom, t.y)
	}
	top = max(0, top+j/s.outW*s.stepY)
	bottom = min(s.h-1, bottom+(j+n-1)/s.outW*s.stepY)
	row := make([]float64, s.w)
	for c := taps[0].c; c <= taps[len(taps)-1].c; c++ {
		for y := top; y <= bottom; y++ {
			tile.Widen[E](s.of, row, 1, s.src.at(i, c, y, 0, s.of.Size()), s.src.W, s.w)
			for _, x := range row {
				m.Add(x)
			}
		}
	}
}

// sweepOperands are the weights, row i of them at i*pitch elements, and an image.
type sweepOperands[E tile.Element] struct {
	*sweep[E]
	image   int
	weights unsafe.Pointer
	pitch   int
}

func (o *sweepOperands[E]) PackA(dst []float64, i, k int) {
	size := int(unsafe.Sizeof(E(0)))
	row := unsafe.Add(o.weights, i*o.pitch*size)
	for p, t := range o.taps[k : k+len(dst)] {
		dst[p] = float64(*(*E)(unsafe.Add(row, t.weight*size)))
	}
}

func (o *sweepOperands[E]) PackB(s *tile.Scratch, k, n, j, width int) tile.Magnitudes {
	taps := o.taps[k : k+n]
	for p, t := range taps {
		from, to := o.read(s.B[p*width:], 1, o.image, t, j, width)
		s.From[p], s.To[p] = int32(from), int32(to)
	}
	m := tile.NoMagnitudes
	if unsafe.Sizeof(E(0)) == 4 {
		o.bounds(&m, o.image, taps, j, width)
	}
	return m
}

func portableForward[E tile.Element](g *Convolution, y, x Image, w unsafe.Pointer) {
	size := int(unsafe.Sizeof(E(0)))
	s := forwardSweep[E](x, g.DType, &g.Geometry)
	tile.PortableProducts[E](g.N, g.O, g.OutH()*g.OutW(), len(s.taps), g.Threads, func(n int) (tile.PortableOperands, tile.PortableResult) {
		return &sweepOperands[E]{s, n, w, len(s.taps)},
			tile.PortableResult{Ptr: y.at(n, 0, 0, 0, size), Row: y.C, Width: g.OutW(), High: y.H, Step: y.W, Positive: true}
	}, epiloguePieces(g.Epilogue, g.O))
}

// forwardSweep returns the taps of a convolution over its input.
func forwardSweep[E tile.Element](x Image, of array.DType, g *Geometry) *sweep[E] {
	s := &sweep[E]{src: x, of: of, h: g.H, w: g.W, stepY: g.StrideH, stepX: g.StrideW, outW: g.OutW()}
	for c := range g.C {
		for kh := range g.KH {
			for kw := range g.KW {
				s.taps = append(s.taps, tap{c, kh*g.DilationH - g.PadH, kw*g.DilationW - g.PadW, len(s.taps)})
			}
		}
	}
	return s
}

// epiloguePieces returns a function that runs an epilogue on pixels of images with the given
// number of channels, or nil without an epilogue.
func epiloguePieces(epilogue tile.Epilogue, channels int) func(n, c0, c1, at, to int) {
	if epilogue == nil {
		return nil
	}
	return func(n, c0, c1, at, to int) { epilogue.Run(n*channels+c0, n*channels+c1, at, to) }
}

func portableGradInput[E tile.Element](g *Convolution, dx, dy Image, w unsafe.Pointer) {
	size := int(unsafe.Sizeof(E(0)))
	kernel := g.KH * g.KW
	g.eachPhase(dx, func(y, x *axisPhase, epilogue tile.Epilogue) {
		s := &sweep[E]{src: dy, of: g.DType, h: g.OutH(), w: g.OutW(), stepY: 1, stepX: 1, outW: x.outputs}
		for o := range g.O {
			for i, row := range y.taps {
				for j, col := range x.taps {
					s.taps = append(s.taps, tap{o, y.at[i], x.at[j], o*g.C*kernel + row*g.KW + col})
				}
			}
		}
		dst := g.phaseImage(dx, y, x)
		tile.PortableProducts[E](g.N, g.C, y.outputs*x.outputs, len(s.taps), g.Threads, func(n int) (tile.PortableOperands, tile.PortableResult) {
			return &sweepOperands[E]{s, n, w, kernel},
				tile.PortableResult{Ptr: dst.at(n, 0, 0, 0, size), Row: dst.C, Width: x.outputs, High: dst.H, Step: dst.W, Positive: true}
		}, epiloguePieces(epilogue, g.C))
	})
}

// gradWeightOperands are the gradient of the result, a row for every output channel,
// and the input, a column for every tap. Terms are pixels of all images.
type gradWeightOperands[E tile.Element] struct {
	*sweep[E]
	dy     Image
	dyOf   array.DType
	pixels int // of an image of dy
}

// images calls f for the images to which n terms from term k on belong. Each call has n terms,
// from pixel j of an image on; at is the index of the first of them among all the terms.
func (o *gradWeightOperands[E]) images(k, n int, f func(image, j, at, n int)) {
	for at := 0; at < n; {
		j := (k + at) % o.pixels
		run := min(o.pixels-j, n-at)
		f((k+at)/o.pixels, j, at, run)
		at += run
	}
}

func (o *gradWeightOperands[E]) PackA(dst []float64, i, k int) {
	size := o.dyOf.Size()
	o.images(k, len(dst), func(image, j, at, n int) {
		for n > 0 {
			x := j % o.outW
			run := min(o.outW-x, n)
			tile.Widen[E](o.dyOf, dst[at:], 1, o.dy.at(image, i, j/o.outW, x, size), o.dy.W, run)
			j, at, n = j+run, at+run, n-run
		}
	})
}

func (o *gradWeightOperands[E]) PackB(s *tile.Scratch, k, n, j, width int) tile.Magnitudes {
	taps := o.taps[j : j+width]
	m := tile.NoMagnitudes
	o.images(k, n, func(image, first, at, n int) {
		for c, t := range taps {
			o.read(s.B[at*width+c:], width, image, t, first, n)
		}
		if unsafe.Sizeof(E(0)) == 4 {
			o.bounds(&m, image, taps, first, n)
		}
	})
	for p := range n {
		s.From[p], s.To[p] = 0, int32(width)
	}
	return m
}

// portableSums is about how many sums of blocks are stored before they are added to the gradient
// of the weights.
const portableSums = 1 << 18

// portableGradWeight computes blocks of terms side by side, as there may be few
// weights, and adds the sums in order.
func portableGradWeight[E tile.Element](g *Convolution, dw unsafe.Pointer, x, dy Image) {
	s := forwardSweep[E](x, g.Of[0], &g.Geometry)
	pixels := g.OutH() * g.OutW()
	terms, width := g.N*pixels, len(s.taps)
	out := unsafe.Slice((*E)(dw), g.O*width)
	if terms == 0 {
		clear(out)
		return
	}
	op := &gradWeightOperands[E]{s, dy, g.Of[1], pixels}
	tiles := tile.Ceil(width, tile.PortableTile)
	tileWidth := tile.Ceil(width, tiles)
	threads := g.Threads
	if len(out)*terms < 2*tile.PortableGrain {
		threads = 1
	}
	blocks := tile.Ceil(terms, numbers.KBlock)
	wave := min(blocks, max(1, portableSums/len(out)))
	sums := make([]E, wave*len(out))
	for b0 := 0; b0 < blocks; b0 += wave {
		n := min(wave, blocks-b0)
		par.Run(n*tiles, 1, threads, func(_, begin, end int) {
			buf := tile.Scratches.Get().(*tile.Scratch)
			defer tile.Scratches.Put(buf)
			for ; begin < end; begin++ {
				block := begin / tiles
				k := (b0 + block) * numbers.KBlock
				j := begin % tiles * tileWidth
				w := min(tileWidth, width-j)
				if w <= 0 {
					continue
				}
				buf.Block(op, unsafe.Sizeof(E(0)) == 4, k, min(numbers.KBlock, terms-k), 0, g.O, j, w, func(o int, row []float64) {
					to := sums[block*len(out)+o*width+j:]
					for i, v := range row {
						to[i] = E(v)
					}
				})
			}
		})
		for block := range n {
			part := sums[block*len(out):][:len(out)]
			if b0+block == 0 {
				copy(out, part)
				continue
			}
			for i, v := range part {
				out[i] += v
			}
		}
	}
}
