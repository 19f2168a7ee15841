package pooling

import "encoding/binary"

// Threads is the number of threads of a block.
const Threads = threads

// SetLimit sets the number of elements of a launch, and returns what sets it back.
func SetLimit(elements int) (back func()) {
	old := maxElements
	maxElements = elements
	return func() { maxElements = old }
}

// Begin returns the row and the column at which a launch begins, and the number of its elements.
func (l Launch) Begin() (row, col, n int) {
	get := func(at int) int { return int(binary.LittleEndian.Uint32(l.Args[at:])) }
	return get(argRow), get(argCol), get(argElements)
}
