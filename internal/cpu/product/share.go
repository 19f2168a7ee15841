package product

import (
	"weft/internal/cpu/tile"
	"weft/internal/mem"
	"weft/internal/numbers"
)

// Tasks that lie below one another in C read the same columns of B. Where each would pack them, all threads pack
// them once before the tasks begin. Tasks are then whole rows, so that A is packed once as well.

// sharedLeast is the size in bytes from which B is packed once for all tasks. Panels hold at most sharedMost bytes,
// so the terms of a larger B are packed and multiplied in several rounds. Tests set them.
var sharedLeast, sharedMost = 1 << 20, 16 << 20

const (
	packedColumns  = 256 // the least number of columns that a thread packs at a time
	sharedTaskRows = 64  // the least number of rows of a task, unless a block of A has less
)

// sharePays reports whether B is packed once for all tasks.
func (j *job) sharePays() bool {
	return j.packB && j.narrow == notNarrow && !j.through && j.consuming == nil && j.tilesM > 2 && j.sharesB() &&
		j.k*j.n*j.Size >= sharedLeast && j.sharedTerms() > 0
}

// sharedTerms returns how many terms of B sharedMost bytes hold, whole blocks.
func (j *job) sharedTerms() int {
	return sharedMost / (tile.Ceil(j.n, j.Lanes) * j.VB * numbers.KBlock) * numbers.KBlock
}

// runShared computes the products with panels of B that all tasks read.
func (j *job) runShared(total, threads int) {
	j.cutRows(total, threads)
	terms := j.sharedTerms()
	j.end = min(terms, j.k)
	panels := tile.Alloc(j.panelsBytes())
	defer mem.Free(panels)
	j.readPanels(panels.Ptr())
	for j.first = 0; j.first < j.k; j.first += terms {
		j.end = min(j.first+terms, j.k)
		j.packAll(j.panels, threads)
		j.runTasks(total, threads)
	}
}

// cutRows makes tasks of whole rows if each thread gets two or more, and of whole tiles of columns otherwise.
func (j *job) cutRows(total, threads int) {
	rows := min(max(tile.Ceil(j.m*total, 4*threads), min(sharedTaskRows, j.rows)), maxTaskRows)
	if tile.Ceil(j.m, rows)*total < 2*threads {
		j.cutColumns(j.taskN)
		return
	}
	j.taskM, j.rows = rows, min(j.rows, rows)
	j.tilesM = tile.Ceil(j.m, rows)
	j.cutColumns(j.n)
}
