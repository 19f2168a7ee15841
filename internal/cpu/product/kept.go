package product

import (
	"unsafe"

	"weft/internal/cpu/tile"
	"weft/internal/numbers"
	"weft/internal/packed"
	"weft/internal/par"
)

// keep takes the packed panels of all of B from s, or makes them there, where B would be packed and its layout
// does not depend on how the product is cut.
func (j *job) keep(s packed.Source, threads int) {
	if !s.Kept() || !j.packB || j.narrow != notNarrow || !j.sharesB() || j.through {
		return
	}
	if j.tilesN > 1 {
		j.cutColumns(j.taskN)
	}
	key := packed.Key{Kind: packed.Product, ISA: j.ISA, Of: j.of[1], As: j.D, Sizes: [8]int{j.k, j.n, j.b.Row, j.b.Col, j.nv}}
	j.kept = s.Copy(key, j.panelsBytes(), func(to unsafe.Pointer) bool {
		j.packAll(to, threads)
		return true
	})
	if j.kept != nil {
		j.readPanels(j.kept.Ptr())
	}
}

// cutColumns gives tasks at least columns columns, whole tiles of them.
func (j *job) cutColumns(columns int) {
	width := j.nv * j.Lanes
	j.taskN = tile.Ceil(columns, width) * width
	j.tilesN = tile.Ceil(j.n, j.taskN)
}

// readPanels makes tasks read B from panels.
func (j *job) readPanels(panels unsafe.Pointer) {
	j.panels, j.blockB, j.prefetchPack, j.prefetchKept = panels, 0, false, j.k*j.n*j.Size >= prefetchFrom
}

// panelsBytes returns the size of the packed panels of all columns of B, for the terms from j.first to j.end-1.
func (j *job) panelsBytes() int {
	return tile.Ceil(j.n, j.Lanes) * j.VB * tile.Ceil(j.end-j.first, numbers.KBlock) * numbers.KBlock
}

// packAll packs all columns of B, for the terms from j.first to j.end-1.
func (j *job) packAll(to unsafe.Pointer, threads int) {
	width := j.nv * j.Lanes
	columns := tile.Ceil(packedColumns, width) * width
	across := tile.Ceil(j.n, columns)
	par.Run(tile.Ceil(j.end-j.first, numbers.KBlock)*across, 1, threads, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			p0, n0 := j.first+i/across*numbers.KBlock, i%across*columns
			j.packColumns(unsafe.Add(to, j.panelAt(p0, n0)), j.b, p0, min(numbers.KBlock, j.end-p0), n0, min(n0+columns, j.n))
		}
	})
}

// sharesB reports whether all products of the batch have the same B.
func (j *job) sharesB() bool {
	for i, n := range j.batch.Count {
		if n > 1 && j.batch.B != nil && j.batch.B[i] != 0 {
			return false
		}
	}
	return true
}

// panelAt returns where the terms from p0 on of columns from n0 on are in the panels, in bytes. p0 is a multiple of
// numbers.KBlock; n0, unless 0, of a tile's columns.
func (j *job) panelAt(p0, n0 int) int {
	return tile.Ceil(j.n, j.Lanes)*j.VB*(p0-j.first) + n0*j.Size*j.Padded(min(numbers.KBlock, j.k-p0))
}

// nextKept returns the panel that follows the one before column x: it begins there, or is the first of the next
// terms.
func (j *job) nextKept(x, n0, n1, p0, kk int) region {
	if x >= n1 {
		x, p0 = n0, p0+kk
		if kk = min(numbers.KBlock, j.end-p0); kk <= 0 {
			return region{}
		}
	}
	return region{uintptr(j.panels) + uintptr(j.panelAt(p0, x)), min(j.nv*j.Lanes, n1-x) * kk * j.Size}
}
