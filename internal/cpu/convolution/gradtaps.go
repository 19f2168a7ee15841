package convolution

import (
	"math"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/numbers"
)

// A tapTiling describes how vectors of taps cover the gradient of the weights. Its matrix has a
// row for every output channel, and whole vectors for every tile of a row.
type tapTiling struct {
	tile.Machine
	rows      int // output channels in most tiles
	perTile   int // groups in most tiles
	segments  int // groups in a vector
	tileWidth int // elements
	// The greatest offset at which a vector may be read whole in the image, in elements;
	// lanes that belong to no tap are then read too.
	wholeTo int
}

// tileTaps returns the tiling with the lowest cost per term, in the units of tile.Cost. The cost
// is 0 if taps cannot be in vectors: taps and pixels of dy must be neighbours in memory.
func (w *gradWeight) tileTaps() (tapTiling, int) {
	g := w.g
	if w.dy.W != 1 || g.DilationW != 1 && g.KW > 1 {
		return tapTiling{}, 0
	}
	machines := []tile.Machine{w.Machine}
	if w.ISA == jit.AVX512 {
		machines = append(machines, w.Narrow())
	}
	var best tapTiling
	bestCost := 0
	panels := tile.Ceil(g.O, maxTapRows)
	groups := g.C * g.KH
	for _, m := range machines {
		if g.KW > m.Lanes {
			continue
		}
		t := tapTiling{Machine: m, rows: tile.Ceil(g.O, panels), segments: 1}
		if m.ISA == jit.AVX512 && m.VB == w.VB {
			t.segments = min(m.Lanes/g.KW, maxGroup)
		}
		most := min(maxGroup, maxTapVectors(m, t.rows)*t.segments)
		for n := 1; n <= min(most, groups); n++ {
			nv := tile.Ceil(n, t.segments)
			// As tile.Cost, but that merging a segment with others counts too.
			cost := max(t.rows*nv*tapProduct+(n-nv)*tapMerge, tile.LeastCost*tapProduct, (t.rows+n)*tapProduct) + tapProduct
			if m.VB < w.VB {
				cost /= 2
			}
			cost *= panels * tile.Ceil(groups, n)
			if bestCost == 0 || cost < bestCost {
				best, bestCost = t, cost
				best.perTile, best.tileWidth = n, nv*m.Lanes
			}
		}
	}
	return best, bestCost / tapProduct
}

// useTaps makes vectors hold taps.
func (w *gradWeight) useTaps(t tapTiling) {
	w.taps = &t
	w.groups, w.run = w.g.C*w.g.KH, w.g.KW
	w.perPanel, w.panels, w.strips = w.groups, 1, 1
	w.rows, w.pitch = w.g.O, w.Padded(tile.Ceil(w.groups, t.perTile)*t.tileWidth)
	w.packBytes = 0
}

// setWholeTo computes wholeTo.
func (w *gradWeight) setWholeTo() {
	x, g := &w.xImage, w.g
	switch {
	case !w.direct:
		w.taps.wholeTo = w.slots*x.N - w.taps.Lanes
	case min(x.N, x.C, x.H) < 0:
		w.taps.wholeTo = math.MinInt
	default:
		w.taps.wholeTo = (g.N-1)*x.N + (g.C-1)*x.C + (g.H-1)*x.H + g.W - w.taps.Lanes
	}
}

// reach returns the greatest offset in the image of the taps' groups for an output pixel.
func (w *gradWeight) reach(slot, y, x int) int {
	m, g := &w.xImage, w.g
	return slot*m.N + (g.C-1)*m.C + (y*g.StrideH+(g.KH-1)*g.DilationH)*m.H + x*g.StrideW
}

// tapBlocks is how many blocks of terms one call of the kernel adds: some 30 us.
const tapBlocks = 16

// blocksOfTaps adds the terms of blocks b0 to b1-1.
func (t *gradWeightTask) blocksOfTaps(b0, b1 int) {
	g, pixels := t.g, t.oh*t.ow
	t.tapList = t.tapList[:0]
	dy := t.dyImage()
	masked := false // nothing but taps may be read
	for b := b0; b < b1; b++ {
		to := min((b+1)*numbers.KBlock, g.N*pixels)
		for p := b * numbers.KBlock; p < to; {
			n, y, x := p/pixels, p%pixels/t.ow, p%t.ow
			slot, at := n, n // in the images of x and of dy
			if !t.direct {
				for ; t.filled <= n; t.filled++ {
					t.fill(t.filled)
				}
				slot = n % t.slots
			}
			if t.dyBytes > 0 {
				at = slot
			}
			run := min(t.ow-x, to-p)
			masked = masked || t.reach(slot, y, x+run-1) > t.taps.wholeTo
			p += run
			t.tapList = append(t.tapList, tapPiece{
				offset: (slot*t.xImage.N + y*g.StrideH*t.xImage.H + x*g.StrideW) * t.Size,
				dy:     (at*dy.N + y*dy.H + x) * t.Size,
				n:      run, last: tile.Bit(p == to, 0),
			})
		}
	}
	sums := t.sums.Ptr()
	f := tapFrame{dyStep: dy.C * t.Size, sumStep: t.pitch * t.Size, pieces: &t.tapList[0], flagsLater: tile.FlagAdd}
	if t.byBlock {
		f.sumBlock = t.rows * t.pitch * t.Size
		f.flagsLater = 0
		sums = unsafe.Add(sums, b0*f.sumBlock)
	}
	t.tapTerms(&f, sums, b0, masked)
}

// tapTerms calls the kernel for each tile.
func (t *gradWeightTask) tapTerms(f *tapFrame, sums unsafe.Pointer, b0 int, masked bool) {
	taps := t.taps
	key := tapKey{Machine: taps.Machine, segments: taps.segments, run: t.run, step: t.g.StrideW, masked: masked}
	for s := range taps.segments {
		f.mask[s] = (1<<t.run - 1) << (s * t.run)
	}
	if t.ISA == jit.AVX2 {
		t.SetMask(nil, &f.lanes, t.run)
	}
	for o := 0; o < t.g.O; o += taps.rows {
		key.mr = min(taps.rows, t.g.O-o)
		f.dy = t.dyImage().at(0, o, 0, 0, t.Size)
		for first := 0; first < t.groups; first += taps.perTile {
			key.groups = min(taps.perTile, t.groups-first)
			f.image = unsafe.Pointer(&t.groupsAt[first])
			f.sums = unsafe.Add(sums, (o*t.pitch+first/taps.perTile*taps.tileWidth)*t.Size)
			f.pieceCount = len(t.tapList)
			f.flags = f.flagsLater
			if b0 == 0 {
				f.flags = 0
			}
			code := &t.tapCodes[tile.Bit(key.mr < taps.rows, 0)|tile.Bit(key.groups < taps.perTile, 1)|tile.Bit(masked, 2)]
			if *code == nil {
				*code = codegen.Kernel(tapKernels, key)
			}
			jit.Call(*code, 0, unsafe.Pointer(f))
		}
	}
}

// eachTapVector calls f with where the taps of each vector lie in the sums, as a matrix with
// a row for each output channel, with the same in dw, and with the number of columns.
func (w *gradWeight) eachTapVector(dw unsafe.Pointer, f func(sums, dw tile.Mat, n int)) {
	all := w.groups * w.run
	for first := 0; first < w.groups; first += w.taps.perTile {
		last := min(first+w.taps.perTile, w.groups)
		at := first / w.taps.perTile * w.taps.tileWidth
		for i := first; i < last; i += w.taps.segments {
			sums := tile.Mat{Ptr: unsafe.Add(w.sums.Ptr(), at*w.Size), Row: w.pitch, Col: 1}
			f(sums, tile.Mat{Ptr: unsafe.Add(dw, i*w.run*w.Size), Row: all, Col: 1}, min(w.taps.segments, last-i)*w.run)
			at += w.taps.Lanes
		}
	}
}
