package arg

// SetLimits is for tests: it sets the limits of a launch, and returns what sets them back.
func SetLimits(units, part int) (back func()) {
	x, y := maxUnits, maxPart
	maxUnits, maxPart = units, part
	return func() { maxUnits, maxPart = x, y }
}
