package hostile

import (
	"maps"

	"weft"
	"weft/fft"
	"weft/internal/array"
	"weft/linalg"
	"weft/ndimage"
	"weft/signal"
	"weft/sparse"
)

// The arguments of linear algebra, transforms, filters and sparse matrices that random ones rarely fit.
func init() {
	maps.Copy(plausible, map[string]func(g *gen) []any{
		"fft.STFT": func(g *gen) []any {
			return []any{g.plain([]int{1 + g.r.IntN(2), 16 + g.r.IntN(30)}), g.stftOpts()}
		},
		"fft.ISTFT": func(g *gen) []any {
			o := g.stftOpts()
			o.Onesided, o.PadMode = new(true), ""
			return []any{g.tensorOf(pick(g, weft.Complex64, weft.Complex128), []int{2, o.NFFT/2 + 1, 3 + g.r.IntN(4)}), o}
		},
		"linalg.CholeskySolve": func(g *gen) []any {
			l := g.definite()
			return []any{linalg.Cholesky(l), g.rightSides(l)}
		},
		"linalg.Cond": func(g *gen) []any {
			return []any{g.definite(), pick(g, linalg.Fro, "nuc", "inf", "-inf", "1", "-1", "2", "-2")}
		},
		"linalg.Eigh": func(g *gen) []any {
			return []any{g.definite(), pick(g, nil, []linalg.EighOpts{{B: g.definite(), Upper: g.chance(2)}})}
		},
		"linalg.LUSolve": func(g *gen) []any {
			a := g.definite()
			lu, pivots := linalg.LUFactor(a)
			return []any{lu, pivots, g.rightSides(a)}
		},
		"linalg.SolveContinuousLyapunov": func(g *gen) []any {
			a := g.definite()
			return []any{a, g.tensorOf(g.dtype(), a.Shape())}
		},
		"linalg.SolveDiscreteLyapunov": func(g *gen) []any {
			a := g.definite()
			return []any{a.Div(100), g.tensorOf(g.dtype(), a.Shape())}
		},
		"linalg.SolveSylvester": func(g *gen) []any {
			a, b := g.definite(), g.definite()
			return []any{a, b, g.tensorOf(g.dtype(), []int{a.Dim(-2), b.Dim(-1)})}
		},
		"linalg.TensorInv": func(g *gen) []any { return []any{g.definite().Reshape(-1).Slice(weft.Range(0, 4)).Reshape(2, 2), 1} },
		"ndimage.AffineTransform": func(g *gen) []any {
			return []any{g.plain([]int{5, 6}), [][]float64{{0.9, 0.1}, {-0.2, 1.1}}, pick(g, nil, []float64{0.5}, []float64{-1, 2.25}), pick(g, nil, []int{4, 4}), g.splineOpts()}
		},
		"ndimage.MapCoordinates": func(g *gen) []any {
			return []any{g.plain([]int{5, 6}), g.uniform(5, 2, 4), g.splineOpts()}
		},
		"signal.Correlate": func(g *gen) []any {
			d := g.dtype()
			return []any{g.tensorOf(d, []int{1 + g.side()}), g.tensorOf(d, []int{1 + g.side()}), []signal.ConvolveOpts{{Mode: pick(g, "", signal.Full, signal.Same, signal.Valid)}}}
		},
		"signal.Decimate": func(g *gen) []any {
			return []any{g.tensorOf(g.float32Or64(), []int{2, 60}), 2 + g.r.IntN(3), []signal.DecimateOpts{{FIR: g.chance(2), Delay: g.chance(2)}}}
		},
		"signal.LFilter":           func(g *gen) []any { return append(g.filter(), g.tensorOf(weft.Float64, []int{2, 9})) },
		"signal.FiltFilt":          func(g *gen) []any { return append(g.filter(), g.tensorOf(weft.Float64, []int{2, 30})) },
		"signal.PeakProminences":   peaksOf,
		"signal.PeakWidths":        peaksOf,
		"signal.SOS2TF":            func(g *gen) []any { return []any{sections()} },
		"signal.SOSFilt":           func(g *gen) []any { return []any{sections(), g.tensorOf(weft.Float64, []int{2, 9})} },
		"signal.SOSFiltFilt":       func(g *gen) []any { return []any{sections(), g.tensorOf(weft.Float64, []int{2, 40})} },
		"signal.SOSFiltZi":         func(g *gen) []any { return []any{sections()} },
		"signal.SOSFreqZ":          func(g *gen) []any { return []any{sections(), []signal.FreqZOpts{{N: new(8)}}} },
		"sparse.Matrix.MatMul":     sparseProduct,
		"sparse.Matrix.LeftMatMul": func(g *gen) []any { a := sparseProduct(g); return []any{a[0], a[1].(*weft.Tensor).T()} },
		"sparse.SolveTriangular": func(g *gen) []any {
			return []any{sparse.FromDense(linalg.Cholesky(g.definite())), g.tensorOf(weft.Float64, []int{3})}
		},
	})
	for _, name := range []string{"GreyDilation", "GreyErosion", "BlackTophat", "WhiteTophat", "GreyOpening", "GreyClosing"} {
		plausible["ndimage."+name] = func(g *gen) []any {
			return []any{g.plain([]int{4, 5}), pick(g, []int{3, 3}, []int{2, 3}), []ndimage.GreyOpts{{Mode: pick(g, "", ndimage.Nearest, ndimage.Wrap)}}}
		}
	}
}

func (g *gen) float32Or64() weft.DType { return pick(g, weft.Float32, weft.Float64) }

func (g *gen) stftOpts() fft.STFTOpts {
	n := pick(g, 4, 8, 7)
	return fft.STFTOpts{NFFT: n, HopLength: pick(g, 0, 1, 2), Normalized: g.chance(2), PadMode: pick(g, "", "constant", "replicate", "circular")}
}

func (g *gen) splineOpts() []ndimage.InterpolationOpts {
	return []ndimage.InterpolationOpts{{Order: new(g.r.IntN(6)), Mode: pick(g, "", ndimage.Nearest, ndimage.Reflect, ndimage.Wrap), NoPrefilter: g.chance(3)}}
}

// uniform is numbers from 0 to before end.
func (g *gen) uniform(end float64, shape ...int) *weft.Tensor {
	x := make([]float64, array.Size(shape))
	for i := range x {
		x[i] = end * g.r.Float64()
	}
	return weft.From(x).Reshape(shape...)
}

// definite is a symmetric matrix, [3 3], with positive eigenvalues.
func (g *gen) definite() *weft.Tensor {
	a := g.uniform(1, 3, 3)
	return a.MatMul(a.T()).Add(weft.EyeOf(weft.Float64, 3))
}

func (g *gen) rightSides(a *weft.Tensor) *weft.Tensor {
	return g.tensorOf(a.DType(), pick(g, []int{3}, []int{3, 2}))
}

// filter is a stable filter's numerator and denominator.
func (g *gen) filter() []any {
	return []any{weft.From([]float64{0.2, 0.3, 0.1}), pick(g, weft.From([]float64{1, -0.5}), weft.From([]float64{2, -0.5, 0.25}), weft.From([]float64{1}))}
}

func sections() *weft.Tensor {
	return weft.From([]float64{0.2, 0.3, 0.1, 1, -0.5, 0.1, 1, 2, 1, 1, 0.25, 0}).Reshape(2, 6)
}

func peaksOf(g *gen) []any {
	return []any{weft.From([]float64{0, 2, 1, 3, 0, 1, 0}), weft.From([]int64{1, 3, 5}[g.r.IntN(3):])}
}

// sparseProduct is a matrix and several columns: one column is summed in another order than columns of many
// examples (decision 0223).
func sparseProduct(g *gen) []any {
	d := g.float32Or64()
	a := sparse.FromDense(weft.From([]float64{0, 2, 0, 3, 0, 1, 1, 0, 0, 0, 0, 4}).Reshape(3, 4).To(d))
	m := pick(g, a, a.To(sparse.CSC), a.To(sparse.COO))
	return []any{m, g.tensorOf(d, pick(g, []int{4, 2}, []int{4, 9}))}
}
