package hostile

import (
	"iter"
	"math"
	"slices"

	"weft"
	"weft/kernel"
)

// near is a shape for arrays that a stencil reads.
func (g *gen) near(rank int) []int {
	s := make([]int, rank)
	for i := range s {
		s[i] = pick(g, 0, 1, 2, 3, 4, 5, 9, 17, 40)
	}
	return s
}

// stencilArgs are a stencil of the source and arguments that fit it.
func (g *gen) stencilArgs() (*kernel.Func, []any) {
	float := func(d weft.DType, s []int) *weft.Tensor { return g.tensorOf(d, s) }
	switch g.r.IntN(3) {
	case 0:
		return kernels.Func("Cross"), []any{float(weft.Float32, g.near(2))}
	case 1:
		s := g.near(1)
		return kernels.Func("Line"), []any{float(weft.Float64, s), float(weft.Float64, []int{s[0] + pick(g, 0, 0, 1, 5)}), pick[any](g, 2, 0.5, g.tensorOf(weft.Float64, []int{}))}
	}
	return kernels.Func("Slide"), []any{float(weft.Float32, g.near(1)), pick(g, -1, 0, 1, 2)}
}

func (g *gen) stencilOpts(rank int) kernel.StencilOpts {
	o := kernel.StencilOpts{Border: kernel.Border(g.r.IntN(8)), Cval: pick[any](g, nil, nil, 1, 2.5, float32(-1), 7i, true)}
	if g.chance(2) {
		for range rank {
			o.Neighborhood = append(o.Neighborhood, pick(g, [2]int{-1, 1}, [2]int{-2, 2}, [2]int{-1, 2}, [2]int{0, 3}, [2]int{-50, 50}, [2]int{-3, -1}))
		}
	}
	if g.chance(4) {
		for range rank {
			o.Step = append(o.Step, pick(g, 1, 2, 3, 100))
		}
	}
	if g.chance(10) {
		o.BorderFunc = func(i, n int) int { return (i%n + n) % n }
	}
	return o
}

// rankOf is the number of axes of a first argument.
func rankOf(args []any) int {
	rank := 0
	weft.Try(func() { rank = args[0].(*weft.Tensor).Rank() })
	return rank
}

// combination is a function that combines, with as many arguments as it has accumulators.
func (g *gen) combination(s []int) (*kernel.Func, []any) {
	switch g.r.IntN(4) {
	case 0:
		return kernels.Func("Affine"), []any{g.tensorOf(weft.Float64, s), g.tensorOf(weft.Float64, s)}
	case 1:
		return kernels.Func("Last"), []any{g.tensorOf(weft.Float32, s)}
	}
	return kernels.Func("Add"), []any{g.tensorOf(weft.Float32, s)}
}

func (g *gen) reduceOpts(rank int) kernel.ReduceOpts {
	o := kernel.ReduceOpts{Keep: g.chance(2), Commutative: g.chance(2)}
	for k := range rank {
		if g.chance(2) {
			o.Axes = append(o.Axes, pick(g, k, k-rank))
		}
	}
	if g.chance(2) {
		o.Identity = []any{0.0, 1}[:1+g.r.IntN(2)]
	}
	return o
}

func init() {
	makers[typ[iter.Seq[float32]]()] = func(g *gen) any { return pick(g, nil, slices.Values([]float32{1, -2, 0}), slices.Values([]float32{})) }
	makers[typ[iter.Seq[float64]]()] = func(g *gen) any {
		return pick(g, nil, slices.Values([]float64{math.NaN(), 2}), slices.Values([]float64{}))
	}
	makers[typ[iter.Seq[int32]]()] = func(g *gen) any {
		return pick(g, nil, slices.Values([]int32{math.MaxInt32, 1}), slices.Values([]int32{}))
	}
	mapped := func(g *gen) []any {
		s := g.shape()
		operand := func(d weft.DType) any {
			if g.chance(5) {
				return pick[any](g, 1, 2.5, -3)
			}
			o := append([]int(nil), s...)
			for k := range o {
				if g.chance(4) {
					o[k] = 1
				}
			}
			return g.tensorOf(d, o)
		}
		var f *kernel.Func
		var args []any
		switch g.r.IntN(7) {
		case 0:
			f, args = kernels.Func("Both"), []any{operand(pick(g, weft.Float32, weft.Float64, weft.Int64)), operand(pick(g, weft.Float32, weft.Float64, weft.Int64))}
		case 1:
			f, args = kernels.Func("Steps"), []any{operand(weft.Int32), operand(weft.Int8)}
		case 2:
			f, args = kernels.Func("Turn"), []any{operand(weft.Complex64)}
		case 3:
			f, args = kernels.Func("Clamped"), []any{g.tensorOf(weft.Float32, g.near(2)), operand(weft.Int64), operand(weft.Int64)}
		case 4:
			f, args = kernels.Func("Wrapped"), []any{g.tensorOf(weft.Int8, g.near(1)), operand(weft.Int64)}
		case 5:
			f, args = kernels.Func("Zeroed"), []any{g.tensorOf(weft.Float64, g.near(3)), operand(weft.Int64)}
		default:
			f, args = kernels.Func("Add"), []any{operand(weft.Float32), operand(weft.Float32)}
		}
		if g.chance(3) {
			args = append(args, kernel.MapOpts{Leading: g.chance(2)})
		}
		return []any{f, args}
	}
	plausible["kernel.Func.Map"], plausible["kernel.Func.MapAll"] = mapped, mapped
	stencil := func(g *gen) []any {
		f, args := g.stencilArgs()
		return []any{f, append(args, g.stencilOpts(rankOf(args)))}
	}
	plausible["kernel.Func.Stencil"], plausible["kernel.Func.StencilAll"] = stencil, stencil
	plausible["kernel.Func.Iterate"] = func(g *gen) []any {
		args := []any{g.tensorOf(weft.Float32, g.near(2))}
		o := g.stencilOpts(2)
		o.Step = nil
		return []any{kernels.Func("Cross"), pick(g, 0, 1, 2, 7), append(args, kernel.IterateOpts{StencilOpts: o, Every: new(g.r.IntN(4))})}
	}
	reduced := func(g *gen) []any {
		s := g.shape()
		f, args := g.combination(s)
		return []any{f, append(args, g.reduceOpts(len(s)))}
	}
	plausible["kernel.Func.Reduce"], plausible["kernel.Func.ReduceAll"] = reduced, reduced
	scanned := func(g *gen) []any {
		s := g.ranked()
		f, args := g.combination(s)
		return []any{f, append(args, kernel.ScanOpts{Axis: g.r.IntN(2*len(s)) - len(s), Reverse: g.chance(2)})}
	}
	plausible["kernel.Func.Scan"], plausible["kernel.Func.ScanAll"] = scanned, scanned
	plausible["kernel.MapReduce"] = func(g *gen) []any {
		s := g.shape()
		d := pick(g, weft.Float32, weft.Float64)
		if d == weft.Float64 {
			return []any{kernels.Func("Both"), kernels.Func("Affine"), []any{g.tensorOf(d, s), g.tensorOf(d, s), g.reduceOpts(len(s))}}
		}
		return []any{kernels.Func("Add"), kernels.Func(pick(g, "Add", "Last")), []any{g.tensorOf(d, s), g.operandOf(d, s), g.reduceOpts(len(s))}}
	}
	plausible["kernel.PageMap"] = func(g *gen) []any {
		d := pick(g, dtypes...)
		n := pick(g, 0, 1, 2, 3, 5, 8)
		pages := pick(g, nil, []int{1}, []int{3}, []int{2, 3})
		o := kernel.PageOp(g.r.IntN(9))
		args := []any{g.tensorOf(d, append(pages[:len(pages):len(pages)], n, n))}
		if o == kernel.MatMul || o == kernel.LeftDivide || o == kernel.RightDivide {
			args = append(args, g.tensorOf(d, []int{n, n}))
		}
		return []any{o, args}
	}
}

// operandOf is a number or a tensor of a type and a shape.
func (g *gen) operandOf(d weft.DType, s []int) any {
	if g.chance(4) {
		return 1.5
	}
	return g.tensorOf(d, s)
}
