package sym

import "slices"

// Laziness of IfElse: what was made outside of it and only one of its sides needs belongs to that side,
// so that it is computed, and differentiated, where the side is taken.

// A place is where a variable is computed: in a side of a branch, nil for everywhere else.
type place struct {
	of    *apply // the branch
	side  int
	up    *place // where the branch is computed
	depth int
}

// common returns the innermost place around two.
func common(p, q *place) *place {
	for p != q {
		if q == nil || p != nil && p.depth >= q.depth {
			p = p.up
		} else {
			q = q.up
		}
	}
	return p
}

// places says where each variable can be computed that roots need and move allows; for others that is
// everywhere.
func places(roots []*Var, move func(v *Var) bool) map[*Var]*place {
	all := order(roots)
	type use struct {
		by *apply
		at int
	}
	uses := map[*Var][]use{}
	seen := map[*apply]bool{}
	for _, v := range all {
		if a := v.from; a != nil && !seen[a] {
			seen[a] = true
			for i, x := range a.args {
				uses[x] = append(uses[x], use{a, i})
			}
		}
	}
	known := map[*Var]*place{}
	for _, v := range roots {
		known[v] = nil
	}
	sides := map[*apply]*[2]*place{}
	whole := map[*apply]*place{} // of operations, when all their results are known
	ofApply := func(a *apply) *place {
		if p, ok := whole[a]; ok {
			return p
		}
		var p *place
		first := true
		for _, o := range a.outs {
			if q, ok := known[o]; ok && first {
				p, first = q, false
			} else if ok {
				p = common(p, q)
			}
		}
		whole[a] = p
		return p
	}
	for _, v := range slices.Backward(all) { // users before what they use
		p, ok := known[v]
		for _, u := range uses[v] {
			q := ofApply(u.by)
			if k := u.by.branch.needs(u.at); k >= 0 {
				q = sideOf(sides, u.by, k, q)
			}
			if !ok {
				p, ok = q, true
			} else {
				p = common(p, q)
			}
		}
		if v.from == nil || !move(v) {
			p = nil
		}
		known[v] = p
	}
	// Results of one operation are computed together.
	for v, p := range known {
		if v.from != nil && p != nil {
			known[v] = ofApply(v.from)
		}
	}
	return known
}

// sideOf returns side k of a branch that is computed at up as a place.
func sideOf(sides map[*apply]*[2]*place, a *apply, k int, up *place) *place {
	if sides[a] == nil {
		depth := 1
		if up != nil {
			depth = up.depth + 1
		}
		sides[a] = &[2]*place{{a, 0, up, depth}, {a, 1, up, depth}}
	}
	return sides[a][k]
}

// needs returns the side that alone needs argument i of a branch, -1 if both do, or i is a condition or a
// size, or there is no branch.
func (b *branch) needs(i int) int {
	if b == nil || i == 0 || i > len(b.params) {
		return -1
	}
	p := b.params[i-1]
	one, two := slices.Contains(b.sides[0].params, p), slices.Contains(b.sides[1].params, p)
	switch {
	case one && !two:
		return 0
	case two && !one:
		return 1
	}
	return -1
}

// lazy returns roots, computed with branches that compute in a side what it alone needs, as far as move
// allows.
func lazy(roots []*Var, move func(v *Var) bool) []*Var {
	if !slices.ContainsFunc(order(roots), func(v *Var) bool { return v.from != nil && v.from.branch != nil }) {
		return roots
	}
	where := places(roots, move)
	sides := map[*apply]*[2]map[*Var]bool{} // what goes into the sides of branches
	for v, p := range where {
		for ; p != nil; p = p.up {
			if sides[p.of] == nil {
				sides[p.of] = &[2]map[*Var]bool{{}, {}}
			}
			sides[p.of][p.side][v] = true
		}
	}
	if len(sides) == 0 {
		return roots
	}
	return rebuild(roots, map[*Var]*Var{}, func(a *apply) []*Var {
		more := sides[a]
		if more == nil || slices.ContainsFunc(a.outs, func(o *Var) bool { return where[o] != nil }) {
			return nil // a branch within another is made anew with that
		}
		return a.branch.with(a.args, more)
	})
}

// with returns the results of the branch of args with more variables in its sides.
func (b *branch) with(args []*Var, more *[2]map[*Var]bool) []*Var {
	mark := ids.Load()
	to := map[*Var]*Var{}
	for i, v := range slices.Concat(b.params, b.lens) {
		if x := args[1+i]; x != v {
			to[v] = x
		}
	}
	var sides [2]*body
	for k, side := range b.sides {
		own := side.inside()
		inside := func(v *Var) bool { return v.id > mark || own[v] || more[k][v] }
		outs := side.outs
		if len(to) > 0 {
			outs = Replace(outs, to)
		}
		outs = lazy(outs, inside)
		sides[k] = newBody(side.name, nil, outs, func(v *Var, _ bool) bool { return inside(v) })
	}
	return newBranch(args[0], sides)
}

// inside returns the variables that the body computes.
func (b *body) inside() map[*Var]bool {
	in := map[*Var]bool{}
	var walk func(vs []*Var)
	walk = func(vs []*Var) {
		for _, v := range vs {
			if v.from != nil && !in[v] && !slices.Contains(b.params, v) && !slices.Contains(b.lens, v) {
				in[v] = true
				walk(v.from.args)
			}
		}
	}
	walk(b.outs)
	return in
}
