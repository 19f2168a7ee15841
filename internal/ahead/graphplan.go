package ahead

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/rewrite"
	"weft/internal/saved"
)

// modelFor is what plans of built programs are made by: the package runs on any processor. Copies between
// different axes are kernels. Plans for free lengths must have the same steps for all, so that nothing
// is cut by size. Where there are routines, package aot runs them with epilogues, and large copies.
func modelFor(free, routines bool) *device.Model {
	m := &device.Model{Costs: device.Costs{
		Line: 64, Band: 1 << 20, Rows: 24 << 10, Far: 4 << 20,
		Transpose: math.MaxInt, TransposedEpilogue: math.MaxInt, ReadTogether: 4 << 20, Gather: 64,
		WakeMulAdds: 1 << 20, PartRows: 16, PartElements: 1 << 16,
		ShortRow: 0, ShortElements: math.MaxInt, ShortWork: math.MaxInt,
		Recompute: 6, RecomputeOps: 4, RecomputeBroadcast: 16, Store: 64,
	}}
	if free {
		m.Band, m.Rows, m.Far, m.ReadTogether, m.Gather, m.PartRows = math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt, 0, 0
	}
	m.Looped = free
	if m.Epilogue = routines; routines && !free {
		m.Transpose, m.TransposedEpilogue = 4<<10, 2<<20
	}
	return m
}

// A trial is the plan of a program for some lengths.
type trial struct {
	lengths []int // all of them
	free    []int // those that are free
	plan    *plan.Plan
	results []ir.Type
}

// try plans a program for lengths. free says that calls may have others. The error says why the program
// does not take these, or cannot be built.
func try(p *saved.Program, lengths []int, free bool) (t *trial, err error) {
	var list error
	err = array.Try(func() {
		g := ir.New()
		var sigs []plan.Sig
		outs := p.Build(g, lengths, func(i int) *ir.Node {
			x := p.TypeOf(p.Sources[i], lengths)
			return g.Input(i, x.DType, x.Shape)
		}, func(o ir.Op, a ir.Attrs, d array.DType, weak bool) *ir.Node {
			x, ok := fixedNumber(&p.Numbers[p.NumberAt(a)])
			if !ok {
				return g.Node(o, a, d, nil, weak)
			}
			return number(g, x, d, weak)
		})
		dst, into := make([]plan.Sig, len(outs)), slices.Repeat([]int{-1}, len(outs))
		for _, w := range p.Writes {
			x := outs[w.Result]
			into[w.Result], dst[w.Result] = w.Source, plan.Sig{DType: x.DType, Shape: x.Shape, Strides: array.RowMajor(x.Shape)}
		}
		for i := range p.Sources {
			x := p.TypeOf(p.Sources[i], lengths)
			sigs = append(sigs, plan.Sig{DType: x.DType, Shape: x.Shape, Strides: array.RowMajor(x.Shape)})
		}
		final := rewrite.RunRules(outs, p.Rewrites(), nil).Outs
		t = &trial{lengths: lengths, plan: plan.BuildInto(final, sigs, dst, into, modelFor(free, false))}
		if t.hasRoutines() {
			t.plan = plan.BuildInto(final, sigs, dst, into, modelFor(free, true))
		}
		for i := range p.Outputs {
			if o := &p.Outputs[i]; o.Result >= 0 {
				t.results = append(t.results, ir.Type{DType: outs[o.Result].DType, Shape: outs[o.Result].Shape})
			} else {
				t.results = append(t.results, p.TypeOf(o.Input, lengths))
			}
		}
		list = buildable(t.plan)
	})
	if err == nil {
		err = list
	}
	return t, err
}

// hasRoutines reports that a step of the plan is no loop program.
func (t *trial) hasRoutines() bool {
	return slices.ContainsFunc(t.plan.Steps, func(s plan.Step) bool { return s.Kernel == nil })
}

// number is a number of the program as a node.
func number(g *ir.Graph, x float64, d array.DType, weak bool) *ir.Node {
	if d.Float() {
		return g.Node(ir.Const, ir.Value{Float: x}, d, nil, weak)
	}
	if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		array.Failf("build", "", "the number %v is used as %s", x, d)
	}
	return g.Node(ir.Const, ir.Value{Int: int64(x)}, d, nil, weak)
}

// buildable returns an error that lists the operations which are neither loop programs nor routines of
// package aot.
func buildable(pl *plan.Plan) error {
	counts := map[string]int{}
	for _, s := range pl.Steps {
		switch {
		case s.Kernel == nil && routines[op.RoutineOf(s.Node)] == nil:
			counts[s.Node.Op.OpName()]++
		case s.Kernel == nil:
		case s.Kernel.Ragged != nil:
			counts[s.Kernel.Ragged.Node.Op.OpName()+" over items"]++
		}
	}
	if len(counts) == 0 {
		return nil
	}
	var list []string
	for name, n := range counts {
		if n > 1 {
			name = fmt.Sprintf("%d %s", n, name)
		}
		list = append(list, name)
	}
	sort.Strings(list)
	return fmt.Errorf("these operations cannot be built: %s", strings.Join(list, ", "))
}

// trialValues are lengths for which plans are compared. Plans for less than 5 elements have constants in
// the place of numbers.
var trialValues = []int{1009, 6, 50, 17, 129, 4099, 11, 33, 700, 65, 20000, 5, 257, 31, 2048, 8, 100, 13, 515, 7, 1500, 90, 19, 3001, 74, 260, 10, 811, 41, 23, 9, 1024, 63, 58}

// A sizing says which lengths of a program are free.
type sizing struct {
	p     *saved.Program
	fixed []int // by length; -1: free
	at    []int // by free length: 0 and 1, -1 for any; nil: all are any
}

// free returns the numbers of the lengths that are free.
func (z sizing) free() (list []int) {
	for i, n := range z.fixed {
		if n < 0 {
			list = append(list, i)
		}
	}
	return list
}

// fixes reports a free length that is 0 or 1.
func (z sizing) fixes(free int) bool { return z.at != nil && z.at[free] >= 0 }

// plan plans the program for the free lengths.
func (z sizing) plan(free []int) (*trial, error) {
	lengths := slices.Clone(z.fixed)
	for k, i := range z.free() {
		lengths[i] = free[k]
	}
	t, err := try(z.p, lengths, len(free) > 0)
	if err == nil {
		t.free = free
	}
	return t, err
}

// trials plans a program for many sets of its free lengths. Where it refuses some of them, it is tried
// with multiples of its example.
func (z sizing) trials() (all []*trial, multiple bool, err error) {
	list := z.free()
	vary := 0
	for k := range list {
		if !z.fixes(k) {
			vary++
		}
	}
	if vary == 0 {
		t, err := z.plan(z.at)
		return []*trial{t}, false, err
	}
	all, multiple, err = z.several(vary, monomials(vary)+4, 0)
	if err == nil && slices.ContainsFunc(all, (*trial).hasLoops) {
		return z.several(vary, max(monomials(vary)+4, loopedTrials(vary)), longTrial)
	}
	return all, multiple, err
}

// longTrial is more than the rows of some blocks.
const longTrial = 300

// several plans the program for want sets of lengths. Those that are not more than least are more by it.
func (z sizing) several(vary, want, least int) (all []*trial, multiple bool, err error) {
	list := z.free()
	var first error
	for _, multiple := range []bool{false, true} {
		all = all[:0]
		for at := range want {
			free := make([]int, len(list))
			for k, i := range list {
				if z.fixes(k) {
					free[k] = z.at[k]
					continue
				}
				free[k] = trialValues[(at*(1+2*k)+5*k)%len(trialValues)]
				if free[k] > 600 && k > 0 && at%3 > 0 {
					free[k] = free[k]%53 + 5
				}
				if free[k] <= least {
					free[k] += least
				}
				if multiple {
					free[k] *= max(z.p.Example[i], 1)
				}
			}
			t, err := z.plan(free)
			if err != nil {
				first = cmp.Or(first, err)
				break
			}
			all = append(all, t)
		}
		if len(all) == want {
			return all, multiple, nil
		}
	}
	return nil, false, first
}

// same returns an error unless the plans of trials have the same steps.
func same(all []*trial) error {
	first := all[0].plan
	for _, t := range all[1:] {
		q := t.plan
		if len(q.Steps) != len(first.Steps) {
			return fmt.Errorf("the number of steps depends on the lengths, as where rows of a free number are combined: fix a length with --length")
		}
		for i := range q.Steps {
			if a, b := &first.Steps[i], &q.Steps[i]; !sameRoutine(a, b) || !sameKernel(launched(a), launched(b)) {
				return fmt.Errorf("step %d (%s) depends on the lengths: fix a length with --length", i, doing(a))
			}
		}
	}
	return nil
}

// launched returns the kernel of a step, or the epilogue of its routine; nil if it has none.
func launched(s *plan.Step) *plan.Kernel {
	if s.Kernel != nil {
		return s.Kernel
	}
	return s.Epilogue
}

// doing names the operations of a step.
func doing(s *plan.Step) string {
	var does []string
	if s.Node != nil {
		does = append(does, s.Node.Op.OpName())
	}
	if k := launched(s); k != nil {
		does = append(does, oneLine(k.Prog.Name))
	}
	return strings.Join(does, " ")
}

// sameKernel reports that two launches differ in numbers alone.
func sameKernel(a, b *plan.Kernel) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Prog.Key() == b.Prog.Key() && (a.Looped == nil) == (b.Looped == nil) && len(a.Around) == len(b.Around) && a.Columns == b.Columns && a.Result == b.Result && slices.EqualFunc(a.Binds, b.Binds, func(x, y plan.Operand) bool { return x.Slot == y.Slot })
}

// sameRoutine reports that the routines of two steps differ in numbers alone.
func sameRoutine(a, b *plan.Step) bool {
	if a.Node == nil || b.Node == nil {
		return a.Node == b.Node
	}
	return a.Node.Op == b.Node.Op && slices.EqualFunc(a.Args, b.Args, sameSlot) && slices.EqualFunc(a.Outs, b.Outs, sameSlot)
}

func sameSlot(a, b plan.Operand) bool {
	return a.Slot == b.Slot && a.DType == b.DType && len(a.Shape) == len(b.Shape)
}

// computesLike reports that two plans compute the same by steps that differ in their addresses alone.
func computesLike(p, q *plan.Plan) bool {
	if len(p.Steps) != len(q.Steps) {
		return false
	}
	for i := range p.Steps {
		a, b := &p.Steps[i], &q.Steps[i]
		if !sameRoutine(a, b) || (launched(a) == nil) != (launched(b) == nil) || launched(a) != nil && !slices.Equal(operations(launched(a).Prog), operations(launched(b).Prog)) {
			return false
		}
	}
	return true
}

// operations lists what a program does apart from its scalars.
func operations(p *loop.Program) (list []loop.Ins) {
	p.Walk(p.Body, func(_ loop.Value, in *loop.Ins) {
		x := loop.Ins{Op: in.Op, Type: in.Type}
		switch in.Op {
		case loop.OpScalar:
			return
		case loop.OpReduce, loop.OpCvt, loop.OpRound, loop.OpConst:
			x.Imm = in.Imm
		}
		list = append(list, x)
	})
	return list
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
