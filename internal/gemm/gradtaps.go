package gemm

import (
	"unsafe"

	"weft/internal/jit"
)

// A tapTiling says how vectors of taps cover the gradient of the weights. Its matrix has a
// row for every output channel, and a whole number of vectors for every tile of a row.
type tapTiling struct {
	rows      int // output channels in most tiles
	perTile   int // groups in most tiles
	segments  int // groups in a vector
	tileWidth int // elements
}

// tileTaps returns the tiling that takes the least cost, as tileCost, for a term. The
// cost is 0 if taps cannot be in vectors: if they are not neighbours, or if
// neighbouring pixels of dy are not.
func (w *gradWeight) tileTaps() (tapTiling, int) {
	g := w.g
	if w.dy.W != 1 || g.DilationW != 1 && g.KW > 1 || g.KW > w.lanes {
		return tapTiling{}, 0
	}
	t := tapTiling{segments: 1}
	if w.isa == AVX512 {
		t.segments = min(w.lanes/g.KW, maxGroup)
	}
	panels := ceil(g.O, maxTapRows)
	t.rows = ceil(g.O, panels)
	groups := g.C * g.KH
	most := min(maxGroup, w.maxTapVectors(t.rows)*t.segments)
	best := 0
	for n := 1; n <= min(most, groups); n++ {
		nv := ceil(n, t.segments)
		cost := panels * ceil(groups, n) * (max(t.rows*nv, 8, t.rows+n) + 1)
		if best == 0 || cost < best {
			best, t.perTile, t.tileWidth = cost, n, nv*w.lanes
		}
	}
	return t, best
}

// useTaps makes vectors hold taps.
func (w *gradWeight) useTaps(t tapTiling) {
	w.taps = &t
	w.groups, w.run = w.g.C*w.g.KH, w.g.KW
	w.panels = 1 // all of the groups
	w.perPanel = w.groups
	w.strips = 1
	w.rows, w.pitch = w.g.O, ceil(w.groups, t.perTile)*t.tileWidth
	w.packBytes = 0
}

// tapTerms adds the terms of the pieces to sums.
func (t *gradWeightTask) tapTerms(sums unsafe.Pointer, flags int) {
	taps := t.taps
	key := tapKey{machine: t.machine, segments: taps.segments, run: t.run, step: t.g.StrideW}
	f := tapFrame{dyStep: t.dy.C * t.size, sumStep: t.pitch * t.size, flags: flags, pieces: &t.list[0]}
	for s := range taps.segments {
		f.mask[s] = (1<<t.run - 1) << (s * t.run)
	}
	if t.isa == AVX2 {
		t.setMask(nil, &f.lanes, t.run)
	}
	for o := 0; o < t.g.O; o += taps.rows {
		key.mr = min(taps.rows, t.g.O-o)
		f.dy = t.dy.at(0, o, 0, 0, t.size)
		for first := 0; first < t.groups; first += taps.perTile {
			key.groups = min(taps.perTile, t.groups-first)
			f.image = unsafe.Pointer(&t.groupsAt[first])
			f.sums = unsafe.Add(sums, (o*t.pitch+first/taps.perTile*taps.tileWidth)*t.size)
			f.pieceCount = len(t.list)
			jit.Call(key.code(), 0, unsafe.Pointer(&f))
		}
	}
}

// eachTapVector calls f with where the taps of each vector lie in the sums, as a matrix with
// a row for each output channel, with the same in dw, and with the number of columns.
func (w *gradWeight) eachTapVector(dw unsafe.Pointer, f func(sums, dw Mat, n int)) {
	all := w.groups * w.run
	for first := 0; first < w.groups; first += w.taps.perTile {
		last := min(first+w.taps.perTile, w.groups)
		at := first / w.taps.perTile * w.taps.tileWidth
		for i := first; i < last; i += w.taps.segments {
			sums := Mat{unsafe.Add(w.sums.Ptr(), at*w.size), w.pitch, 1}
			f(sums, Mat{unsafe.Add(dw, i*w.run*w.size), all, 1}, min(w.taps.segments, last-i)*w.run)
			at += w.lanes
		}
	}
}
