package sym

import (
	"slices"

	"weft"
	"weft/internal/ir"
	"weft/internal/op"
)

// SqrtSteps as [ScanOpts.Checkpoint] keeps the states between blocks of steps, of about the square
// root of their number. Gradients compute one block at a time again. That is the scheme of Griewank
// and Walther, "Algorithm 799: Revolve" (2000), with one level.
const SqrtSteps = -1

// A looping applies a loop to tensors.
type looping struct{ op.Looping }

// A looped is what a loop gives.
type looped struct {
	last, by, kept []*weft.Tensor // the last carries, carries after each step, what else is kept by step
	count          *weft.Tensor   // steps taken, with Until
}

// apply runs the loop and keeps, for gradients, the carries of each step number that is a multiple
// of every; [SqrtSteps] chooses it.
func (l looping) apply(args []*weft.Tensor, every int) looped {
	if l.Truncate > 0 && l.Truncate < l.Steps && every != 1 && !l.Until && !l.Counted {
		return l.truncated(args, every)
	}
	if every == SqrtSteps {
		every = blockLength(l.Steps)
	}
	if every == 1 || every >= l.Steps || l.Counted || l.Truncate > 0 && l.Truncate < l.Steps {
		return l.plain(args)
	}
	l.Truncate = 0
	return l.blocks(args, every)
}

// blockLength is the number of steps between two that are kept: near the square root, and a divisor
// of steps if one is near.
func blockLength(steps int) int {
	best, cost := 1, steps+1
	for n := 1; n <= steps; n++ {
		c := n + (steps+n-1)/n
		if steps%n != 0 {
			c += c / 4 // the rest is a loop of its own, and what is kept by step is copied
		}
		if c < cost {
			best, cost = n, c
		}
	}
	return best
}

// plain is the loop that keeps all carries.
func (l looping) plain(args []*weft.Tensor) (out looped) {
	res := call(op.Loop, l.Looping, args)
	m := l.Carries
	out.last = res[:m]
	for _, by := range res[m : 2*m] {
		out.by = append(out.by, by.Slice(weft.Range(1, l.Steps+1)))
	}
	out.kept = res[2*m : 2*m+l.Kept()]
	if l.Until {
		out.count = res[len(res)-1]
	}
	return out
}

// truncated is a loop without gradients and one of the last steps, which has them.
func (l looping) truncated(args []*weft.Tensor, every int) looped {
	head, tail := l, l
	tail.Steps, head.Steps = l.Truncate, l.Steps-l.Truncate
	head.Truncate, tail.Truncate = 0, 0
	first := l.part(args, 0, head.Steps)
	for i, x := range first {
		first[i] = x.Detach()
	}
	out := head.plain(first)
	return out.then(tail.apply(slices.Concat(l.part(args, head.Steps, l.Steps)[:l.Seqs], out.last, args[l.Seqs+l.Carries:]), every))
}

// part returns the arguments with the elements of sequences from lo to hi.
func (l looping) part(args []*weft.Tensor, lo, hi int) []*weft.Tensor {
	args = slices.Clone(args)
	for i, x := range args[:l.Seqs] {
		args[i] = x.Slice(weft.Range(lo, hi))
	}
	return args
}

// then is what a loop gives that goes on with more.
func (out looped) then(more looped) looped {
	join := func(x, y []*weft.Tensor) {
		for i := range x {
			x[i] = weft.Cat([]*weft.Tensor{x[i], y[i]}, 0)
		}
	}
	join(out.by, more.by)
	join(out.kept, more.kept)
	out.last = more.last
	if out.count != nil {
		out.count = out.count.Add(more.count)
	}
	return out
}

// blocks is a loop of loops of n steps, and one of the steps that are left. What a step of the
// outer loop keeps is computed again by gradients.
func (l looping) blocks(args []*weft.Tensor, n int) looped {
	q, m := l.Steps/n, l.Carries
	big := l.Looping
	big.Body, big.Steps, big.Recompute = l.block(n), q, true
	whole := l.part(args, 0, q*n)
	for i, x := range whole[:l.Seqs] {
		whole[i] = x.Reshape(append([]int{q, n}, sizes(x)[1:]...)...)
	}
	res := call(op.Loop, big, whole)
	out := looped{last: res[:m]}
	flat := make([]*weft.Tensor, m+l.Kept())
	for i, x := range res[2*m : 2*m+len(flat)] {
		flat[i] = x.Reshape(append([]int{q * n}, sizes(x)[2:]...)...)
	}
	out.by, out.kept = flat[:m:m], flat[m:]
	over := (*weft.Tensor)(nil)
	if l.Until {
		out.count = res[2*m+len(flat)].Sum()
		over = res[2*m+len(flat)+1].Any()
	}
	rest := l.Steps - q*n
	if rest == 0 {
		return out
	}
	tail := l
	tail.Steps = rest
	more := slices.Concat(l.part(args, q*n, l.Steps)[:l.Seqs], out.last, args[l.Seqs+m:])
	if l.Until {
		tail.Counted = true
		more = append(more, weft.Where(over, weft.ScalarOf(weft.Int64, int64(0)), weft.ScalarOf(weft.Int64, int64(rest))))
	}
	return out.then(tail.plain(more))
}

// block is n steps as the body of a loop. It keeps the carries after each step, what a step
// keeps, and with Until the number of steps taken and whether the loop is over.
func (l looping) block(n int) *op.Function {
	in := l.Looping
	in.Steps = n
	if l.Until {
		in.Body = keepsUntil(l.Body)
	}
	types := slices.Clone(l.Body.Args)
	for i := range types[:l.Seqs] {
		types[i].Shape = append([]int{n}, types[i].Shape...)
	}
	g := ir.New()
	nodes := make([]*ir.Node, len(types))
	for i, t := range types {
		nodes[i] = g.Input(i, t.DType, t.Shape)
	}
	res := op.ApplyAll(op.Loop, in, nodes...)
	m := l.Carries
	outs := slices.Clone(res[:m])
	for _, by := range res[m : 2*m] {
		outs = append(outs, op.Narrow(by, 0, 1, n))
	}
	outs = append(outs, res[2*m:2*m+l.Kept()]...)
	if l.Until {
		over := op.Apply(op.Any, op.Reduction{Axes: []int{0}}, res[len(res)-2])
		outs = append(outs, res[len(res)-1], over, over)
	}
	return op.NewFunction(types, outs)
}

// keepsUntil is a body that also keeps whether the loop is over after a step.
func keepsUntil(f *op.Function) *op.Function {
	outs := f.Nodes()
	last := outs[len(outs)-1]
	return op.NewFunction(f.Args, append(slices.Clone(outs), last))
}
