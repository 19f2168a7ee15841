package weft_test

import (
	"weft"
	"weft/linalg"
)

// linalgOptionCases are the options of package linalg.
var linalgOptionCases = map[string]optionCase{
	"linalg.VanderOpts": optionsOf(func(o linalg.VanderOpts) []float64 {
		return weft.Data[float64](linalg.Vander(weft.From([]float64{1, 2, 3}), o).Contiguous())
	}, map[string]optionField{"N": {def: new(3), zero: func() []float64 { return []float64{} }}}),
	"linalg.VectorNormOpts": optionsOf(func(o linalg.VectorNormOpts) []float64 {
		return []float64{linalg.VectorNorm(weft.From([]float64{3, 0, 4}), o).Item()}
	}, map[string]optionField{"Ord": {def: new(2.0), zero: func() []float64 { return []float64{2} }}}),
	"linalg.RankOpts": optionsOf(func(o linalg.RankOpts) []float64 {
		return []float64{linalg.MatrixRank(weft.From([][]float64{{1, 0}, {0, 1e-20}}), o).Item()}
	}, map[string]optionField{"RTol": {def: new(0x1p-51), zero: func() []float64 { return []float64{2} }}}),
}
