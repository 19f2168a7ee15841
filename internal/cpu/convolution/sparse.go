package convolution

import (
	"math"
	"sort"
	"unsafe"

	"weft/internal/cpu/tile"
	"weft/internal/fma"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/par"
)

// Kernels visit every tap at every pixel and copy the padding. That costs far more than the size of
// the arrays where nearly all taps lie in the padding, as in the gradient of a filter as large as
// its image. The same holds for strides or dilations larger than the image. The sparse path visits
// only the taps inside the image. Its sums have the order and the blocks of the dense path. A term
// in the padding is 0*w, which changes a sum only if w is not finite; such weights are handled
// separately.

// The rule by which the sparse path is taken is in package numbers. Tests set these.
var (
	sparseRatio  = numbers.SparseRatio
	sparseVisits = numbers.SparseVisits
	sparseSpan   = numbers.SparseSpan
	sparsePixels = numbers.SparsePixels
)

// An axis describes a correlation along one axis: output i reads source element i*step + at[k]
// for tap k. at is monotone.
type axis struct {
	outputs, source, step int
	at                    []int
	falls                 bool // at
}

// inside returns the range of taps that read the source at output i.
func (a *axis) inside(i int) (from, to int) {
	base := i * a.step
	if a.falls {
		from = sort.Search(len(a.at), func(k int) bool { return base+a.at[k] < a.source })
		to = sort.Search(len(a.at), func(k int) bool { return base+a.at[k] < 0 })
	} else {
		from = sort.Search(len(a.at), func(k int) bool { return base+a.at[k] >= 0 })
		to = sort.Search(len(a.at), func(k int) bool { return base+a.at[k] >= a.source })
	}
	return from, max(from, to)
}

// outputsOf returns the range of outputs at which tap k reads the source.
func (a *axis) outputsOf(k int) (from, to int) {
	from = min(tile.Ceil(max(0, -a.at[k]), a.step), a.outputs)
	return from, max(from, min(tile.Ceil(max(0, a.source-a.at[k]), a.step), a.outputs))
}

// visits returns the number of pairs of an output and a tap, and how many of them read the
// source.
func (a *axis) visits() (all, inside float64) {
	for k := range a.at {
		from, to := a.outputsOf(k)
		inside += float64(to - from)
	}
	return float64(a.outputs) * float64(len(a.at)), inside
}

// span returns how many pixels there are from the first to the last that is read, padding
// included.
func (a *axis) span() float64 {
	if len(a.at) == 0 {
		return 0
	}
	return float64(a.outputs-1)*float64(a.step) + math.Abs(float64(a.at[len(a.at)-1]-a.at[0])) + 1
}

// forwardAxes returns the axes of the convolution.
func (g *Geometry) forwardAxes() (rows, cols axis) {
	axisOf := func(size, outputs, taps, step, pad, dilation int) axis {
		a := axis{outputs: outputs, source: size, step: step, at: make([]int, taps)}
		for k := range a.at {
			a.at[k] = k*dilation - pad
		}
		return a
	}
	return axisOf(g.H, g.OutH(), g.KH, g.StrideH, g.PadH, g.DilationH), axisOf(g.W, g.OutW(), g.KW, g.StrideW, g.PadW, g.DilationW)
}

// A visitCount counts the terms of a correlation: all that dense kernels compute, and the ones
// inside the source. span and pixels bound the pixels that are read and written.
type visitCount struct{ all, inside, span, pixels float64 }

func (v *visitCount) add(rows, cols *axis) {
	allY, insideY := rows.visits()
	allX, insideX := cols.visits()
	v.all += allY * allX
	v.inside += insideY * insideX
	v.span = max(v.span, rows.span()*cols.span())
	v.pixels = max(v.pixels, float64(rows.outputs)*float64(cols.outputs)+float64(rows.source)*float64(cols.source))
}

// sparse reports whether the sparse path is taken. Only the geometry of an image decides.
func (g *Geometry) sparse(v visitCount) bool {
	pairs := float64(g.O) * float64(g.C/g.Groups)
	return v.all*pairs > float64(sparseVisits) && v.all > sparseRatio*v.inside ||
		v.span > float64(sparsePixels) && v.span > sparseSpan*v.pixels
}

// small reports whether a correlation is fast on every path. It uses bounds on the visits and on
// the pixels that are read, padding included. It allocates nothing.
func (g *Geometry) small(outH, outW, spanH, spanW int) bool {
	visits := float64(g.O) * float64(g.C/g.Groups) * float64(outH) * float64(outW) * float64(g.KH) * float64(g.KW)
	return visits <= float64(sparseVisits) && float64(spanH)*float64(spanW) <= float64(sparsePixels)
}

// sparseForward reports whether Forward takes the sparse path.
func (g *Convolution) sparseForward() bool {
	one := g.group(0)
	return g.sparseGradWeight() && !one.useWinograd(g.OutH(), g.OutW())
}

// sparseGradWeight reports whether GradWeight takes the sparse path. It has the same visits as
// Forward.
func (g *Convolution) sparseGradWeight() bool {
	h, w := g.OutH(), g.OutW()
	if g.small(h, w, (h-1)*g.StrideH+(g.KH-1)*g.DilationH+1, (w-1)*g.StrideW+(g.KW-1)*g.DilationW+1) {
		return false
	}
	rows, cols := g.forwardAxes()
	var v visitCount
	v.add(&rows, &cols)
	return g.sparse(v)
}

// sparseGradInput reports whether GradInput takes the sparse path.
func (g *Convolution) sparseGradInput() bool {
	h, w := tile.Ceil(g.H, g.StrideH), tile.Ceil(g.W, g.StrideW)
	if g.small(h, w, h+(g.KH-1)*g.DilationH/g.StrideH+1, w+(g.KW-1)*g.DilationW/g.StrideW+1) {
		return false
	}
	if one := g.group(0); one.useWinograd(g.H, g.W) {
		return false
	}
	var v visitCount
	for _, y := range phasesOf(g.StrideH, g.H, g.PadH, g.KH, g.DilationH) {
		for _, x := range phasesOf(g.StrideW, g.W, g.PadW, g.KW, g.DilationW) {
			rows, cols := y.axis(g.OutH()), x.axis(g.OutW())
			v.add(&rows, &cols)
		}
	}
	return g.sparse(v)
}

// computeSparseForward is Forward on the sparse path.
func computeSparseForward[E tile.Element](g *Convolution, y, x Image, w unsafe.Pointer) {
	s := sparseSums[E]{g: g, weights: w, channels: g.C / g.Groups, results: g.O / g.Groups, src: x, dst: y}
	s.rows, s.cols = g.forwardAxes()
	taps := g.KH * g.KW
	for k := range g.KW {
		s.columns = append(s.columns, k)
	}
	s.weightRow = func(o, c, i int) int { return (o*s.channels+c)*taps + i*g.KW }
	s.compute()
	if g.Epilogue != nil {
		g.Epilogue.Run(0, g.N*g.O, 0, g.OutH()*g.OutW())
	}
}

// computeSparseGradInput is GradInput on the sparse path.
func computeSparseGradInput[E tile.Element](g *Convolution, dx, dy Image, w unsafe.Pointer) {
	taps := g.KH * g.KW
	g.eachPhase(dx, func(y, x *axisPhase, epilogue tile.Epilogue) {
		s := sparseSums[E]{g: g, weights: w, channels: g.O / g.Groups, results: g.C / g.Groups, src: dy}
		s.dst = g.phaseImage(dx, y, x)
		s.rows, s.cols = y.axis(g.OutH()), x.axis(g.OutW())
		s.columns = x.taps
		s.weightRow = func(c, o, i int) int { return (o*s.results+c)*taps + y.taps[i]*g.KW }
		s.compute()
		if epilogue != nil {
			epilogue.Run(0, g.N*g.C, 0, g.H*g.W)
		}
	})
}

// sparseSums are the sums of one correlation of all groups.
type sparseSums[E tile.Element] struct {
	g                 *Convolution
	weights           unsafe.Pointer
	channels, results int // of a group: of the source, and of dst
	src, dst          Image
	rows, cols        axis
	// Offsets of weights inside the group: row i of taps begins at weightRow, and tap j of it is at
	// columns[j].
	weightRow func(result, channel, i int) int
	columns   []int
	wild      [][]sparseTap // by result, the taps whose weights are not finite
}

// A sparseTap is a tap of some channel.
type sparseTap struct{ i, j int }

func (s *sparseSums[E]) compute() {
	results := s.g.Groups * s.results
	s.wild = make([][]sparseTap, results)
	for i := range s.wild {
		s.findWild(i)
	}
	rows := s.g.N * results * s.rows.outputs
	threads := tile.ThreadsFor(rows*s.cols.outputs, s.g.Threads)
	par.Run(rows, max(1, tile.TaskWork/max(s.cols.outputs, 1)), threads, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			s.row(i/s.rows.outputs/results, i/s.rows.outputs%results, i%s.rows.outputs)
		}
	})
}

// of returns the weights of the group of a result channel, and the channel's number in the
// group.
func (s *sparseSums[E]) of(result int) (weights []E, number int) {
	count := s.channels * s.results * s.g.KH * s.g.KW
	return unsafe.Slice((*E)(s.g.weightsOf(s.weights, result/s.results)), count), result % s.results
}

func (s *sparseSums[E]) findWild(result int) {
	weights, number := s.of(result)
	for c := range s.channels {
		for i := range s.rows.at {
			row := weights[s.weightRow(number, c, i):]
			for j, k := range s.columns {
				if w := row[k]; w-w != 0 {
					s.wild[result] = append(s.wild[result], sparseTap{i, j})
				}
			}
		}
	}
}

// row computes row y of a result.
func (s *sparseSums[E]) row(image, result, y int) {
	weights, number := s.of(result)
	first, width := result/s.results*s.channels, len(s.cols.at)
	size := int(unsafe.Sizeof(E(0)))
	fromY, toY := s.rows.inside(y)
	for x := range s.cols.outputs {
		fromX, toX := s.cols.inside(x)
		var sum blockSum[E]
		for c := range s.channels {
			for i := fromY; i < toY && fromX < toX; i++ {
				row := weights[s.weightRow(number, c, i):]
				line := s.src.at(image, first+c, y*s.rows.step+s.rows.at[i], 0, size)
				for j := fromX; j < toX; j++ {
					v := *(*E)(unsafe.Add(line, (x*s.cols.step+s.cols.at[j])*s.src.W*size))
					sum.add((c*len(s.rows.at)+i)*width+j, row[s.columns[j]], v)
				}
			}
		}
		total := sum.end()
		for _, t := range s.wild[result] {
			if t.i < fromY || t.i >= toY || t.j < fromX || t.j >= toX {
				total = E(math.NaN())
				break
			}
		}
		*(*E)(s.dst.at(image, result, y, x, size)) = total
	}
}

// A blockSum is a sum of terms in blocks of numbers.KBlock, from which terms that are zero may be
// missing. The sum of a block that is zero is +0.
type blockSum[E tile.Element] struct {
	total, sum E
	block      int
}

// add adds a*b as term number i.
func (s *blockSum[E]) add(i int, a, b E) {
	if block := i / numbers.KBlock; block != s.block {
		s.total, s.sum, s.block = s.end(), 0, block
	}
	if unsafe.Sizeof(a) == 4 {
		s.sum = E(fma.Float32(float32(a), float32(b), float32(s.sum)))
	} else {
		s.sum = E(math.FMA(float64(a), float64(b), float64(s.sum)))
	}
}

func (s *blockSum[E]) end() E {
	if s.sum == 0 {
		return s.total
	}
	return s.total + s.sum
}

// computeSparseGradWeight is GradWeight on the sparse path.
func computeSparseGradWeight[E tile.Element](g *Convolution, dw unsafe.Pointer, x, dy Image) {
	oh, ow := g.OutH(), g.OutW()
	for i, m := range []*Image{&x, &dy} {
		if !g.Of[i].Half() {
			continue
		}
		channels, h, w := g.C, g.H, g.W
		if i == 1 {
			channels, h, w = g.O, oh, ow
		}
		buffer := tile.Alloc(max(g.N*channels*h*w, 1) * g.DType.Size())
		defer mem.Free(buffer)
		g.widen(buffer.Ptr(), g.Of[i], *m, g.N, channels, h, w)
		*m = ContiguousImage(buffer.Ptr(), channels, h, w)
	}
	rows, cols := g.forwardAxes()
	channels, size := g.C/g.Groups, int(unsafe.Sizeof(E(0)))
	out := unsafe.Slice((*E)(dw), g.O*channels*g.KH*g.KW)
	par.Run(g.O, 1, tile.ThreadsFor(len(out)*g.N, g.Threads), func(_, begin, end int) {
		type pixel struct{ y, x int }
		var wild []pixel
		for o := begin; o < end; o++ {
			wild = wild[:0]
			for n := range g.N {
				for y := range oh {
					for x := range ow {
						if v := *(*E)(dy.at(n, o, y, x, size)); v-v != 0 {
							wild = append(wild, pixel{y, x})
						}
					}
				}
			}
			group := o / (g.O / g.Groups)
			for c := range channels {
				for i := range g.KH {
					fromY, toY := rows.outputsOf(i)
					for j := range g.KW {
						fromX, toX := cols.outputsOf(j)
						var sum blockSum[E]
						for n := range g.N {
							for oy := fromY; oy < toY; oy++ {
								for ox := fromX; ox < toX; ox++ {
									v := *(*E)(x.at(n, group*channels+c, oy*rows.step+rows.at[i], ox*cols.step+cols.at[j], size))
									sum.add((n*oh+oy)*ow+ox, v, *(*E)(dy.at(n, o, oy, ox, size)))
								}
							}
						}
						total := sum.end()
						for _, p := range wild {
							if p.y < fromY || p.y >= toY || p.x < fromX || p.x >= toX {
								total = E(math.NaN())
								break
							}
						}
						out[((o*channels+c)*g.KH+i)*g.KW+j] = total
					}
				}
			}
		}
	})
}
