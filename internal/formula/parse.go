package formula

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/op"
)

// Parse reads a formula, which may call funcs by their names here, where the language has
// no such function. The error is an *array.Error that points at the column.
func Parse(text string, funcs map[string]*Func) (f *Formula, err error) {
	return parse(text, funcs, nil)
}

// parse is [Parse] of the text of a written function if it has parameters, which are the first names.
func parse(text string, funcs map[string]*Func, params []string) (f *Formula, err error) {
	p := &reader{f: &Formula{Text: text, funcs: funcs}, index: map[string]int{}, written: len(params) > 0}
	for _, name := range params {
		p.named(name, 0)
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*array.Error)
			if !ok {
				panic(r)
			}
			f, err = nil, e
		}
	}()
	if len(text) > MaxText {
		p.failf(MaxText, "the formula has %d bytes, at most %d are read", len(text), MaxText)
	}
	if strings.TrimSpace(text) == "" {
		p.failf(0, "the formula is empty")
	}
	x, err := parser.ParseExprFrom(token.NewFileSet(), "", p.goText(text), parser.SkipObjectResolution)
	if err != nil {
		p.syntax(err)
	}
	p.f.root = p.read(x)
	return p.f, nil
}

type reader struct {
	f      *Formula
	index  map[string]int // by name: its number
	names  []*Node        // by number
	room   []Node         // for nodes to come
	freed  map[int]bool   // offsets at which the text says var
	spaces []int          // offsets of what goText put in
	depth  int
	nodes  int

	written bool // the text is ours, and has hidden names
}

// make returns a new node, on the heap beside its neighbours.
func (p *reader) make(kind kind, at int) *Node {
	if len(p.room) == 0 {
		p.room = make([]Node, 8)
	}
	n := &p.room[0]
	p.room = p.room[1:]
	n.kind, n.at = kind, at
	return n
}

// goText returns the text as Go's parser can read it. var, a keyword of Go but a function here,
// becomes another word of the same length. <-, -- and ++ get spaces, since they are one token to
// Go and two operators here.
func (p *reader) goText(text string) []byte {
	src := []byte(text)
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", 1, len(src)), src, func(token.Position, string) {}, 0)
	out := make([]byte, 0, len(src)+8)
	for done := 0; ; {
		pos, tok, _ := s.Scan()
		at := int(pos) - 1
		switch tok {
		case token.EOF:
			return append(out, src[done:]...)
		case token.VAR:
			if p.freed == nil {
				p.freed = map[int]bool{}
			}
			p.freed[at] = true
			out = append(append(out, src[done:at]...), "Var"...)
			done = at + len("Var")
		case token.ARROW, token.DEC, token.INC:
			out = append(append(out, src[done:at+1]...), ' ', src[at+1], ' ')
			done = at + 2
			p.spaces = append(p.spaces, len(out)-3, len(out)-1)
		}
	}
}

// word is the text of an identifier.
func (p *reader) word(x *ast.Ident) string {
	if p.freed[p.offset(x.Pos())] {
		return "var"
	}
	return x.Name
}

// offset is the byte offset in the text of a position in what goText made of it.
func (p *reader) offset(pos token.Pos) int { return p.original(int(pos) - 1) }

// original is the offset in the text of one in what goText made of it.
func (p *reader) original(at int) int {
	n, _ := slices.BinarySearch(p.spaces, at)
	return at - n
}

func (p *reader) failf(at int, format string, args ...any) {
	panic(ErrorAt("expr", p.f.Text, at, array.Misuse, fmt.Sprintf(format, args...)))
}

// syntax reports an error of Go's parser in the terms of a formula.
func (p *reader) syntax(err error) {
	list, ok := err.(scanner.ErrorList)
	if !ok || len(list) == 0 {
		p.failf(0, "%v", err)
	}
	at, msg := p.original(list[0].Pos.Offset), list[0].Msg
	if at < len(p.f.Text) {
		rest := p.f.Text[at:]
		switch {
		case rest[0] == '=' && !strings.HasPrefix(rest, "=="):
			p.failf(at, "a formula has no assignment: equality is written ==")
		case rest[0] == '?':
			p.failf(at, "a choice is written where(condition, x, y)")
		case rest[0] == '@':
			p.failf(at, "there is no @: a matrix product is written dot(a, b)")
		case strings.HasPrefix(msg, "expected 'EOF', found"):
			hint := ""
			if c := rest[0]; c == '(' || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' {
				hint = ": a product is written with *"
			}
			p.failf(at, "unexpected %s after a complete formula%s", strings.TrimSpace(strings.TrimPrefix(msg, "expected 'EOF', found")), hint)
		}
	}
	if _, found, ok := strings.Cut(msg, "found '"); ok && token.IsKeyword(strings.TrimSuffix(found, "'")) {
		p.failf(at, "%s is a keyword of Go and cannot be a name", strings.TrimSuffix(found, "'"))
	}
	msg = strings.ReplaceAll(msg, "'EOF'", "the end of the formula")
	end := "the end of the line"
	if strings.TrimSpace(p.f.Text[min(at, len(p.f.Text)):]) == "" {
		end = "the end of the formula"
	}
	msg = strings.ReplaceAll(msg, "newline", end)
	p.failf(at, "%s", msg)
}

// read turns an expression into a node.
func (p *reader) read(x ast.Expr) *Node {
	p.depth++
	defer func() { p.depth-- }()
	if _, ok := x.(*ast.ParenExpr); !ok {
		p.nodes++
	}
	at := p.offset(x.Pos())
	if p.depth > MaxDepth {
		p.failf(at, "the formula nests deeper than %d: split it", MaxDepth)
	}
	if p.nodes > MaxNodes {
		p.failf(at, "the formula has more than %d operands and operators: split it", MaxNodes)
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.read(x.X)
	case *ast.Ident:
		return p.ident(x)
	case *ast.BasicLit:
		return p.literal(x)
	case *ast.UnaryExpr:
		return p.unary(x)
	case *ast.BinaryExpr:
		return p.binary(x)
	case *ast.CallExpr:
		return p.call(x)
	case *ast.StarExpr:
		p.failf(at, "there is no ** or * in front of an operand: a power is written pow(a, 2)")
	case *ast.SelectorExpr:
		p.failf(p.offset(x.Sel.Pos())-1, "names have no dot")
	case *ast.IndexExpr, *ast.IndexListExpr, *ast.SliceExpr:
		p.failf(at, "a formula does not index: pass the slice under a name of its own")
	}
	p.failf(at, "this is not part of a formula: it takes names, numbers, operators and calls")
	return nil
}

func (p *reader) ident(x *ast.Ident) *Node {
	at := p.offset(x.Pos())
	if p.word(x) == "var" {
		p.failf(at, "var is a function and needs arguments")
	}
	if c, ok := constants[x.Name]; ok {
		if !slices.Contains(p.f.Constants, x.Name) {
			p.f.Constants = append(p.f.Constants, x.Name)
		}
		return &Node{kind: number, at: at, num: c, exact: true}
	}
	if x.Name == "_" {
		p.failf(at, "_ is not a name")
	}
	if c, ok := hiddenNumbers[x.Name]; ok && p.written {
		return &Node{kind: number, at: at, num: c, exact: true}
	}
	return p.named(x.Name, at)
}

// named returns the node of a name, which is a new one where it first stands.
func (p *reader) named(text string, at int) *Node {
	i, ok := p.index[text]
	if !ok {
		if i = len(p.f.Names); i == MaxNames {
			p.failf(at, "the formula has more than %d names: split it", MaxNames)
		}
		p.index[text] = i
		p.f.Names = append(p.f.Names, text)
		n := p.make(name, at)
		n.name, n.names, n.exact = i, 1<<i, true
		p.names = append(p.names, n)
	}
	return p.names[i]
}

func (p *reader) literal(x *ast.BasicLit) *Node {
	at := p.offset(x.Pos())
	n := p.make(number, at)
	n.exact = true
	switch x.Kind {
	case token.INT:
		i, err := strconv.ParseInt(x.Value, 0, 64)
		if err != nil {
			p.failf(at, "%s does not fit int64: write it as a float, such as 1e20", shorten(x.Value))
		}
		n.num = intNumber(i)
	case token.FLOAT:
		f, err := strconv.ParseFloat(x.Value, 64)
		if err != nil || math.IsInf(f, 0) {
			p.failf(at, "%s does not fit float64", shorten(x.Value))
		}
		n.num = floatNumber(f)
	case token.IMAG:
		p.failf(at, "complex numbers are not supported")
	default:
		p.failf(at, "a formula takes numbers, not text")
	}
	return n
}

func shorten(s string) string {
	if len(s) > 30 {
		return s[:30] + "…"
	}
	return s
}

func (p *reader) unary(x *ast.UnaryExpr) *Node {
	at := p.offset(x.OpPos)
	switch x.Op {
	case token.ADD:
		return p.read(x.X)
	case token.SUB:
		if l, ok := x.X.(*ast.BasicLit); ok && l.Kind == token.INT {
			if u, err := strconv.ParseUint(l.Value, 0, 64); err == nil && u == 1<<63 { // no int64 without its sign
				n := p.make(number, at)
				n.exact, n.num = true, intNumber(math.MinInt64)
				return n
			}
		}
		return p.node(at, op.Neg, p.read(x.X))
	case token.NOT:
		return p.node(at, op.LogicalNot, p.read(x.X))
	case token.XOR:
		return p.node(at, op.BitNot, p.read(x.X))
	}
	p.failf(at, "there is no %s in front of an operand", x.Op)
	return nil
}

var operators = map[token.Token]**op.Def{
	token.ADD: &op.Add, token.SUB: &op.Sub, token.MUL: &op.Mul, token.QUO: &op.Div, token.REM: &op.Mod,
	token.EQL: &op.Eq, token.NEQ: &op.Ne, token.LSS: &op.Lt, token.LEQ: &op.Le, token.GTR: &op.Gt, token.GEQ: &op.Ge,
	token.LAND: &op.LogicalAnd, token.LOR: &op.LogicalOr,
	token.AND: &op.BitAnd, token.OR: &op.BitOr, token.XOR: &op.BitXor, token.SHL: &op.Shl, token.SHR: &op.Shr,
	token.AND_NOT: &op.BitAnd, // of the complement
}

func comparison(t token.Token) bool {
	switch t {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

func (p *reader) binary(x *ast.BinaryExpr) *Node {
	at := p.offset(x.OpPos)
	if star, ok := x.Y.(*ast.StarExpr); ok && x.Op == token.MUL && p.offset(star.Pos()) == at+1 {
		p.failf(at, "there is no **: a power is written pow(a, 2)")
	}
	d, ok := operators[x.Op]
	if !ok {
		p.failf(at, "there is no operator %s", x.Op)
	}
	if inner, ok := x.X.(*ast.BinaryExpr); ok && comparison(x.Op) && comparison(inner.Op) {
		p.failf(at, "comparisons do not chain: write a %s b && b %s c", inner.Op, x.Op)
	}
	_, chains := x.X.(*ast.BinaryExpr)
	if chains {
		p.depth-- // a + b in a + b + c is on the level of the sum
	}
	a := p.read(x.X)
	if chains {
		p.depth++
	}
	b := p.read(x.Y)
	if x.Op == token.AND_NOT {
		b = p.node(at, op.BitNot, b)
	}
	return p.node(at, *d, a, b)
}

// node makes the application of an operation; of numbers alone it is computed.
func (p *reader) node(at int, d *op.Def, args ...*Node) *Node {
	n := p.make(call, at)
	n.def, n.args, n.exact = d, args, exactOps[d]
	for _, a := range args {
		n.names |= a.names
		n.exact = n.exact && a.exact
	}
	if d == op.Pow && args[0].exact {
		// Only the exponent's value tells whether the power is exact.
		n.exact = smallInt(args[1])
	}
	if n.exact && n.names == 0 {
		return &Node{kind: number, at: at, num: n.value(nil), exact: true}
	}
	return n
}

// smallInt reports a constant exponent for which op.PowBy uses a chain of
// products.
func smallInt(n *Node) bool {
	return n.kind == number && n.num.Kind == array.CatInt && n.num.Int >= -op.MaxPower && n.num.Int <= op.MaxPower
}

func (p *reader) call(x *ast.CallExpr) *Node {
	at := p.offset(x.Pos())
	fun, ok := x.Fun.(*ast.Ident)
	if !ok {
		if s, sel := x.Fun.(*ast.SelectorExpr); sel {
			p.failf(at, "functions have no package and no receiver: write %s(x)", strings.ToLower(s.Sel.Name))
		}
		p.failf(at, "only a function can be called")
	}
	if x.Ellipsis.IsValid() {
		p.failf(p.offset(x.Ellipsis), "there is no ... in a call")
	}
	called := p.word(fun)
	f, ok := functions()[called]
	if !ok { // explained formulas name them
		f, ok = hidden[called], hidden[called] != nil
	}
	if fun := p.f.funcs[called]; !ok && fun != nil {
		n := &Node{kind: user, at: at, fun: fun}
		for _, a := range x.Args {
			n.args = append(n.args, p.read(a))
			n.names |= n.args[len(n.args)-1].names
		}
		return n
	}
	if !ok {
		if other := otherName(called); other != "" {
			p.failf(at, "unknown function %s: it is called %s here", shorten(called), other)
		}
		hint := didYouMean(called, Functions())
		if hint == "" {
			hint = ": weft.Expr's documentation lists all"
		}
		p.failf(at, "unknown function %s%s", shorten(called), hint)
	}
	if f.pair != nil && len(x.Args) == 2 {
		f = &function{def: f.pair, args: 2}
	}
	p.count(f, called, x)
	args := make([]*Node, f.args)
	for i := range args {
		args[i] = p.read(x.Args[i])
	}
	if f.cast != array.Invalid {
		return &Node{kind: cast, at: at, cast: f.cast, args: args, names: args[0].names}
	}
	if f.written != nil || f.compose != nil {
		n := &Node{kind: made, at: at, made: f, args: args}
		for _, a := range args {
			n.names |= a.names
		}
		return n
	}
	if f.maxAxes == 0 {
		return p.node(at, f.def, args...)
	}
	n := &Node{kind: call, at: at, def: f.def, over: f.over, args: args, names: args[0].names}
	for _, a := range x.Args[f.args:] {
		axis := p.read(a)
		if axis.kind != number || axis.num.Kind != array.CatInt {
			p.failf(p.offset(a.Pos()), "an axis of %s must be a constant integer", called)
		}
		if axis.num.Int < -array.MaxRank || axis.num.Int >= array.MaxRank {
			p.failf(p.offset(a.Pos()), "axis %d is out of range: no array has more than %d dimensions", axis.num.Int, array.MaxRank)
		}
		n.over.Axes = append(n.over.Axes, int(axis.num.Int))
	}
	return n
}

// count checks the number of arguments.
func (p *reader) count(f *function, called string, x *ast.CallExpr) {
	lo, hi := f.args+f.minAxes, f.args+f.maxAxes
	got := len(x.Args)
	if f.pair != nil && got > 2 {
		p.failf(p.offset(x.Pos()), "%s takes 1 or 2 arguments, got %d: over axes it is written a%s(x, 0, 1)", called, got, called)
	}
	if got >= lo && got <= hi {
		return
	}
	var want string
	switch {
	case hi == f.args+anyAxes:
		want = "an array and its axes,"
	case f.maxAxes > 0 && lo < hi:
		want = fmt.Sprintf("%d or %d arguments,", lo, hi)
	case f.minAxes > 0:
		want = "an array and an axis,"
	case lo == 1:
		want = "1 argument,"
	default:
		want = fmt.Sprintf("%d arguments,", lo)
	}
	p.failf(p.offset(x.Pos()), "%s takes %s got %d", called, want, got)
}

// Value returns the number that a formula without names is, if it can be
// computed exactly.
func (f *Formula) Value() (exec.Number, bool) { return f.root.num, f.root.kind == number }
