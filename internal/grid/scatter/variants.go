package scatter

import "weft/internal/grid"

// Limits are what tests change.
type Limits struct{ MaxBox, ShortLine, UnitLines, MaxNumber, MostBlocks, LeastChunk, SmallSort int }

// SetLimits is for tests: it sets the limits, and returns what sets them back.
func SetLimits(l Limits) (back func()) {
	was := Limits{maxBox, shortLine, unitLines, maxNumber, mostBlocks, leastChunk, smallSort}
	set := func(l Limits) {
		maxBox, shortLine, unitLines, maxNumber, mostBlocks, leastChunk, smallSort = l.MaxBox, l.ShortLine, l.UnitLines, l.MaxNumber, l.MostBlocks, l.LeastChunk, l.SmallSort
	}
	set(l)
	return func() { set(was) }
}

// Kernels is for tests. It returns the kernels of copies and of sums of floats, and a sample of the other ones.
func Kernels() (out []*grid.Kernel) {
	for i, c := range cells() {
		if c.op > Copy && !(c.op == Sum && c.dtype.Float()) && i%7 > 0 {
			continue
		}
		for _, v := range indexTypes {
			out = append(out, walkVariant{c, v}.lower())
		}
		for _, long := range []bool{false, true} {
			out = append(out, runsVariant{c, false, long}.lower())
			if c.op != Copy {
				out = append(out, runsVariant{c, true, long}.lower())
			}
		}
	}
	for _, long := range []bool{false, true} {
		for _, v := range indexTypes {
			out = append(out, keysVariant{v, long}.lower())
		}
		out = append(out, countVariant{long}.lower(), scanVariant{long}.lower(), orderVariant{false, long}.lower(), orderVariant{true, long}.lower(), binVariant{long}.lower(), smallVariant{long}.lower())
	}
	return out
}

// Tile is the number of pairs that a block orders at a time.
const Tile = tile
