package hostile

import (
	"reflect"

	"weft/polynomial"
)

// The exports of package polynomial.

var polynomialFunctions = []row[any]{
	{"polynomial.Add", polynomial.Add},
	{"polynomial.Companion", polynomial.Companion},
	{"polynomial.Der", polynomial.Der},
	{"polynomial.Div", polynomial.Div},
	{"polynomial.Fit", polynomial.Fit},
	{"polynomial.FromRoots", polynomial.FromRoots},
	{"polynomial.Int", polynomial.Int},
	{"polynomial.Mul", polynomial.Mul},
	{"polynomial.Pow", polynomial.Pow},
	{"polynomial.Roots", polynomial.Roots},
	{"polynomial.Sub", polynomial.Sub},
	{"polynomial.Val", polynomial.Val},
}

var polynomialTypes = []row[reflect.Type]{
	{"polynomial.Basis", reflect.TypeFor[polynomial.Basis]()},
	{"polynomial.FitOpts", reflect.TypeFor[polynomial.FitOpts]()},
	{"polynomial.IntOpts", reflect.TypeFor[polynomial.IntOpts]()},
	{"polynomial.Series", reflect.TypeFor[polynomial.Series]()},
	{"polynomial.SeriesOpts", reflect.TypeFor[polynomial.SeriesOpts]()},
}
