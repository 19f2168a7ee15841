package formula

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
)

// A function is what a name in front of parentheses means.
type function struct {
	name string // of what is written
	def  *op.Def
	over op.Reduction // but for the axes
	args int          // arrays it takes
	// Constant integers that may follow: axes.
	minAxes, maxAxes int
	pair             *op.Def                        // what it is of two arrays, else nil
	cast             array.DType                    // a conversion, else Invalid
	written          *written                       // the formula that it is, else nil
	compose          func(args []*ir.Node) *ir.Node // the graph that it is, else nil
}

// anyAxes stands for as many axes as the array has.
const anyAxes = array.MaxRank

// functions returns the table: every elementwise operation under its own name,
// reductions and what else follows.
var functions = sync.OnceValue(func() map[string]*function {
	t := map[string]*function{}
	for _, d := range op.Table() {
		// Keep marks operations that take attributes or fixed types; a power with
		// a constant exponent is written pow.
		if d.Class == op.Pointwise && d.Rule != op.Keep && d.Arity > 0 && d != op.PowInt {
			t[d.Name] = &function{def: d, args: d.Arity}
		}
		f := function{def: d, args: 1, maxAxes: 1}
		switch d.Over {
		case op.NoAxes:
			continue
		case op.Along:
			f.minAxes = 1
		case op.AnyAxes:
			f.maxAxes = anyAxes
			fallthrough
		case op.OneAxis:
			keep := f
			keep.over.Keep = true
			t[d.Name+"_keep"] = &keep
		}
		t[d.Name] = &f
	}
	for _, d := range op.Specials() {
		t[d.Name] = &function{def: d, args: d.Arity}
	}
	// max(x, 0) is what everybody means by it; PyTorch's names are those over axes.
	for name, pair := range map[string]*op.Def{"max": op.Maximum, "min": op.Minimum} {
		over := *t[name]
		t["a"+name] = &over
		t[name] = &function{def: over.def, args: 1, maxAxes: 1, pair: pair}
	}
	t["where"] = &function{def: op.Where, args: 3}
	t["rsqrt"] = &function{def: op.Rsqrt, args: 1}
	for _, d := range []*op.Def{op.LogAddExp, op.LogAddExp2, op.Logit, op.XLogY, op.Sinc, op.Lerp, op.Conj, op.Angle} {
		t[d.Name] = &function{def: d, args: d.Arity}
	}
	for name, d := range map[string]*op.Def{"stdtr": op.StudentCDF, "stdtrit": op.StudentInverse, "fdtr": op.FisherCDF, "fdtrc": op.FisherSurvival} {
		t[name] = &function{def: d, args: d.Arity}
	}
	for name, w := range writtenFunctions {
		to := t
		if name[0] == '_' {
			to = hidden
		}
		to[name] = &function{name: name, written: w, args: len(w.params)}
	}
	for name, f := range map[string]func(args []*ir.Node) *ir.Node{"isclose": isClose, "nan_to_num": nanToNum, "real": realPart, "imag": imagPart} {
		t[name] = &function{compose: f, args: 1}
	}
	t["isclose"].args = 2
	t["matmul"] = &function{def: op.MatMul, args: 2}
	t["dot"] = t["matmul"]
	t["sample_var"] = &function{def: op.Var, args: 1, maxAxes: anyAxes, over: op.Reduction{Correction: 1}}
	t["sample_std"] = &function{def: op.Std, args: 1, maxAxes: anyAxes, over: op.Reduction{Correction: 1}}
	for _, d := range array.DTypes() {
		t[d.String()] = &function{args: 1, cast: d}
	}
	return t
})

// Functions returns the names of all functions in order.
func Functions() []string {
	return slices.Sorted(maps.Keys(functions()))
}

// constants are the names that stand for numbers.
var constants = map[string]exec.Number{
	"pi":    {Float: math.Pi, Kind: array.CatFloat},
	"e":     {Float: math.E, Kind: array.CatFloat},
	"true":  {Int: 1, Kind: array.CatBool},
	"false": {Kind: array.CatBool},
}

// IsConstant reports a name that stands for a number, such as pi.
func IsConstant(s string) bool { _, ok := constants[s]; return ok }

// otherNames gives the spelling of this table for functions that go by another
// name elsewhere.
var otherNames = map[string]string{
	"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2",
	"power": "pow", "remainder": "mod", "sgn": "sign", "rint": "round", "fix": "trunc",
	"absolute": "abs", "fabs": "abs", "clip": "clamp", "swish": "silu",
	"average": "mean", "product": "prod", "not": "!", "and": "&&", "or": "||", "mm": "matmul",
	"float": "float32 or float64", "int": "int64", "double": "float64", "iif": "where", "select": "where",
}

func otherName(s string) string { return otherNames[strings.ToLower(s)] }
