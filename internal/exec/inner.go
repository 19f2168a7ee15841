package exec

import (
	"context"
	"slices"
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// An inner is what a loop or a branch runs: plans of functions, which are compiled when
// the first step of a loop or that side of a branch is taken.
type inner struct {
	a     ir.Attrs
	used  []bool // which results of a loop's body are wanted
	plans [2]func() (*Compiled, error)
	lines func(*plan.Step) []string // of the loop or branch, for its steps
}

// newInner returns what a step runs beside kernels and routines, nil for nothing.
func newInner(st *plan.Step, d device.Device) *inner {
	if st.Node == nil {
		return nil
	}
	in := &inner{a: st.Node.Attrs}
	later := func(f *op.Function, outs []*ir.Node) func() (*Compiled, error) {
		return sync.OnceValues(func() (*Compiled, error) {
			sigs := make([]plan.Sig, len(f.Args))
			for i, t := range f.Args {
				sigs[i] = plan.Sig{DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}
			}
			c, err := Compile(plan.Build(outs, sigs, nil, d.Model()), d)
			if err == nil {
				c.Lines = in.lines
			}
			return c, err
		})
	}
	switch a := in.a.(type) {
	case op.Looping:
		outs := a.Body.Nodes()
		in.used = make([]bool, len(outs))
		var wanted []*ir.Node
		for i := range outs {
			kept := i - a.Carries
			in.used[i] = kept < 0 || kept >= a.Kept() || st.Outs[2*a.Carries+kept].Slot >= 0
			if in.used[i] {
				wanted = append(wanted, outs[i])
			}
		}
		in.plans[0] = later(a.Body, wanted)
	case op.Branches:
		in.plans[0] = later(a.Then, a.Then.Nodes())
		in.plans[1] = later(a.Else, a.Else.Nodes())
	default:
		return nil
	}
	return in
}

// run computes a loop or a branch.
func (in *inner) run(ctx context.Context, s device.Stream, args, out []array.View) error {
	if a, ok := in.a.(op.Looping); ok {
		return in.loop(ctx, s, a, args, out)
	}
	which := 1
	if yes, err := word(s, &args[0]); err != nil {
		return err
	} else if yes != 0 {
		which = 0
	}
	c, err := in.plans[which]()
	if err != nil {
		return err
	}
	ins := make([]*array.View, len(args)-1)
	for i := range ins {
		ins[i] = &args[i+1]
	}
	return c.run(ctx, s, ins, nil, out)
}

// word reads a bool or an int64 without dimensions.
func word(s device.Stream, v *array.View) (int64, error) {
	var x int64
	if v.DType == array.Bool {
		var b [1]byte
		err := read(s, v, unsafe.Pointer(&b), 1)
		return int64(b[0]), err
	}
	err := read(s, v, unsafe.Pointer(&x), 8)
	return x, err
}

func read(s device.Stream, v *array.View, to unsafe.Pointer, n int) error {
	host := array.NewStorage(to, n, nil)
	if err := s.Copy(device.Ref{Store: host}, device.Ref{Store: v.Store, Offset: v.Offset * v.DType.Size()}, n); err != nil {
		return err
	}
	return s.Sync()
}

// A loopRun is a loop while it runs: which memory each step reads and writes.
type loopRun struct {
	op.Looping
	s     device.Stream
	steps int          // at most
	args  []array.View // sequences, first carries, constants

	last, stack, kept []array.View // results: the last carries, carries by step, what else is kept by step

	ins, outs []array.View     // of the body, at the step in hand
	turns     [][2]array.View  // of carries that are not kept by step: two places that take turns
	stop      array.View       // whether the loop is over, with Until
	own       []*array.Storage // memory of the run alone
	ptrs      []*array.View    // to ins
}

// loopRuns are loops that are over, whose slices serve others.
var loopRuns = sync.Pool{New: func() any { return new(loopRun) }}

// loop runs the body of a loop step by step. Carries by step lie in the result that they
// are; where nobody wants them, the last and the next one take turns in two places.
func (in *inner) loop(ctx context.Context, s device.Stream, a op.Looping, args, out []array.View) error {
	body, err := in.plans[0]()
	if err != nil {
		return err
	}
	r := loopRuns.Get().(*loopRun)
	r.Looping, r.s, r.steps, r.args = a, s, a.Steps, args
	defer r.free()
	if a.Counted {
		if err := r.count(); err != nil {
			return err
		}
	}
	m := a.Carries
	r.last, r.stack, r.kept = out[:m], out[m:2*m], out[2*m:2*m+a.Kept()]
	if err := r.place(len(in.used)); err != nil {
		return err
	}
	taken, err := r.walk(ctx, body)
	if err != nil {
		return err
	}
	if err := r.finish(taken); err != nil {
		return err
	}
	if a.Until {
		if count := out[len(out)-1]; count.Store != nil {
			return s.Fill(device.Ref{Store: count.Store, Offset: count.Offset * 8}, 1, uint64(taken), 8)
		}
	}
	return nil
}

// count reads the number of steps, which is the last argument, and takes it off.
func (r *loopRun) count() error {
	at := len(r.args) - 1
	n, err := word(r.s, &r.args[at])
	if err != nil {
		return err
	}
	if n < 0 || n > int64(r.steps) {
		return &array.Error{Kind: array.Misuse, Op: op.Loop.Name, Arg: "count", Msg: "is not from 0 to the number of steps"}
	}
	r.steps, r.args = int(n), r.args[:at]
	return nil
}

// memory is new memory for a value like t, until free.
func (r *loopRun) memory(t array.View) array.View {
	st := r.s.Alloc(t.Size() * t.DType.Size())
	r.own = append(r.own, st)
	return array.View{Store: st, DType: t.DType, Shape: t.Shape, Strides: t.Strides}
}

// free gives back the memory of the run, and the run itself.
func (r *loopRun) free() {
	for _, st := range r.own {
		r.s.Free(st)
	}
	clear(r.ins)
	clear(r.outs)
	clear(r.turns)
	clear(r.own)
	clear(r.ptrs)
	*r = loopRun{ins: r.ins[:0], outs: r.outs[:0], turns: r.turns[:0], own: r.own[:0], ptrs: r.ptrs[:0]}
	loopRuns.Put(r)
}

// place gives each argument and each of the results of the body, used in number, its memory
// at the first step, and moves the first carries to where they are kept by step.
func (r *loopRun) place(used int) error {
	r.ins = append(r.ins, r.args...)
	for i := range r.ins[:r.Seqs] {
		r.ins[i] = row(r.args[i], 0)
	}
	r.outs = slices.Grow(r.outs, used)
	r.turns = slices.Grow(r.turns, r.Carries)[:r.Carries]
	for j := range r.Carries {
		first := r.args[r.Seqs+j]
		if r.stack[j].Store != nil {
			at := 0
			if r.Reverse {
				at = r.steps
			}
			r.outs = append(r.outs, row(r.stack[j], at))
			if err := move(r.s, &r.outs[j], &first); err != nil {
				return err
			}
			r.ins[r.Seqs+j] = r.outs[j]
			continue
		}
		r.turns[j][0] = r.last[j]
		if r.last[j].Store == nil {
			r.turns[j][0] = r.memory(first)
		}
		r.turns[j][1] = r.memory(first)
		r.outs = append(r.outs, r.turns[j][0])
	}
	for l := range r.kept {
		if r.kept[l].Store != nil {
			r.outs = append(r.outs, row(r.kept[l], 0))
		}
	}
	if r.Until {
		r.stop = r.memory(array.View{DType: array.Bool, Shape: []int{}, Strides: []int{}})
		r.outs = append(r.outs, r.stop)
	}
	return nil
}

// walk runs the body until the last step, or until it says that the loop is over, and
// returns how many steps were taken. Then ins has the last carries.
func (r *loopRun) walk(ctx context.Context, body *Compiled) (taken int, err error) {
	for i := range r.ins {
		r.ptrs = append(r.ptrs, &r.ins[i])
	}
	for t := range r.steps {
		if ctx != nil && ctx.Err() != nil {
			return taken, ctx.Err()
		}
		r.moveTo(t)
		if err := body.run(ctx, r.s, r.ptrs, nil, r.outs); err != nil {
			return taken, err
		}
		copy(r.ins[r.Seqs:], r.outs[:r.Carries])
		taken++
		if !r.Until {
			continue
		}
		if over, err := word(r.s, &r.stop); err != nil || over != 0 {
			return taken, err
		}
	}
	return taken, nil
}

// moveTo moves what the body reads and writes to step t, counted from the first that runs.
func (r *loopRun) moveTo(t int) {
	at := t
	if r.Reverse {
		at = r.steps - 1 - t
	}
	for i := range r.ins[:r.Seqs] {
		r.ins[i].Offset = r.args[i].Offset + at*stride(&r.args[i])
	}
	for j := range r.Carries {
		if r.stack[j].Store != nil {
			next := at + 1
			if r.Reverse {
				next = at
			}
			r.outs[j].Offset = r.stack[j].Offset + next*stride(&r.stack[j])
		} else {
			r.outs[j] = r.turns[j][(r.steps-1-t)%2]
		}
	}
	k := r.Carries
	for l := range r.kept {
		if r.kept[l].Store != nil {
			r.outs[k].Offset = r.kept[l].Offset + at*stride(&r.kept[l])
			k++
		}
	}
}

// finish moves the last carries to where results are, and makes what belongs to steps that
// were not taken zeros.
func (r *loopRun) finish(taken int) error {
	for j := range r.Carries {
		last := &r.last[j]
		if now := &r.ins[r.Seqs+j]; last.Store != nil && !(now.Store == last.Store && now.Offset == last.Offset) {
			if err := move(r.s, last, now); err != nil {
				return err
			}
		}
		if err := zeroFrom(r.s, &r.stack[j], taken+1); err != nil {
			return err
		}
	}
	for l := range r.kept {
		if err := zeroFrom(r.s, &r.kept[l], taken); err != nil {
			return err
		}
	}
	return nil
}

// stride is how many elements what is kept of one step has.
func stride(v *array.View) int { return array.Size(v.Shape[1:]) }

// row is what is at one place of the first axis of an array in row-major order.
func row(v array.View, at int) array.View {
	return array.View{Store: v.Store, DType: v.DType, Offset: v.Offset + at*stride(&v), Shape: v.Shape[1:], Strides: v.Strides[1:]}
}

// move copies contiguous src to dst, of the same type.
func move(s device.Stream, dst, src *array.View) error {
	size := src.DType.Size()
	return s.Copy(device.Ref{Store: dst.Store, Offset: dst.Offset * size}, device.Ref{Store: src.Store, Offset: src.Offset * size}, src.Size()*size)
}

// zeroFrom makes what is at places from on of the first axis zeros.
func zeroFrom(s device.Stream, v *array.View, from int) error {
	if v.Store == nil || from >= v.Shape[0] {
		return nil
	}
	n, size := stride(v), v.DType.Size()
	return s.Fill(device.Ref{Store: v.Store, Offset: (v.Offset + from*n) * size}, (v.Shape[0]-from)*n*size, 0, 1)
}
