package exec

import (
	"context"
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
			return Compile(plan.Build(outs, sigs, nil), d)
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
	return c.run(ctx, ins, nil, out)
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

// loop runs the body of a loop step by step. Carries by step lie in the result that they
// are; where nobody wants them, the last and the next one take turns in two places.
func (in *inner) loop(ctx context.Context, s device.Stream, a op.Looping, args, out []array.View) error {
	body, err := in.plans[0]()
	if err != nil {
		return err
	}
	steps, m := a.Steps, a.Carries
	if a.Counted {
		n, err := word(s, &args[len(args)-1])
		if err != nil {
			return err
		}
		if n < 0 || n > int64(steps) {
			return &array.Error{Kind: array.Misuse, Op: op.Loop.Name, Arg: "count", Msg: "is not from 0 to the number of steps"}
		}
		steps = int(n)
		args = args[:len(args)-1]
	}
	last, stack, kept := out[:m], out[m:2*m], out[2*m:2*m+a.Kept()]

	// What of each step is where.
	ins := make([]array.View, len(args))
	copy(ins, args)
	for i := range ins[:a.Seqs] {
		ins[i] = row(args[i], 0)
	}
	outs := make([]array.View, 0, len(in.used))
	var turns [][2]array.View // of carries that are not kept by step
	var own []*array.Storage
	defer func() {
		for _, st := range own {
			s.Free(st)
		}
	}()
	memory := func(t array.View) array.View {
		st := s.Alloc(t.Size() * t.DType.Size())
		own = append(own, st)
		return array.View{Store: st, DType: t.DType, Shape: t.Shape, Strides: t.Strides}
	}
	turns = make([][2]array.View, m)
	for j := range m {
		first := args[a.Seqs+j]
		if stack[j].Store != nil {
			at := 0
			if a.Reverse {
				at = steps
			}
			outs = append(outs, row(stack[j], at))
			if err := move(s, &outs[j], &first); err != nil {
				return err
			}
			ins[a.Seqs+j] = outs[j]
			continue
		}
		turns[j][0] = last[j]
		if last[j].Store == nil {
			turns[j][0] = memory(first)
		}
		turns[j][1] = memory(first)
		outs = append(outs, turns[j][0])
	}
	for l := range kept {
		if kept[l].Store != nil {
			outs = append(outs, row(kept[l], 0))
		}
	}
	var stop array.View
	if a.Until {
		stop = memory(array.View{DType: array.Bool, Shape: []int{}, Strides: []int{}})
		outs = append(outs, stop)
	}
	ptrs := make([]*array.View, len(ins))
	for i := range ins {
		ptrs[i] = &ins[i]
	}
	taken := 0
	for t := range steps {
		if ctx != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		at := t
		if a.Reverse {
			at = steps - 1 - t
		}
		for i := range ins[:a.Seqs] {
			ins[i].Offset = args[i].Offset + at*stride(&args[i])
		}
		k := m
		for j := range m {
			if stack[j].Store != nil {
				next := at + 1
				if a.Reverse {
					next = at
				}
				outs[j].Offset = stack[j].Offset + next*stride(&stack[j])
			} else {
				outs[j] = turns[j][(steps-1-t)%2]
			}
		}
		for l := range kept {
			if kept[l].Store != nil {
				outs[k].Offset = kept[l].Offset + at*stride(&kept[l])
				k++
			}
		}
		if err := body.run(ctx, ptrs, nil, outs); err != nil {
			return err
		}
		for j := range m {
			ins[a.Seqs+j] = outs[j]
		}
		taken++
		if a.Until {
			over, err := word(s, &stop)
			if err != nil {
				return err
			}
			if over != 0 {
				break
			}
		}
	}
	for j := range m {
		if now := &ins[a.Seqs+j]; last[j].Store != nil && !(now.Store == last[j].Store && now.Offset == last[j].Offset) {
			if err := move(s, &last[j], now); err != nil {
				return err
			}
		}
		if err := zeroFrom(s, &stack[j], taken+1); err != nil {
			return err
		}
	}
	for l := range kept {
		if err := zeroFrom(s, &kept[l], taken); err != nil {
			return err
		}
	}
	if a.Until {
		if count := out[len(out)-1]; count.Store != nil {
			return s.Fill(device.Ref{Store: count.Store, Offset: count.Offset * 8}, 1, uint64(taken), 8)
		}
	}
	return nil
}

// stride is how many elements what is kept of one step has.
func stride(v *array.View) int { return array.Size(v.Shape[1:]) }

// row is what is at one place of the first axis of a contiguous array.
func row(v array.View, at int) array.View {
	n := stride(&v)
	return array.View{Store: v.Store, DType: v.DType, Offset: v.Offset + at*n, Shape: v.Shape[1:], Strides: array.RowMajor(v.Shape[1:])}
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
