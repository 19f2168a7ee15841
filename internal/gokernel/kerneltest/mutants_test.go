package kerneltest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// A mutant is a fault that compiled code could have, as a change of the source: a node is
// replaced by text, unless that is "-".
type mutant struct {
	name    string
	replace func(m *mutation, n ast.Node) string
}

// A mutation is the place of a mutant.
type mutation struct {
	p *Program
}

func (m *mutation) text(n ast.Node) string {
	return m.p.Src[m.p.fset.Position(n.Pos()).Offset:m.p.fset.Position(n.End()).Offset]
}

// basic is the name of the predeclared type of an expression that is no constant, or "".
func (m *mutation) basic(e ast.Expr) string {
	tv := m.p.info.Types[e]
	if b, ok := tv.Type.(*types.Basic); ok && tv.Value == nil {
		return b.Name()
	}
	return ""
}

// operator makes mutants of a binary operation and its assignment.
func operator(from, to token.Token, of func(basic string) bool, ofWhat string) mutant {
	return mutant{fmt.Sprintf("%s for %s of %s", to, from, ofWhat), func(m *mutation, n ast.Node) string {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == from && of(m.basic(n.X)) {
				return m.text(n.X) + " " + to.String() + " " + m.text(n.Y)
			}
		case *ast.AssignStmt:
			if n.Tok == from+token.ADD_ASSIGN-token.ADD && of(m.basic(n.Lhs[0])) {
				return m.text(n.Lhs[0]) + " " + to.String() + "= " + m.text(n.Rhs[0])
			}
		}
		return "-"
	}}
}

func signed(b string) bool    { return strings.HasPrefix(b, "int") }
func unsigned(b string) bool  { return strings.HasPrefix(b, "uint") }
func floating(b string) bool  { return strings.HasPrefix(b, "float") }
func isComplex(b string) bool { return strings.HasPrefix(b, "complex") }
func boolean(b string) bool   { return strings.HasSuffix(b, "bool") }

// called makes a mutant of a call of a function, conversion or builtin.
func called(name, fun string, change func(m *mutation, c *ast.CallExpr) string) mutant {
	return mutant{name, func(m *mutation, n ast.Node) string {
		if c, ok := n.(*ast.CallExpr); ok && m.text(c.Fun) == fun && m.p.info.Types[c].Value == nil {
			return change(m, c)
		}
		return "-"
	}}
}

// branch makes a mutant that replaces a branch.
func branch(name string, tok token.Token, to string, fits func(b *ast.BranchStmt) bool) mutant {
	return mutant{name, func(m *mutation, n ast.Node) string {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == tok && fits(b) {
			if b.Label != nil {
				// The label is to be used.
				return "if len([1]int{}) > 1 { " + m.text(b) + " }; " + to
			}
			return to
		}
		return "-"
	}}
}

func mutants() []mutant {
	var out []mutant
	for _, c := range []struct{ from, to token.Token }{{token.ADD, token.SUB}, {token.SUB, token.ADD}, {token.MUL, token.ADD}, {token.QUO, token.MUL}} {
		out = append(out, operator(c.from, c.to, signed, "signed"), operator(c.from, c.to, unsigned, "unsigned"), operator(c.from, c.to, floating, "floats"), operator(c.from, c.to, isComplex, "complex"))
	}
	for _, c := range []struct{ from, to token.Token }{{token.REM, token.QUO}, {token.AND, token.OR}, {token.OR, token.XOR}, {token.XOR, token.OR}, {token.AND_NOT, token.AND}, {token.SHL, token.SHR}, {token.SHR, token.SHL}} {
		out = append(out, operator(c.from, c.to, signed, "signed"), operator(c.from, c.to, unsigned, "unsigned"))
	}
	for _, c := range []struct{ from, to token.Token }{{token.LSS, token.LEQ}, {token.LEQ, token.LSS}, {token.GTR, token.GEQ}, {token.GEQ, token.GTR}, {token.LSS, token.NEQ}, {token.EQL, token.GEQ}, {token.NEQ, token.LSS}} {
		out = append(out, operator(c.from, c.to, signed, "signed"), operator(c.from, c.to, unsigned, "unsigned"), operator(c.from, c.to, floating, "floats"))
	}
	out = append(out, operator(token.LAND, token.LOR, boolean, "bools"), operator(token.LOR, token.LAND, boolean, "bools"), operator(token.EQL, token.NEQ, boolean, "bools"), operator(token.EQL, token.NEQ, isComplex, "complex"))
	// operand types that are taken for others
	as := func(name string, op token.Token, of func(string) bool, format string) mutant {
		return mutant{name, func(m *mutation, n ast.Node) string {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || b.Op != op || !of(m.basic(b.X)) {
				return "-"
			}
			t := m.basic(b.X)
			other := "u" + t
			if unsigned(t) {
				other = t[1:]
			}
			return strings.NewReplacer("OTHER", other, "TYPE", t, "X", m.text(b.X), "Y", m.text(b.Y)).Replace(format)
		}}
	}
	out = append(out,
		as("shift of signed numbers without sign", token.SHR, signed, "TYPE(OTHER(X) >> (Y))"),
		as("shift of unsigned numbers with sign", token.SHR, unsigned, "TYPE(OTHER(X) >> (Y))"),
		as("unsigned numbers compared as signed", token.LSS, unsigned, "OTHER(X) < OTHER(Y)"),
		as("signed numbers compared as unsigned", token.GTR, signed, "OTHER(X) > OTHER(Y)"),
		as("unsigned numbers divided as signed", token.QUO, unsigned, "TYPE(OTHER(X) / OTHER(Y))"),
		as("signed numbers divided as unsigned", token.QUO, signed, "TYPE(OTHER(X) / OTHER(Y))"),
		as("quotients rounded down", token.QUO, signed, "(X - ((X % Y + Y) % Y)) / (Y)"),
		as("remainders of the divisor's sign", token.REM, signed, "((X % Y + Y) % Y)"),
		as("shift counts modulo 64", token.SHL, signed, "(X << ((Y) & 63))"),
		as("not less for greater or equal", token.GEQ, floating, "!(X < Y)"),
		as("operands of - swapped", token.SUB, floating, "(Y - X)"),
		as("operands of + lost", token.ADD, floating, "(X)"),
		mutant{"products contracted", func(m *mutation, n ast.Node) string {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || b.Op != token.ADD || m.basic(b) != "float64" {
				return "-"
			}
			if x, ok := ast.Unparen(b.X).(*ast.BinaryExpr); ok && x.Op == token.MUL {
				return "math.FMA(" + m.text(x.X) + ", " + m.text(x.Y) + ", " + m.text(b.Y) + ")"
			}
			return "-"
		}},
		mutant{"float32 not rounded", func(m *mutation, n ast.Node) string {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || b.Op != token.ADD && b.Op != token.SUB || m.basic(b) != "float32" {
				return "-"
			}
			if x, ok := ast.Unparen(b.X).(*ast.BinaryExpr); ok && x.Op == token.MUL {
				return fmt.Sprintf("float32(float64(%s) * float64(%s) %s float64(%s))", m.text(x.X), m.text(x.Y), b.Op, m.text(b.Y))
			}
			return "-"
		}})
	// conversions
	arg := func(format string) func(m *mutation, c *ast.CallExpr) string {
		return func(m *mutation, c *ast.CallExpr) string {
			return strings.ReplaceAll(format, "X", m.text(c.Args[0]))
		}
	}
	of := func(fits func(string) bool, format string) func(m *mutation, c *ast.CallExpr) string {
		return func(m *mutation, c *ast.CallExpr) string {
			if !fits(m.basic(c.Args[0])) {
				return "-"
			}
			return arg(format)(m, c)
		}
	}
	for _, t := range []string{"int8", "int16", "int32"} {
		out = append(out, called("bits lost in "+t, t, of(signed, t+"((X) & 0x7f)")), called("sign lost in "+t, t, of(signed, t+"(u"+t+"(X)>>1)")))
	}
	for _, t := range []string{"int8", "uint8", "int32", "uint32", "int64", "uint64", "int", "uint"} {
		out = append(out, called(t+" of floats rounded to even", t, of(floating, t+"(math.RoundToEven(float64(X)))")))
	}
	out = append(out,
		called("int32 of floats modulo 2^32", "int32", of(floating, "int32(int64(X))")),
		called("uint8 of floats modulo 256", "uint8", of(floating, "uint8(int32(X))")),
		called("uint64 of floats as int64", "uint64", of(floating, "uint64(int64(X))")),
		called("int8 of floats modulo 256", "int8", of(floating, "int8(int32(X))")),
		called("float32 rounded twice", "float32", of(func(b string) bool { return b == "int64" || b == "uint64" || b == "int" || b == "uint" }, "float32(float64(X))")),
		called("float64 of unsigned as signed", "float64", of(func(b string) bool { return b == "uint64" || b == "uint" }, "float64(int64(X))")),
		called("float64 by float32", "float64", of(unsigned, "float64(float32(X))")),
		called("max for min", "min", func(m *mutation, c *ast.CallExpr) string { return "max" + m.text(c)[3:] }),
		called("min for max", "max", func(m *mutation, c *ast.CallExpr) string { return "min" + m.text(c)[3:] }),
		called("imag for real", "real", func(m *mutation, c *ast.CallExpr) string { return "imag" + m.text(c)[4:] }),
		called("real for imag", "imag", func(m *mutation, c *ast.CallExpr) string { return "real" + m.text(c)[4:] }),
		called("no FMA", "math.FMA", func(m *mutation, c *ast.CallExpr) string {
			return fmt.Sprintf("(%s*%s + %s)", m.text(c.Args[0]), m.text(c.Args[1]), m.text(c.Args[2]))
		}))
	for from, to := range map[string]string{"Sqrt": "Abs", "Abs": "Sqrt", "Floor": "Trunc", "Ceil": "Floor", "Trunc": "Ceil", "Round": "RoundToEven", "RoundToEven": "Round", "IsNaN": "IsInf"} {
		change := func(m *mutation, c *ast.CallExpr) string { return "math." + to + "(" + m.text(c.Args[0]) + ")" }
		if to == "IsInf" {
			change = func(m *mutation, c *ast.CallExpr) string { return "math.IsInf(" + m.text(c.Args[0]) + ", 0)" }
		}
		out = append(out, called("math."+to+" for math."+from, "math."+from, change))
	}
	out = append(out,
		called("math.Max for math.Min", "math.Min", func(m *mutation, c *ast.CallExpr) string { return "math.Max" + m.text(c)[8:] }),
		called("no math.Copysign", "math.Copysign", arg("(X)")))
	// unary operations
	for _, c := range []struct {
		op token.Token
		to string
	}{{token.SUB, "+"}, {token.XOR, "-"}, {token.NOT, ""}} {
		out = append(out, mutant{fmt.Sprintf("%q for unary %s", c.to, c.op), func(m *mutation, n ast.Node) string {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == c.op && m.p.info.Types[u].Value == nil {
				return c.to + m.text(u.X)
			}
			return "-"
		}})
	}
	// statements
	all := func(*ast.BranchStmt) bool { return true }
	labeled := func(b *ast.BranchStmt) bool { return b.Label != nil }
	out = append(out,
		branch("break lost", token.BREAK, "", all), branch("break of a label lost", token.BREAK, "break", labeled),
		branch("continue lost", token.CONTINUE, "", all), branch("break for continue", token.CONTINUE, "break", all), branch("continue of a label lost", token.CONTINUE, "continue", labeled),
		branch("fallthrough lost", token.FALLTHROUGH, "", all),
		mutant{"assignment lost", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.AssignStmt); ok && s.Tok == token.ASSIGN && m.text(s.Lhs[0]) != "_" {
				return ""
			}
			return "-"
		}},
		mutant{"declaration hides nothing", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.AssignStmt); ok && s.Tok == token.DEFINE && len(s.Lhs) == 1 {
				return m.text(s.Lhs[0]) + " = " + m.text(s.Rhs[0])
			}
			return "-"
		}},
		mutant{"assignments of a list one by one", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.AssignStmt); ok && s.Tok == token.ASSIGN && len(s.Lhs) == 2 && len(s.Rhs) == 2 {
				return fmt.Sprintf("%s = %s; %s = %s", m.text(s.Lhs[0]), m.text(s.Rhs[0]), m.text(s.Lhs[1]), m.text(s.Rhs[1]))
			}
			return "-"
		}},
		mutant{"increment lost", func(m *mutation, n ast.Node) string {
			if _, ok := n.(*ast.IncDecStmt); ok {
				return ""
			}
			return "-"
		}},
		mutant{"early return lost", func(m *mutation, n ast.Node) string {
			if _, ok := n.(*ast.ReturnStmt); ok {
				return ""
			}
			return "-"
		}},
		mutant{"condition lost", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.IfStmt); ok && s.Init == nil {
				return strings.Replace(m.text(s), m.text(s.Cond), "true", 1)
			}
			return "-"
		}},
		mutant{"else lost", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.IfStmt); ok && s.Else != nil {
				return strings.TrimSuffix(m.text(s), "else "+m.text(s.Else))
			}
			return "-"
		}},
		mutant{"case lost", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.CaseClause); ok && s.List != nil {
				return ""
			}
			return "-"
		}},
		mutant{"default lost", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.CaseClause); ok && s.List == nil {
				return ""
			}
			return "-"
		}},
		mutant{"condition of a loop lost", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.ForStmt); ok && s.Cond != nil {
				if b, ok := s.Cond.(*ast.BinaryExpr); ok && b.Op == token.LAND {
					return strings.Replace(m.text(s), m.text(s.Cond), m.text(b.X), 1)
				}
			}
			return "-"
		}},
		mutant{"one iteration too many", func(m *mutation, n ast.Node) string {
			if s, ok := n.(*ast.RangeStmt); ok && s.Key != nil && signed(m.basic(s.X)) {
				return strings.Replace(m.text(s), m.text(s.X), m.text(s.X)+"+1", 1)
			}
			return "-"
		}},
		mutant{"index lost", func(m *mutation, n ast.Node) string {
			if x, ok := n.(*ast.IndexExpr); ok && m.p.info.Types[x].IsValue() && m.p.info.Types[x.Index].Value == nil {
				return m.text(x.X) + "[0]"
			}
			return "-"
		}})
	return out
}

// TestMutants changes random kernels as faults of a compiler would: each way of being
// wrong shows in the results of some kernel, so that a compiler with it would be found out.
func TestMutants(t *testing.T) {
	kernels, err := strconv.ParseUint(os.Getenv("WEFT_MUTATE"), 10, 64)
	if err != nil {
		t.Skip("SKIPPED: WEFT_MUTATE says on how many kernels mutants are tried")
	}
	left := map[string]mutant{}
	for _, m := range mutants() {
		left[m.name] = m
	}
	all := len(left)
	const rows, tries = 12, 3
	seed := uint64(0)
	for ; seed < kernels && len(left) > 0; seed++ {
		k := Generate(seed, Options{})
		if !strings.Contains(k.Src, `import "math"`) {
			k.Src = strings.Replace(k.Src, "package k\n", "package k\nimport \"math\"\n", 1) + "\nvar _ = math.Pi\n"
		}
		p, err := Load(k.Src, "")
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 5))
		var args, want [][]any
		for range rows {
			var row []any
			for _, b := range k.Params {
				row = append(row, Input(r, b))
			}
			out, err := p.Call(k.Name, steps, k.Arg, row...)
			if err != nil {
				t.Fatal(err)
			}
			args, want = append(args, row), append(want, out)
		}
		noticed := func(src string) bool {
			q, err := Load(src, "")
			if err != nil {
				return false // no program, so no mutant
			}
			for i, row := range args {
				out, err := q.Call(k.Name, steps, k.Arg, row...)
				if err != nil {
					return true
				}
				for j := range out {
					if !Same(out[j], want[i][j]) {
						return true
					}
				}
			}
			return false
		}
		m := &mutation{p}
		for name, mutant := range left {
			var found []string
			ast.Inspect(p.file, func(n ast.Node) bool {
				if n == nil {
					return false
				}
				if s := mutant.replace(m, n); s != "-" {
					from, to := p.fset.Position(n.Pos()).Offset, p.fset.Position(n.End()).Offset
					if _, isExpr := n.(ast.Expr); isExpr {
						s = "(" + s + ")"
					}
					found = append(found, p.Src[:from]+s+p.Src[to:])
				}
				return true
			})
			r.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
			for _, src := range found[:min(tries, len(found))] {
				if noticed(src) {
					delete(left, name)
					break
				}
			}
		}
	}
	var names []string
	for name := range left {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Errorf("no kernel of %d notices: %s", seed, name)
	}
	t.Logf("%d kernels for %d mutants", seed, all)
}
