package scatter

import (
	"weft/internal/array"
	"weft/internal/grid"
)

// Limits are what tests change.
type Limits struct{ MaxBox, ShortLine, UnitLines, MaxNumber, MostBlocks, LeastChunk int }

// SetLimits sets the limits, and returns what sets them back.
func SetLimits(l Limits) (back func()) {
	was := Limits{maxBox, shortLine, unitLines, maxNumber, mostBlocks, leastChunk}
	set := func(l Limits) {
		maxBox, shortLine, unitLines, maxNumber, mostBlocks, leastChunk = l.MaxBox, l.ShortLine, l.UnitLines, l.MaxNumber, l.MostBlocks, l.LeastChunk
	}
	set(l)
	return func() { set(was) }
}

// Kernels returns all kernels of sums and copies, and a sample of the other ones.
func Kernels() (out []*grid.Kernel) {
	for i, c := range cells() {
		if c.op > Sum && c.dtype != array.Float64 && i%7 > 0 {
			continue
		}
		for _, v := range indexTypes {
			out = append(out, walkVariant{c, v}.lower())
		}
		for _, long := range []bool{false, true} {
			out = append(out, runsVariant{c, long}.lower())
		}
	}
	for _, long := range []bool{false, true} {
		for _, v := range indexTypes {
			out = append(out, keysVariant{v, long}.lower())
		}
		out = append(out, countVariant{long}.lower(), scanVariant{long}.lower(), orderVariant{false, long}.lower(), orderVariant{true, long}.lower(), binVariant{long}.lower())
	}
	return out
}

// Tile is the number of pairs that a block orders at a time.
const Tile = tile
