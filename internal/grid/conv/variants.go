package conv

import (
	"weft/internal/array"
	"weft/internal/grid"
)

// Kernels returns all kernels of the package, for tests.
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

// SetLimits is for tests: it sets the bytes of memory for Winograd's algorithm and for sums of blocks, and the number
// of blocks of a launch. It returns what sets them back.
func SetLimits(winograd, parts, blocks int) (back func()) {
	a, b, c := winogradBytes, partBytes, maxBlocks
	winogradBytes, partBytes, maxBlocks = winograd, parts, blocks
	return func() { winogradBytes, partBytes, maxBlocks = a, b, c }
}

// directVariants returns all variants.
func directVariants() (out []directVariant) {
	types := []array.DType{array.Float32, array.Float16, array.BFloat16}
	add := func(d array.DType, of [2]array.DType) {
		for _, flag := range []bool{false, true} {
			out = append(out, directVariant{kind: input, dtype: d, of: of, unit: flag}, directVariant{kind: weight, dtype: d, of: of, positive: flag})
		}
		out = append(out, directVariant{kind: forward, dtype: d, of: of})
	}
	add(array.Float64, [2]array.DType{array.Float64, array.Float64})
	for _, x := range types {
		for _, w := range types {
			of := [2]array.DType{x, w}
			add(array.Float32, of)
			out = append(out, directVariant{kind: forward, dtype: array.Float32, of: of, flagged: true},
				directVariant{kind: input, dtype: array.Float32, of: of, unit: true, flagged: true})
		}
	}
	return out
}
