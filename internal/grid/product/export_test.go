package product

import "weft/internal/array"

// LaunchesOf is Launches with a given tile.
func (p Product) LaunchesOf(t Tile, major int) []Launch {
	return p.launches(major, func(*Product) Tile { return t })
}

// TileSize returns the rows and columns of a tile, and whether the sums of its blocks are in shared
// memory.
func TileSize(d array.DType, t Tile) (m, n int, sumsShared bool) {
	s := shapes[d][t]
	return s.m, s.n, s.sumsShared
}

const (
	Depth    = depth
	NumTiles = numTiles
)

// SetLimits sets the limits of a launch, and returns what sets them back.
func SetLimits(side, blocks int) (back func()) {
	x, y := maxSide, maxBlocks
	maxSide, maxBlocks = side, blocks
	return func() { maxSide, maxBlocks = x, y }
}

// LaunchesOf is Launches with a given tile.
func (p Windows) LaunchesOf(t Tile, major int) []Launch {
	return p.launches(major, func(*Windows) Tile { return t })
}
