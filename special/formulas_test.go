package special_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/special"
	"weft/sym"
)

// inFormulas are the functions that formulas have, by their names there.
var inFormulas = map[string]any{
	"j0": special.J0, "j1": special.J1, "y0": special.Y0, "y1": special.Y1, "i0": special.I0, "i0e": special.I0e, "i1": special.I1, "i1e": special.I1e,
	"k0": special.K0, "k0e": special.K0e, "k1": special.K1, "k1e": special.K1e, "kv": special.Kv, "kve": special.Kve, "jv": special.Jv, "yv": special.Yv,
	"iv": special.Iv, "ive": special.Ive, "struve": special.Struve, "modstruve": special.ModStruve,
	"boxcox": special.BoxCox, "boxcox1p": special.BoxCox1p, "inv_boxcox": special.InvBoxCox, "inv_boxcox1p": special.InvBoxCox1p, "exprel": special.ExpRel,
	"elliprc": special.ElliprC, "elliprd": special.ElliprD, "elliprf": special.ElliprF, "elliprg": special.ElliprG, "elliprj": special.ElliprJ,
	"loggamma": special.LogGamma, "rgamma": special.RGamma, "factorial": special.Factorial, "factorial2": special.Factorial2, "binom": special.Binom,
	"comb": special.Comb, "perm": special.Perm, "poch": special.Poch, "gamma": special.Gamma,
	"xlog1py": special.XLog1PY, "entr": special.Entr, "rel_entr": special.RelEntr, "kl_div": special.KLDiv, "huber": special.Huber, "pseudo_huber": special.PseudoHuber,
	"voigt_profile": special.VoigtProfile, "erfi": special.Erfi, "erfcinv": special.ErfcInv, "erfcx": special.Erfcx, "dawsn": special.Dawsn,
	"gammainc": special.GammaInc, "gammaincc": special.GammaIncC, "gammaincinv": special.GammaIncInv, "gammainccinv": special.GammaIncCInv,
	"beta": special.Beta, "betaln": special.BetaLn, "betainc": special.BetaInc, "betaincinv": special.BetaIncInv, "zeta": special.Zeta,
	"hyp2f1": special.Hyp2F1, "hyp1f1": special.Hyp1F1, "hyp0f1": special.Hyp0F1,
	"stdtr": special.StdTr, "stdtrit": special.StdTrIt, "chdtr": special.ChDtr, "chdtrc": special.ChDtrC, "chdtri": special.ChDtrI, "fdtr": special.FDtr,
	"fdtrc": special.FDtrC, "fdtri": special.FDtrI, "bdtr": special.BDtr, "bdtrc": special.BDtrC, "pdtr": special.PDtr, "pdtrc": special.PDtrC,
	"ndtr": special.Ndtr, "log_ndtr": special.LogNdtr, "ndtri": special.Ndtri, "exp1": special.Exp1, "expi": special.Expi, "spence": special.Spence,
	"ellipk": special.EllipK, "ellipe": special.EllipE, "ellipkinc": special.EllipKInc, "ellipeinc": special.EllipEInc, "expn": special.Expn,
}

// notInFormulas are the others, and why.
var notInFormulas = map[string]string{
	"Airy": "formulas have its results airy_ai, airy_aip, airy_bi and airy_bip", "Fresnel": "formulas have fresnel_s and fresnel_c", "Sici": "formulas have si and ci",
	"Wofz": "formulas have its parts wofz_real and wofz_imag", "LambertW": "formulas have its real branches lambertw and lambertw_minus",
	"PolyGamma":    "an order that is a Go number; formulas have digamma and trigamma",
	"EvalLegendre": "a degree that is a Go number", "EvalChebyT": "a degree that is a Go number", "EvalChebyU": "a degree that is a Go number", "EvalHermite": "a degree that is a Go number",
	"EvalHermiteNorm": "a degree that is a Go number", "EvalLaguerre": "a degree that is a Go number", "EvalGenLaguerre": "a degree that is a Go number", "EvalGegenbauer": "a degree that is a Go number",
}

// defined are the functions that formulas define by other ones.
var defined = strings.Fields("xlog1py entr rel_entr kl_div huber pseudo_huber loggamma rgamma factorial factorial2 comb perm boxcox boxcox1p inv_boxcox inv_boxcox1p exprel " +
	"chdtr chdtrc chdtri pdtr pdtrc bdtr bdtrc fdtri")

// TestFormulasHaveEveryFunction compares values of formulas with values of functions. Of functions that formulas define
// it compares types, numbers among arrays, gradients, and variables of package sym.
func TestFormulasHaveEveryFunction(t *testing.T) {
	for name, f := range inFormulas {
		n := reflect.TypeOf(f).NumIn()
		c := formulaCall{name + "(" + strings.Join([]string{"x", "y", "z", "w"}[:n], ", ") + ")", reflect.ValueOf(f)}
		c.compare(t, weft.Float64, n)
		if !slices.Contains(defined, name) {
			continue
		}
		for _, d := range []weft.DType{weft.Float32, weft.Int32} {
			c.compare(t, d, max(n-1, 1))
		}
		args := c.args(weft.Float64, n)
		if got, want := compiled(t, c.text, args), c.call(args); weft.Digest(got) != weft.Digest(want) {
			t.Errorf("%s of variables is %v, want %v", c.text, got, want)
		}
		args[n-1].(*weft.Tensor).RequireGrad()
		by := []*weft.Tensor{args[n-1].(*weft.Tensor)}
		if got, want := weft.Grad(weft.Expr(c.text, args...).Sum(), by)[0], weft.Grad(c.call(args).Sum(), by)[0]; weft.Digest(got) != weft.Digest(want) {
			t.Errorf("the gradient of %s is %v, want %v", c.text, got, want)
		}
	}
}

// A formulaCall is a formula of one function, and the function.
type formulaCall struct {
	text string
	fn   reflect.Value
}

// args are arguments, the first ones arrays of d, the others numbers.
func (c formulaCall) args(d weft.DType, arrays int) (args []any) {
	columns := [][]float64{{3, 0.4, 0.7, 0, 2.5}, {0.6, 0.3, 2, 1, 0.25}, {0.5, 0.25, 0.75, 0.125, 1}, {1.5, 2, 0.5, 3, 1}}
	for i := range c.fn.Type().NumIn() {
		if i < arrays {
			args = append(args, weft.FromSlice(columns[i]).To(d))
		} else {
			args = append(args, columns[i][0])
		}
	}
	return args
}

func (c formulaCall) call(args []any) *weft.Tensor {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	return c.fn.Call(in)[0].Interface().(*weft.Tensor)
}

func (c formulaCall) compare(t *testing.T, d weft.DType, arrays int) {
	args := c.args(d, arrays)
	var got *weft.Tensor
	if err := weft.Try(func() { got = weft.Expr(c.text, args...) }); err != nil {
		t.Errorf("%s of %v: %v", c.text, d, err)
	} else if want := c.call(args); got.DType() != want.DType() || weft.Digest(got) != weft.Digest(want) {
		t.Errorf("%s of %v is %v in the formula, %v by the function", c.text, d, got, want)
	}
}

// compiled returns a formula of variables of package sym at values.
func compiled(t *testing.T, text string, args []any) *weft.Tensor {
	in, vars, values := make([]any, len(args)), make([]any, len(args)), make([]any, len(args))
	for i, a := range args {
		v := sym.Vector(string(rune('a'+i)), weft.Float64)
		in[i], vars[i], values[i] = v, v, a
	}
	f, err := sym.Function(sym.In(in...), sym.Out(sym.Expr(text, vars...)))
	if err != nil {
		t.Fatal(text, err)
	}
	out, err := f.Call(values...)
	if err != nil {
		t.Fatal(text, err)
	}
	return out[0]
}

// TestFormulasMissNoFunction reads the exports of the package.
func TestFormulasMissNoFunction(t *testing.T) {
	listed := map[string]bool{}
	for name := range notInFormulas {
		listed[name] = true
	}
	for _, f := range inFormulas {
		listed[functionName(f)] = true
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.IsExported() {
				if n++; !listed[d.Name.Name] {
					t.Errorf("%s is neither a function of formulas nor among those that are left out", d.Name.Name)
				}
			}
		}
	}
	if n < 80 {
		t.Errorf("read only %d functions", n)
	}
}

func functionName(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}
