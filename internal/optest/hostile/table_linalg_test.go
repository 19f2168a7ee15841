package hostile

import (
	"reflect"

	"weft/linalg"
	"weft/sym"
)

// The exports of package linalg, and what applies them to variables.

var linalgFunctions = []row[any]{
	{"linalg.BlockDiag", linalg.BlockDiag},
	{"linalg.Cholesky", linalg.Cholesky},
	{"linalg.CholeskySolve", linalg.CholeskySolve},
	{"linalg.Circulant", linalg.Circulant},
	{"linalg.Cond", linalg.Cond},
	{"linalg.Det", linalg.Det},
	{"linalg.Hankel", linalg.Hankel},
	{"linalg.Hilbert", linalg.Hilbert},
	{"linalg.HilbertOf", linalg.HilbertOf},
	{"linalg.Inv", linalg.Inv},
	{"linalg.Kron", linalg.Kron},
	{"linalg.LU", linalg.LU},
	{"linalg.LUFactor", linalg.LUFactor},
	{"linalg.LUSolve", linalg.LUSolve},
	{"linalg.LstSq", linalg.LstSq},
	{"linalg.MatrixNorm", linalg.MatrixNorm},
	{"linalg.MatrixPower", linalg.MatrixPower},
	{"linalg.MultiDot", linalg.MultiDot},
	{"linalg.QR", linalg.QR},
	{"linalg.SlogDet", linalg.SlogDet},
	{"linalg.Solve", linalg.Solve},
	{"linalg.SolveContinuousLyapunov", linalg.SolveContinuousLyapunov},
	{"linalg.SolveDiscreteLyapunov", linalg.SolveDiscreteLyapunov},
	{"linalg.SolveSylvester", linalg.SolveSylvester},
	{"linalg.SolveTriangular", linalg.SolveTriangular},
	{"linalg.TensorInv", linalg.TensorInv},
	{"linalg.TensorSolve", linalg.TensorSolve},
	{"linalg.Toeplitz", linalg.Toeplitz},
	{"linalg.Vander", linalg.Vander},
	{"linalg.VectorNorm", linalg.VectorNorm},
	{"sym.Apply", sym.Apply},
}

var linalgTypes = []row[reflect.Type]{
	{"linalg.CholeskyOpts", reflect.TypeFor[linalg.CholeskyOpts]()},
	{"linalg.CholeskySolveOpts", reflect.TypeFor[linalg.CholeskySolveOpts]()},
	{"linalg.LUSolveOpts", reflect.TypeFor[linalg.LUSolveOpts]()},
	{"linalg.LstSqOpts", reflect.TypeFor[linalg.LstSqOpts]()},
	{"linalg.MatrixNormOpts", reflect.TypeFor[linalg.MatrixNormOpts]()},
	{"linalg.Ord", reflect.TypeFor[linalg.Ord]()},
	{"linalg.QRMode", reflect.TypeFor[linalg.QRMode]()},
	{"linalg.QROpts", reflect.TypeFor[linalg.QROpts]()},
	{"linalg.SolveTriangularOpts", reflect.TypeFor[linalg.SolveTriangularOpts]()},
	{"linalg.TensorSolveOpts", reflect.TypeFor[linalg.TensorSolveOpts]()},
	{"linalg.ToeplitzOpts", reflect.TypeFor[linalg.ToeplitzOpts]()},
	{"linalg.VanderOpts", reflect.TypeFor[linalg.VanderOpts]()},
	{"linalg.VectorNormOpts", reflect.TypeFor[linalg.VectorNormOpts]()},
}
