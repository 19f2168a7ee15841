package product

import "weft/internal/grid"

// Depth is the most terms of a tile.
const Depth = 16

// SetLimits is for tests: it sets the limits of a launch, and returns what sets them back.
func SetLimits(side, blocks int) (back func()) {
	x, y := maxSide, maxBlocks
	maxSide, maxBlocks = side, blocks
	return func() { maxSide, maxBlocks = x, y }
}

// LaunchesOf is Launches with a given tile.
func (p Windows) LaunchesOf(t Tile, major int) []grid.Launch {
	return p.launches(t, major)
}
