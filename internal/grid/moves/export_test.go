package moves

import (
	"weft/internal/array"
	"weft/internal/grid"
)

// SetMaxBox sets maxBox, and returns what sets it back.
func SetMaxBox(n int) (back func()) {
	old := maxBox
	maxBox = n
	return func() { maxBox = old }
}

// Kernels returns kernels of all routines, each of them if all is set, else those of few axes.
func Kernels(all bool) (list []*grid.Kernel) {
	for _, v := range variants(all) {
		list = append(list, v.lower())
	}
	return list
}

// A variant is a kernel.
type variant interface{ lower() *grid.Kernel }

// variants returns the variants of up to 16 axes if all is set, else of up to 3.
func variants(all bool) (list []variant) {
	axes := 3
	if all {
		axes = array.MaxRank
	}
	for n := 1; n <= axes; n++ {
		for unit := 1; unit <= 16; unit *= 2 {
			list = append(list, linearVariant{unit, n, 1}, linearVariant{unit, n, manyEach}, tileVariant{unit, n})
		}
		for _, each := range []int{1, manyEach} {
			for _, index := range []array.DType{array.Int32, array.Int64} {
				for unit := 1; unit <= 16; unit *= 2 {
					list = append(list, takeVariant{unit, index, n, each})
				}
				for mode := range numModes {
					list = append(list, placesVariant{mode, index, n, each})
				}
			}
		}
	}
	return list
}
