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
	if width := j.nv * j.Lanes; j.tilesN > 1 {
		j.taskN = tile.Ceil(j.taskN, width) * width
		j.tilesN = tile.Ceil(j.n, j.taskN)
	}
	key := packed.Key{Kind: packed.Product, ISA: j.ISA, Of: j.of[1], As: j.D, Sizes: [8]int{j.k, j.n, j.b.Row, j.b.Col, j.nv}}
	tasks := tile.Ceil(j.k, numbers.KBlock)
	j.kept = s.Copy(key, j.keptAt(tasks*numbers.KBlock, 0), func(to unsafe.Pointer) bool {
		par.Run(tasks, 1, threads, func(_, begin, end int) {
			for p0 := begin * numbers.KBlock; p0 < min(end*numbers.KBlock, j.k); p0 += numbers.KBlock {
				j.packColumns(unsafe.Add(to, j.keptAt(p0, 0)), j.b, p0, min(numbers.KBlock, j.k-p0), 0, j.n)
			}
		})
		return true
	})
	if j.kept != nil {
		j.blockB, j.prefetchPack, j.prefetchKept = 0, false, j.k*j.n*j.Size >= prefetchFrom
	}
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

// keptAt returns where the terms from p0 on of columns from n0 on are in the copy, in bytes. p0 is a multiple of
// numbers.KBlock; n0, unless 0, of a tile's columns.
func (j *job) keptAt(p0, n0 int) int {
	return tile.Ceil(j.n, j.Lanes)*j.VB*p0 + n0*j.Size*j.Padded(min(numbers.KBlock, j.k-p0))
}

// nextKept returns the panel that follows the one before column x: it begins there, or is the first of the next
// terms.
func (j *job) nextKept(x, n0, n1, p0, kk int) region {
	if x >= n1 {
		x, p0 = n0, p0+kk
		if kk = min(numbers.KBlock, j.k-p0); kk <= 0 {
			return region{}
		}
	}
	return region{uintptr(j.kept.Ptr()) + uintptr(j.keptAt(p0, x)), min(j.nv*j.Lanes, n1-x) * kk * j.Size}
}
