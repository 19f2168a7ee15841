package moves

import (
	"weft/internal/array"
	"weft/internal/grid"
)

// SetMaxBox is for tests: it sets maxBox, and returns what sets it back.
func SetMaxBox(n int) (back func()) {
	old := maxBox
	maxBox = n
	return func() { maxBox = old }
}

// Kernels is for tests. It returns kernels of all routines, each of them if all is set, else the ones of few axes.
func Kernels(all bool) (list []*grid.Kernel) {
	for _, v := range variants(all) {
		list = append(list, v.lower())
	}
	return list
}

// A variant is a kernel.
type variant interface{ lower() *grid.Kernel }

// variants returns all variants if all is set, else the ones of few axes.
func variants(all bool) (list []variant) {
	for k := maskCount; k < maskMove; k++ {
		list = append(list, maskVariant{kernel: k})
	}
	list = append(list, maskVariant{maskMove, Positions, 0})
	for unit := 1; unit <= 16; unit *= 2 {
		list = append(list, maskVariant{maskMove, MaskSelect, unit}, maskVariant{maskMove, MaskPlace, unit})
	}
	axes := fewAxes
	if all {
		axes = array.MaxRank
	}
	for n := 1; n <= axes; n++ {
		for unit := 1; unit <= 16; unit *= 2 {
			list = append(list, tileVariant{unit, 1, n})
			if unit < 4 {
				list = append(list, tileVariant{unit, 4 / unit, n})
			}
		}
		for _, each := range []int{1, manyEach} {
			if each > 1 && n > fewAxes {
				continue
			}
			for unit := 1; unit <= 16; unit *= 2 {
				list = append(list, linearVariant{unit, n, each}, takeVariant{unit, array.Int32, n, each}, takeVariant{unit, array.Int64, n, each})
			}
			for mode := range numModes {
				list = append(list, placesVariant{mode, array.Int32, n, each}, placesVariant{mode, array.Int64, n, each})
			}
		}
	}
	return list
}

// SumsLaunch is sumsLaunch.
var SumsLaunch = sumsLaunch
