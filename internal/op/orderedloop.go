package op

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Gradients of a loop, added in the order of a tape. A tape that recorded all steps adds the gradients of a
// tensor one by one, of later uses first.

// nothing is -0, the number that added to any other gives that one, or 0 where sums need not be a tape's.
func nothing(g *ir.Graph, t ir.Type, ordered bool) *ir.Node {
	x := 0.0
	if ordered && t.DType.Float() {
		x = math.Copysign(0, -1)
	}
	return expand(g.Number(x, t.DType, false), t.Shape)
}

// nothing is nothing outside the loop.
func (b *loopGrad) nothing(t ir.Type) *ir.Node { return nothing(b.v.Node.Graph, t, b.a.Ordered) }

// isCarry reports that what is kept number l is a next carry itself, whose gradient is part of the carry's.
func (b *loopGrad) isCarry(l int) bool {
	outs := b.a.Body.Nodes()
	for j := range b.a.Carries {
		if b.a.Ordered && b.active[j] && outs[j] == outs[b.a.Carries+l] {
			return true
		}
	}
	return false
}

// ofKept are the gradients by step of what is kept and is the next carry j, the last one kept first: a tape
// meets them before the gradients of the next step.
func (b *loopGrad) ofKept(j int) *ir.Node {
	v, m, outs := b.v, b.a.Carries, b.a.Body.Nodes()
	var sum *ir.Node
	for l := b.a.Kept() - 1; b.a.Ordered && l >= 0; l-- {
		if d := v.DYs[2*m+l]; outs[j] == outs[m+l] && v.Ys[2*m+l].DType.Differentiable() && !isZero(d) {
			if sum != nil {
				d = add(sum, d)
			}
			sum = d
		}
	}
	return sum
}

// afterKept is d, the gradient of the last carry j, and that of what is kept of it at the last step.
func (b *loopGrad) afterKept(j int, d *ir.Node) *ir.Node {
	by := b.ofKept(j)
	if by == nil || b.a.Steps == 0 {
		return d
	}
	return add(d, reshape(Narrow(by, 0, b.a.Steps-1, 1), d.Shape))
}

// ordered writes the loop where each step adds to the sums of constants in the order of its uses.
func (b *loopGrad) ordered(args, ys, dys []*ir.Node, wrt []int) {
	a := b.a
	b.starts = make([]*ir.Node, len(args))
	for j := range a.Carries {
		if by := b.ofKept(j); by != nil && b.active[j] {
			none := reshape(b.nothing(a.Body.Args[a.Seqs+j]), byStep(1, a.Body.Args[a.Seqs+j].Shape))
			b.starts[a.Seqs+j] = b.input('s', Apply(Cat, Axis(0), none, Narrow(by, 0, 0, a.Steps-1)))
		}
	}
	depends := a.Body.gradients(b.g, args, ys, dys, wrt, nil)
	for w, i := range wrt {
		if depends[w] == nil && i >= a.Seqs+a.Carries {
			wrt[w] = -1
		}
	}
	wrt = slices.DeleteFunc(wrt, func(i int) bool { return i < 0 })
	k := rowsFirst(wrt, a.Seqs+a.Carries, a.Body)
	for at, i := range wrt {
		if i >= a.Seqs+a.Carries {
			b.starts[i] = b.input('c', b.nothing(a.Body.Args[i]))
			if at >= k {
				b.sums++
			}
		}
	}
	b.write(wrt, a.Body.gradients(b.g, args, ys, dys, wrt, b.starts))
}

// rowsFirst sorts wrt, arguments of fs, such that those from number first on come last and, of these, those
// whose last use takes rows come first. It returns where the others begin. A tape adds up gradients of rows
// before it adds them to other gradients.
func rowsFirst(wrt []int, first int, fs ...*Function) int {
	rows := map[int]bool{}
	for _, f := range fs {
		last := map[int]*ir.Node{}
		for id, need := range ir.Reach(f.outs) {
			n := f.outs[0].Graph.Nodes[id]
			for _, x := range n.Args {
				if need && x.Op == ir.Input {
					last[x.Arg()] = n
				}
			}
		}
		for i, n := range last {
			rows[i] = rows[i] || n.Op == IndexSelect || n.Op == Gather
		}
	}
	kind := func(i int) int {
		switch {
		case i < first:
			return 0
		case rows[i]:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(wrt, func(i, j int) int { return kind(i) - kind(j) })
	if k := slices.IndexFunc(wrt, func(i int) bool { return kind(i) == 2 }); k >= 0 {
		return k
	}
	return len(wrt)
}

// AddOrdered adds gradients of an ordered loop or branch to olds, the sums of the gradients so far, as if it
// had begun with them. It reports which of grads are now such sums. Elements of both lists may be nil.
func AddOrdered(grads, olds []*ir.Node) (added []bool) {
	added = make([]bool, len(grads))
	var of *ir.Node
	var args, used []*ir.Node
	for i, g := range grads {
		if g == nil || g.Op != ir.Result || olds[i] == nil || of != nil && of != g.Args[0] {
			continue
		}
		at, old := sumArg(g), olds[i]
		if at < 0 || old.DType != g.DType || !array.Equal(old.Shape, g.Shape) || slices.Contains(used, old) {
			continue // used: twice the same tensor
		}
		if of == nil {
			of, args = g.Args[0], slices.Clone(g.Args[0].Args)
		}
		args[at], added[i], used = old, true, append(used, old)
	}
	if of != nil {
		again := ApplyAll(of.Op.(*Def), of.Attrs, args...)[0].Args[0]
		copy(grads, Replace(grads, []*ir.Node{of}, []*ir.Node{again}))
	}
	return added
}

// sumArg returns which argument of a loop or a branch its result g is added to, -1 if there is none.
func sumArg(g *ir.Node) int {
	n, at := g.Args[0], -1
	switch a := n.Attrs.(type) {
	case Looping:
		if k := g.Arg(); k < a.Carries && k >= a.Carries-a.Sums {
			at = a.Seqs + k
		}
	case Branches:
		if k := g.Arg() - (len(n.Results) - a.Sums); k >= 0 {
			at = len(n.Args) - a.Sums + k
		}
	}
	return at
}
