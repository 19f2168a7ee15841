package fft

// A cover is how vectors cover the columns of a row. Where columns do not fill the last vector, it begins
// earlier, and computes some columns twice. Columns fewer than a vector are padded.
type cover struct{ columns, lanes int }

// padded reports that rows need memory beyond their columns.
func (c cover) padded() bool { return c.columns < c.lanes }

// width is the number of columns with padding.
func (c cover) width() int { return max(c.columns, c.lanes) }

// padding is width where rows are padded.
func (c cover) padding() int {
	if c.padded() {
		return c.lanes
	}
	return 0
}

// full is the number of vectors that lie one behind the other.
func (c cover) full() int { return c.width() / c.lanes }

// rest reports that one more vector is at the end of a row.
func (c cover) rest() bool { return c.width()%c.lanes != 0 }

// runs is the number of runs of at most some vectors, the last one alone where it overlaps others.
func (c cover) runs(vectors int) int {
	n := (c.full() + vectors - 1) / vectors
	if c.rest() {
		n++
	}
	return n
}

// run returns the first column of a run, the number of its vectors, and that of the vectors before it.
func (c cover) run(r, vectors int) (at, blocks, before int) {
	if before = r * vectors; before < c.full() {
		return before * c.lanes, min(vectors, c.full()-before), before
	}
	return c.columns - c.lanes, 1, c.full()
}
