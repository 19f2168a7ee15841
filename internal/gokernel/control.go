package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"weft/internal/loop"
)

// Control flow: what variables are after an if is chosen part by part, or is the result of
// the loop language's if; loops carry what they change. Where return, break and continue
// are not the end of all ways through a statement, they are flags.

// cheap is the cost up to which both sides of an if are computed.
const cheap = 16

// branch lowers then where c holds and els elsewhere; vars are what these change, cost is
// what both cost together.
func (l *lowerer) branch(c loop.Value, vars []*variable, cost int, then, els func()) {
	then, els = l.scoped(then), l.scoped(els)
	if k, ok := l.knownBool(c); ok {
		if k {
			then()
		} else {
			els()
		}
		return
	}
	before := snapshot(vars)
	l.conditions++
	defer func() { l.conditions-- }()
	if cost <= cheap {
		then()
		x, xEnds := snapshot(vars), l.returned()
		restore(vars, before)
		els()
		yEnds := l.returned()
		for i, v := range vars {
			switch {
			case xEnds && l.dead(v):
			case yEnds && l.dead(v):
				v.val = x[i]
			default:
				v.val = l.merge(c, x[i], v.val)
			}
		}
		return
	}
	if l.nested++; l.nested > maxNested {
		l.src.refuse(l.pos, "ifs and cases within each other, %d deep; a case counts as one within those before it, and so does what follows an if with a return", maxNested)
	}
	defer func() { l.nested-- }()
	l.regions++
	region := l.regions
	var x, y []*value
	side := func(run func(), to *[]*value) func() []loop.Value {
		return func() []loop.Value {
			restore(vars, before)
			run()
			*to = snapshot(vars)
			return l.packAll(region, *to)
		}
	}
	outs := l.b.If(c, side(then, &x), side(els, &y))
	l.spend(len(outs))
	p := &packing{region: region}
	for i, v := range vars {
		var got *value
		got, outs = l.unpack(p, v.t, outs)
		v.val = l.same(c, got, x[i], y[i], before[i])
	}
}

// returned reports that the function has returned, whatever the lane.
func (l *lowerer) returned() bool {
	k, ok := l.knownBool(l.fr.gone.val.n.v)
	return ok && k
}

// dead reports a variable of the function that nobody looks at where it has returned.
func (l *lowerer) dead(v *variable) bool {
	return v.t.kind != kElem && v != l.places && !slices.Contains(l.fr.results, v) && !slices.Contains(l.flags(), v)
}

// packAll packs values for a region.
func (l *lowerer) packAll(region int, vals []*value) []loop.Value {
	p := &packing{region: region}
	var out []loop.Value
	for _, v := range vals {
		out = l.pack(p, v, out)
	}
	return out
}

// scoped is run and then the end of what it declared.
func (l *lowerer) scoped(run func()) func() {
	return func() {
		mark := len(l.fr.defs)
		run()
		for _, o := range l.fr.defs[mark:] {
			delete(l.fr.vars, o)
		}
		l.fr.defs = l.fr.defs[:mark]
	}
}

// same is got, the result of an if over x and y; but what both sides leave alone stays,
// constants that they agree on are known, and flags that they set are conditions.
func (l *lowerer) same(c loop.Value, got, x, y, before *value) *value {
	if x == before && y == before {
		return before
	}
	if !got.t.scalar() {
		v := &value{t: got.t}
		for i := range got.parts {
			v.parts = append(v.parts, l.same(c, got.parts[i], x.parts[i], y.parts[i], before.parts[i]))
		}
		return v
	}
	a, ka := l.known(x.n.v)
	b, kb := l.known(y.n.v)
	if ka && kb && x.n.d == nil && y.n.d == nil {
		switch {
		case a == b:
			return l.scalar(got.t, l.b.ConstBits(got.t.t, a))
		case got.t.kind == kBool && a == 1:
			return l.scalar(got.t, c)
		case got.t.kind == kBool:
			return l.scalar(got.t, l.not(c))
		}
	}
	return got
}

func snapshot(vars []*variable) []*value {
	out := make([]*value, len(vars))
	for i, v := range vars {
		out[i] = v.val
	}
	return out
}

func restore(vars []*variable, vals []*value) {
	for i, v := range vars {
		v.val = vals[i]
	}
}

// leaves reports whether one side of an if always leaves, so that the statements behind the if
// belong to the other side.
func (l *lowerer) leaves(s *ast.IfStmt) bool {
	return ends(s.Body) || s.Else != nil && ends(s.Else)
}

// ends reports a statement that always leaves by return, break or continue.
func ends(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK || s.Tok == token.CONTINUE
	case *ast.BlockStmt:
		return len(s.List) > 0 && ends(s.List[len(s.List)-1])
	case *ast.IfStmt:
		return s.Else != nil && ends(s.Body) && ends(s.Else)
	}
	return false
}

// ifStmt lowers an if and the statements behind it.
func (l *lowerer) ifStmt(s *ast.IfStmt, rest []ast.Stmt) {
	l.stmt(s.Init)
	c := l.expr(s.Cond).n.v
	nodes := []ast.Node{s.Body}
	if s.Else != nil {
		nodes = append(nodes, s.Else)
	}
	then := func() {
		l.stmts(s.Body.List)
		l.restOf(rest)
	}
	els := func() {
		l.stmt(s.Else)
		l.restOf(rest)
	}
	l.branch(c, l.assignedIn(rest, nodes...), l.costIn(rest, nodes...), then, els)
}

// restOf lowers the statements behind an if on one of its sides, where it did not leave.
func (l *lowerer) restOf(rest []ast.Stmt) {
	if len(rest) == 0 {
		return
	}
	l.stay(l.assignedIn(rest), l.costIn(rest), func() { l.stmts(rest) })
}

// stay lowers what follows where control has not left.
func (l *lowerer) stay(vars []*variable, cost int, run func()) {
	gone := l.gone()
	if k, ok := l.knownBool(gone); ok {
		if !k {
			run()
		}
		return
	}
	var set []*variable // flags that may be set: they are not, where this runs
	for _, f := range l.flags() {
		if _, ok := l.knownBool(f.val.n.v); !ok {
			set = append(set, f)
			vars = carried(vars, f)
		}
	}
	l.branch(l.not(gone), vars, cost, func() {
		for _, f := range set {
			f.val = l.boolean(l.flag(false))
		}
		run()
	}, func() {})
}

// switchStmt lowers a switch as a chain of ifs.
func (l *lowerer) switchStmt(s *ast.SwitchStmt) {
	l.stmt(s.Init)
	var tag *value
	if s.Tag != nil {
		tag = l.expr(s.Tag)
	}
	var clauses []*ast.CaseClause
	fallback := -1
	for i, x := range s.Body.List {
		c := x.(*ast.CaseClause)
		clauses = append(clauses, c)
		if c.List == nil {
			fallback = i
		}
	}
	a := &around{stmt: s, broken: l.clear()}
	l.fr.loops = append(l.fr.loops, a)
	defer l.leave()
	// body lowers a clause and those that it falls into.
	body := func(i int) {
		var list []ast.Stmt
		for ; ; i++ {
			b := clauses[i].Body
			list = append(list, b...)
			if len(b) == 0 {
				break
			}
			if j, ok := b[len(b)-1].(*ast.BranchStmt); !ok || j.Tok != token.FALLTHROUGH {
				break
			}
		}
		l.stmts(list)
	}
	// Once for all clauses, or a switch of n would look at n*n.
	vars, cost := l.assigned(s.Body), l.cost(s.Body)
	var from func(i int)
	from = func(i int) {
		for i < len(clauses) && clauses[i].List == nil {
			i++
		}
		if i >= len(clauses) {
			if fallback >= 0 {
				body(fallback)
			}
			return
		}
		c := l.flag(false)
		for _, x := range clauses[i].List {
			hit := &variable{t: tBool, val: l.boolean(l.flag(true))}
			match := func() {
				v := l.expr(x)
				if tag != nil {
					v = l.boolean(l.equal(tag, v, x.Pos()))
				}
				hit.val = v
			}
			// Go stops at the first that matches, which shows where others change something.
			if vars := l.assigned(x); len(vars) > 0 {
				l.branch(l.not(c), append(vars, hit), l.cost(x), match, func() {})
			} else {
				match()
			}
			c = l.or(c, hit.val.n.v)
		}
		l.branch(c, vars, cost, func() { body(i) }, func() { from(i + 1) })
	}
	from(0)
}

// leave ends the innermost loop or switch.
func (l *lowerer) leave() { l.fr.loops = l.fr.loops[:len(l.fr.loops)-1] }

// forStmt lowers a loop of three clauses, of a condition, or without end.
func (l *lowerer) forStmt(s *ast.ForStmt) {
	l.stmt(s.Init)
	a := &around{stmt: s, broken: l.clear(), next: l.clear()}
	l.fr.loops = append(l.fr.loops, a)
	defer l.leave()
	cond := func() loop.Value {
		if s.Cond == nil {
			return l.flag(true)
		}
		return l.expr(s.Cond).n.v
	}
	if i, vals := l.counted(s); i != nil {
		l.rounds(len(vals), func(k int) {
			i.val = vals[k] // known where this runs, also behind a break that others took
			l.iteration(s.Body.List, s.Post, a)
		}, l.assigned(s.Body, s.Post), l.cost(s.Body))
		return
	}
	nodes := []ast.Node{s.Body}
	if s.Post != nil {
		nodes = append(nodes, s.Post)
	}
	simple := true // the condition only looks
	if s.Cond != nil {
		simple = l.cost(s.Cond) < costly && len(l.assigned(s.Cond)) == 0
		nodes = append(nodes, s.Cond)
	}
	vars := l.assigned(nodes...)
	counter, facts := l.counting(s)
	if !simple {
		vars = carried(vars, a.broken)
	}
	l.while(vars, func() loop.Value {
		if !simple {
			return l.flag(true)
		}
		return cond()
	}, func() {
		if !simple {
			a.broken.val = l.boolean(l.not(cond()))
			l.stay(vars, costly, func() { l.iteration(s.Body.List, s.Post, a) })
			return
		}
		if counter == nil {
			l.iteration(s.Body.List, s.Post, a)
			return
		}
		low, high := facts()
		l.know(counter.val.n.v, low, high, func() { l.iteration(s.Body.List, s.Post, a) })
	}, a)
}

// iteration lowers the body of a loop and what stands behind it.
func (l *lowerer) iteration(body []ast.Stmt, post ast.Stmt, a *around) {
	a.next.val = l.boolean(l.flag(false))
	l.scoped(func() { l.stmts(body) })()
	a.next.val = l.boolean(l.flag(false))
	if post == nil {
		return
	}
	l.stay(l.assigned(post), l.cost(post), func() { l.stmt(post) })
}

// while lowers a loop that changes vars and goes on while cond holds and nothing left it.
func (l *lowerer) while(vars []*variable, cond func() loop.Value, body func(), a *around) {
	// The flags of continue start anew each time.
	for i, v := range vars {
		if v == a.next {
			vars = append(vars[:i:i], vars[i+1:]...)
			break
		}
	}
	l.regions++
	region := l.regions
	init := l.packAll(region, snapshot(vars))
	set := func(from []loop.Value) {
		p := &packing{region: region}
		for _, v := range vars {
			v.val, from = l.unpack(p, v.t, from)
			l.named(v)
		}
	}
	l.loops++
	outs := l.b.While(init, func(v []loop.Value) loop.Value {
		set(v)
		c := l.not(l.gone())
		if k, ok := l.knownBool(c); ok && !k {
			return c
		}
		return l.reach(l.and(c, cond()), loop.B)
	}, func(v []loop.Value) []loop.Value {
		for _, f := range l.flags() {
			if slices.Contains(vars, f) {
				f.val = l.boolean(l.flag(false)) // or the body would not run
			}
		}
		body()
		return l.packAll(region, snapshot(vars))
	})
	l.loops--
	l.spend(len(outs))
	set(outs)
	a.broken.val = l.boolean(l.flag(false)) // of no interest behind the loop
}

// carried is vars with one more, unless it is among them.
func carried(vars []*variable, more *variable) []*variable {
	for _, v := range vars {
		if v == more {
			return vars
		}
	}
	return append(vars[:len(vars):len(vars)], more)
}

// Bounds of unrolling: the rounds of a loop, and rounds times the cost of the body.
const (
	maxRounds   = 64
	maxUnrolled = 1024
)

// counted returns the counter of a loop and its values, where these are known: one
// variable, changed behind the body alone; nil for other loops.
func (l *lowerer) counted(s *ast.ForStmt) (*variable, []*value) {
	if s.Cond == nil || s.Post == nil || l.hasCall(s.Cond) || l.hasCall(s.Post) {
		return nil, nil
	}
	step := l.assigned(s.Post)
	if len(step) != 1 || !step[0].t.integer() {
		return nil, nil
	}
	i := step[0]
	for _, v := range l.assigned(s.Body) {
		if v == i || l.reads(s.Cond, v) || l.reads(s.Post, v) {
			return nil, nil
		}
	}
	start := i.val
	defer func() { i.val = start }()
	cost := l.count(s.Body, unrolled)
	var vals []*value
	for {
		_, known := l.knownInt(i.val.n.v)
		c, ok := l.knownBool(l.expr(s.Cond).n.v)
		switch {
		case !known || !ok || len(vals) > maxRounds || cost*len(vals) > maxUnrolled:
			return nil, nil
		case !c:
			return i, vals
		}
		vals = append(vals, i.val)
		l.stmt(s.Post)
	}
}

// reads reports that an expression or statement names a variable.
func (l *lowerer) reads(n ast.Node, v *variable) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.Ident); ok && l.fr.vars[l.info.Uses[x]] == v {
			found = true
		}
		return !found
	})
	return found
}

func (l *lowerer) hasCall(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.CallExpr); ok && !l.info.Types[x.Fun].IsType() && l.info.Types[x].Value == nil {
			found = true
		}
		return !found
	})
	return found
}

// rounds lowers n rounds, each where none before left the loop.
func (l *lowerer) rounds(n int, round func(i int), vars []*variable, cost int) {
	var from func(i int)
	from = func(i int) {
		for ; i < n; i++ {
			round(i)
			if k, ok := l.knownBool(l.gone()); !ok {
				l.stay(vars, cost*(n-i-1), func() { from(i + 1) })
				return
			} else if k {
				return
			}
		}
	}
	from(0)
}

// rangeStmt lowers a range over an integer, over an array of fixed length or over a kernel.Seq.
func (l *lowerer) rangeStmt(s *ast.RangeStmt) {
	over := l.expr(s.X)
	a := &around{stmt: s, broken: l.clear(), next: l.clear()}
	l.fr.loops = append(l.fr.loops, a)
	defer l.leave()
	if over.t.kind == kSeq {
		l.rangeSeq(s, over, a)
		return
	}
	it, end := tInt64, loop.NoValue
	if over.t.kind == kArray {
		end = l.int(it.t, int64(len(over.parts)))
	} else {
		it, end = over.t, over.n.v
	}
	if s.Key != nil && over.t.kind != kArray {
		if id, ok := s.Key.(*ast.Ident); !ok || id.Name != "_" {
			it = l.src.typeOf(l.keyType(s), l.fr.env, s.Key.Pos())
			end = l.convert(over.t, it, end)
		}
	}
	// round is the body for a value of the counter.
	round := func(i loop.Value) {
		put := func(x ast.Expr, v *value) {
			if x == nil {
				return
			}
			if s.Tok == token.DEFINE {
				l.define(x.(*ast.Ident), v)
			} else {
				l.store(l.place(x), v)
			}
		}
		put(s.Key, l.scalar(it, i))
		if s.Value != nil {
			put(s.Value, l.element(over, i, it))
		}
		l.iteration(s.Body.List, nil, a)
	}
	cost := l.cost(s.Body)
	if n, ok := l.knownInt(end); ok && n <= maxRounds && int64(l.count(s.Body, unrolled))*n <= maxUnrolled {
		l.rounds(int(max(n, 0)), func(i int) { round(l.int(it.t, int64(i))) }, l.assigned(s), cost)
		return
	}
	counter := &variable{t: it, val: l.scalar(it, l.zero(it.t))}
	l.while(append(l.assigned(s), counter), func() loop.Value {
		return l.compare("<", it, counter.val.n.v, l.reach(end, it.t))
	}, func() {
		i := counter.val.n.v
		_, most := l.bounds(end)
		l.know(i, []Linear{{}}, sums(most, []Linear{{Const: 1}}, -1), func() { round(i) })
		counter.val = l.scalar(it, l.bin(loop.OpAdd, i, l.int(it.t, 1)))
	}, a)
}

// keyType is the type of the counter of a range over an integer.
func (l *lowerer) keyType(s *ast.RangeStmt) types.Type {
	if id, ok := s.Key.(*ast.Ident); ok && s.Tok == token.DEFINE {
		return l.info.Defs[id].Type()
	}
	return l.info.TypeOf(s.Key)
}
