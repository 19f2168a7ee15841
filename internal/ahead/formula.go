package ahead

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/template"

	"weft/internal/array"
	"weft/internal/gokernel"
	"weft/internal/gosource"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// A formula is built as a Go function: its text, which is nearly Go, becomes Go source with the
// functions of package math. Weft's formula language checked it before.

// functionsOf are Go expressions for functions of formulas, of a, b and c. Those with a name of
// their own are declared in helpers of formulas.
var functionsOf = map[string]string{
	"abs": "math.Abs(a)", "acos": "math.Acos(a)", "acosh": "math.Acosh(a)", "asin": "math.Asin(a)", "asinh": "math.Asinh(a)", "atan": "math.Atan(a)",
	"atan2": "math.Atan2(a, b)", "atanh": "math.Atanh(a)", "ceil": "math.Ceil(a)", "cos": "math.Cos(a)", "cosh": "math.Cosh(a)", "erf": "math.Erf(a)", "erfc": "math.Erfc(a)",
	"erfinv": "math.Erfinv(a)", "exp": "math.Exp(a)", "exp2": "math.Exp2(a)", "expm1": "math.Expm1(a)", "floor": "math.Floor(a)", "floordiv": "floorDiv(a, b)",
	"hypot": "math.Hypot(a, b)", "log": "math.Log(a)", "log10": "math.Log10(a)", "log1p": "math.Log1p(a)", "log2": "math.Log2(a)", "maximum": "max(a, b)", "minimum": "min(a, b)",
	"pow": "math.Pow(a, b)", "reciprocal": "(1.0/(a))", "relu": "max(a, 0.0)", "round": "math.RoundToEven(a)", "rsqrt": "(1.0/math.Sqrt(a))", "sin": "math.Sin(a)", "sinh": "math.Sinh(a)",
	"sqrt": "math.Sqrt(a)", "tan": "math.Tan(a)", "tanh": "math.Tanh(a)", "trunc": "math.Trunc(a)", "clamp": "min(max(a, b), c)",
	"sigmoid": "sigmoid(a)", "silu": "silu(a)", "softplus": "softplus(a)", "square": "square(a)", "sign": "sign(a)", "lgamma": "lgamma(a)",
}

// formulaHelpers are the functions that functionsOf and operators name, in T.
var formulaHelpers = map[string]string{
	"sigmoid":  "func sigmoid(x T) T { return T(1 / (1 + math.Exp(float64(-x)))) }",
	"silu":     "func silu(x T) T { return T(float64(x) / (1 + math.Exp(float64(-x)))) }",
	"softplus": "func softplus(x T) T { return T(max(float64(x), 0) + math.Log1p(math.Exp(-math.Abs(float64(x))))) }",
	"square":   "func square(x T) T { return x * x }",
	"sign":     "func sign(x T) T {\n\tif x > 0 {\n\t\treturn 1\n\t}\n\tif x < 0 {\n\t\treturn -1\n\t}\n\treturn x\n}",
	"lgamma":   "func lgamma(x T) T {\n\ty, _ := math.Lgamma(float64(x))\n\treturn T(y)\n}",
	"floorMod": "func floorMod(x, y T) T { return x - T(math.Floor(float64(x/y)))*y }",
	"floorDiv": "func floorDiv(x, y T) T { return T(math.Floor(float64(x/y))) + (x - x) }", // NaN of infinity
	"truth":    "func truth(b bool) T {\n\tif b {\n\t\treturn 1\n\t}\n\treturn 0\n}",
	"where":    "func where(c bool, x, y T) T {\n\tif c {\n\t\treturn x\n\t}\n\treturn y\n}",
}

// A translation is a formula on its way to Go.
type translation struct {
	d     array.DType
	names []string // parameters, in the order of the text
	used  []string // helpers
}

// The reductions that may stand around a formula.
var reductions = map[string]loop.Reduction{"sum": loop.Sum, "mean": loop.Sum, "prod": loop.Prod, "max": loop.Max, "min": loop.Min}

// WriteFormula returns the files of a package for a formula of arrays of d, float32 or float64;
// name is that of its functions. Numbers of the formula, and bools that it adds, are of d.
func WriteFormula(pkg, name, text string, d array.DType) (map[string][]byte, error) {
	if !token.IsIdentifier(pkg) || pkg == "main" || !token.IsIdentifier(name) {
		return nil, fmt.Errorf("build: %q and %q cannot be the names of a package and a function", pkg, name)
	}
	if d != array.Float32 && d != array.Float64 {
		return nil, fmt.Errorf("build: a formula is built for float32 or float64, not for %s", d)
	}
	x, err := parser.ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("build: %q: %w", text, err)
	}
	t := &translation{d: d}
	reduce := ""
	if c, ok := x.(*ast.CallExpr); ok {
		if f, ok := c.Fun.(*ast.Ident); ok && len(c.Args) == 1 {
			if _, ok := reductions[f.Name]; ok {
				reduce, x = f.Name, c.Args[0]
			}
		}
	}
	body, truth, err := t.expr(x)
	switch {
	case err != nil:
		return nil, fmt.Errorf("build: %w", err)
	case len(t.names) == 0:
		return nil, fmt.Errorf("build: %q has no arrays", text)
	case reduce != "" && truth:
		body, truth = t.number(body, true), false
	}
	result := d.String()
	if truth {
		result = "bool"
	}
	lower := strings.ToLower(name[:1]) + name[1:]
	if slices.Contains(t.names, lower) || reserved[lower] || token.IsKeyword(lower) || formulaHelpers[lower] != "" {
		lower += "Of"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "package p\n\nimport \"math\"\n\n// %s is %s.\nfunc %s(%s %s) %s { return %s }\n\nvar _ = math.Pi\n", lower, strings.Join(strings.Fields(text), " "), lower, strings.Join(t.names, ", "), d, result, body)
	for _, h := range t.used {
		s.WriteString("\n" + strings.ReplaceAll(strings.ReplaceAll(formulaHelpers[h], "T(", d.String()+"("), " T", " "+d.String()) + "\n")
	}
	src, err := gokernel.Parse(gokernel.File{Name: "formula", Src: []byte(s.String())})
	if err != nil {
		return nil, err
	}
	f, err := src.Func(lower)
	if err != nil {
		return nil, err
	}
	if reduce == "" {
		return Write(pkg, f, array.Invalid)
	}
	return writeReduction(pkg, f, reduce)
}

// expr is an expression in Go, and whether it is a bool.
func (t *translation) expr(x ast.Expr) (text string, truth bool, err error) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		text, truth, err = t.expr(x.X)
		return "(" + text + ")", truth, err
	case *ast.BasicLit:
		if x.Kind != token.INT && x.Kind != token.FLOAT {
			return "", false, fmt.Errorf("%s is not a number that is built", x.Value)
		}
		return t.d.String() + "(" + x.Value + ")", false, nil
	case *ast.Ident:
		switch x.Name {
		case "true", "false":
			return x.Name, true, nil
		case "pi":
			return t.d.String() + "(math.Pi)", false, nil
		case "e":
			return t.d.String() + "(math.E)", false, nil
		}
		name := x.Name
		if token.IsKeyword(name) || reserved[name] || functionsOf[name] != "" || formulaHelpers[name] != "" || name == "math" || name == "max" {
			name += "_"
		}
		if !slices.Contains(t.names, name) {
			t.names = append(t.names, name)
		}
		return name, false, nil
	case *ast.UnaryExpr:
		a, is, err := t.expr(x.X)
		switch {
		case err != nil:
			return "", false, err
		case x.Op == token.NOT:
			return "!" + t.condition(a, is), true, nil
		case x.Op == token.SUB || x.Op == token.ADD:
			return x.Op.String() + t.number(a, is), false, nil
		}
		return "", false, fmt.Errorf("%s of whole numbers is not built", x.Op)
	case *ast.BinaryExpr:
		return t.binary(x)
	case *ast.CallExpr:
		return t.call(x)
	}
	return "", false, fmt.Errorf("a part of the formula cannot be built")
}

func (t *translation) binary(x *ast.BinaryExpr) (string, bool, error) {
	a, ais, err := t.expr(x.X)
	if err != nil {
		return "", false, err
	}
	b, bis, err := t.expr(x.Y)
	if err != nil {
		return "", false, err
	}
	switch x.Op {
	case token.LAND, token.LOR:
		return "(" + t.condition(a, ais) + " " + x.Op.String() + " " + t.condition(b, bis) + ")", true, nil
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return "(" + t.number(a, ais) + " " + x.Op.String() + " " + t.number(b, bis) + ")", true, nil
	case token.ADD, token.SUB, token.MUL, token.QUO:
		return "(" + t.number(a, ais) + " " + x.Op.String() + " " + t.number(b, bis) + ")", false, nil
	case token.REM:
		return t.helper("floorMod") + "(" + t.number(a, ais) + ", " + t.number(b, bis) + ")", false, nil
	}
	return "", false, fmt.Errorf("%s of whole numbers is not built", x.Op)
}

func (t *translation) call(x *ast.CallExpr) (string, bool, error) {
	id, ok := x.Fun.(*ast.Ident)
	if !ok {
		return "", false, fmt.Errorf("a part of the formula cannot be built")
	}
	var args []string
	for i, y := range x.Args {
		a, is, err := t.expr(y)
		if err != nil {
			return "", false, err
		}
		if id.Name == "where" && i == 0 {
			args = append(args, t.condition(a, is))
		} else {
			args = append(args, t.number(a, is))
		}
	}
	switch {
	case id.Name == "where" && len(args) == 3:
		return t.helper("where") + "(" + strings.Join(args, ", ") + ")", false, nil
	case (id.Name == "max" || id.Name == "min") && len(args) == 2:
		return id.Name + "(" + strings.Join(args, ", ") + ")", false, nil
	case id.Name == "isnan" && len(args) == 1:
		return "math.IsNaN(float64(" + args[0] + "))", true, nil
	case id.Name == "isinf" && len(args) == 1:
		return "math.IsInf(float64(" + args[0] + "), 0)", true, nil
	case id.Name == "isfinite" && len(args) == 1:
		return "(math.Abs(float64(" + args[0] + ")) <= math.MaxFloat64)", true, nil
	}
	form := functionsOf[id.Name]
	if form == "" {
		list := []string{"where", "isnan", "isinf", "isfinite"}
		for name := range functionsOf {
			list = append(list, name)
		}
		sort.Strings(list)
		return "", false, fmt.Errorf("%s is not built inside a formula; sum, mean, prod, max and min may stand around it, and there are %s", id.Name, strings.Join(list, ", "))
	}
	if name, _, _ := strings.Cut(form, "("); formulaHelpers[name] != "" {
		t.helper(name)
	}
	goMath := strings.Contains(form, "math.")
	for i, a := range args {
		if goMath {
			args[i] = "float64(" + a + ")"
		}
	}
	// The arguments a, b and c stand alone, between brackets, commas and operators.
	var s strings.Builder
	name, rest, _ := strings.Cut(form, "(")
	s.WriteString(name + "(")
	for i := 0; i < len(rest); i++ {
		alone := i == 0 || strings.ContainsRune("(, ", rune(rest[i-1]))
		if k := int(rest[i] - 'a'); alone && k >= 0 && k < len(args) && (i+1 == len(rest) || strings.ContainsRune("), ", rune(rest[i+1]))) {
			s.WriteString(args[k])
		} else {
			s.WriteByte(rest[i])
		}
	}
	if goMath {
		return t.d.String() + "(" + s.String() + ")", false, nil
	}
	return s.String(), false, nil
}

// helper notes a helper.
func (t *translation) helper(name string) string {
	if !slices.Contains(t.used, name) {
		t.used = append(t.used, name)
	}
	return name
}

// number is an operand of arithmetic; condition is one of logic.
func (t *translation) number(a string, truth bool) string {
	if truth {
		return t.helper("truth") + "(" + a + ")"
	}
	return a
}

func (t *translation) condition(a string, truth bool) string {
	if truth {
		return a
	}
	return "(" + a + " != 0)"
}

// writeReduction returns the files of a package for a reduction of a function of elements.
func writeReduction(pkg string, f *gokernel.Func, reduce string) (map[string][]byte, error) {
	var args []array.DType
	for _, p := range f.Params() {
		args = append(args, p.DType)
	}
	in, err := f.Instantiate(args)
	if err != nil {
		return nil, err
	}
	u := &unit{Package: pkg, Func: f.Name(), Chunk: chunk, Fuel: fuel, Ptrs: loop.MaxBufs, Words: loop.MaxWords, Reduce: reduce}
	u.Name = exported(u.Func) + exported(reduce)
	p, err := u.program(f, in)
	if err != nil {
		return nil, err
	}
	if _, err := u.take(f, p); err != nil {
		return nil, err
	}
	var helpers []string
	u.Helpers, helpers = gosource.Helpers(map[string]bool{"reduction": true, map[string]string{"max": "greater", "min": "lesser"}[reduce]: true})
	for _, path := range helpers {
		if path = strconv.Quote(path); !slices.Contains(u.Imports, path) {
			u.Imports = append(u.Imports, path)
		}
	}
	u.Lanes = numbers.VirtualBytes / in.Returns()[0].Size()
	if len(u.Imports) == 0 || !slices.Contains(u.Imports, `"math"`) {
		u.Imports = append(u.Imports, `"math"`)
	}
	sort.Strings(u.Imports)
	return render(u, u.Func, map[string]*template.Template{".go": reducedPlain, "_amd64.go": reducedAMD64, "_other.go": reducedOther, "_test.go": reducedTest, "_amd64.s": assembly})
}

// reduced stores the reduction of values to the first result.
func reduced(b *loop.Builder, name string, buf int, value func() loop.Value) {
	var r, odd loop.Value
	b.Pass(func() {
		v := value()
		r = b.Reduce(reductions[name], v)
		if name == "max" || name == "min" {
			odd = b.Reduce(loop.Or, b.Ne(v, v))
		}
	})
	if name == "max" || name == "min" {
		nan := b.Float(b.Type(r), 0)
		r = b.Select(odd, b.Div(nan, nan), r)
	}
	b.Store(buf, r)
}
