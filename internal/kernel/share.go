package kernel

import (
	"go/ast"
	"go/token"
	"go/types"

	"weft/internal/loop"
)

// Calls stand in place, so a large function that is called often in one stretch of straight
// code would be there as often. Instead it is there once, in a loop over the calls, and what
// stands between two calls is in the same loop behind an if on the number of the call:
//
//	args = those of call 0
//	for k := 0; k < n; k++ {
//		out = f(args)
//		if k == 0 { what stands behind call 0; args = those of call 1 }
//		if k == 1 { what stands behind call 1; args = those of call 2 } ...
//	}
//
// The number is the same for all lanes, so the ifs are branches. Functions have no effects, so
// the calls of a statement can come before the rest of it. What is changed in between
// is carried by the loop, as are derivatives.

// Bounds of sharing, in instructions as [Func.count] has them. They can be changed by tests.
var (
	SharedBody = 100  // of a body that is shared, at least,
	SharedCode = 1000 // and of what that saves
)

// maxTurns is how many calls take turns: each of them asks for its number.
const maxTurns = 32

// A turn is a call that waits for its turn.
type turn struct {
	stmt int // of the list
	call *ast.CallExpr
	env  binding
}

// turns are the calls of one function in a list of statements that share a body.
type turns struct {
	fn    *types.Func
	calls []turn
	ahead []types.Object // declared before their statements
}

// saved is the size of the bodies that are not there.
func (t *turns) saved(l *lowerer) int { return (len(t.calls) - 1) * l.sizes[t.fn] }

// findTurns looks at the straight code that list begins with for calls that share a body. It
// returns how many statements that is.
func (l *lowerer) findTurns(list []ast.Stmt) (best *turns, looked int) {
	var all []*turns
	for i, s := range list {
		exprs, last, ok := l.straight(s)
		if !ok {
			break
		}
		looked++
		for _, x := range exprs {
			l.collect(x, i, &all)
		}
		if last {
			break
		}
	}
	for _, t := range all {
		if t.calls = t.calls[:portion(len(t.calls))]; t.saved(l) >= SharedCode && (best == nil || t.saved(l) > best.saved(l)) && l.shareable(t, list) {
			best = t
		}
	}
	return best, looked
}

// portion is how many of n calls take turns: as many as of those behind them.
func portion(n int) int {
	loops := (n + maxTurns - 1) / maxTurns
	return (n + loops - 1) / loops
}

// straight reports a statement that belongs to straight code, with the expressions in which
// calls may wait; behind the last of them there is more to it.
func (l *lowerer) straight(s ast.Stmt) (exprs []ast.Expr, last, ok bool) {
	var node ast.Node = s
	switch s := s.(type) {
	case *ast.EmptyStmt, *ast.IncDecStmt:
	case *ast.AssignStmt:
		exprs = s.Rhs
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && s.Decl.(*ast.GenDecl).Tok == token.VAR {
				exprs = append(exprs, v.Values...)
			}
		}
	case *ast.ReturnStmt:
		exprs, last = s.Results, true
	case *ast.IfStmt:
		if s.Init != nil {
			return nil, false, false
		}
		exprs, last, node = []ast.Expr{s.Cond}, true, s.Cond
	default:
		return nil, false, false
	}
	ok = true
	ast.Inspect(node, func(n ast.Node) bool { // arrays and elements count what is read and drawn, in order
		if id, is := n.(*ast.Ident); is {
			if v := l.fr.vars[l.info.Uses[id]]; v != nil && (v.t.kind == kOuter || v.t.kind == kElem) {
				ok = false
			}
		}
		return ok
	})
	return exprs, last, ok
}

// collect appends the calls of large functions in an expression, in the order in which they
// are made, but not those that are made on a condition.
func (l *lowerer) collect(x ast.Expr, stmt int, all *[]*turns) {
	if tv := l.info.Types[x]; tv.Value != nil || tv.IsType() {
		return
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		l.collect(x.X, stmt, all)
	case *ast.SelectorExpr:
		if s := l.info.Selections[x]; s != nil {
			l.collect(x.X, stmt, all)
		}
	case *ast.IndexExpr:
		l.collect(x.X, stmt, all)
		l.collect(x.Index, stmt, all)
	case *ast.UnaryExpr:
		l.collect(x.X, stmt, all)
	case *ast.BinaryExpr:
		l.collect(x.X, stmt, all)
		if x.Op != token.LAND && x.Op != token.LOR {
			l.collect(x.Y, stmt, all)
		}
	case *ast.CompositeLit:
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			l.collect(e, stmt, all)
		}
	case *ast.CallExpr:
		if l.taken[x] != nil {
			return
		}
		if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok {
			l.collect(sel, stmt, all)
		}
		for _, a := range x.Args {
			l.collect(a, stmt, all)
		}
		if l.info.Types[x.Fun].IsType() {
			return
		}
		id, obj := l.callee(x)
		fn, ok := obj.(*types.Func)
		if !ok || fn.Pkg() != l.pkg || l.sizes[fn.Origin()] < SharedBody {
			return
		}
		fn = fn.Origin()
		c := turn{stmt: stmt, call: x, env: l.bindingOf(x, id, fn)}
		for _, t := range *all {
			if t.fn == fn && sameBinding(t.calls[0].env, c.env) {
				t.calls = append(t.calls, c)
				return
			}
		}
		*all = append(*all, &turns{fn: fn, calls: []turn{c}})
	}
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

// shareable reports that a loop can carry what calls of a function take and give. Of integers
// that it carries nothing is known any more, which indices into arrays could need.
func (l *lowerer) shareable(t *turns, list []ast.Stmt) bool {
	in, out := l.signature(t.fn, t.calls[0].env)
	for _, u := range in {
		if u.kind == kOuter || u.kind == kElem {
			return false
		}
	}
	arrays := false
	for p := range l.obj.Signature().Params().Variables() {
		arrays = arrays || l.src.typeOf(p.Type(), l.inst.env, p.Pos()).kind == kOuter
	}
	if !arrays {
		return true
	}
	first, last := t.calls[0].stmt, t.calls[len(t.calls)-1].stmt
	carried := out
	for _, s := range list[first:last] {
		for _, v := range l.assigned(s) {
			carried = append(carried, v.t)
		}
		for _, n := range l.declared(s) {
			carried = append(carried, l.typeOfVar(n))
		}
	}
	for _, u := range carried {
		if u.counts() {
			return false
		}
	}
	return true
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

// declared are the names that a statement of straight code declares.
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

// inTurn lowers the calls, of which the first statement has the first, and the statements up to
// that with the last call, whose calls then have their results. It returns the index of that.
func (l *lowerer) inTurn(list []ast.Stmt, t *turns) int {
	last, first := len(t.calls)-1, t.calls[0].stmt
	for i := range t.calls {
		t.calls[i].stmt -= first
	}
	in, out := l.signature(t.fn, t.calls[0].env)
	blank := func(list []*ty) (vars []*variable) {
		for _, u := range list {
			vars = append(vars, &variable{t: u, val: undefined(u)})
		}
		return vars
	}
	put := func(vars []*variable, vals []*value) {
		for j, v := range vars {
			v.val = l.assignable(vals[j], v.t)
		}
	}
	args, got, number := blank(in), blank(out), &variable{t: tInt64, val: l.scalar(tInt64, l.zero(tInt64.t))}
	vars := append(append([]*variable{number}, args...), got...)
	changed := make([][]*variable, last) // behind each call, up to the next
	kept := make([][]*variable, last)    // the results of calls whose statement has more
	for i := range changed {
		changed[i] = append(changed[i], args...)
		from, to := t.calls[i].stmt, t.calls[i+1].stmt
		if from == to {
			kept[i] = blank(out)
			changed[i] = append(changed[i], kept[i]...)
		}
		for _, s := range list[from:to] {
			for _, n := range l.declared(s) {
				u := l.typeOfVar(n)
				v := &variable{t: u, val: undefined(u), name: n.Name}
				obj := l.info.Defs[n]
				l.fr.vars[obj], l.ahead[obj], t.ahead = v, true, append(t.ahead, obj)
				l.fr.defs = append(l.fr.defs, obj)
			}
		}
	}
	for i := range changed {
		for _, s := range list[t.calls[i].stmt:t.calls[i+1].stmt] {
			for _, v := range l.assigned(s) {
				changed[i] = carried(changed[i], v)
			}
			for _, n := range l.declared(s) {
				changed[i] = carried(changed[i], l.fr.vars[l.info.Defs[n]])
			}
		}
		for _, v := range changed[i] {
			vars = carried(vars, v)
		}
	}
	prepare := func(i int) { put(args, l.argumentsOf(t.calls[i].call, t.fn)) }
	behind := func(i int) {
		c := t.calls[i]
		if l.taken[c.call] = got; kept[i] != nil {
			put(kept[i], snapshot(got))
			l.taken[c.call] = kept[i]
		}
		for _, s := range list[c.stmt:t.calls[i+1].stmt] {
			l.stmt(s)
		}
		prepare(i + 1)
	}
	prepare(0)
	l.while(vars, func() loop.Value {
		return l.compare("<", number.t, number.val.n.v, l.int(number.t.t, int64(last+1)))
	}, func() {
		put(got, l.inPlace(t.calls[0].call, t.fn, t.calls[0].env, snapshot(args)))
		for i := range last {
			l.branch(l.compare("==", number.t, number.val.n.v, l.int(number.t.t, int64(i))), changed[i], costly, func() { behind(i) }, func() {})
		}
		number.val = l.scalar(number.t, l.bin(loop.OpAdd, number.val.n.v, l.int(number.t.t, 1)))
	}, &around{broken: l.clear()})
	l.taken[t.calls[last].call] = got
	return t.calls[last].stmt
}

// forget ends what calls in turn left to the statements behind them: these may be lowered once
// more, for another call.
func (l *lowerer) forget(t *turns) {
	for _, c := range t.calls {
		delete(l.taken, c.call)
	}
	for _, o := range t.ahead {
		delete(l.ahead, o)
	}
}
