package pooling

// Threads is the number of threads of a block.
const Threads = threads

// SetLimit is for tests: it sets the number of elements of a launch, and returns what sets it back.
func SetLimit(elements int) (back func()) {
	old := maxElements
	maxElements = elements
	return func() { maxElements = old }
}
