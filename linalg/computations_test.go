package linalg_test

import (
	"math"
	"strings"

	"weft"
	"weft/linalg"
)

type tensors = []*weft.Tensor

// A computation makes the results of a vector, or its gradients where the vector's name has "_grad".
type computation = func(x tensors) tensors

func one(f func(x tensors) *weft.Tensor) computation {
	return func(x tensors) tensors { return tensors{f(x)} }
}

func lu(x tensors) tensors {
	p, l, u := linalg.LU(x[0])
	return tensors{p, l, u}
}

func qr(x tensors) tensors {
	q, r := linalg.QR(x[0])
	return tensors{q, r}
}

func lstsq(x tensors) tensors {
	y, residuals, _, _ := linalg.LstSq(x[0], x[1])
	return tensors{y, residuals}
}

func lstsqByQR(x tensors) tensors {
	y, residuals, _, _ := linalg.LstSq(x[0], x[1], linalg.LstSqOpts{FullRank: true})
	return tensors{y, residuals}
}

// pivots converts the pivots of a vector, which are floats.
func pivots(t *weft.Tensor) *weft.Tensor { return t.To(weft.Int64) }

var computations = map[string]computation{
	"cholesky": one(func(x tensors) *weft.Tensor { return linalg.Cholesky(x[0]) }),
	"solve_triangular": func(x tensors) tensors {
		var out tensors
		for _, o := range []linalg.SolveTriangularOpts{{}, {Lower: true}, {Adjoint: true}, {Lower: true, UnitDiagonal: true}} {
			out = append(out, linalg.SolveTriangular(x[0], x[1], o))
		}
		return out
	},
	"lu": lu, "lu_tall": lu, "lu_wide": lu,
	"qr": qr, "qr_tall": qr, "qr_wide": qr,
	"qr_complete": func(x tensors) tensors {
		q, r := linalg.QR(x[0], linalg.QROpts{Mode: linalg.Complete})
		return tensors{q, r}
	},
	"lu_factor": func(x tensors) tensors {
		f, p := linalg.LUFactor(x[0])
		return tensors{f, p}
	},
	"lu_solve": func(x tensors) tensors {
		return tensors{linalg.LUSolve(x[0], pivots(x[1]), x[2]), linalg.LUSolve(x[0], pivots(x[1]), x[2], linalg.LUSolveOpts{Adjoint: true})}
	},
	"solve": func(x tensors) tensors {
		return tensors{linalg.Solve(x[0], x[1]), linalg.Solve(x[0], x[1].Slice(weft.Range(0, weft.End), weft.Index(0)))}
	},
	"inv": func(x tensors) tensors {
		return tensors{linalg.Inv(x[0]), linalg.Cond(x[0], linalg.One), linalg.Cond(x[0], linalg.Fro), linalg.Cond(x[0], linalg.Inf)}
	},
	"det":          one(func(x tensors) *weft.Tensor { return linalg.Det(x[0]) }),
	"det_singular": one(func(x tensors) *weft.Tensor { return linalg.Det(x[0]) }),
	"slogdet": func(x tensors) tensors {
		sign, logabs := linalg.SlogDet(x[0])
		return tensors{sign, logabs}
	},
	"lstsq": lstsq, "lstsq_wide": lstsq, "lstsq_qr": lstsqByQR, "lstsq_qr_wide": lstsqByQR,
	"lstsq_deficient": func(x tensors) tensors {
		y, residuals, rank, s := linalg.LstSq(x[0], x[1])
		return tensors{y, residuals, rank, s}
	},
	"lstsq_cut": func(x tensors) tensors {
		y, residuals, rank, s := linalg.LstSq(x[0], x[1], linalg.LstSqOpts{RTol: new(0.3)})
		return tensors{y, residuals, rank, s}
	},
	"tensorsolve": func(x tensors) tensors {
		return tensors{linalg.TensorSolve(x[0], x[1]), linalg.TensorSolve(x[2], x[1], linalg.TensorSolveOpts{Axes: []int{0, 2}})}
	},
	"tensorinv": func(x tensors) tensors { return tensors{linalg.TensorInv(x[0], 2), linalg.TensorInv(x[1], 1)} },
	"cholesky_solve": func(x tensors) tensors {
		return tensors{linalg.CholeskySolve(x[0], x[1]), linalg.CholeskySolve(adjoint(x[0]), x[1], linalg.CholeskySolveOpts{Upper: true})}
	},
	"matrix_norm": func(x tensors) tensors {
		var out tensors
		for _, o := range []linalg.Ord{"", linalg.One, linalg.NegOne, linalg.Inf, linalg.NegInf} {
			out = append(out, linalg.MatrixNorm(x[0], linalg.MatrixNormOpts{Ord: o}))
		}
		return out
	},
	"vector_norm": func(x tensors) tensors {
		return tensors{linalg.VectorNorm(x[0]), linalg.VectorNorm(x[0], linalg.VectorNormOpts{Ord: new(1.0), Axes: []int{1}}),
			linalg.VectorNorm(x[0], linalg.VectorNormOpts{Ord: new(math.Inf(1)), Axes: []int{0, 2}}), linalg.VectorNorm(x[0], linalg.VectorNormOpts{Ord: new(3.0), Axes: []int{-1}, Keep: true})}
	},
	"matrix_power": func(x tensors) tensors {
		var out tensors
		for _, p := range []int{0, 1, 2, 5, -3} {
			out = append(out, linalg.MatrixPower(x[0], p))
		}
		return out
	},
	"multi_dot": func(x tensors) tensors {
		return tensors{linalg.MultiDot(x...), linalg.MultiDot(x[1:]...), linalg.MultiDot(x[1:3]...)}
	},
	"kron": func(x tensors) tensors {
		return tensors{linalg.Kron(x[0], x[1]), linalg.Kron(x[2], x[0]), linalg.Kron(x[2], x[2])}
	},
	"toeplitz": func(x tensors) tensors {
		o := linalg.ToeplitzOpts{R: x[1]}
		return tensors{linalg.Toeplitz(x[0]), linalg.Toeplitz(x[0], o), linalg.Hankel(x[0]), linalg.Hankel(x[0], o), linalg.Circulant(x[0])}
	},
	"vander": func(x tensors) tensors {
		return tensors{linalg.Vander(x[0]), linalg.Vander(x[0], linalg.VanderOpts{N: new(3)}), linalg.Vander(x[0], linalg.VanderOpts{N: new(5), Increasing: true}), linalg.HilbertOf(weft.Float64, 4)}
	},
	"block_diag": one(func(x tensors) *weft.Tensor { return linalg.BlockDiag(append(x[:3:3], weft.Scalar(3.0))...) }),
}

// differentiated has computations for vectors of gradients that differ from the vector of results.
var differentiated = map[string]computation{
	"solve_triangular": one(func(x tensors) *weft.Tensor {
		return linalg.SolveTriangular(x[0], x[1], linalg.SolveTriangularOpts{Lower: true})
	}),
	"lu":        func(x tensors) tensors { return lu(x)[1:] },
	"lu_tall":   func(x tensors) tensors { return lu(x)[1:] },
	"lu_wide":   func(x tensors) tensors { return lu(x)[1:] },
	"qr_r":      one(triangle),
	"qr_r_tall": one(triangle),
	"solve":     one(func(x tensors) *weft.Tensor { return linalg.Solve(x[0], x[1]) }),
	"inv":       one(func(x tensors) *weft.Tensor { return linalg.Inv(x[0]) }),
	"slogdet": one(func(x tensors) *weft.Tensor {
		_, logabs := linalg.SlogDet(x[0])
		return logabs
	}),
	"lstsq":           one(func(x tensors) *weft.Tensor { return lstsq(x)[0] }),
	"lstsq_wide":      one(func(x tensors) *weft.Tensor { return lstsq(x)[0] }),
	"lstsq_deficient": one(func(x tensors) *weft.Tensor { return lstsq(x)[0] }),
	"lstsq_qr":        one(func(x tensors) *weft.Tensor { return lstsqByQR(x)[0] }),
	"lstsq_qr_wide":   one(func(x tensors) *weft.Tensor { return lstsqByQR(x)[0] }),
	"tensorsolve":     one(func(x tensors) *weft.Tensor { return linalg.TensorSolve(x[0], x[1]) }),
}

// triangle is the factor r alone, whose gradient goes through no q.
func triangle(x tensors) *weft.Tensor {
	_, r := linalg.QR(x[0], linalg.QROpts{Mode: linalg.R})
	return r
}

// computationOf finds the computation of a vector, and whether its results are gradients.
func computationOf(name string) (f computation, grad bool) {
	name = strings.TrimSuffix(name, "_complex")
	name, grad = strings.CutSuffix(name, "_grad")
	if d := differentiated[name]; grad && d != nil {
		return d, true
	}
	return computations[name], grad
}
