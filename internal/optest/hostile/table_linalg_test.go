package hostile

import (
	"reflect"

	"weft/linalg"
	"weft/sym"
)

// The exports of package linalg, and what applies them to variables.

var linalgFunctions = []row[any]{
	{"linalg.Cholesky", linalg.Cholesky},
	{"linalg.SolveTriangular", linalg.SolveTriangular},
	{"sym.Apply", sym.Apply},
}

var linalgTypes = []row[reflect.Type]{
	{"linalg.CholeskyOpts", reflect.TypeFor[linalg.CholeskyOpts]()},
	{"linalg.SolveTriangularOpts", reflect.TypeFor[linalg.SolveTriangularOpts]()},
}
