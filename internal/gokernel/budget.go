//lint:file-ignore SA1019 constants are bounded before go/types may see them, so what the parser resolved is all there is

package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Source may come from anyone, so its cost is bounded before go/types sees it, which evaluates
// constants of any size. Bounds of lowering are in lower.go, bounds of types at maxParts.

// MaxSource is the most bytes of all files of a source.
const MaxSource = 16 << 20

// Bounds of a source.
const (
	maxNeeded   = 1 << 20 // bytes of a function and what it needs
	maxConstant = 1 << 14 // bits before the point of a constant
	maxTiny     = 1 << 20 // zeros behind its point
	maxText     = 1 << 16 // bytes of a constant string
	maxParams   = 128     // parameters
	maxResults  = 1024    // results
)

// checkSize bounds the bytes of what a function needs.
func (s *Source) checkSize(name string, decls []decl) {
	n := 0
	for _, d := range decls {
		n += int(d.node.End() - d.node.Pos())
	}
	if n > maxNeeded {
		s.refuse(decls[0].node.Pos(), "%s and what it needs are %d bytes of source, at most %d are compiled", name, n, maxNeeded)
	}
}

// precision is that of floats of the checker, in bits, and some: what is left where two of them
// cancel is not smaller by more.
const precision = 600

// A constSize bounds a constant expression: its magnitude lies from 2^low to 2^high, or it is 0
// or a string of at most text bytes.
type constSize struct {
	low, high, text float64
	sign            int     // 1 or -1, 0 if it is not known
	value           float64 // of a literal integer, else -1
}

// constants bounds the constants of declarations without computing them.
type constants struct {
	s     *Source
	names map[*ast.Object]ast.Expr // the value of each constant that the parser resolved
	known map[ast.Expr]*constSize  // nil: not constant, or being looked at
}

// checkConstants refuses constant expressions that are too large.
func (s *Source) checkConstants(decls []decl) {
	c := &constants{s: s, names: map[*ast.Object]ast.Expr{}, known: map[ast.Expr]*constSize{}}
	for _, d := range decls {
		ast.Inspect(d.node, func(n ast.Node) bool {
			if g, ok := n.(*ast.GenDecl); ok && g.Tok == token.CONST {
				c.declare(g)
			}
			return true
		})
	}
	for _, d := range decls {
		ast.Inspect(d.node, func(n ast.Node) bool {
			if x, ok := n.(*ast.BinaryExpr); ok {
				c.size(x)
			} else if x, ok := n.(*ast.BasicLit); ok {
				c.size(x)
			}
			return true
		})
	}
}

// declare notes the values of a group of constants; one without values has those before it.
func (c *constants) declare(g *ast.GenDecl) {
	var values []ast.Expr
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if len(v.Values) > 0 {
			values = v.Values
		}
		for i, name := range v.Names {
			if name.Obj != nil && i < len(values) {
				c.names[name.Obj] = values[i]
			}
		}
	}
}

// object is what a name stands for, also in another file of the package; nil if the parser does
// not know.
func (c *constants) object(x *ast.Ident) *ast.Object {
	if x.Obj != nil {
		return x.Obj
	}
	for _, f := range c.s.files {
		if o := f.ast.Scope.Lookup(x.Name); o != nil {
			return o
		}
	}
	return nil
}

// size bounds an expression; nil if it is not constant.
func (c *constants) size(x ast.Expr) *constSize {
	if n, ok := c.known[x]; ok {
		return n
	}
	c.known[x] = nil // of one that needs itself, which the checker refuses
	n := c.sizeOf(x)
	switch {
	case n == nil:
	case n.high > maxConstant || n.low < -maxTiny:
		c.s.refuse(x.Pos(), "a constant that may be as large as 2^%.0f or as small as 2^%.0f; constants lie from 2^-%d to 2^%d", n.high, n.low, maxTiny, maxConstant)
	case n.text > maxText:
		c.s.refuse(x.Pos(), "a constant string of %.0f bytes, at most %d are computed", n.text, maxText)
	}
	c.known[x] = n
	return n
}

func (c *constants) sizeOf(x ast.Expr) *constSize {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return c.size(x.X)
	case *ast.UnaryExpr:
		n := c.size(x.X)
		if n == nil {
			return nil
		}
		negative := *n
		negative.value = -1
		if x.Op == token.SUB {
			negative.sign = -n.sign
		} else if x.Op != token.ADD {
			negative.low, negative.high, negative.sign = 0, max(n.high, 64)+1, 0
		}
		return &negative
	case *ast.BasicLit:
		return literalSize(x)
	case *ast.Ident:
		if x.Name == "iota" && x.Obj == nil {
			return &constSize{high: 32, sign: 1, value: -1}
		}
		if o := c.object(x); o != nil && c.names[o] != nil {
			return c.size(c.names[o])
		}
	case *ast.SelectorExpr: // of package math, perhaps: as large as MaxFloat64
		if p, ok := x.X.(*ast.Ident); ok && p.Obj == nil {
			return &constSize{low: -1100, high: 1100, value: -1}
		}
	case *ast.CallExpr:
		// A conversion, or a built-in function of constants.
		id, ok := x.Fun.(*ast.Ident)
		if o := (*ast.Object)(nil); ok {
			if o = c.object(id); o != nil && o.Kind != ast.Typ {
				return nil
			}
		}
		all := &constSize{value: -1} // len is from 0 on
		for _, a := range x.Args {
			n := c.size(a)
			if n == nil {
				return nil
			}
			all.low, all.high, all.text = min(all.low, n.low), max(all.high, n.high, 17), max(all.text, n.text)
		}
		return all
	case *ast.BinaryExpr:
		a, b := c.size(x.X), c.size(x.Y)
		if a == nil || b == nil {
			return nil
		}
		n := &constSize{value: -1}
		switch x.Op {
		case token.ADD, token.SUB:
			if n.text = a.text + b.text; n.text > 0 && a.high+b.high == 0 {
				break // strings: len of one has text too, and a number above 0
			}
			n.high = max(a.high, b.high) + 1
			n.low, n.sign = max(a.low, b.low), a.sign
			if x.Op == token.SUB && b.sign != -a.sign || x.Op == token.ADD && b.sign != a.sign || a.sign == 0 {
				n.low, n.sign = min(a.low, b.low)-precision, 0 // they may cancel
			}
		case token.AND, token.OR, token.XOR, token.AND_NOT:
			n.high = max(a.high, b.high) + 1
		case token.SHL, token.SHR:
			by := b.value
			if by < 0 {
				by = math.Exp2(min(b.high, 64))
			}
			n.low, n.high, n.sign = min(a.low, 0), a.high, a.sign
			if x.Op == token.SHL {
				n.high += by
			}
		case token.MUL:
			n.low, n.high, n.sign = a.low+b.low, a.high+b.high, a.sign*b.sign
		case token.QUO: // of integers as of others
			n.low, n.high, n.sign = a.low-b.high, max(a.high-b.low, 0), a.sign*b.sign
		case token.REM:
			n.high = b.high
		}
		return n
	}
	return nil
}

// literalSize bounds a literal by its text.
func literalSize(x *ast.BasicLit) *constSize {
	n := &constSize{value: -1, sign: 1}
	switch x.Kind {
	case token.STRING:
		n.text, n.sign = float64(len(x.Value)), 0
	case token.CHAR:
		n.high = 32
	case token.INT:
		n.high = 4 * float64(len(x.Value))
		if v, err := strconv.ParseUint(x.Value, 0, 53); err == nil {
			n.value = float64(v)
			n.low = math.Log2(max(float64(v), 1))
			n.high = n.low + 1
		}
	default: // 1e1000, 0x1p-1074, 2.5i
		text := strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(x.Value), "_", ""), "i")
		mark, base := "e", math.Log2(10)
		if strings.HasPrefix(text, "0x") {
			mark, base = "p", 1
		}
		digits, exponent, _ := strings.Cut(text, mark)
		e, err := strconv.ParseFloat(exponent, 64)
		if exponent != "" && err != nil {
			e = math.Inf(1)
		}
		places := 4 * float64(len(digits))
		n.low, n.high = e*base-places, e*base+places
	}
	return n
}

// callsOf returns the maximum number of calls that statements make for an element, transitively,
// with loops counted once. Of the branches of an if or a switch the largest counts.
func (c *checker) callsOf(list []ast.Stmt) int {
	if len(list) == 0 {
		return 0
	}
	rest := c.callsOf(list[1:])
	n := 0
	switch s := list[0].(type) {
	case *ast.IfStmt:
		n = c.callsIn(s.Init) + c.callsIn(s.Cond)
		then, els := c.callsOf(s.Body.List), 0
		if s.Else != nil {
			els = c.callsOf([]ast.Stmt{s.Else})
		}
		if !ends(s.Body) {
			then += rest
		}
		n, rest = n+max(then, els+rest), 0
	case *ast.SwitchStmt:
		n = c.callsIn(s.Init) + c.callsIn(s.Tag)
		most := 0
		for _, x := range s.Body.List {
			clause := x.(*ast.CaseClause)
			for _, e := range clause.List {
				n += c.callsIn(e)
			}
			most = max(most, c.callsOf(clause.Body))
		}
		n += most
	case *ast.BlockStmt:
		n = c.callsOf(s.List)
	case *ast.LabeledStmt:
		n = c.callsOf([]ast.Stmt{s.Stmt})
	case *ast.ForStmt:
		n = c.callsIn(s.Init) + c.callsIn(s.Cond) + c.callsIn(s.Post) + c.callsOf(s.Body.List)
	case *ast.RangeStmt:
		n = c.callsIn(s.X) + c.callsOf(s.Body.List)
	default:
		n = c.callsIn(s)
	}
	return min(n+rest, maxCallsMade+1)
}

// callsIn returns the same of an expression or a statement without others.
func (c *checker) callsIn(n ast.Node) (count int) {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return 0
	}
	ast.Inspect(n, func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if _, obj := c.f.callee(x); obj != nil && obj.Pkg() == c.f.pkg {
			if fn, ok := obj.(*types.Func); ok {
				count = min(count+1+c.made[fn.Origin()], maxCallsMade+1)
			}
		}
		return true
	})
	return count
}
