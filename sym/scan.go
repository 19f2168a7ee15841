package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// ScanOpts are the options of [Scan].
type ScanOpts struct {
	// Sequences are *[Var]. A step gets the element of the first axis whose turn it
	// is, or [Taps] for several elements beside each other. The shortest gives the number of
	// steps.
	Sequences []any
	// Initial are the states before the first step: *[Var], or [Taps] of a variable whose
	// first axis holds several past states.
	Initial []any
	// Steps is the number of steps: an int or a pointer to one, or an integer variable without
	// dimensions. nil means the length of the sequences. With Until in [Next] it is the maximum.
	// Each number of steps is a program of its own; Until with a fixed maximum is one program for
	// all numbers.
	Steps any
	// Trim cuts what is kept by step to the steps that were taken before Until in [Next] ended the loop.
	// How many that are is found first, by running the loop for that alone.
	Trim bool
	// Backwards goes through sequences from their ends.
	Backwards bool
	// Truncate is how many steps gradients go back through, 1 or more; nil means all.
	Truncate *int
	// Checkpoint keeps the state of each Checkpoint-th step for gradients, which compute those
	// between them again. It is 1 or more, or [SqrtSteps]; nil means 1, which keeps all. States and
	// gradients of states and sequences have the same bits with any value; gradients of what is the same
	// in each step are summed block by block.
	Checkpoint *int
}

// Taps are elements of a sequence, or past states, that a step gets: at its own place plus
// each offset. Offsets of a sequence have any sign. Offsets of a state are below 0: -1 is the
// state that the step before gave.
type Taps struct {
	Var *Var
	At  []int
}

// A Step is what one step of a [Scan] gets.
type Step struct {
	X []*Var // elements of sequences, tap by tap
	H []*Var // past states, tap by tap
}

// A Next is what one step of a [Scan] gives.
type Next struct {
	H     []*Var // the state after it, of the type of the one before, one for each of Initial
	Out   []*Var // what else is kept of each step
	Until *Var   // a bool without dimensions: the loop is over after this step; nil: never
	// Updates say what shared variables become by the step: the next one sees that.
	Updates Updates
}

// A Scanned is what a [Scan] gives. What belongs to steps that were not taken is 0, or left out with
// Trim in [ScanOpts].
type Scanned struct {
	H     []*Var // states after each step, along a new first axis
	Last  []*Var // the last states
	Out   []*Var // what else was kept, along a new first axis
	Count *Var   // the number of steps, int64, where there is an Until; else nil
	// Updates say what shared variables become by the whole loop. They belong to the [Function] that
	// computes the loop. Nil if no step updates any. Draws of [MRGStreams] in a step are among them, and
	// are updates by default too.
	Updates Updates
}

// Scan is a loop: step computes, once, what one step does from variables that stand for its
// part of the sequences and for the states before it. It may use variables from outside; what
// does not depend on the step is computed once. Random variables of [RandomStreams] that step
// makes are drawn anew in each step, and are the same for gradients; random variables from
// outside are one draw for all steps. The same holds for [MRGStreams], whose numbers go on from step
// to step. The loop is one operation of the function that it is part
// of, and has gradients, which go back through time. It panics with *[weft.Error] where types or
// sizes do not fit.
//
//	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}}, func(s sym.Step) sym.Next {
//		return sym.Next{H: []*sym.Var{s.X[0].Add(s.H[0].MatMul(w)).Tanh()}}
//	})
//	cost := r.Last[0].Square().Sum()
func Scan(o ScanOpts, step func(s Step) Next) *Scanned {
	if step == nil {
		array.Failf(scanName, "step", "is nil")
	}
	o.check()
	s := &scan{o: o}
	lens := s.count()
	in := Step{X: s.elements(), H: s.past()}
	if len(s.seqs) == 0 && s.open {
		array.Failf(scanName, "", "has neither sequences nor a number of steps")
	}
	from := ids.Load()
	next := step(Step{slices.Clone(in.X), slices.Clone(in.H)})
	outs := s.results(next)
	ws := s.carry(&next, from)
	if len(ws) > 0 {
		outs = s.given(next)
	}
	outs = lazy(outs, func(v *Var) bool { return v.id > from })
	s.kept = len(next.Out)
	given := slices.Concat(in.X, in.H, ws)
	over := func(outs []*Var) *body {
		return newBody(scanName, given, outs, func(v *Var, dependent bool) bool {
			return dependent || len(v.from.random) > 0 && v.id > from // drawn anew in each step
		})
	}
	s.body = over(outs)
	out, last := s.apply(lens)
	if !o.Trim {
		out.Updates = updates(ws, last, from)
		return out
	}
	if !s.until {
		array.Failf(scanName, "Trim", "wants an Until, which says when the loop ends")
	}
	n := out.Count
	t := &scan{o: o, seqs: s.seqs, states: s.states, kept: s.kept, steps: length{at: 0}, body: over(outs[:len(outs)-1])}
	out, last = t.apply([]*Var{n})
	out.Count, out.Updates = valueOf(n), updates(ws, last, from)
	return out
}

// apply applies the loop. lens is the variable that says the number of steps, if there is one. updated are
// the last values of shared variables that steps update.
func (s *scan) apply(lens []*Var) (out *Scanned, updated []*Var) {
	var args []*Var
	for _, t := range slices.Concat(s.seqs, s.states) {
		args = append(args, t.Var)
	}
	vars := s.make(slices.Concat(args, s.body.params[s.body.given:], s.body.lens, lens))
	n, own := len(s.states), len(s.o.Initial)
	out = &Scanned{Last: vars[:own:own], H: vars[n : n+own : n+own], Out: vars[2*n : 2*n+s.kept]}
	if s.until {
		out.Count = vars[len(vars)-1]
	}
	return out, vars[own:n]
}

// scanName is what errors call a scan.
const scanName = "scan"

// check refuses counts that are too small.
func (o ScanOpts) check() {
	if n := array.Or(o.Truncate, 1); n < 1 {
		array.Failf(scanName, "Truncate", "is %d, want 1 or more", n)
	}
	if n := array.Or(o.Checkpoint, 1); n < 1 && n != SqrtSteps {
		array.Failf(scanName, "Checkpoint", "is %d, want 1 or more, or SqrtSteps", n)
	}
}

// elements notes the sequences, and returns the variables that a step gets for their elements.
func (s *scan) elements() (xs []*Var) {
	for i, x := range s.o.Sequences {
		t := taps(scanName, "sequence", i, x, []int{0})
		s.seqs = append(s.seqs, t)
		if len(t.Var.shape) == 0 {
			array.Failf(scanName, "", "sequence %d, %s, has no dimensions%s", i, t.Var, t.Var.where())
		}
		for _, k := range t.At {
			first := k - min(0, slices.Min(t.At))
			e := element(t.Var, t.Var.shape[1:])
			e.test.Store(elementTest(t.Var, func(n int) int {
				if s.o.Backwards {
					return n - 1 - first
				}
				return first
			}))
			xs = append(xs, e)
		}
	}
	return xs
}

// past notes the states, and returns the variables that a step gets for earlier ones.
func (s *scan) past() (hs []*Var) {
	for i, x := range s.o.Initial {
		t := taps(scanName, "initial state", i, x, nil)
		s.states = append(s.states, t)
		shape := t.Var.shape
		if t.At != nil {
			past := -slices.Min(t.At)
			if slices.Max(t.At) >= 0 || len(shape) == 0 || shape[0] != Any && shape[0] < past {
				array.Failf(scanName, "", "initial state %d, %s, does not hold the past states %v: offsets are below 0, and its first axis has the last ones%s", i, t.Var, t.At, t.Var.where())
			}
			shape = shape[1:]
			for _, k := range t.At {
				e := element(t.Var, shape)
				e.test.Store(elementTest(t.Var, func(n int) int { return n + k }))
				hs = append(hs, e)
			}
			continue
		}
		e := element(t.Var, shape)
		e.test.Store(t.Var.tried())
		hs = append(hs, e)
	}
	return hs
}

// results are what the step gave, checked: states, what is kept, and with Until whether the
// loop is over.
func (s *scan) results(next Next) []*Var {
	if len(next.H) != len(s.o.Initial) {
		array.Failf(scanName, "", "the step gives %d states, there are %d initial ones", len(next.H), len(s.o.Initial))
	}
	s.until = next.Until != nil
	outs := s.given(next)
	if len(outs)+len(next.Updates) == 0 {
		array.Failf(scanName, "", "the step gives nothing")
	}
	for i, v := range outs {
		if v == nil {
			array.Failf(scanName, "", "result %d of the step is nil", i)
		}
		v.notNil(scanName)
	}
	if s.until && (next.Until.dtype != weft.Bool || len(next.Until.shape) != 0) {
		array.Failf(scanName, "Until", "is %s, want a bool without dimensions", next.Until)
	}
	return outs
}

// element is a variable that stands for an element of v.
func element(v *Var, shape []int) *Var {
	return &Var{name: v.name, dtype: v.dtype, shape: slices.Clone(shape), pc: v.pc, id: ids.Add(1), role: input}
}

func taps(name, what string, i int, x any, at []int) Taps {
	switch x := x.(type) {
	case *Var:
		x.notNil(name)
		return Taps{x, at}
	case Taps:
		x.Var.notNil(name)
		if len(x.At) == 0 {
			array.Failf(name, "", "%s %d, %s, has no taps", what, i, x.Var)
		}
		return Taps{x.Var, slices.Clone(x.At)}
	case *weft.Tensor:
		return Taps{Const(x), at}
	}
	array.Failf(name, "", "%s %d is %T: want a *sym.Var or sym.Taps", what, i, x)
	return Taps{}
}

// A scan is the loop as an operation: of sequences, initial states and what its body takes
// from outside.
type scan struct {
	o            ScanOpts
	seqs, states []Taps
	body         *body
	kept         int
	until        bool
	steps        length // the last of the arguments if it is a variable
	open         bool   // sequences say the number of steps
}

// count notes the number of steps, and returns the variable that says it, if there is one.
func (s *scan) count() []*Var {
	o := sizing{operation: operation{name: scanName}}
	x := s.o.Steps
	if n, ok := x.(*int); ok {
		if x = nil; n != nil {
			x = *n
		}
	}
	if s.open = x == nil; s.open {
		x = 0
	}
	s.steps = o.length("Steps", x)
	if n := s.steps; n.at < 0 && n.n < 0 {
		array.Failf(scanName, "Steps", "are %d, want 0 or more", n.n)
	}
	return o.lens
}

// lens is how many of the arguments are sizes.
func (s *scan) lens() int { return len(s.body.lens) + s.steps.at + 1 }

func (s *scan) make(args []*Var) []*Var {
	a := &apply{name: "scan", args: args, lens: s.lens(), sized: s.lens() > 0 || s.body.sized, pc: array.Caller(), again: s.make, bodies: []*body{s.body}, random: s.body.random}
	a.run = func(r *replay, ts []*weft.Tensor) []*weft.Tensor { return s.run(r, args, ts) }
	if a.sized {
		return a.make(s.types(args))
	}
	line := a.pc
	return a.make(infer(a, func(ts []*weft.Tensor) []*weft.Tensor { return s.run(&replay{line: &line}, args, ts) }, append(s.body.sizes(), s.steps.n)))
}

// types gives the types of the results for the types of the arguments and of what the step gives.
func (s *scan) types(args []*Var) (types []ir.Type) {
	steps := Any
	if !s.open {
		steps = known([]length{s.steps})[0]
	}
	by := func(v *Var, shape []int) ir.Type {
		return ir.Type{DType: v.dtype, Shape: append([]int{steps}, shape...)}
	}
	var all []ir.Type
	for i, t := range s.states {
		v, next := args[len(s.seqs)+i], s.body.outs[i]
		shape := v.shape
		if t.At != nil {
			shape = shape[1:]
		}
		if next.dtype != v.dtype || !fit(shape, next.shape) {
			array.Failf(scanName, "", "state %d is %s before a step and %s after it%s", i, array.TypeString(v.dtype, shape), array.TypeString(next.dtype, next.shape), next.where())
		}
		types, all = append(types, ir.Type{DType: v.dtype, Shape: shape}), append(all, by(v, shape))
	}
	types = append(types, all...)
	for _, v := range s.body.outs[len(s.states) : len(s.states)+s.kept] {
		types = append(types, by(v, v.shape))
	}
	if s.until {
		types = append(types, word)
	}
	return types
}

// fit reports that two shapes may be equal.
func fit(a, b []int) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] && a[i] != Any && b[i] != Any {
			return false
		}
	}
	return len(a) == len(b)
}

// run applies the loop: the results are the last states, states by step, what is kept, and
// the number of steps.
func (s *scan) run(r *replay, args []*Var, ts []*weft.Tensor) []*weft.Tensor {
	const name = "scan"
	n := len(args) - s.lens()
	outside := args[len(s.seqs)+len(s.states):]
	ts = ts[:n]
	seqs, states, consts := ts[:len(s.seqs)], ts[len(s.seqs):len(s.seqs)+len(s.states)], ts[len(s.seqs)+len(s.states):]
	steps := s.steps.n
	if s.steps.at >= 0 {
		if steps = r.lengthOf(name, "Steps", args[len(args)-1]); steps < 0 {
			array.Failf(name, "Steps", "are %d, want 0 or more", steps)
		}
	}
	for i, t := range s.seqs {
		n := seqs[i].Dim(0) - (max(0, slices.Max(t.At)) - min(0, slices.Min(t.At)))
		switch {
		case n < 0:
			array.Failf(name, "", "sequence %d has %d elements, too few for taps %v", i, seqs[i].Dim(0), t.At)
		case !s.open && n < steps:
			array.Failf(name, "", "sequence %d, with taps %v, has elements for %d steps, want %d", i, t.At, n, steps)
		case s.open && (i == 0 || n < steps):
			steps = n
		}
	}
	var xs []*weft.Tensor
	for i, t := range s.seqs {
		x := seqs[i]
		if s.o.Backwards {
			x = x.Flip(0)
		}
		first := min(0, slices.Min(t.At))
		for _, k := range t.At {
			xs = append(xs, x.Slice(weft.Range(k-first, k-first+steps)))
		}
	}
	// Carries are the past states, the oldest of each first.
	var carries []*weft.Tensor
	first := make([]int, len(s.states)) // carry of the oldest
	past := make([]int, len(s.states))
	for i, t := range s.states {
		first[i], past[i] = len(carries), 1
		if t.At == nil {
			carries = append(carries, states[i])
			continue
		}
		past[i] = -slices.Min(t.At)
		n := states[i].Dim(0)
		if n < past[i] {
			array.Failf(name, "", "initial state %d holds %d past states, taps %v need %d", i, n, t.At, past[i])
		}
		for k := n - past[i]; k < n; k++ {
			carries = append(carries, states[i].Slice(weft.Index(k)))
		}
	}
	var types []ir.Type // of the step: elements, carries, constants
	for _, x := range xs {
		types = append(types, ir.Type{DType: x.DType(), Shape: slices.Clone(sizes(x)[1:])})
	}
	for _, c := range carries {
		types = append(types, typeOf(c))
	}
	for _, c := range consts {
		types = append(types, typeOf(c))
	}
	step, drawn := s.step(r, types, outside, len(xs), len(carries), first, past)
	if len(drawn) > 0 { // the numbers of draws are sequences, the seeds constants
		nx, nd := len(xs), len(drawn)
		var at []int
		for i := range types {
			if i >= nx {
				i += nd
			}
			at = append(at, i)
		}
		all := slices.Concat(types[:nx], slices.Repeat([]ir.Type{word}, nd), types[nx:], slices.Repeat([]ir.Type{word}, nd))
		for i, d := range drawn {
			at = append(at, nd+len(types)+i, nx+i)
			seed, numbers := draws(d, steps)
			xs, consts = append(xs, numbers), append(consts, seed)
		}
		step = step.WithArgs(all, at)
	}
	l := looping{op.Looping{Body: step, Steps: steps, Seqs: len(xs), Carries: len(carries), Until: s.until, Truncate: array.Or(s.o.Truncate, 0)}}
	res := l.apply(slices.Concat(xs, carries, consts), array.Or(s.o.Checkpoint, 1))
	var last, by []*weft.Tensor
	for i := range s.states {
		c := first[i] + past[i] - 1 // the newest
		last, by = append(last, res.last[c]), append(by, res.by[c])
	}
	out := slices.Concat(last, by, res.kept)
	if s.until {
		out = append(out, res.count)
	}
	return out
}

// step is the body with carries for past states: each but the newest becomes what the next
// one was.
func (s *scan) step(r *replay, types []ir.Type, outside []*Var, nx, nc int, first, past []int) (*op.Function, []core.Drawing) {
	// The body sees only the carries that are taps.
	var of []int
	for i := range nx {
		of = append(of, i)
	}
	for i, t := range s.states {
		at := t.At
		if at == nil {
			at = []int{-1}
		}
		for _, k := range at {
			of = append(of, nx+first[i]+past[i]+k)
		}
	}
	for i := nx + nc; i < len(types); i++ {
		of = append(of, i)
	}
	params := func(ts []*weft.Tensor) []*weft.Tensor { return pick(ts, of) }
	return s.body.function(r, types, outside, nil, params, func(ts, outs []*weft.Tensor) []*weft.Tensor {
		var next []*weft.Tensor
		for i := range s.states {
			for k := range past[i] {
				c := nx + first[i] + k
				n := outs[i]
				if k < past[i]-1 {
					n = ts[c+1]
				}
				if t := typeOf(n); t.DType != types[c].DType || !array.Equal(t.Shape, types[c].Shape) {
					array.Failf("scan", "", "state %d is %s before a step and %s after it", i, array.TypeString(types[c].DType, types[c].Shape), array.TypeString(t.DType, t.Shape))
				}
				next = append(next, n)
			}
		}
		return append(next, outs[len(s.states):]...)
	})
}

// pick are the elements of a list at some places.
func pick[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = list[k]
	}
	return out
}

// Map applies f to the elements of sequences, along their first axis, and gives its results
// along a new first axis.
func Map(f func(x ...*Var) *Var, sequences ...*Var) *Var {
	if f == nil || len(sequences) == 0 {
		array.Failf("map", "", "wants a function and sequences")
	}
	r := Scan(ScanOpts{Sequences: vars(sequences)}, func(s Step) Next { return Next{Out: []*Var{f(s.X...)}} })
	return r.Out[0]
}

// FoldL combines the elements of a sequence from the first on: f gives the state after an
// element from the state before it.
func FoldL(f func(x, state *Var) *Var, sequence, initial *Var) *Var {
	return fold(f, sequence, initial, false)
}

// FoldR is [FoldL] from the last element on.
func FoldR(f func(x, state *Var) *Var, sequence, initial *Var) *Var {
	return fold(f, sequence, initial, true)
}

// Reduce is Theano's name for [FoldL].
func Reduce(f func(x, state *Var) *Var, sequence, initial *Var) *Var {
	return FoldL(f, sequence, initial)
}

func fold(f func(x, state *Var) *Var, sequence, initial *Var, backwards bool) *Var {
	if f == nil {
		array.Failf("fold", "f", "is nil")
	}
	r := Scan(ScanOpts{Sequences: []any{sequence}, Initial: []any{initial}, Backwards: backwards}, func(s Step) Next {
		return Next{H: []*Var{f(s.X[0], s.H[0])}}
	})
	return r.Last[0]
}

func vars(vs []*Var) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}
