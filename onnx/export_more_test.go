package onnx_test

import (
	"weft"
)

// exportedOrders have sorting, searching, and reading and writing at computed indices.
func exportedOrders() []exportCase {
	g := weft.NewGenerator(4)
	x := func(shape ...int) []*weft.Tensor { return list(g.Normal(0, 1, shape...)) }
	matrix := func(name string, f any) exportCase {
		return exportCase{name, f, []string{"x[n 6]"}, x(4, 6), x(9, 6), nil}
	}
	at := weft.From([]int64{4, 0, 4, 1, -1})
	rows := weft.From([][]float32{{-2, -1, 0, 0, 1, 2}})
	places := func(x *weft.Tensor) *weft.Tensor { return x.Mul(7).Abs().Floor().To(weft.Int64).Mod(6) }
	return []exportCase{
		matrix("sort", func(x *weft.Tensor) (a, b, c, d *weft.Tensor) {
			a, b = x.Sort(1)
			c, d = x.Mul(2).Round().Sort(0, weft.SortOpts{Descending: true})
			return a, b, c, d
		}),
		matrix("sortints", func(x *weft.Tensor) (a, b, c *weft.Tensor) {
			a, _ = x.Mul(9).To(weft.Int8).Sort(1)
			b, _ = x.Gt(0).Sort(1)
			c = x.Mul(9).To(weft.Int32).ArgSort(0)
			return a, b, c
		}),
		matrix("topk", func(x *weft.Tensor) (a, b, c *weft.Tensor) {
			a, b = x.TopK(3, 1)
			c, _ = x.TopK(2, 0, weft.TopKOpts{Smallest: true})
			return a, b, c
		}),
		matrix("kthvalue", func(x *weft.Tensor) (a, b, c *weft.Tensor) {
			a, b = x.KthValue(2, 1)
			return a, b, x.Median(1)
		}),
		matrix("partition", func(x *weft.Tensor) (a, b, c, d, e *weft.Tensor) {
			r := x.Mul(2).Round() // equal elements too
			return x.Partition(2, 1), r.ArgPartition(-1, 1), r.ArgPartition(0, 0), x.Mul(9).To(weft.Int8).Partition(3, 1), x.NanMedian(1)
		}),
		matrix("searchsorted", func(x *weft.Tensor) (a, b *weft.Tensor) {
			return rows.Reshape(6).SearchSorted(x), x.Mul(0).Add(rows).SearchSorted(x.Round(), weft.SearchOpts{Right: true})
		}),
		matrix("scatter", func(x *weft.Tensor) (a, b *weft.Tensor) {
			return x.Scatter(1, places(x), x.Mul(3)), weft.Zeros(9, 6).Mul(x.Sum()).ScatterAdd(1, places(x.Slice(weft.Range(0, 3))), x.Slice(weft.Range(0, 3)))
		}),
		matrix("extremes", func(x *weft.Tensor) (a, b *weft.Tensor) {
			return x.ScatterReduce(1, places(x), x.Mul(3), weft.ScatterOpts{Reduce: weft.ScatterMax}),
				x.ScatterReduce(1, places(x), x.Mul(3), weft.ScatterOpts{Reduce: weft.ScatterMin, ExcludeSelf: true})
		}),
		matrix("products", func(x *weft.Tensor) (a, b *weft.Tensor) {
			return x.ScatterReduce(1, places(x), x.Mul(3), weft.ScatterOpts{Reduce: weft.ScatterProd}),
				x.ScatterReduce(1, places(x), x.Mul(3), weft.ScatterOpts{Reduce: weft.ScatterProd, ExcludeSelf: true})
		}),
		matrix("indexput", func(x *weft.Tensor) (a, b, c *weft.Tensor) {
			return x.IndexAdd(1, at, x.Slice(weft.All, weft.Range(0, 5)).Mul(2)), x.IndexPut(x.Slice(weft.All, weft.Range(1, 6)), weft.All, at), x.Index(places(x).Mod(4), places(x.Mul(2)))
		}),
		{"windows", func(x *weft.Tensor) *weft.Tensor {
			y := x.Clone()
			y.T().Slice(weft.Range(1, 5, 2)).Reshape(2, 2, 2).Assign(x.Reshape(-1).Slice(weft.Range(1, 17, 2)).Reshape(2, 2, 2))
			return y
		}, []string{"x[4 6]"}, x(4, 6), x(4, 6), nil},
		matrix("masks", func(x *weft.Tensor) (a, b *weft.Tensor) {
			return x.Gt(0).Sum(), x.Gt(0).CumSum(1)
		}),
	}
}

// exportedLoops have loops and branches.
func exportedLoops() []exportCase {
	g := weft.NewGenerator(5)
	x := func(shape ...int) []*weft.Tensor { return list(g.Normal(0, 1, shape...)) }
	matrix := func(name string, f any) exportCase {
		return exportCase{name, f, []string{"x[n 6]"}, x(4, 6), x(9, 6), nil}
	}
	w := g.Normal(0, 0.5, 6, 6)
	cond := func(x *weft.Tensor) []*weft.Tensor {
		return weft.Cond(x.Sum().Gt(0), func() []*weft.Tensor { return []*weft.Tensor{x.MatMul(w), x.Sum(0)} },
			func() []*weft.Tensor { return []*weft.Tensor{x.Exp().Reshape(-1).Reshape(x.Shape()...), x.Mean(0)} })
	}
	newton := func(max int) one {
		return func(x *weft.Tensor) *weft.Tensor {
			a := x.Abs().Add(0.1)
			return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Square().Sub(a).Abs().Max().Gt(1e-3) },
				func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].Add(a.Div(s[0])).Div(2)} },
				[]*weft.Tensor{a}, weft.WhileOpts{Max: max})[0]
		}
	}
	cell := func(x *weft.Tensor) (last, all, numbers *weft.Tensor) {
		h, outs := weft.ScanSteps(7, func(i *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
			h := s[0].MatMul(w).Add(x).Tanh()
			return []*weft.Tensor{h}, []*weft.Tensor{h.Mul(2), i.Mul(3)}
		}, []*weft.Tensor{x.Mul(0)})
		return h[0], outs[0], outs[1]
	}
	grad := func(f one) one {
		return func(x *weft.Tensor) *weft.Tensor {
			x = x.Detach().RequireGrad()
			return weft.Grad(f(x).Square().Sum(), []*weft.Tensor{x})[0]
		}
	}
	return []exportCase{
		matrix("branch", func(x *weft.Tensor) (a, b *weft.Tensor) { r := cond(x); return r[0], r[1] }),
		matrix("else", func(x *weft.Tensor) (a, b *weft.Tensor) { r := cond(x.Abs().Neg()); return r[0], r[1] }),
		matrix("while", newton(0)),
		matrix("bounded", newton(3)),
		matrix("scan", cell),
		matrix("nested", func(x *weft.Tensor) *weft.Tensor {
			s, _ := weft.ScanSteps(3, func(i *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				return []*weft.Tensor{weft.Cond(s[0].Sum().Gt(i), func() []*weft.Tensor { return []*weft.Tensor{newton(4)(s[0]).Sub(1)} },
					func() []*weft.Tensor { return []*weft.Tensor{s[0].Add(x)} })[0]}, nil
			}, []*weft.Tensor{x})
			return s[0]
		}),
		matrix("scangrad", grad(func(x *weft.Tensor) *weft.Tensor { _, b, _ := cell(x); return b })),
		matrix("whilegrad", grad(newton(6))),
		matrix("branchgrad", grad(func(x *weft.Tensor) *weft.Tensor { return cond(x)[0] })),
	}
}

// exportedGradients have gradients of convolutions, pooling, windows and indices.
func exportedGradients() []exportCase {
	g := weft.NewGenerator(6)
	x := func(shape ...int) []*weft.Tensor { return list(g.Normal(0, 1, shape...)) }
	image := func(name string, f one) exportCase {
		return exportCase{name, func(x *weft.Tensor) *weft.Tensor {
			x = x.Detach().RequireGrad()
			return weft.Grad(f(x).Square().Sum(), []*weft.Tensor{x})[0]
		}, []string{"x[n 4 h w]"}, x(2, 4, 11, 13), x(3, 4, 14, 16), nil}
	}
	steps := func(name string, f one) exportCase {
		c := image(name, f)
		c.inputs, c.more = []string{"x[n 4 11 13]"}, x(3, 4, 11, 13)
		return c
	}
	filters := g.Normal(0, 0.3, 6, 2, 3, 3).RequireGrad()
	plain := g.Normal(0, 0.3, 6, 4, 3, 2).RequireGrad()
	weights := func(name string, w *weft.Tensor, o weft.ConvOpts) exportCase {
		return exportCase{name, func(x *weft.Tensor) *weft.Tensor {
			return weft.Grad(x.Conv2d(w, nil, o).Square().Sum(), []*weft.Tensor{w})[0]
		}, []string{"x[n 4 h w]"}, x(2, 4, 11, 13), x(3, 4, 14, 16), nil}
	}
	strided := weft.ConvOpts{Stride: &[2]int{2, 1}, Padding: [2]int{1, 2}, Groups: new(2)}
	dilated := weft.ConvOpts{Stride: &[2]int{3, 2}, Padding: [2]int{1, 1}, Dilation: &[2]int{2, 3}}
	window := weft.PoolOpts{Window: [2]int{3, 2}, Stride: &[2]int{2, 1}, Padding: [2]int{1, 0}}
	return []exportCase{
		image("convgrad", func(x *weft.Tensor) *weft.Tensor { return x.Conv2d(filters, nil, strided) }),
		image("dilatedgrad", func(x *weft.Tensor) *weft.Tensor { return x.Conv2d(plain, nil, dilated) }),
		weights("weightgrad", filters, strided),
		weights("dilatedweights", plain, dilated),
		image("maxpoolgrad", func(x *weft.Tensor) *weft.Tensor { return x.MaxPool2d(window) }),
		image("avgpoolgrad", func(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(window) }),
		image("widepoolgrad", func(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(weft.PoolOpts{Window: [2]int{9, 9}}) }),
		image("gathergrad", func(x *weft.Tensor) *weft.Tensor {
			y, _ := x.Sort(2)
			return y.Gather(1, x.Gt(0).To(weft.Int64)).Add(x.IndexSelect(1, weft.From([]int64{3, 3, 0, 1}))).Add(x.CumSum(3))
		}),
		steps("slicegrad", func(x *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.All, weft.All, weft.Range(1, 9, 3)).Flip(2).Mul(2)
		}),
		steps("stepgrad", func(x *weft.Tensor) *weft.Tensor {
			return x.Flip(3).Slice(weft.All, weft.Range(0, 4, 2), weft.All, weft.Range(0, 10, 3))
		}),
	}
}

// allExported are all cases.
func allExported() (list []exportCase) {
	for _, cases := range [][]exportCase{exportedModules(), exportedFunctions(), exportedOrders(), exportedLoops(), exportedGradients()} {
		list = append(list, cases...)
	}
	return list
}
