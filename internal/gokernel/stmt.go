package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"

	"weft/internal/loop"
)

// stmts lowers statements in order. Behind one that may have left the function or a loop
// the rest runs where it has not.
func (l *lowerer) stmts(list []ast.Stmt) {
	for i, s := range list {
		if x, ok := s.(*ast.IfStmt); ok && i+1 < len(list) && l.leaves(x) {
			l.ifStmt(x, list[i+1:])
			return
		} else {
			l.stmt(s)
		}
		if k, ok := l.knownBool(l.gone()); ok && k {
			return
		} else if !ok {
			l.restOf(list[i+1:])
			return
		}
	}
}

// gone tells where control has left what is being lowered, by return, break or continue.
func (l *lowerer) gone() loop.Value {
	r := l.flag(false)
	for _, f := range l.flags() {
		r = l.or(r, f.val.n.v)
	}
	return r
}

// flags are the flags of return, break and continue that are of interest here.
func (l *lowerer) flags() []*variable {
	out := []*variable{l.fr.gone}
	for _, a := range l.fr.loops {
		out = append(out, a.broken)
		if a.next != nil {
			out = append(out, a.next)
		}
	}
	return out
}

func (l *lowerer) set(v *variable) { v.val = l.boolean(l.flag(true)) }

func (l *lowerer) stmt(s ast.Stmt) {
	if s == nil {
		return
	}
	l.step(s)
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		l.stmts(s.List)
	case *ast.LabeledStmt:
		l.stmt(s.Stmt)
	case *ast.ExprStmt:
		if c, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
			l.call(c)
		}
	case *ast.DeclStmt:
		l.declare(s.Decl.(*ast.GenDecl))
	case *ast.IncDecStmt:
		at := l.place(s.X)
		op := token.ADD
		if s.Tok == token.DEC {
			op = token.SUB
		}
		v := l.load(at)
		l.store(at, l.binary(op, v, l.one(v.t)))
	case *ast.AssignStmt:
		l.assign(s)
	case *ast.ReturnStmt:
		l.returns(s)
	case *ast.BranchStmt:
		l.jump(s)
	case *ast.IfStmt:
		l.ifStmt(s, nil)
	case *ast.SwitchStmt:
		l.switchStmt(s)
	case *ast.ForStmt:
		l.forStmt(s)
	case *ast.RangeStmt:
		l.rangeStmt(s)
	default:
		l.src.refuse(s.Pos(), "this statement is not part of the language of kernels")
	}
}

func (l *lowerer) one(t *ty) *value {
	switch t.kind {
	case kFloat:
		return l.scalar(t, l.b.Float(t.t, 1))
	case kComplex:
		return l.pair(t, num{v: l.b.Float(t.t, 1)}, num{v: l.zero(t.t)})
	}
	return l.scalar(t, l.int(t.t, 1))
}

func (l *lowerer) declare(d *ast.GenDecl) {
	if d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		s := spec.(*ast.ValueSpec)
		var vals []*value
		if len(s.Values) > 0 {
			vals = l.exprs(s.Values, len(s.Names))
		}
		for i, n := range s.Names {
			if vals != nil {
				l.define(n, vals[i])
			} else if n.Name != "_" {
				l.define(n, l.zeroValue(l.typeOfVar(n)))
			}
		}
	}
}

func (l *lowerer) typeOfVar(n *ast.Ident) *ty {
	return l.src.typeOf(l.info.Defs[n].Type(), l.fr.env, n.Pos())
}

// exprs lowers n values: of n expressions, or of one call with n results.
func (l *lowerer) exprs(list []ast.Expr, n int) []*value {
	if len(list) == 1 && n > 1 {
		c := ast.Unparen(list[0]).(*ast.CallExpr)
		l.step(c)
		return l.call(c)
	}
	var out []*value
	for _, x := range list {
		out = append(out, l.expr(x))
	}
	return out
}

// define makes the variable of a declaration.
func (l *lowerer) define(n *ast.Ident, v *value) {
	obj := l.info.Defs[n]
	if obj == nil || n.Name == "_" {
		return
	}
	t := l.typeOfVar(n)
	if v.t.kind == kElem {
		l.src.refuse(n.Pos(), "an element of package kernel is a parameter, no variable")
	}
	l.fr.vars[obj] = &variable{t: t, val: l.assignable(v, t), name: n.Name}
	l.named(l.fr.vars[obj])
	l.fr.defs = append(l.fr.defs, obj)
}

// A place is what is assigned to: a variable, or a part of one.
type place struct {
	root  *variable // nil: nothing
	steps []place1
}

// A place1 is one step into a variable.
type place1 struct {
	field int
	index loop.Value // of an array; NoValue for a field
	it    *ty
}

// place resolves the left side of an assignment.
func (l *lowerer) place(x ast.Expr) place {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if x.Name == "_" {
			return place{}
		}
		return place{root: l.variable(x)}
	case *ast.SelectorExpr:
		p := l.place(x.X)
		for _, i := range l.info.Selections[x].Index() {
			p.steps = append(p.steps, place1{field: i, index: loop.NoValue})
		}
		return p
	case *ast.IndexExpr:
		p := l.place(x.X)
		i := l.expr(x.Index)
		p.steps = append(p.steps, place1{index: i.n.v, it: i.t})
		return p
	}
	l.src.refuse(x.Pos(), "this cannot be assigned to in a kernel")
	return place{}
}

func (l *lowerer) load(p place) *value {
	v := p.root.val
	for _, s := range p.steps {
		v = l.into(v, s)
	}
	return v
}

func (l *lowerer) into(v *value, s place1) *value {
	if s.index == loop.NoValue {
		return v.parts[s.field]
	}
	return l.element(v, s.index, s.it)
}

func (l *lowerer) store(p place, x *value) {
	if p.root == nil {
		return
	}
	if x.t.opaque() {
		l.src.refuse(l.pos, "arrays and elements of package kernel are not assigned to variables")
	}
	var put func(v *value, steps []place1) *value
	put = func(v *value, steps []place1) *value {
		if len(steps) == 0 {
			return l.assignable(x, v.t)
		}
		s := steps[0]
		part := put(l.into(v, s), steps[1:])
		if s.index == loop.NoValue {
			return v.with(s.field, part)
		}
		return l.withElement(v, s.index, s.it, part)
	}
	p.root.val = put(p.root.val, p.steps)
	l.named(p.root)
}

func (l *lowerer) assign(s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE:
		vals := l.exprs(s.Rhs, len(s.Lhs))
		for i, x := range s.Lhs {
			n := x.(*ast.Ident)
			if l.info.Defs[n] != nil {
				l.define(n, vals[i])
			} else {
				l.store(l.place(n), vals[i])
			}
		}
		return
	case token.ASSIGN:
		places := make([]place, len(s.Lhs))
		for i, x := range s.Lhs {
			places[i] = l.place(x)
		}
		vals := l.exprs(s.Rhs, len(s.Lhs))
		for i, p := range places {
			l.store(p, vals[i])
		}
		return
	}
	at := l.place(s.Lhs[0])
	y := l.expr(s.Rhs[0])
	l.pos = s.TokPos
	x := l.load(at)
	switch s.Tok {
	case token.SHL_ASSIGN, token.SHR_ASSIGN:
		l.store(at, l.scalar(x.t, l.shift(s.Tok == token.SHL_ASSIGN, x.t, x.n.v, y.t, y.n.v)))
	default:
		l.store(at, l.binary(s.Tok-(token.ADD_ASSIGN-token.ADD), x, y))
	}
}

func (l *lowerer) returns(s *ast.ReturnStmt) {
	if len(s.Results) > 0 {
		for i, v := range l.exprs(s.Results, len(l.fr.results)) {
			r := l.fr.results[i]
			r.val = l.assignable(v, r.t)
		}
	}
	l.set(l.fr.gone)
}

func (l *lowerer) jump(s *ast.BranchStmt) {
	if s.Tok == token.FALLTHROUGH {
		return // switchStmt goes on
	}
	for _, a := range l.fr.loops {
		if a.stmt == l.targets[s] {
			if s.Tok == token.BREAK {
				l.set(a.broken)
			} else {
				l.set(a.next)
			}
			return
		}
	}
	l.src.refuse(s.Pos(), "%s leaves no loop or switch", s.Tok)
}

// assigned lists the variables that exist now and that nodes may change, each once.
func (l *lowerer) assigned(nodes ...ast.Node) []*variable { return l.assignedIn(nil, nodes...) }

// assignedIn is assigned of statements and nodes.
func (l *lowerer) assignedIn(list []ast.Stmt, nodes ...ast.Node) []*variable {
	var out []*variable
	seen := map[*variable]bool{}
	add := func(v *variable) {
		if v != nil && !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	apply := func(e effect) {
		switch {
		case e.leaves != nil:
			for _, a := range l.fr.loops {
				if a.stmt == l.targets[e.leaves] && e.leaves.Tok == token.BREAK {
					add(a.broken)
				} else if a.stmt == l.targets[e.leaves] {
					add(a.next)
				}
			}
		case e.returns:
			add(l.fr.gone)
			for _, r := range l.fr.results {
				add(r)
			}
		case e.calls: // which may read an array
			add(l.places)
		case e.draws:
			if v := l.fr.vars[e.of]; v != nil && v.t.kind == kElem {
				add(v)
			}
		default:
			add(l.fr.vars[e.of])
		}
	}
	for _, s := range list {
		for _, e := range l.effectsOf(s) {
			apply(e)
		}
	}
	for _, n := range nodes {
		for _, e := range l.effectsOf(n) {
			apply(e)
		}
	}
	return out
}

// An effect is something that a node does to variables: to one, unless a flag says otherwise.
type effect struct {
	of             types.Object
	leaves         *ast.BranchStmt
	returns, calls bool
	draws          bool // a random number, from of
}

// effectsOf returns the effects of a node, each once, in order. What stands behind an if is
// asked for again at every if before it.
func (l *lowerer) effectsOf(n ast.Node) []effect {
	of := nodeOf{l.Func, n}
	out, ok := l.effects[of]
	if !ok {
		out = l.findEffects(n)
		l.effects[of] = out
	}
	return out
}

func (l *lowerer) findEffects(n ast.Node) (out []effect) {
	seen := map[effect]bool{}
	add := func(e effect) {
		if !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	root := func(x ast.Expr) {
		for {
			switch y := ast.Unparen(x).(type) {
			case *ast.SelectorExpr:
				x = y.X
				continue
			case *ast.IndexExpr:
				x = y.X
				continue
			case *ast.Ident:
				if o := l.info.Uses[y]; o != nil {
					add(effect{of: o})
				}
			}
			return
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				root(x)
			}
		case *ast.IncDecStmt:
			root(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				if n.Key != nil {
					root(n.Key)
				}
				if n.Value != nil {
					root(n.Value)
				}
			}
		case *ast.ReturnStmt:
			add(effect{returns: true})
		case *ast.BranchStmt:
			add(effect{leaves: n})
		case *ast.CallExpr:
			add(effect{calls: true})
		case *ast.SelectorExpr: // a method that draws a random number
			if sel := l.info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal && draws[n.Sel.Name] {
				if x, ok := ast.Unparen(n.X).(*ast.Ident); ok && l.info.Uses[x] != nil {
					add(effect{of: l.info.Uses[x], draws: true})
				}
			}
		}
		return true
	})
	return out
}
