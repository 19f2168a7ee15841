package kernel

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"weft/internal/loop"
)

// Calls stand in place, so a large function that is called often would be there as often.
// Instead each lane goes through a machine, in which every function that is called more
// than once is there once. Its pieces are what control flow makes of the statements: what
// stands between two calls, behind an if, around a loop. A lane has the number of the piece
// that it is at, and pieces come in an order in which it goes forward but from loops and
// functions:
//
//	at = 0
//	for at != end {
//		if at == 0 { what stands before the first call; x = its argument; back = 1; at = f }
//		if at == 1 { what stands between it and the next; x = ...; back = 2; at = f }
//		if at == 2 { what stands behind that; at = end }
//		if at == f { out = f(x); at = back }
//	}
//
// So lanes that are at different calls of f run it together. In straight code the number is
// the same for all lanes, and the ifs are branches. Nothing behind the front end knows, and
// derivatives are carried by the loop as by any.
//
// A function of a machine has one frame, since nothing is recursive. Functions have no
// effects, so the calls of a statement can come before the rest of it.

// Bounds of sharing, in instructions as [Func.count] has them. They can be changed by tests.
var (
	SharedBody     = 100   // of a body that is shared, at least,
	SharedCode     = 1000  // of what all of a machine save that straight code goes through,
	SharedBranched = 10000 // and of one with conditions: in place these take half to three quarters of the time
)

// maxTests is how many numbers are asked for one after the other.
const maxTests = 8

// A machine is a stretch of statements whose calls share bodies.
type machine struct {
	l        *lowerer
	base     *frame     // that the statements are of
	routines []*routine // functions that may be shared
	from     *routine   // whose calls are being counted; nil: of the base
	first    []*routine // that the base calls
	labels   []*label   // in order
	end      *label
	at       *variable // the number of the piece
	through  bool      // control comes to what stands behind
	plain    bool      // straight code that calls routines itself
	targets  map[*variable]*label
	old      map[*variable]bool // of the base, also of interest behind the machine
	undo     []func()           // of what frames are told
}

// A routine is a large function that the statements call, also through others.
type routine struct {
	fn      *types.Func
	env     binding
	sites   int // calls of it, in what is written once
	calls   []*routine
	shared  bool
	opened  bool // calls a shared one, so that its body is pieces
	seen    bool
	params  []*variable
	results []*variable
	back    *variable // the piece behind the call
	entry   *label
}

// A label is the beginning of code that is jumped to. It is a piece, unless one jump alone
// leads there.
type label struct {
	code   *node
	uses   int
	kept   bool // a piece in any case
	number int  // of the piece
}

func (b *label) piece() bool { return b.kept || b.uses > 1 }

// A node is code: something to do and the next node, or a choice, or a jump.
type node struct {
	do          func()
	changes     []*variable
	mentions    []*variable // that it reads, and perhaps more
	next        *node
	cond        func() loop.Value
	then, other *node
	to          *label
	back        *variable // to the piece of this number
}

// machineFor is the machine that begins with the first of the statements, and how many
// of them it has; nil if there is none.
func (l *lowerer) machineFor(list []ast.Stmt) (m *machine, n int) {
	if l.fr.barren[list[0]] {
		return nil, 0
	}
	barren := list[:1]
	for _, plain := range []bool{false, true} {
		m = &machine{l: l, base: l.fr, end: &label{kept: true}, targets: map[*variable]*label{}, old: map[*variable]bool{}, at: &variable{t: tInt32}, plain: plain}
		looked := 0
		for _, s := range list {
			if l.touches(s) || plain && !straight(s) {
				break
			}
			looked++
			if m.survey(s); looked == 1 && m.first == nil {
				break
			}
		}
		saved := m.choose()
		if saved >= SharedBranched || plain && saved >= SharedCode {
			for n = looked; !m.has(list[n-1]); n-- {
			}
			if m.has(list[0]) && !(n == 1 && m.inside(list[0])) && m.build(list[:n], list[n:]) {
				return m, n
			}
		} else if saved < SharedCode && !plain { // nor does any that begins with a later one
			barren = list[:max(looked, 1)]
			break
		}
	}
	if l.fr.barren == nil {
		l.fr.barren = map[ast.Stmt]bool{}
	}
	for _, s := range barren {
		l.fr.barren[s] = true
	}
	return nil, 0
}

// straight reports a statement whose calls are all made.
func straight(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.AssignStmt, *ast.DeclStmt, *ast.EmptyStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.ReturnStmt:
	default:
		return false
	}
	ok := true
	ast.Inspect(s, func(n ast.Node) bool {
		if x, is := n.(*ast.BinaryExpr); is && (x.Op == token.LAND || x.Op == token.LOR) {
			ok = false
		}
		return ok
	})
	return ok
}

// touches reports a statement with arrays and elements of package kernel, which count what
// is read and drawn, in order.
func (l *lowerer) touches(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v := l.fr.vars[l.info.Uses[id]]; v != nil && (v.t.kind == kOuter || v.t.kind == kElem) {
				found = true
			}
		}
		return !found
	})
	return found
}

// routine is the one that x calls, nil if it calls none.
func (m *machine) routine(x *ast.CallExpr, add bool) *routine {
	l := m.l
	if l.info.Types[x.Fun].IsType() || l.info.Types[x].Value != nil {
		return nil
	}
	id, obj := l.callee(x)
	fn, ok := obj.(*types.Func)
	if !ok || fn.Pkg() != l.pkg || l.sizes[fn.Origin()] < SharedBody {
		return nil
	}
	fn = fn.Origin()
	env := l.bindingOf(x, id, fn)
	for _, r := range m.routines {
		if r.fn == fn && sameBinding(r.env, env) {
			return r
		}
	}
	if !add {
		return nil
	}
	r := &routine{fn: fn, env: env}
	in, _ := l.signature(fn, env)
	for _, u := range in {
		if u.kind == kOuter || u.kind == kElem {
			return nil
		}
	}
	m.routines = append(m.routines, r)
	return r
}

func sameBinding(x, y binding) bool {
	for p, t := range x {
		if u := y[p]; u == nil || !types.Identical(t, u) {
			return false
		}
	}
	return len(x) == len(y)
}

// signature are the types of the receiver and arguments of a function, and of its results.
func (l *lowerer) signature(fn *types.Func, env binding) (in, out []*ty) {
	sig := fn.Signature()
	if r := sig.Recv(); r != nil {
		in = append(in, l.src.typeOf(r.Type(), env, r.Pos()))
	}
	for p := range sig.Params().Variables() {
		in = append(in, l.src.typeOf(p.Type(), env, p.Pos()))
	}
	for r := range sig.Results().Variables() {
		out = append(out, l.src.typeOf(r.Type(), env, r.Pos()))
	}
	return in, out
}

// eachCall visits the calls of a node that can be part of the machine: those in loops are not.
func (m *machine) eachCall(n ast.Node, visit func(x *ast.CallExpr) (on bool)) {
	on := true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.CallExpr:
			on = on && visit(n)
		case ast.Expr:
			if tv := m.l.info.Types[n]; tv.Value != nil || tv.IsType() {
				return false
			}
		}
		return on
	})
}

// survey counts the calls in a node and in the functions that it calls.
func (m *machine) survey(n ast.Node) {
	m.eachCall(n, func(x *ast.CallExpr) bool {
		r := m.routine(x, true)
		if r == nil {
			return true
		}
		if m.from != nil {
			m.from.calls = append(m.from.calls, r)
		} else {
			m.first = append(m.first, r)
		}
		if r.sites++; r.sites == 1 && !m.plain {
			from, fr := m.from, m.l.fr
			m.from, m.l.fr = r, &frame{fn: r.fn, env: r.env}
			m.survey(m.l.bodies[r.fn].Body)
			m.from, m.l.fr = from, fr
		}
		return true
	})
}

// choose says which functions are shared, and returns the size of the bodies that are not
// there.
func (m *machine) choose() (saved int) {
	for _, r := range m.routines {
		r.shared = r.sites > 1
		saved += (r.sites - 1) * m.l.sizes[r.fn]
	}
	var order []*routine // callers first
	var visit func(r *routine)
	visit = func(r *routine) {
		if r.seen {
			return
		}
		r.seen = true
		for _, q := range r.calls {
			visit(q)
			r.opened = r.opened || q.shared || q.opened
		}
		order = append(order, r)
	}
	for _, r := range m.first {
		visit(r)
	}
	slices.Reverse(order)
	m.routines = order
	return saved
}

// called is the routine of a call that the machine makes, nil for one that stands in place.
func (m *machine) called(x *ast.CallExpr) *routine {
	if r := m.routine(x, false); r != nil && (r.shared || r.opened) {
		return r
	}
	return nil
}

// has reports a node with calls that the machine makes.
func (m *machine) has(n ast.Node) bool {
	found := false
	if n != nil {
		m.eachCall(n, func(x *ast.CallExpr) bool { found = found || m.called(x) != nil; return !found })
	}
	return found
}

// inside reports a statement all of whose calls stand in one list of statements within it,
// which a machine of its own is for.
func (m *machine) inside(s ast.Stmt) bool {
	count := func(n ast.Node) (k int) {
		m.eachCall(n, func(x *ast.CallExpr) bool {
			if m.called(x) != nil {
				k++
			}
			return true
		})
		return k
	}
	all, found := count(s), false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			found = found || len(n.List) > 0 && count(n) == all && !clauses(n)
		case *ast.CaseClause:
			k := 0
			for _, s := range n.Body {
				k += count(s)
			}
			found = found || k == all
		}
		return !found
	})
	return found
}

// clauses reports the body of a switch.
func clauses(b *ast.BlockStmt) bool {
	_, ok := b.List[0].(*ast.CaseClause)
	return ok
}
