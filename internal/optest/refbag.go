package optest

import (
	"math"

	"weft/internal/ir"
	"weft/internal/op"
)

func init() {
	references["embedding_bag"] = func(x []*Array, a ir.Attrs) Result {
		opts, table, at, rest := a.(op.Bags), x[0], x[1], x[2:]
		if table.F == nil {
			panic(refusal{})
		}
		begin := []int{}
		if len(at.Shape) == 2 {
			for bag := range at.Shape[0] + 1 {
				begin = append(begin, bag*at.Shape[1])
			}
		} else {
			for _, i := range rest[len(rest)-1].I {
				begin = append(begin, int(i))
			}
			if !opts.Ends {
				begin = append(begin, at.Size())
			}
			rest = rest[:len(rest)-1]
		}
		bags, width, u := len(begin)-1, table.Shape[1], eps(computed(table.DType))
		out := Result{Array: New(table.DType, []int{bags, width}), Exact: opts.Mode == op.BagMax}
		if !out.Exact {
			out.Bound = make([]float64, bags*width)
		}
		for bag := range bags {
			for j := range width {
				var terms []float64
				magnitude, greatest := 0.0, math.Inf(-1)
				for i := begin[bag]; i < begin[bag+1]; i++ {
					if int(at.I[i]) == opts.Padding {
						continue
					}
					v := table.F[place(at.I[i], table.Shape[0])*width+j]
					if len(rest) > 0 {
						v *= rest[0].F[i]
					}
					terms = append(terms, v)
					magnitude += math.Abs(v)
					greatest = max(greatest, v) // NaN if one is
				}
				k, n := bag*width+j, float64(len(terms))
				switch {
				case len(terms) == 0:
				case opts.Mode == op.BagMax:
					out.F[k] = greatest
				default:
					y, _ := exactSum(terms, u)
					if opts.Mode == op.BagMean {
						y, magnitude = y/n, magnitude/n
					}
					out.F[k], out.Bound[k] = y, (float64(begin[bag+1]-begin[bag])+3)*u*magnitude
				}
			}
		}
		return out
	}
}
