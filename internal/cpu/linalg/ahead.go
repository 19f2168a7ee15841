package linalg

import (
	"weft/internal/cpu/tile"
	"weft/internal/par"
)

// panelStep returns the elements from row to row of n elements that are padded: an odd number of lines, so that rows fall
// into all sets of a cache.
func panelStep[T number](n int) int {
	line := padded[T](1)
	return padded[T](n) + (padded[T](n)/line+1)%2*line
}

// ahead updates columns first to n-1 after a panel was factored, and factors the next, which has the first next of the
// columns. The panel comes first, and the thread that updated it factors it while others update pieces of the
// rest. work is a column's in multiply-adds. How columns are cut influences no bit. Source: Strazdins, "A comparison
// of lookahead and algorithmic blocking techniques for parallel matrix factorization", TR-CS-98-07, Australian
// National University, 1998.
func (k *kit[T]) ahead(first, next, n, work int, update func(lo, hi int), factor func()) {
	threads := tile.ThreadsFor((n-first)*work, k.threads)
	panels, rest, piece := min(next, 1), n-first-next, n
	if threads > 1 {
		piece = max(8*base, tile.Ceil(tile.Ceil(rest, 4*threads), 4*base)*4*base)
	}
	par.Run(panels+tile.Ceil(rest, piece), 1, threads, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			if i < panels {
				update(first, first+next)
				factor()
				continue
			}
			lo := first + next + (i-panels)*piece
			update(lo, min(lo+piece, n))
		}
	})
}
