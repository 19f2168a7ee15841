package hostile

import (
	"reflect"

	"weft/linalg"
)

// The exports of package linalg on eigenvalues, singular values and functions of matrices.

var spectralFunctions = []row[any]{
	{"linalg.Eig", linalg.Eig},
	{"linalg.EigVals", linalg.EigVals},
	{"linalg.EigValsH", linalg.EigValsH},
	{"linalg.Eigh", linalg.Eigh},
	{"linalg.Expm", linalg.Expm},
	{"linalg.Hessenberg", linalg.Hessenberg},
	{"linalg.Logm", linalg.Logm},
	{"linalg.MatrixRank", linalg.MatrixRank},
	{"linalg.NullSpace", linalg.NullSpace},
	{"linalg.Orth", linalg.Orth},
	{"linalg.PInv", linalg.PInv},
	{"linalg.Polar", linalg.Polar},
	{"linalg.SVD", linalg.SVD},
	{"linalg.SVDVals", linalg.SVDVals},
	{"linalg.Schur", linalg.Schur},
	{"linalg.Sqrtm", linalg.Sqrtm},
}

var spectralTypes = []row[reflect.Type]{
	{"linalg.EighOpts", reflect.TypeFor[linalg.EighOpts]()},
	{"linalg.RankOpts", reflect.TypeFor[linalg.RankOpts]()},
	{"linalg.SVDOpts", reflect.TypeFor[linalg.SVDOpts]()},
	{"linalg.SchurOpts", reflect.TypeFor[linalg.SchurOpts]()},
}
