package hostile

import (
	"weft"
	"weft/ragged"
)

// sizes are lengths of items, and their sum.
func (g *gen) sizes() (sizes []int, n int) {
	for range g.r.IntN(6) {
		k := pick(g, 0, 1, 1, 2, 3, 4, 9, 70)
		sizes, n = append(sizes, k), n+k
	}
	return sizes, n
}

// list is a list of items, nested at times.
func (g *gen) list() *ragged.List {
	switch g.r.IntN(12) {
	case 0:
		return pick(g, nil, &ragged.List{})
	case 1:
		return ragged.Empty(weft.Float32, 2)
	case 2:
		return ragged.Of([][]struct {
			A int32
			B [2]float64
		}{{{1, [2]float64{2, 3}}}, {}})
	case 3:
		return ragged.Of([][][]float64{{{1}, {2, 3}}, {}, {{}}})
	}
	sizes, n := g.sizes()
	shape := []int{n}
	if g.chance(3) {
		shape = append(shape, 1+g.r.IntN(3))
	}
	return ragged.FromSizes(g.tensorOf(pick(g, weft.Float32, weft.Float32, weft.Float64, weft.Int64, weft.Bool, weft.Int8, weft.Complex64), shape), sizes)
}
