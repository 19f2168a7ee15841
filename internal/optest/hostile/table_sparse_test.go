package hostile

import (
	"reflect"

	"weft/sparse"
)

// The exports of package sparse.

var sparseFunctions = []row[any]{
	{"sparse.BiCGSTAB", sparse.BiCGSTAB},
	{"sparse.BlockDiag", sparse.BlockDiag},
	{"sparse.CG", sparse.CG},
	{"sparse.Cholesky", sparse.Cholesky},
	{"sparse.ConnectedComponents", sparse.ConnectedComponents},
	{"sparse.Diags", sparse.Diags},
	{"sparse.Eigsh", sparse.Eigsh},
	{"sparse.Eye", sparse.Eye},
	{"sparse.FromDense", sparse.FromDense},
	{"sparse.GMRES", sparse.GMRES},
	{"sparse.HStack", sparse.HStack},
	{"sparse.IC", sparse.IC},
	{"sparse.ILU", sparse.ILU},
	{"sparse.Jacobi", sparse.Jacobi},
	{"sparse.Kron", sparse.Kron},
	{"sparse.LSQR", sparse.LSQR},
	{"sparse.LU", sparse.LU},
	{"sparse.MINRES", sparse.MINRES},
	{"sparse.NewBSR", sparse.NewBSR},
	{"sparse.NewCOO", sparse.NewCOO},
	{"sparse.NewCSC", sparse.NewCSC},
	{"sparse.NewCSR", sparse.NewCSR},
	{"sparse.ReadMatrixMarket", sparse.ReadMatrixMarket},
	{"sparse.ReadNPZ", sparse.ReadNPZ},
	{"sparse.ReadNPZFile", sparse.ReadNPZFile},
	{"sparse.ShortestPath", sparse.ShortestPath},
	{"sparse.Solve", sparse.Solve},
	{"sparse.SolveTriangular", sparse.SolveTriangular},
	{"sparse.Svds", sparse.Svds},
	{"sparse.VStack", sparse.VStack},
	{"sparse.WriteMatrixMarket", sparse.WriteMatrixMarket},
	{"sparse.WriteNPZ", sparse.WriteNPZ},
	{"sparse.WriteNPZFile", sparse.WriteNPZFile},
}

var sparseTypes = []row[reflect.Type]{
	{"sparse.CholeskyOpts", reflect.TypeFor[sparse.CholeskyOpts]()},
	{"sparse.ComponentsOpts", reflect.TypeFor[sparse.ComponentsOpts]()},
	{"sparse.EigshOpts", reflect.TypeFor[sparse.EigshOpts]()},
	{"sparse.Factorization", reflect.TypeFor[sparse.Factorization]()},
	{"sparse.Format", reflect.TypeFor[sparse.Format]()},
	{"sparse.FormatError", reflect.TypeFor[sparse.FormatError]()},
	{"sparse.LSQROpts", reflect.TypeFor[sparse.LSQROpts]()},
	{"sparse.LUOpts", reflect.TypeFor[sparse.LUOpts]()},
	{"sparse.Matrix", reflect.TypeFor[sparse.Matrix]()},
	{"sparse.Operator", reflect.TypeFor[sparse.Operator]()},
	{"sparse.Ordering", reflect.TypeFor[sparse.Ordering]()},
	{"sparse.ShortestPathOpts", reflect.TypeFor[sparse.ShortestPathOpts]()},
	{"sparse.Solution", reflect.TypeFor[sparse.Solution]()},
	{"sparse.SolveTriangularOpts", reflect.TypeFor[sparse.SolveTriangularOpts]()},
	{"sparse.SolverOpts", reflect.TypeFor[sparse.SolverOpts]()},
	{"sparse.Which", reflect.TypeFor[sparse.Which]()},
}
