package kernel

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"weft/internal/loop"
)

// The pieces of a machine, see share.go: build makes them of statements, and lower writes
// them. What follows a statement is the function k, which makes the code of it.

// build makes the pieces of the statements. It reports false where a loop cannot carry what
// is known of integers, which indices into arrays behind them could need.
func (m *machine) build(list, behind []ast.Stmt) bool {
	l := m.l
	for _, v := range l.fr.vars {
		m.old[v] = true
	}
	for _, v := range append(l.flags(), l.fr.results...) {
		m.old[v] = true
	}
	if l.places != nil {
		m.old[l.places] = true
	}
	start := &label{kept: true}
	m.place(start, func() *node { return m.stmts(list, func() *node { m.through = true; return m.jump(m.end) }) })
	for _, s := range behind {
		for _, v := range m.mentioned(s) {
			m.old[v] = true
		}
	}
	for _, r := range m.routines {
		if r.shared {
			m.place(r.entry, func() *node { return m.body(r) })
		}
	}
	pieces := m.labels[:0]
	for _, b := range m.labels {
		if b.piece() {
			b.number = len(pieces)
			pieces = append(pieces, b)
		}
	}
	m.labels, m.end.number = pieces, len(pieces)
	if !l.indexes() {
		return true
	}
	for _, v := range m.carried() {
		if v.t.counts() && !m.counter(v) {
			m.forget()
			return false
		}
	}
	return true
}

// counter reports a number of pieces.
func (m *machine) counter(v *variable) bool {
	return v == m.at || slices.ContainsFunc(m.routines, func(r *routine) bool { return r.back == v })
}

// indexes reports a kernel that reads arrays by index.
func (l *lowerer) indexes() bool {
	for p := range l.obj.Signature().Params().Variables() {
		if l.src.typeOf(p.Type(), l.inst.env, p.Pos()).kind == kOuter {
			return true
		}
	}
	return false
}

// counts reports a type with integers in it.
func (t *ty) counts() bool {
	if t.integer() {
		return true
	}
	for _, p := range t.parts {
		if p.counts() {
			return true
		}
	}
	return false
}

// place puts a label behind those that have their place, with its code, unless nothing
// leads there.
func (m *machine) place(b *label, code func() *node) {
	if b.piece() || b.uses > 0 {
		m.labels = append(m.labels, b)
		b.code = code()
	}
}

func (m *machine) jump(b *label) *node {
	b.uses++
	return &node{to: b}
}

// here is run in the frame that statements are being taken apart in now, where control has
// not left it.
func (m *machine) here(run func()) func() {
	l, fr, loops := m.l, m.l.fr, slices.Clone(m.l.fr.loops)
	return func() {
		saved, around := l.fr, fr.loops
		l.fr, fr.loops = fr, loops
		for _, f := range l.flags() {
			f.val = l.boolean(l.flag(false))
		}
		run()
		l.fr, fr.loops = saved, around
	}
}

// choice goes to one of two nodes.
func (m *machine) choice(cond ast.Node, c func() loop.Value, then, els *node) *node {
	n := &node{then: then, other: els, mentions: m.mentioned(cond)}
	var v loop.Value
	run := m.here(func() { v = c() })
	n.cond = func() loop.Value { run(); return v }
	return n
}

// mentioned are the variables that exist now and that a node names.
func (m *machine) mentioned(n ast.Node) (out []*variable) {
	if n == nil {
		return nil
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			obj := m.l.info.Uses[n]
			if obj == nil {
				obj = m.l.info.Defs[n]
			}
			if v := m.l.fr.vars[obj]; v != nil {
				out = append(out, v)
			}
		case *ast.ReturnStmt:
			out = append(out, m.l.fr.results...)
		case ast.Expr:
			out = append(out, m.l.fr.taken[n]...)
		}
		return true
	})
	return out
}

// stmts are statements and what follows, in order.
func (m *machine) stmts(list []ast.Stmt, k func() *node) *node {
	if len(list) == 0 {
		return k()
	}
	rest := func() *node { return m.stmts(list[1:], k) }
	s := list[0]
	if !m.has(s) {
		return m.whole(s, rest)
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		return m.stmts(s.List, rest)
	case *ast.LabeledStmt:
		return m.stmts([]ast.Stmt{s.Stmt}, rest)
	case *ast.IfStmt:
		return m.stmts(some(s.Init), func() *node { return m.ifStmt(s, rest) })
	case *ast.SwitchStmt:
		return m.stmts(some(s.Init), func() *node { return m.switchStmt(s, rest) })
	case *ast.DeclStmt:
		var exprs []ast.Expr
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			exprs = append(exprs, spec.(*ast.ValueSpec).Values...)
		}
		return m.exprs(exprs, func() *node { return m.whole(s, rest) })
	case *ast.AssignStmt:
		return m.exprs(append(slices.Clone(s.Lhs), s.Rhs...), func() *node { return m.whole(s, rest) })
	case *ast.IncDecStmt:
		return m.expr(s.X, func() *node { return m.whole(s, rest) })
	case *ast.ExprStmt:
		return m.expr(s.X, func() *node { return m.whole(s, rest) })
	case *ast.ReturnStmt:
		return m.exprs(s.Results, func() *node { return m.whole(s, rest) })
	}
	m.l.src.refuse(s.Pos(), "this statement is not part of the language of kernels")
	return nil
}

func some(s ast.Stmt) []ast.Stmt {
	if s == nil {
		return nil
	}
	return []ast.Stmt{s}
}

// whole is a statement that is lowered as any other, its calls having been made.
func (m *machine) whole(s ast.Stmt, k func() *node) *node {
	l := m.l
	n := &node{do: m.here(func() { l.stmt(s) })}
	for _, id := range l.declared(s) {
		n.changes = append(n.changes, m.declare(id))
	}
	n.mentions = m.mentioned(s)
	var left []*variable
	for _, v := range l.assigned(s) {
		flag := slices.Contains(l.flags(), v)
		if flag {
			left = append(left, v)
		}
		if !flag || l.fr == m.base && m.targets[v] == nil {
			n.changes = append(n.changes, v)
		}
	}
	if len(left) == 1 && ends(s) {
		n.next = m.target(left[0])
		return n
	}
	var test func() *node
	test = func() *node {
		if len(left) == 0 {
			return k()
		}
		f := left[0]
		left = left[1:]
		then := m.target(f)
		return &node{cond: func() loop.Value { return f.val.n.v }, then: then, other: test()}
	}
	n.next = test()
	return n
}

// target is the jump to where control goes that sets a flag.
func (m *machine) target(f *variable) *node {
	if b := m.targets[f]; b != nil {
		return m.jump(b)
	}
	return m.jump(m.end)
}

// declare makes the variable of a declaration before its statement.
func (m *machine) declare(n *ast.Ident) *variable {
	l := m.l
	u := l.typeOfVar(n)
	v := &variable{t: u, val: undefined(u), name: n.Name}
	obj := l.info.Defs[n]
	if l.fr.ahead == nil {
		l.fr.ahead = map[types.Object]bool{}
	}
	l.fr.vars[obj], l.fr.ahead[obj] = v, true
	ahead := l.fr.ahead
	m.undo = append(m.undo, func() { delete(ahead, obj) })
	l.fr.defs = append(l.fr.defs, obj)
	return v
}

// declared are the names that a statement declares for those behind it.
func (l *lowerer) declared(s ast.Stmt) (names []*ast.Ident) {
	add := func(n *ast.Ident) {
		if n.Name != "_" && l.info.Defs[n] != nil {
			names = append(names, n)
		}
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, x := range s.Lhs {
			if n, ok := x.(*ast.Ident); ok && s.Tok == token.DEFINE {
				add(n)
			}
		}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && s.Decl.(*ast.GenDecl).Tok == token.VAR {
				for _, n := range v.Names {
					add(n)
				}
			}
		}
	}
	return names
}

// blank are variables of those types.
func blank(list []*ty) (vars []*variable) {
	for _, u := range list {
		vars = append(vars, &variable{t: u, val: undefined(u)})
	}
	return vars
}

// put gives variables their values.
func (l *lowerer) put(vars []*variable, vals []*value) {
	for i, v := range vars {
		v.val = l.assignable(vals[i], v.t)
	}
}

// take notes what an expression comes to, which is computed before its statement.
func (m *machine) take(x ast.Expr, vars []*variable) {
	fr := m.l.fr
	if fr.taken == nil {
		fr.taken = map[ast.Expr][]*variable{}
	}
	fr.taken[x] = vars
	m.undo = append(m.undo, func() { delete(fr.taken, x) })
}

// exprs makes the calls of expressions, in order.
func (m *machine) exprs(list []ast.Expr, k func() *node) *node {
	if len(list) == 0 {
		return k()
	}
	return m.expr(list[0], func() *node { return m.exprs(list[1:], k) })
}

// expr makes the calls of an expression, but for those that && and || leave out.
func (m *machine) expr(x ast.Expr, k func() *node) *node {
	if x == nil || !m.has(x) {
		return k()
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return m.expr(x.X, k)
	case *ast.SelectorExpr:
		return m.expr(x.X, k)
	case *ast.UnaryExpr:
		return m.expr(x.X, k)
	case *ast.IndexExpr:
		return m.exprs([]ast.Expr{x.X, x.Index}, k)
	case *ast.BinaryExpr:
		if (x.Op == token.LAND || x.Op == token.LOR) && m.has(x.Y) {
			return m.expr(x.X, func() *node { return m.shortcut(x, k) })
		}
		return m.exprs([]ast.Expr{x.X, x.Y}, k)
	case *ast.CompositeLit:
		var list []ast.Expr
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			list = append(list, e)
		}
		return m.exprs(list, k)
	case *ast.CallExpr:
		var list []ast.Expr
		if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok {
			list = append(list, sel.X)
		}
		return m.exprs(append(list, x.Args...), func() *node {
			if r := m.called(x); r != nil {
				return m.call(x, r, k)
			}
			return k()
		})
	}
	m.l.src.refuse(x.Pos(), "this expression is not part of the language of kernels")
	return nil
}

// shortcut is && or ||, of which the calls of the left side have been made.
func (m *machine) shortcut(x *ast.BinaryExpr, k func() *node) *node {
	l := m.l
	out := blank([]*ty{tBool})
	set := func(y ast.Expr, next func() *node) *node {
		n := &node{do: m.here(func() { l.put(out, []*value{l.expr(y)}) }), changes: out, mentions: m.mentioned(y)}
		n.next = next()
		return n
	}
	join := &label{}
	return set(x.X, func() *node {
		right := m.expr(x.Y, func() *node { return set(x.Y, func() *node { return m.jump(join) }) })
		n := &node{cond: func() loop.Value { return out[0].val.n.v }, then: right, other: m.jump(join), mentions: out}
		if x.Op == token.LOR {
			n.then, n.other = n.other, n.then
		}
		m.place(join, func() *node { m.take(x, out); return k() })
		return n
	})
}

// call makes a call, whose arguments' calls have been made.
func (m *machine) call(x *ast.CallExpr, r *routine, k func() *node) *node {
	l := m.l
	if r.params == nil {
		in, out := l.signature(r.fn, r.env)
		r.params, r.results = blank(in), blank(out)
		r.back, r.entry = &variable{t: tInt32, val: undefined(tInt32)}, &label{kept: r.shared}
	}
	behind := &label{kept: r.shared}
	n := &node{changes: append(slices.Clone(r.params), r.back), mentions: m.mentioned(x), do: m.here(func() {
		l.put(r.params, l.argumentsOf(x, r.fn))
		r.back.val = l.piece(behind.number)
	})}
	n.next = m.jump(r.entry)
	if !r.shared {
		m.place(r.entry, func() *node { return m.opened(r, func() *node { return m.jump(behind) }) })
	}
	m.place(behind, func() *node {
		kept := blank(typesOf(r.results))
		m.take(x, kept)
		n := &node{do: func() { l.put(kept, snapshot(r.results)) }, changes: kept, mentions: r.results}
		n.next = k()
		return n
	})
	return n
}

func typesOf(vars []*variable) (list []*ty) {
	for _, v := range vars {
		list = append(list, v.t)
	}
	return list
}

// body is that of a shared routine.
func (m *machine) body(r *routine) *node {
	leave := func() *node { return &node{back: r.back, mentions: []*variable{r.back}} }
	if r.opened {
		return m.opened(r, leave)
	}
	l := m.l
	n := &node{changes: r.results, mentions: r.params, next: leave()}
	n.do = func() { l.put(r.results, l.invoke(r.fn, r.env, snapshot(r.params))) }
	return n
}

// opened is the body of a function in pieces, and where it goes behind.
func (m *machine) opened(r *routine, leave func() *node) *node {
	l := m.l
	saved := l.fr
	defer func() { l.fr = saved }()
	l.fr = &frame{fn: r.fn, env: r.env, vars: map[types.Object]*variable{}, gone: l.clear(), results: r.results}
	params, sig := r.params, r.fn.Signature()
	if v := sig.Recv(); v != nil {
		l.fr.vars[v], params = params[0], params[1:]
	}
	i := 0
	for p := range sig.Params().Variables() {
		l.fr.vars[p] = params[i]
		params[i].name = p.Name()
		i++
	}
	n := &node{changes: r.results}
	i = 0
	named := false
	for v := range sig.Results().Variables() {
		if v.Name() != "" {
			l.fr.vars[v], named = r.results[i], true
		}
		i++
	}
	n.do = func() {
		for _, v := range r.results {
			if v.val = undefined(v.t); named {
				v.val = l.zeroValue(v.t)
			}
		}
	}
	end := &label{}
	m.targets[l.fr.gone] = end
	n.next = m.stmts(l.bodies[r.fn].Body.List, func() *node { return m.jump(end) })
	m.place(end, leave)
	return n
}

// ifStmt is an if whose Init is behind.
func (m *machine) ifStmt(s *ast.IfStmt, k func() *node) *node {
	return m.expr(s.Cond, func() *node {
		join := &label{}
		jump := func() *node { return m.jump(join) }
		then := m.stmts(s.Body.List, jump)
		els := m.stmts(some(s.Else), jump)
		n := m.choice(s.Cond, func() loop.Value { return m.l.expr(s.Cond).n.v }, then, els)
		m.place(join, k)
		return n
	})
}

// switchStmt is a switch whose Init is behind.
func (m *machine) switchStmt(s *ast.SwitchStmt, k func() *node) *node {
	l := m.l
	var tag *variable
	join := &label{}
	jump := func() *node { return m.jump(join) }
	a := &around{stmt: s, broken: l.clear()}
	m.targets[a.broken] = join
	var list []*ast.CaseClause
	bodies := make([]*label, len(s.Body.List))
	fallback := jump
	for i, x := range s.Body.List {
		c := x.(*ast.CaseClause)
		list, bodies[i] = append(list, c), &label{}
		if c.List == nil {
			fallback = func() *node { return m.jump(bodies[i]) }
		}
	}
	var from func(i int, exprs []ast.Expr) *node // the expressions of clause i that are left, and the clauses behind
	from = func(i int, exprs []ast.Expr) *node {
		if len(exprs) == 0 {
			if i++; i >= len(list) {
				return fallback()
			}
			return from(i, list[i].List)
		}
		x := exprs[0]
		return m.expr(x, func() *node {
			then := m.jump(bodies[i])
			n := m.choice(x, func() loop.Value {
				v := l.expr(x)
				if tag != nil {
					return l.equal(tag.val, v, x.Pos())
				}
				return v.n.v
			}, then, from(i, exprs[1:]))
			if tag != nil {
				n.mentions = append(n.mentions, tag)
			}
			return n
		})
	}
	cases := func() *node {
		n := from(-1, nil)
		l.fr.loops = append(l.fr.loops, a)
		for i, c := range list {
			m.place(bodies[i], func() *node {
				body, next := c.Body, jump
				if len(body) > 0 {
					if j, ok := body[len(body)-1].(*ast.BranchStmt); ok && j.Tok == token.FALLTHROUGH {
						body, next = body[:len(body)-1], func() *node { return m.jump(bodies[i+1]) }
					}
				}
				return m.stmts(body, next)
			})
		}
		l.leave()
		m.place(join, k)
		return n
	}
	if s.Tag == nil {
		return cases()
	}
	return m.expr(s.Tag, func() *node {
		tag = blank([]*ty{l.typeOf(s.Tag)})[0]
		n := &node{do: m.here(func() { tag.val = l.expr(s.Tag) }), changes: []*variable{tag}, mentions: m.mentioned(s.Tag)}
		n.next = cases()
		return n
	})
}

// walk visits the nodes of a piece.
func (m *machine) walk(n *node, visit func(n *node)) {
	for ; n != nil; n = n.next {
		visit(n)
		if n.cond != nil {
			m.walk(n.then, visit)
			m.walk(n.other, visit)
		}
		if n.to != nil && !n.to.piece() {
			m.walk(n.to.code, visit)
		}
	}
}

// changed are the variables that a piece changes and that are among vars, all if that is nil.
func (m *machine) changed(n *node, vars map[*variable]bool) []*variable {
	out := []*variable{m.at}
	m.walk(n, func(n *node) {
		for _, v := range n.changes {
			if vars == nil || vars[v] {
				out = carried(out, v)
			}
		}
	})
	return out
}

// carried are the variables that the loop carries: that change and are of interest to more
// than one piece, or behind the machine.
func (m *machine) carried() []*variable {
	where, several, listed := map[*variable]*label{}, map[*variable]bool{}, map[*variable]bool{}
	var changes []*variable
	for _, b := range m.labels {
		m.walk(b.code, func(n *node) {
			for i, list := range [][]*variable{n.changes, n.mentions} {
				for _, v := range list {
					if i == 0 && !listed[v] {
						changes, listed[v] = append(changes, v), true
					}
					if w := where[v]; w != nil && w != b {
						several[v] = true
					}
					where[v] = b
				}
			}
		})
	}
	out := []*variable{m.at}
	for _, v := range changes {
		if several[v] || m.old[v] {
			out = append(out, v)
		}
	}
	return out
}

// lower writes the machine.
func (m *machine) lower() {
	l := m.l
	defer m.forget()
	vars := m.carried()
	in := map[*variable]bool{}
	for _, v := range vars {
		in[v] = true
	}
	is := func(op loop.Op, n int) loop.Value { return l.bin(op, m.at.val.n.v, l.piece(n).n.v) }
	m.at.val = l.piece(0)
	var write func(from, to int)
	write = func(from, to int) {
		size := 1
		for (to-from+size-1)/size > maxTests {
			size *= maxTests
		}
		for i := from; i < to; i += size {
			if size == 1 {
				code := m.labels[i].code
				m.branch(is(loop.OpEq, i), m.changed(code, in), func() { m.write(code, in) }, func() {})
				continue
			}
			j := min(i+size, to)
			var some []*variable
			for _, b := range m.labels[i:j] {
				for _, v := range m.changed(b.code, in) {
					some = carried(some, v)
				}
			}
			m.branch(l.and(l.bin(loop.OpLe, l.piece(i).n.v, m.at.val.n.v), is(loop.OpLt, j)), some, func() { write(i, j) }, func() {})
		}
	}
	l.while(vars, func() loop.Value { return is(loop.OpNe, len(m.labels)) }, func() { write(0, len(m.labels)) }, &around{broken: l.clear()})
	if !m.through && slices.Contains(vars, l.fr.gone) && !slices.ContainsFunc(l.flags()[1:], func(f *variable) bool { return slices.Contains(vars, f) }) {
		l.set(l.fr.gone)
	}
}

// branch is an if of the lowerer around code that sets flags to false where it runs.
func (m *machine) branch(c loop.Value, vars []*variable, then, els func()) {
	flags := m.l.flags()
	before := snapshot(flags)
	m.l.branch(c, vars, costly, then, els)
	for i, f := range flags {
		if !slices.Contains(vars, f) {
			f.val = before[i]
		}
	}
}

// write lowers the nodes of a piece.
func (m *machine) write(n *node, in map[*variable]bool) {
	l := m.l
	for ; n != nil; n = n.next {
		switch {
		case n.do != nil:
			n.do()
		case n.cond != nil:
			vars := m.changed(n.then, in)
			for _, v := range m.changed(n.other, in) {
				vars = carried(vars, v)
			}
			c, all := n.cond(), m.changed(n.then, nil)
			before := snapshot(all)
			m.branch(c, vars, func() { m.write(n.then, in) }, func() { restore(all, before); m.write(n.other, in) })
		case n.back != nil:
			m.at.val = n.back.val
		case n.to.piece():
			m.at.val = l.piece(n.to.number)
		default:
			m.write(n.to.code, in)
		}
	}
}

// piece is the number of a piece as a value.
func (l *lowerer) piece(n int) *value { return l.scalar(tInt32, l.int(tInt32.t, int64(n))) }

// forget ends what the machine left to its statements: these may be lowered once more.
func (m *machine) forget() {
	for _, f := range m.undo {
		f()
	}
}
