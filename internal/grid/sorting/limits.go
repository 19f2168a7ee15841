package sorting

// TileSize is the number of records of a tile.
const TileSize = tileSize

// SetLimit is for tests: it sets the number of rows of a launch, and returns what sets it back.
func SetLimit(rows int) (back func()) {
	old := maxRows
	maxRows = rows
	return func() { maxRows = old }
}
