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

// A list of numbers of a type, with items of the given sizes, and at times rows of three.
func (g *gen) itemsOf(d weft.DType, sizes []int, n int) *ragged.List {
	shape := []int{n}
	if g.chance(3) {
		shape = append(shape, 3)
	}
	return ragged.FromSizes(g.tensorOf(d, shape), sizes)
}

func init() {
	floats := func(g *gen) (*ragged.List, []int, int) {
		sizes, n := g.sizes()
		return g.itemsOf(pick(g, weft.Float32, weft.Float64), sizes, n), sizes, n
	}
	operand := func(g *gen) []any {
		l, sizes, n := floats(g)
		switch g.r.IntN(4) {
		case 0:
			return []any{l, pick[any](g, 1, 2.5, -3)}
		case 1:
			return []any{l, g.itemsOf(weft.Float32, sizes, n)}
		case 2:
			return []any{l, g.tensorOf(weft.Float64, append([]int{len(sizes)}, l.Data().Shape()[1:]...))}
		}
		return []any{l, g.tensorOf(weft.Float32, append([]int{len(sizes), 1}, l.Data().Shape()[1:]...))}
	}
	for _, name := range []string{"Add", "Sub", "Mul", "Div", "RSub", "RDiv", "Pow", "Maximum", "Minimum", "Eq", "Ne", "Lt", "Le", "Gt", "Ge"} {
		plausible["ragged.List."+name] = operand
	}
	plausible["ragged.List.Map"] = func(g *gen) []any {
		sizes, n := g.sizes()
		return []any{g.itemsOf(weft.Float32, sizes, n), kernels.Func("Add"), g.itemsOf(weft.Float32, sizes, n)}
	}
	plausible["ragged.Expr"] = func(g *gen) []any {
		a := operand(g)
		return []any{pick(g, "2*a + b", "exp(-a*a)*b", "where(a>b, a, b)", "sum(a)"), weft.Vars{"a": a[0], "b": a[1]}}
	}
	plausible["ragged.List.With"] = func(g *gen) []any {
		l, _, n := floats(g)
		return []any{l, g.tensorOf(weft.Int32, []int{n, 2})}
	}
	plausible["ragged.List.Spread"] = func(g *gen) []any {
		l, sizes, _ := floats(g)
		return []any{l, g.tensorOf(weft.Float32, []int{len(sizes), 2})}
	}
	plausible["ragged.List.Mask"] = func(g *gen) []any {
		l, sizes, n := floats(g)
		if g.chance(2) {
			return []any{l, g.tensorOf(weft.Bool, []int{len(sizes)})}
		}
		return []any{l, ragged.FromSizes(g.tensorOf(weft.Bool, []int{n}), sizes)}
	}
	plausible["ragged.List.Index"] = func(g *gen) []any {
		l, sizes, _ := floats(g)
		places := make([][]int64, len(sizes))
		for i, n := range sizes {
			for range g.r.IntN(4) {
				places[i] = append(places[i], int64(g.r.IntN(max(n, 1))))
			}
		}
		return []any{l, ragged.Of(places)}
	}
	plausible["ragged.List.Take"] = func(g *gen) []any {
		l, sizes, _ := floats(g)
		return []any{l, []int{g.r.IntN(len(sizes) + 1), -1, 0}}
	}
	plausible["ragged.List.MatMul"] = func(g *gen) []any {
		sizes, n := g.sizes()
		return []any{ragged.FromSizes(g.tensorOf(weft.Float32, []int{n, 3}), sizes), g.tensorOf(weft.Float32, []int{3, 4})}
	}
	plausible["ragged.Attention"] = func(g *gen) []any {
		sizes, n := g.sizes()
		rows := func() *ragged.List { return ragged.FromSizes(g.tensorOf(weft.Float32, []int{n, 3}), sizes) }
		return []any{rows(), rows(), rows()}
	}
	plausible["ragged.Concat"] = func(g *gen) []any {
		sizes, n := g.sizes()
		rows := func() *ragged.List { return ragged.FromSizes(g.tensorOf(weft.Float32, []int{n, 3}), sizes) }
		return []any{[]*ragged.List{rows(), rows()}, g.r.IntN(2)}
	}
	plausible["ragged.FromPadded"] = func(g *gen) []any {
		x := g.tensorOf(weft.Float64, []int{3, 4})
		if g.chance(2) {
			return []any{x, g.tensorOf(weft.Bool, []int{3, 4})}
		}
		return []any{x, []int{g.r.IntN(5), 4, 0}}
	}
	plausible["ragged.FromSizes"] = func(g *gen) []any {
		sizes, n := g.sizes()
		return []any{g.tensorOf(weft.Float64, []int{n, 2}), sizes}
	}
	plausible["ragged.FromOffsets"] = func(g *gen) []any {
		return []any{g.tensorOf(weft.Float64, []int{9, 2}), []int{1, g.r.IntN(4) + 1, 7}}
	}
	plausible["ragged.Of"] = func(g *gen) []any {
		return []any{pick[any](g, [][]float64{{1}, {}, {2, 3}}, [][][]int8{{{1}}, {}}, []bool{true})}
	}
	plausible["ragged.List.Field"] = func(g *gen) []any {
		return []any{ragged.Of([][]struct{ A int8 }{{{1}}, {{2}, {3}}}), "A"}
	}
	plausible["ragged.WriteFile"] = func(g *gen) []any {
		l, _, _ := floats(g)
		return []any{"list.npz", l}
	}
	edit := func(more func(g *gen, l *ragged.List) []any) func(g *gen) []any {
		return func(g *gen) []any {
			l, _, _ := floats(g)
			return append([]any{l}, more(g, l)...)
		}
	}
	rows := func(g *gen, l *ragged.List) *weft.Tensor {
		return g.tensorOf(l.DType(), append([]int{g.r.IntN(4)}, l.Data().Shape()[1:]...))
	}
	plausible["ragged.List.Append"] = edit(func(g *gen, l *ragged.List) []any { return []any{rows(g, l)} })
	plausible["ragged.List.Insert"] = edit(func(g *gen, l *ragged.List) []any { return []any{g.r.IntN(l.Len() + 1), rows(g, l)} })
	plausible["ragged.List.Set"] = edit(func(g *gen, l *ragged.List) []any { return []any{g.r.IntN(l.Len() + 1), rows(g, l)} })
	plausible["ragged.List.SetRange"] = edit(func(g *gen, l *ragged.List) []any { return []any{0, g.r.IntN(l.Len() + 1), 1.5} })
	plausible["ragged.List.Delete"] = edit(func(g *gen, l *ragged.List) []any { return []any{g.r.IntN(l.Len() + 1)} })
}
