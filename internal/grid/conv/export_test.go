package conv

import (
	"weft/internal/array"
	"weft/internal/grid"
)

// Kernels returns all kernels of the package.
func Kernels() (list []*grid.Kernel) {
	for _, v := range directVariants() {
		if v.kind == weight {
			list = append(list, lowerWeight(v))
		} else {
			list = append(list, lowerDirect(v))
		}
	}
	for _, d := range []array.DType{array.Float32, array.Float64} {
		for _, more := range []bool{false, true} {
			list = append(list, fold(d, 0, 0, 1, 1, more).Lower())
		}
	}
	for _, d := range []array.DType{array.Float32, array.Float16, array.BFloat16} {
		t := transformed{of: [2]array.DType{d, d}}
		list = append(list, t.transformWeights(0, 0).Lower(), t.transformSource(piece{}, 0).Lower())
	}
	return append(list, new(transformed).transformSums(piece{}, 0, 0).Lower())
}

// SetLimits sets the bytes of memory for Winograd's algorithm and for sums of blocks, and the number
// of blocks of a launch. It returns what sets them back.
func SetLimits(winograd, parts, blocks int) (back func()) {
	a, b, c := winogradBytes, partBytes, maxBlocks
	winogradBytes, partBytes, maxBlocks = winograd, parts, blocks
	return func() { winogradBytes, partBytes, maxBlocks = a, b, c }
}
