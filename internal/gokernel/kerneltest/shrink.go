package kerneltest

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// Shrink makes a source smaller that fails still says is faulty: it drops declarations and
// statements, puts the bodies of statements in their place, and operands in the place of
// expressions. What fails is given may not type-check. The function of this name stays.
func Shrink(src, name string, fails func(src string) bool) string {
	for again := true; again; {
		again = false
		for _, e := range edits(src, name) {
			s := src[:e.from] + e.text + src[e.to:]
			for _, name := range []string{"math", "bits"} {
				if !strings.Contains(s, name+".") {
					s = importOf[name].ReplaceAllString(s, "")
				}
			}
			if len(s) < len(src) && fails(s) {
				src, again = s, true
				break
			}
		}
	}
	if text, err := format.Source([]byte(src)); err == nil {
		return blank.ReplaceAllString(string(text), "\n")
	}
	return src
}

var importOf = map[string]*regexp.Regexp{"math": regexp.MustCompile(`import "math"`), "bits": regexp.MustCompile(`import "math/bits"`)}

var blank = regexp.MustCompile(`\n\s*\n`)

// An edit puts text in a place of the source.
type edit struct {
	from, to int
	text     string
}

// edits lists what may make a source smaller, what drops most first.
func edits(src, name string) []edit {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "k.go", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	text := func(n ast.Node) string { return src[at(n.Pos()):at(n.End())] }
	var out []edit
	put := func(n ast.Node, s string) {
		if len(s) < len(text(n)) {
			out = append(out, edit{at(n.Pos()), at(n.End()), s})
		}
	}
	inside := func(b *ast.BlockStmt) string { return src[at(b.Lbrace)+1 : at(b.Rbrace)] }
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); !ok || f.Name.Name != name {
			put(d, "")
		}
	}
	list := func(stmts []ast.Stmt) {
		for _, s := range stmts {
			put(s, "")
			// With what follows, which may use it.
			if k := slices.Index(stmts, s); k+1 < len(stmts) {
				out = append(out, edit{at(s.Pos()), at(stmts[k+1].End()), ""})
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			list(n.List)
		case *ast.CaseClause:
			put(n, "")
			list(n.Body)
		case *ast.IfStmt:
			put(n, inside(n.Body))
			if n.Else != nil {
				put(n, text(n.Else))
				out = append(out, edit{at(n.Body.End()), at(n.Else.End()), ""})
			}
		case *ast.ForStmt:
			put(n, inside(n.Body))
		case *ast.RangeStmt:
			put(n, inside(n.Body))
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				c := c.(*ast.CaseClause)
				if len(c.Body) > 0 {
					put(n, src[at(c.Body[0].Pos()):at(c.End())])
				}
			}
		case *ast.LabeledStmt:
			put(n, text(n.Stmt))
		case *ast.BinaryExpr:
			put(n, text(n.X))
			put(n, text(n.Y))
		case *ast.ParenExpr:
			put(n, text(n.X))
		case *ast.UnaryExpr:
			put(n, text(n.X))
		case *ast.CallExpr:
			for _, a := range n.Args {
				put(n, text(a))
			}
			if len(n.Args) > 2 {
				out = append(out, edit{at(n.Args[1].End()), at(n.Args[2].End()), ""})
			}
		case *ast.CompositeLit:
			for _, x := range n.Elts {
				put(x, "0")
				if kv, ok := x.(*ast.KeyValueExpr); ok {
					put(kv.Value, "0")
				}
			}
			if len(n.Elts) > 0 {
				out = append(out, edit{at(n.Lbrace) + 1, at(n.Rbrace), ""})
			}
		}
		if e, ok := n.(ast.Expr); ok {
			if _, isType := e.(*ast.StructType); !isType {
				put(e, "0")
				put(e, "1")
				put(e, "p0")
			}
		}
		return true
	})
	slices.SortStableFunc(out, func(a, b edit) int { return (b.to - b.from - len(b.text)) - (a.to - a.from - len(a.text)) })
	return out
}
